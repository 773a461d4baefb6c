"""Laws whose losses are E + exp(s - alpha x) + exp(d - beta y) at a mixture, x = ln N, y = ln D.

D are the tokens of all sources together; s, alpha, d, beta move with the mixture. So it is for
decoupled laws, and for mixture laws as long as unique tokens don't run out. Written out once a draw
and mixture, a frontier costs four exponentials a step in place of the whole law eight times.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.answers.composition import parts_of
from bayescale.answers.pareto.plane import STEP, Plane, two_shares
from bayescale.laws import mixture_parts
from bayescale.laws.mixture_plan import Plan

NAMES = ("E", "s", "alpha", "d", "beta")


@dataclass(frozen=True)
class Terms:
    """Coefficients of all objectives at every draw and mixture.

    Parameters
    ----------
    E, s, alpha, d, beta : array, shape (objective, cell)
        A cell is a draw at a mixture, mixtures fastest.
    turns : array, shape (5, objective, cell), optional
        Their derivatives in ln r, r being the second source's tokens over the first's.
    """

    E: np.ndarray
    s: np.ndarray
    alpha: np.ndarray
    d: np.ndarray
    beta: np.ndarray
    turns: np.ndarray | None = None

    def at(self, cell: Any) -> "Terms":
        """The coefficients of some cells, by position or as a slice."""
        turns = None if self.turns is None else self.turns[..., cell]
        E, s, alpha, d, beta = (getattr(self, name)[:, cell] for name in NAMES)
        return Terms(E, s, alpha, d, beta, turns)

    def parts(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Size term and data term."""
        return np.exp(self.s - self.alpha * x), np.exp(self.d - self.beta * y)

    def slopes(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives in ln N and ln r at fixed N D, shape (objective, cell) each."""
        assert self.turns is not None
        E, s, alpha, d, beta = self.turns
        size, data = self.parts(x, y)
        by_ratio = E + size * (s - alpha * x) + data * (d - beta * y)
        return self.beta * data - self.alpha * size, by_ratio

    def optimum(self, log_product: Any) -> np.ndarray:
        """Log of each objective's own best size where N D is fixed."""
        lead = self.s + np.log(self.alpha) - self.d - np.log(self.beta)
        return (lead + self.beta * log_product) / (self.alpha + self.beta)


def closed_form(plane: Plane) -> bool:
    """Whether the losses have this form, sizes are free and compute is k N D."""
    budgets = plane.budgets
    free = budgets.free_size and budgets.cost.kind == "six_nd" and plane.fixed_place
    return free and recipe_of(plane)[0] in _FAMILIES and not np.isfinite(plane.unique).any()


def recipe_of(plane: Plane) -> tuple[str, str]:
    """Family of the law and its options as JSON; empty for a law of no family."""
    return plane.objectives.fit.law.recipe or ("", "{}")


def terms_of(plane: Plane, shares: np.ndarray) -> Terms:
    """Coefficients at mixtures, shares of shape (mixture, source)."""
    return Terms(*_coefficients(plane, shares))


def terms_by_ratio(plane: Plane, log_r: np.ndarray) -> Terms:
    """Coefficients of two sources, with derivatives in ln r by central differences."""
    up, down = (_coefficients(plane, two_shares(log_r + d)) for d in (STEP, -STEP))
    E, s, alpha, d, beta = _coefficients(plane, two_shares(log_r))
    return Terms(E, s, alpha, d, beta, (up - down) / (2 * STEP))


def _coefficients(plane: Plane, shares: np.ndarray) -> np.ndarray:
    """E, s, alpha, d, beta, shape (5, objective, cell)."""
    family = recipe_of(plane)[0]
    count, shape = len(plane.objectives.names), (plane.size, len(shares))
    found = np.empty((len(NAMES), count, *shape))
    for k, values in enumerate(_FAMILIES[family](plane, shares)):
        found[k] = np.moveaxis(np.broadcast_to(values, (*shape, count)), -1, 0)
    return found.reshape(len(NAMES), count, -1)


def _decoupled(plane: Plane, shares: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of a decoupled law: s = ln a + alpha ln N_c, d = ln b + beta ln(C_c / (6 N_c h))."""
    params = plane.objectives.params
    parts = parts_of(plane.objectives.fit.law)[0]
    off = parts.compositions(shares) @ parts.own.T - parts.centre

    def moved(x: np.ndarray, name: str) -> np.ndarray:
        """A constant along the mixtures, shape (draw, mixture, objective)."""
        found = np.repeat(x[:, 0, None], len(shares), axis=1)
        if name in params:
            found[..., parts.at] += params[name][:, 0, None] * off[:, parts.at]
        return found

    odds = moved(np.log(params["a"]) - np.log1p(-params["a"]), "a_slope")
    a, b = 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(odds))
    gamma = np.exp(moved(np.log(params["gamma"]), "gamma_slope"))
    size = moved(np.log(params["N_c"]), "N_c_slope")
    tokens = moved(np.log(params["C_c"]), "C_c_slope") - np.log(6.0) - size
    alpha, beta = gamma / a, gamma / b
    own = np.log(shares @ parts.own.T)
    return params["E"], np.log(a) + alpha * size, alpha, np.log(b) + beta * (tokens - own), beta


def _mixture(plane: Plane, shares: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of a mixture law: the size and data terms at N = 1 and one token of all sources."""
    view, count = plane.objectives, len(plane.objectives.names)
    record: dict[str, Any] = json.loads(recipe_of(plane)[1])
    record["repeated"] = record.pop("repetition")
    options: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
    plan = Plan(**options)
    values: dict[str, Any] = {k: v[:, None] for k, v in view.params.items()}
    D = np.repeat(shares[:, None], count, axis=1)
    values |= {"D": D, "N": np.array(1.0), "target": np.eye(count)}
    size = mixture_parts.log_size(plan, values, D)
    tokens = mixture_parts.log_tokens(plan, values, D)
    s = np.log(values["A"]) - values["alpha"] * size
    d = np.log(values["B"]) - values["beta"] * tokens
    return values["E"], s, values["alpha"], d, values["beta"]


_FAMILIES = {"decoupled": _decoupled, "mixture": _mixture}
