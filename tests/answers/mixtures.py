"""Made-up fits of mixture laws, and the best mixture by SciPy, for tests."""

import dataclasses

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from bayescale.data import read_runs
from bayescale.laws.mixture import mixture

from .conftest import GOOD, made_up

B = 1e9
ADDITIVE = mixture(
    ("web", "code", "books"), ("web", "code", "books", "chat"), transfer="additive",
    repetition=False,
)  # fmt: skip
REPEATED = mixture(("text", "image", "audio"), repetition=("image", "audio"))
CORNER = mixture(("a", "b", "c"), ("x", "y"), transfer="additive", repetition=False)


def made(law, draws=20, spread=0.3, seed=1, gate=GOOD):
    """A fit to the law's own design whose draws scatter around prior medians."""
    table = pd.DataFrame(law.design()).assign(loss=2.0)
    some = read_runs(pd.DataFrame({"N": [1e9], "D": [1e10], "loss": [2.0]}))
    runs = dataclasses.replace(some, table=table, row_numbers=np.arange(len(table)))
    return made_up(law, runs, draws=draws, spread=spread, seed=seed, gate=gate)


def by_scipy(value, low, high, free=None, caps=None):
    """The least of ``value(shares, log_total)`` over shares within limits, from several starts.

    ``value`` takes several mixtures at once, shapes (point, source) and (point,). ``free`` is the
    range of the log of tokens where they are free, ``caps`` the largest share at log tokens of 0.
    """
    count, best = len(low), np.inf
    low = np.maximum(low, 1e-12)
    limits = list(zip(low, high, strict=True)) + ([] if free is None else [free])

    def at(x):
        x = np.atleast_2d(x)
        return value(np.maximum(x[:, :count], 1e-12), x[:, count] if free else np.zeros(len(x)))

    def slope(x):
        moves = 1e-6 * np.eye(len(x))
        found = at(np.concatenate([x + moves, x - moves]))
        return (found[: len(x)] - found[len(x) :]) / 2e-6

    rules = [{"type": "eq", "fun": lambda x: x[:count].sum() - 1}]
    if caps is not None:
        held = np.isfinite(caps)
        rules.append(
            {"type": "ineq", "fun": lambda x: 1 - x[:count][held] * np.exp(x[count]) / caps[held]}
        )
    for lead in (None, 0, 1):
        shares = np.full(count, 1 / count) if lead is None else 0.6 * np.eye(count)[lead] + 0.2
        found = minimize(
            lambda x: at(x)[0],
            [*np.clip(shares / shares.sum(), low, high), *([0.0] if free else [])],
            jac=slope,
            method="SLSQP",
            bounds=limits,
            constraints=rules,
            options={"ftol": 1e-10, "maxiter": 100},
        )
        fair = abs(found.x[:count].sum() - 1) < 1e-9 and all(
            (r["fun"](found.x) > -1e-9).all() for r in rules[1:]
        )
        if fair:
            best = min(best, float(found.fun))
    return best


def worst_by_scipy(excess, count):
    """The least of the largest ``excess(shares)``, shape (point, target), as one more unknown."""
    best = np.inf

    def above(x):
        x = np.atleast_2d(x)
        return x[:, count:] - excess(np.maximum(x[:, :count], 1e-12))

    def slopes(x):
        moves = 1e-6 * np.eye(len(x))
        found = above(np.concatenate([x + moves, x - moves]))
        return ((found[: len(x)] - found[len(x) :]) / 2e-6).T

    rules = [
        {"type": "eq", "fun": lambda x: x[:count].sum() - 1},
        {"type": "ineq", "fun": lambda x: above(x)[0], "jac": slopes},
    ]
    for lead in (None, 0, 1):
        shares = np.full(count, 1 / count) if lead is None else 0.6 * np.eye(count)[lead] + 0.2
        shares = shares / shares.sum()
        found = minimize(
            lambda x: x[count],
            [*shares, float(excess(shares[None]).max())],
            jac=lambda x: np.eye(count + 1)[count],
            method="SLSQP",
            bounds=[(1e-9, 1.0)] * count + [(0.0, 10.0)],
            constraints=rules,
            options={"ftol": 1e-10, "maxiter": 100},
        )
        if abs(found.x[:count].sum() - 1) < 1e-9:  # what it is there, whatever SLSQP says
            best = min(best, float(excess(np.maximum(found.x[None, :count], 1e-12)).max()))
    return best
