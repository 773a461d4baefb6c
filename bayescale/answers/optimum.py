"""The optimum of every draw at every budget: best size and tokens, least loss, local exponents."""

from typing import TYPE_CHECKING

import numpy as np

from bayescale.answers.law_draws import LawDraws
from bayescale.answers.surface import best_size
from bayescale.answers.wander import efolds_beyond

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel

STEP = 0.25  # e-folds of compute either side, for local exponents


def optimum(
    laws: LawDraws,
    cost: "CostModel",
    budgets: np.ndarray,
    known: tuple[float, float] | None = None,
) -> dict[str, np.ndarray]:
    """Optimum of every draw at every budget, with local exponents by central differences.

    Of laws with drift ln N_opt wanders beyond the compute that is ``known``, (smallest, largest)
    in FLOP; see `bayescale.answers.wander`.
    """
    each = np.arange(laws.size)[:, None]
    wander = np.reshape(laws.wander, (-1, 1))

    def best(compute: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size, loss = best_size(laws, cost, compute[None, :], each)
        return size * np.exp(wander * efolds_beyond(compute, known)), loss

    size, loss = best(budgets)
    up, down = (np.log(best(budgets * np.exp(s))[0]) for s in (STEP, -STEP))
    tokens = cost.tokens(size, np.broadcast_to(budgets, size.shape))
    more = cost.tokens(np.exp(up), np.broadcast_to(budgets * np.exp(STEP), size.shape))
    less = cost.tokens(np.exp(down), np.broadcast_to(budgets * np.exp(-STEP), size.shape))
    return {
        "N_opt": size,
        "D_opt": tokens,
        "tokens_per_param": tokens / size,
        "loss": loss,
        "a": (up - down) / (2 * STEP),
        "b": np.log(more / less) / (2 * STEP),
    }
