"""The single size and tokens that are best in expectation at one price of training and serving."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.answers.law_draws import LawDraws
from bayescale.answers.serving.isoloss import least_loss
from bayescale.answers.serving.price import Served
from bayescale.tables import intervals, quantity

GRID = 81  # numbers of tokens compared
DRAWS = 2000  # that the expected loss is a mean of, while choosing
MARGIN = 0.5  # e-folds of tokens around all draws' optima


@dataclass(frozen=True)
class ServedChoice:
    """One size and its training tokens.

    Parameters
    ----------
    inference_tokens, N, D : float
    training, total : float
        FLOP of training; of training and serving.
    regret : array, shape (draw,)
        Loss above the draw's own least at the same total.
    reaches : float
        Probability that its loss is at most the one asked for.
    """

    inference_tokens: float
    N: float
    D: float
    training: float
    total: float
    regret: np.ndarray
    reaches: float

    @property
    def expected_regret(self) -> float:
        """Mean of the regret over the posterior."""
        return float(np.mean(self.regret))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        names = ("N", "D", "training", "total", "reaches", "expected_regret")
        record = {name: getattr(self, name) for name in names}
        record["tokens_per_param"] = self.D / self.N
        return record | {"regret": intervals(self.regret)}

    def describe(self, unit: str) -> str:
        """One line for people."""
        return (
            f"best single choice N = {quantity(self.N)}, D = {quantity(self.D)} "
            f"(D/N = {quantity(self.D / self.N)}) for {quantity(self.total)} FLOP in all: "
            + (f"reaches the loss with P = {self.reaches:.0%}, " if self.inference_tokens else "")
            + f"expected regret {self.expected_regret:.2g} {unit}"
        ).rstrip()


def best_served(
    laws: LawDraws,
    life: Served,
    found: Mapping[str, np.ndarray],
    target: np.ndarray,
    assurance: float = 0.5,
) -> ServedChoice | None:
    """The choice with the least expected loss for the total that is enough in most draws.

    Parameters
    ----------
    laws : LawDraws
    life : Served
    found : mapping
        ``D`` and ``total`` of every draw's own optimum, shape (draw,).
    target : array, shape (draw,)
        Loss asked for.
    assurance : float
        Share of draws whose own optimum costs at most the total; at .5 the median draw's.

    Returns
    -------
    ServedChoice or None
        None where fewer draws than that reach the loss at all: then no price is enough.
    """
    ok = np.isfinite(found["total"])
    bills = np.where(ok, found["total"], np.inf)
    total = float(np.quantile(bills, assurance, method="inverted_cdf"))
    if not np.isfinite(total):
        return None
    ends = np.log(found["D"][ok])
    tokens = np.exp(np.linspace(ends.min() - MARGIN, ends.max() + MARGIN, GRID))
    sizes = life.params(total, tokens)
    each = np.arange(laws.size)
    some = np.linspace(0, laws.size - 1, min(laws.size, DRAWS)).astype(int)
    expected = laws.mean(some[:, None], N=sizes, D=tokens).mean(axis=0)
    k = int(np.argmin(expected))
    loss = laws.mean(each, N=sizes[k], D=tokens[k])
    regret = np.maximum(loss - least_loss(laws, life, total, tokens), 0.0)
    N, D = float(sizes[k]), float(tokens[k])
    reaches = float(np.mean(loss <= target * (1 + 1e-12)))  # false where the target is NaN
    training = float(life.training.flops(N, D))
    return ServedChoice(life.tokens_served, N, D, training, total, regret, reaches)
