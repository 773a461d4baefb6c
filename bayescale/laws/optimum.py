"""An optimum that follows a power law of N and D: the best learning rate, the best batch size."""

from typing import Any

from bayescale.arrays import namespace
from bayescale.law import Coordinate, Derived, Param, renamed
from bayescale.priors import Normal

_SHIFT = Normal(0.0, 1.0)
_WHY_SHIFT = "sweeps bracket the optimum: within a factor of 7 of their centre"


def optimum(setting: str, meaning: str, unit: str, latex: str) -> Param:
    """The best setting at N = D = 1, sampled by its distance from the sweep's centre.

    The best lr is lr_1 N^lr_N D^lr_D; parameters lr_N and lr_D are the law's own.

    Parameters
    ----------
    setting : str
        Name of the input, ``lr`` or ``bs``.
    meaning, unit, latex : str
        In words, and of the parameter.
    """
    names = {"move_N": f"{setting}_N", "move_D": f"{setting}_D", "x_ref": f"{setting}_ref"}
    centred = Coordinate(
        f"{setting}_shift",
        renamed(_from_shift, shift=f"{setting}_shift", **names),
        renamed(_to_shift, best=f"{setting}_1", **names),
        f"log of the best {meaning} over the data's geometric mean, at its mean N and D",
    )
    return Param(
        f"{setting}_1", _SHIFT, f"best {meaning} at N = D = 1", unit, latex,
        coordinate=centred, why=_WHY_SHIFT,
    )  # fmt: skip


def _from_shift(shift: Any, move_N: Any, move_D: Any, x_ref: Any, N_ref: Any, D_ref: Any) -> Any:
    return x_ref * namespace(shift).exp(shift) * N_ref**-move_N * D_ref**-move_D


def _to_shift(best: Any, move_N: Any, move_D: Any, x_ref: Any, N_ref: Any, D_ref: Any) -> Any:
    return namespace(best).log(best * N_ref**move_N * D_ref**move_D / x_ref)


def _at_centre(best: Any, move_N: Any, move_D: Any, N_ref: Any, D_ref: Any) -> Any:
    return best * N_ref**move_N * D_ref**move_D


def _per_compute(move_N: Any, move_D: Any, alpha: Any, beta: Any) -> Any:
    return (move_N * beta + move_D * alpha) / (alpha + beta)


def moving(setting: str, meaning: str, unit: str, letter: str) -> tuple[Derived, ...]:
    """The best setting at the data's centre, and its exponent in compute.

    Compute-optimal runs have N ~ C^a and D ~ C^b: the exponent is lr_N a + lr_D b.

    Parameters
    ----------
    setting, meaning, unit, letter : str
        As for `optimum`; ``letter`` in LaTeX.
    """
    names = {"move_N": f"{setting}_N", "move_D": f"{setting}_D"}
    return (
        Derived(
            f"{setting}_opt", renamed(_at_centre, best=f"{setting}_1", **names),
            f"best {meaning} at the data's geometric means of N and D", unit, f"{letter}^*",
        ),
        Derived(
            f"{setting}_C", renamed(_per_compute, **names),
            f"exponent of compute in the best {meaning} of compute-optimal runs", "",
            f"{letter}_{{C}}",
        ),
    )  # fmt: skip
