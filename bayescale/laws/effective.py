"""What repeated tokens and excess parameters are worth: effective tokens, effective size.

The forms are those of arXiv:2305.16264, with their limits on the number of repetitions R*.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.errors import DataError

ROUNDED = 1.01  # unique tokens above sampled ones by less are a rounded number
FARTHEST = 30.0  # e-folds beyond the fed size at which excess parameters have long stopped to count


def worth(times: Any, limit: Any) -> Any:
    """Worth of tokens seen ``times`` times, in unique ones: 1 + R* (1 - exp(-(times - 1)/R*))."""
    return 1 - limit * namespace(times, limit).expm1((1 - times) / limit)


def effective_tokens(D: Any, U: Any, R_D_star: Any) -> Any:
    """D': unique tokens that D tokens out of U are worth."""
    unique = namespace(D, U).minimum(D, U)
    return unique * worth(D / unique, R_D_star)


def log_fed_size(A: Any, B: Any, alpha: Any, beta: Any, U: Any) -> Any:
    """Logarithm of N_opt(U), the size whose optimum in one epoch are U tokens.

    Where size and data term of A N^-alpha + B U^-beta fall equally fast along C = 6 N U:
    alpha A N^-alpha = beta B U^-beta.
    """
    xp = namespace(A, U)
    return (xp.log(alpha * A / (beta * B)) + beta * xp.log(U)) / alpha


def log_effective_size(N: Any, log_fed: Any, R_N_star: Any) -> Any:
    """Logarithm of N': parameters, those beyond the fed size counted less and less.

    In logarithms, since a prior draw's fed size can lie a thousand e-folds from any run.
    """
    xp = namespace(N, log_fed)
    size = xp.log(N)
    beyond = xp.minimum(xp.maximum(size - log_fed, 0.0), FARTHEST)
    return xp.minimum(size, log_fed) + xp.log(worth(xp.exp(beyond), R_N_star))


def check_epochs(columns: Mapping[str, np.ndarray], row_numbers: np.ndarray) -> None:
    """Raise where a run has fewer tokens than unique ones: less than one epoch."""
    fewer = columns["U"] > ROUNDED * columns["D"]
    if fewer.any():
        k = int(np.argmax(fewer))
        unique, seen = columns["U"][k], columns["D"][k]
        raise DataError(
            f"row {int(row_numbers[k])} has U = {unique:.4g} unique tokens but saw only "
            f"D = {seen:.4g} ({seen / unique:.3g} epochs); U counts the unique tokens that the run "
            "saw, at most D: correct the column, or give the smaller of both."
        )


def plain_design() -> dict[str, np.ndarray]:
    """Six sizes, four numbers of unique tokens, 1 to 40 epochs."""
    grid = product(np.geomspace(5e7, 5e9, 6), np.geomspace(5e8, 2e10, 4), (1, 2, 5, 14, 40))
    sizes, unique, epochs = np.array(list(grid)).T
    return {"N": sizes, "D": unique * epochs, "U": unique}
