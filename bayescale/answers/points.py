"""Points at which a user asks: numbers and strings in, arrays of one length out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.quantity import parse_quantity
from bayescale.errors import FitError, nearest

if TYPE_CHECKING:
    from bayescale.fitted import Fit


def read_values(name: str, values: Any) -> np.ndarray:
    """One or several quantities ("70B", 1.4e12, a list of them) as a 1-d array.

    Raises
    ------
    DataError
        A value is no positive finite number, or is too small to be in the stated unit.
    """
    listed = [values] if isinstance(values, str | int | float) else list(np.atleast_1d(values))
    return np.array([parse_quantity(v if isinstance(v, str) else float(v), name) for v in listed])


def read_points(fit: "Fit", asked: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], dict]:
    """Split keyword arguments into points and groups; fill in N, D or C by the cost model.

    Returns
    -------
    points : dict
        Input -> array, shape (point,); with N, D and C as far as they are known.
    group : dict
        Grouping column -> group.

    Raises
    ------
    FitError
        An input is missing or unknown, or arrays differ in length.
    """
    inputs = [i.name for i in fit.law.inputs]
    group = {k: v for k, v in asked.items() if k in fit.model.columns}
    given = {k: v for k, v in asked.items() if k not in group and v is not None}
    known = list(dict.fromkeys([*inputs, "N", "D", "C"]))
    for name in given:
        if name not in known:
            usable = known + list(fit.model.columns)
            raise FitError(
                f"unknown argument '{name}'; law '{fit.law.name}' takes {', '.join(usable)}."
                + nearest(name, usable)
            )
    points = {k: read_values(k, v) for k, v in given.items()}
    lengths = {len(v) for v in points.values()} - {1}
    if len(lengths) > 1:
        sizes = ", ".join(f"{k} has {len(v)}" for k, v in points.items())
        raise FitError(f"the points differ in number ({sizes}); give one value or equally many.")
    size = lengths.pop() if lengths else 1
    points = {k: np.broadcast_to(v, size).astype(float) for k, v in points.items()}
    _complete(fit, points)
    for name in inputs:
        if name not in points:
            hint = " or C with the other of N and D" if name in ("N", "D") else ""
            raise FitError(f"law '{fit.law.name}' needs {name}: give {name}=…{hint}.")
    return points, group


def _complete(fit: "Fit", points: dict[str, np.ndarray]) -> None:
    cost = fit.runs.cost
    if {"N", "D", "C"} <= set(points):
        raise FitError("N, D and C are all given; give two of them, the third follows.")
    if cost.kind == "active":
        return  # the active parameters of a new run aren't known
    if {"N", "D"} <= set(points):
        points["C"] = cost.flops(points["N"], points["D"])
    elif {"N", "C"} <= set(points):
        points["D"] = cost.tokens(points["N"], points["C"])
    elif {"D", "C"} <= set(points):
        points["N"] = cost.params(points["C"], points["D"])


def reach(fit: "Fit", points: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """How far outside the data each point lies, as a factor: 1 inside, 10 for ten times larger.

    Returns
    -------
    dict
        Input -> factor beyond the nearest end of the data's range (below 1: smaller than all).
    """
    found = {}
    for name, values in points.items():
        if name not in fit.runs.table:
            continue
        data = fit.runs.column(name)
        low, high = data.min(), data.max()
        tolerance = 1 + 1e-9
        beyond = np.where(values > high * tolerance, values / high, 1.0)
        found[name] = np.where(values * tolerance < low, values / low, beyond)
    return found


def say_reach(factors: Mapping[str, float]) -> str:
    """The reach of one point in words: ``C 12x above the data``; empty inside."""
    parts = []
    for name, factor in factors.items():
        if factor > 1:
            parts.append(f"{name} {factor:.3g}x above")
        elif factor < 1:
            parts.append(f"{name} {1 / factor:.3g}x below")
    return ", ".join(parts)
