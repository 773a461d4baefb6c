"""Points at which a user asks: numbers and strings in, arrays of one length out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.quantity import parse_number, parse_quantity
from bayescale.errors import DataError, FitError, nearest

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.param import Input


def read_values(name: str, values: Any, item: "Input | None" = None) -> np.ndarray:
    """One or several quantities ("70B", 1.4e12, a list of them) as a 1-d array.

    Parameters
    ----------
    name : str
        What the values are of, for messages.
    values : number, str or sequence
    item : Input, optional
        The law's input, which may allow more than positive numbers.

    Raises
    ------
    DataError
        A value is no number, not where the input may be, or too small for the stated unit.
    """
    listed = [values] if isinstance(values, str | int | float) else list(np.atleast_1d(values))
    listed = [v if isinstance(v, str) else float(v) for v in listed]
    if item is None or item.positive:
        return np.array([parse_quantity(v, name) for v in listed])
    read = np.array([parse_number(v, name) for v in listed])
    low = -np.inf if item.at_least is None else item.at_least
    high = np.inf if item.at_most is None else item.at_most
    if bad := [v for v, x in zip(listed, read, strict=True) if not low <= x <= high or np.isinf(x)]:
        raise DataError(f"{name} = {bad[0]}; expected a number from {low:g} to {high:g}.")
    return read


def read_points(fit: "Fit", asked: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], dict]:
    """Split keyword arguments into points and groups; fill in N, D or C by the cost model.

    An input with an axis is given by its columns (``D_text=…``) or as a mapping
    (``D={"text": …}``); those that are left out are 0 where that is allowed.

    Returns
    -------
    points : dict
        Column -> array, shape (point,); with N, D and C as far as they are known.
    group : dict
        Grouping column -> group.

    Raises
    ------
    FitError
        An input is missing or unknown, or arrays differ in length.
    """
    groups = dict.fromkeys((*fit.model.columns, *fit.law.label_columns))
    group = {k: v for k, v in asked.items() if k in groups}
    rest = {k: v for k, v in asked.items() if k not in group and v is not None}
    given = _columns(fit, rest)
    items = {c: i for i in fit.law.inputs for c in fit.law.columns_of(i)}
    known = list(dict.fromkeys([*(c for c in items if c not in groups), *_resources(fit)]))
    for name in given:
        if name not in known:
            usable = known + list(groups)
            raise FitError(
                f"unknown argument '{name}'; law '{fit.law.name}' takes {', '.join(usable)}."
                + nearest(name, usable)
            )
    points = {k: read_values(k, v, items.get(k)) for k, v in given.items()}
    lengths = {len(v) for v in points.values()} - {1}
    if len(lengths) > 1:
        sizes = ", ".join(f"{k} has {len(v)}" for k, v in points.items())
        raise FitError(f"the points differ in number ({sizes}); give one value or equally many.")
    size = lengths.pop() if lengths else 1
    points = {k: np.broadcast_to(v, size).astype(float) for k, v in points.items()}
    _complete(fit, points)
    for name, item in items.items():
        if name not in points and name not in groups:
            like = item.usual + name.removeprefix(item.name)  # U_image is D_image
            if item.usual and like in points:
                points[name] = points[like]
                continue
            if item.dims and item.at_least == 0 and set(fit.law.columns_of(item)) & set(points):
                points[name] = np.zeros(size)
                continue
            hint = " or C with the other of N and D" if name in ("N", "D") else ""
            raise FitError(f"law '{fit.law.name}' needs {name}: give {name}=…{hint}.")
    return points, group


def as_inputs(
    fit: "Fit", points: Mapping[str, np.ndarray], group: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """The law's inputs as its mean takes them: axes stacked, labels as ones and zeros."""
    found = {}
    for item in fit.law.inputs:
        if item.kind == "label":
            labels = fit.law.axes[item.dims[0]]
            if item.name not in group:
                raise FitError(
                    f"say which {item.name}: {item.name}='{labels[0]}' or another of "
                    f"{', '.join(labels)}."
                )
            found[item.name] = np.eye(len(labels))[labels.index(str(group[item.name]))]
        elif item.dims:
            found[item.name] = np.stack([points[c] for c in fit.law.columns_of(item)], axis=-1)
        else:
            found[item.name] = points[item.name]
    return found


def _columns(fit: "Fit", given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by column: a mapping for an input with an axis is taken apart."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Mapping):
            found |= {f"{name}_{label}": v for label, v in value.items()}
        else:
            found[name] = value
    return found


def _resources(fit: "Fit") -> list[str]:
    """N, D and C, of which two give the third, unless the law takes one of them apart."""
    split = {i.name for i in fit.law.inputs if i.dims}
    return [] if split & set("NDC") else ["N", "D", "C"]


def _complete(fit: "Fit", points: dict[str, np.ndarray]) -> None:
    cost = fit.extent.cost
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
        if name not in fit.extent:
            continue
        low, high = fit.extent.span(name).low, fit.extent.span(name).high
        if low < 0:
            found[name] = _ranges_beyond(values, low, high)
            continue
        tolerance = 1 + 1e-9
        beyond = np.where(values > high * tolerance, values / (high or np.nan), 1.0)
        found[name] = np.where(values * tolerance < low, values / (low or np.nan), beyond)
    return found


def _ranges_beyond(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Reach of an input that can be negative: 1 plus how many ranges of the data it is outside."""
    width = (high - low) or 1.0
    above, below = 1 + (values - high) / width, 1 + (low - values) / width
    return np.where(values > high, above, np.where(values < low, 1 / np.maximum(below, 1), 1.0))


def say_reach(factors: Mapping[str, float]) -> str:
    """The reach of one point in words: ``C 12x above the data``; empty inside."""
    parts = []
    for name, factor in factors.items():
        if factor > 1:
            parts.append(f"{name} {factor:.3g}x above")
        elif factor == 0:
            parts.append(f"{name} 0, below all")
        elif factor < 1:
            parts.append(f"{name} {1 / factor:.3g}x below")
    return ", ".join(parts)
