"""Who wins in how many draws, and what choosing another one costs."""

from dataclasses import dataclass

import numpy as np

from bayescale.tables import intervals


@dataclass(frozen=True)
class Contest:
    """Draws of what each backbone reaches at each budget, compared draw by draw.

    Parameters
    ----------
    values : array, shape (draw, budget, model)
        Accuracy or loss; NaN where a budget doesn't pay for a backbone.
    larger : bool
        Whether larger is better.
    """

    values: np.ndarray
    larger: bool

    @property
    def gains(self) -> np.ndarray:
        """Values turned so that larger is better; minus infinity where there is none."""
        turned = self.values if self.larger else -self.values
        return np.where(np.isnan(turned), -np.inf, turned)

    def probability(self) -> np.ndarray:
        """P(best), shape (budget, model): the share of draws in which it wins."""
        gains = self.gains
        first = gains.argmax(axis=2)
        models = np.arange(gains.shape[2])
        won = np.stack([(first == m).mean(axis=0) for m in models], axis=1)
        return np.where(np.isinf(gains).all(axis=2).any(axis=0)[:, None], np.nan, won)

    def regret(self) -> np.ndarray:
        """The best of each draw minus each backbone, shape (draw, budget, model); NaN as values."""
        gains = self.gains
        best = gains.max(axis=2, keepdims=True)
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(gains), np.nan, best - gains)

    def ranks(self) -> np.ndarray:
        """Rank in each draw, 1 for the best, shape (draw, budget, model)."""
        order = np.argsort(-self.gains, axis=2, kind="stable")
        return np.argsort(order, axis=2, kind="stable") + 1


@dataclass(frozen=True)
class Standing:
    """One backbone at one budget.

    Parameters
    ----------
    model : str
    n_params, tokens : float
        NaN where nothing asks for them.
    response : mapping
        Quantiles of its accuracy or loss.
    p_best : float
        Probability that it is the best of all.
    regret : mapping
        ``mean`` and quantiles of the best minus it, draw by draw.
    rank : int
        By expected regret, which is by posterior mean.
    rank_interval : mapping
        Quantiles of its rank.
    factor : float
        Tokens over the nearest end of those in the data; 1 inside.
    rate : mapping or None
        Quantiles of B_hat, with P(< 0); None for laws without.
    """

    model: str
    n_params: float
    tokens: float
    response: dict[str, float]
    p_best: float
    regret: dict[str, float]
    rank: int
    rank_interval: dict[str, float]
    factor: float
    rate: dict[str, float] | None

    def to_dict(self, response: str) -> dict:
        """A JSON record."""
        record = {"model": self.model, "rank": self.rank, "N": self.n_params, "D": self.tokens}
        record |= {response: self.response, "p_best": self.p_best, "regret": self.regret}
        record |= {"rank_interval": self.rank_interval}
        if self.rate is not None:
            record["B_hat"] = self.rate
        inside = {"inside_data": abs(self.factor - 1) < 1e-9, "factor": {"D": self.factor}}
        return record | ({"outside": inside} if np.isfinite(self.tokens) else {})


def summarised(draws: np.ndarray) -> dict[str, float]:
    """Quantiles of draws and their mean."""
    return intervals(draws) | {"mean": float(np.mean(draws))}
