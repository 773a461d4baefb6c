"""What a user asks of a frontier, read and checked: budgets, weights, targets, limits."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.beyond import beyond_warning
from bayescale.answers.objectives import Objectives
from bayescale.answers.pareto.mixes import Compositions
from bayescale.answers.pareto.plane import Budgets
from bayescale.answers.points import read_values
from bayescale.data.quantity import parse_number, parse_quantity
from bayescale.errors import DataError, FitError, nearest
from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel
    from bayescale.extent import Extent

SAME_SIZE = 1.02  # sizes within this factor are one


def check_trade(view: Objectives) -> None:
    """Raise unless there are losses to weigh and sources to trade."""
    names, sources = list(view.names), list(view.sources)
    if len(names) < 2:
        raise FitError(
            f"this fit has one objective ({names[0]}); a frontier lies between two or more. Fit "
            "the losses of several together."
        )
    if len(sources) < 2:
        raise FitError(
            f"this fit has one source ({sources[0]}), so there is nothing to trade; a frontier "
            "needs runs on two or more."
        )


def read_budgets(
    view: Objectives, C: Any, D: Any, N: Any, cost: "CostModel | None", law: str
) -> Budgets:
    """What is given out: compute, or tokens where the size isn't to be chosen."""
    price = cost or view.fit.extent.cost
    if (C is None) == (D is None):
        raise FitError("say what is given out: C=… (compute in FLOP) or D=… (tokens), one of them.")
    size = None if N is None else float(read_values("N", N)[0])
    if size is None and not view.reads_size:
        size = _only_size(view)
    if D is not None:
        if view.reads_size and size is None:
            raise FitError(
                f"law '{law}' has a size term: with tokens D alone the largest model always wins; "
                "give C, or D with N=…."
            )
        return Budgets(read_values("D", D), "D", price, size)
    if price.kind == "active":
        raise FitError(
            "this fit's compute counts active parameters, which a new size doesn't fix: pass "
            "cost=six_nd(6 * share) with the share of parameters that are active."
        )
    if size is None and not view.reads_size:
        raise FitError(
            f"law '{law}' has no size term, so compute doesn't say how many tokens it buys: give "
            "D=… (tokens), or C with N=…."
        )
    return Budgets(read_values("C", C), "C", price, size)


def _only_size(view: Objectives) -> float | None:
    """The size of all runs, where they have one."""
    if "N" not in view.fit.extent:
        return None
    sizes = view.fit.extent.span("N")
    return sizes.median if sizes.high <= SAME_SIZE * sizes.low else None


def read_weights(names: Sequence[str], weights: Mapping[str, Any]) -> np.ndarray:
    """Weights of all losses, which are divided by their sum.

    Raises
    ------
    DataError
        A weight is missing, not of a loss, or not above 0.
    """
    found = np.array([_weight(k, v) for k, v in _all_named("weight", names, weights).items()])
    return found / found.sum()


def _weight(name: str, value: Any) -> float:
    found = float(parse_number(value, f"weight of {name}"))
    if not (found > 0 and np.isfinite(found)):
        raise DataError(
            f"the weight of '{name}' is {value}; expected a number above 0: a loss without weight "
            "is given up altogether, which no choice on the frontier does."
        )
    return found


def read_targets(names: Sequence[str], targets: Mapping[str, Any]) -> np.ndarray:
    """Losses to reach, one for each objective."""
    named = _all_named("target", names, targets)
    return np.array([float(parse_number(v, f"target of {k}")) for k, v in named.items()])


def _all_named(kind: str, names: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in names:
            raise DataError(
                f"there is no loss '{name}' to give a {kind}; losses are {', '.join(names)}."
                + nearest(str(name), list(names))
            )
    if missing := [n for n in names if n not in given]:
        raise DataError(f"give a {kind} for each loss: '{missing[0]}' has none.")
    return {n: given[n] for n in names}


def read_unique(view: Objectives, U: Mapping[str, Any] | None) -> np.ndarray:
    """Unique tokens of each source that may be repeated; infinite where nothing is said."""
    for name in U or {}:
        if name not in view.repeated:
            known = f"sources with repetition are {', '.join(view.repeated)}"
            raise FitError(
                f"the law says nothing about repeating '{name}': "
                + (known if view.repeated else "it has no repetition")
                + "; leave it out of U, or fit a mixture with repetition."
            )
    limits = {k: parse_quantity(v, f"U of {k}") for k, v in (U or {}).items()}
    return np.array([limits.get(s, np.inf) for s in view.repeated])


def outside(view: Objectives, mixes: Compositions, budgets: Budgets) -> tuple[str, ...]:
    """What must be said of budgets and compositions that no run has."""
    there, said = view.fit.extent, []
    low, high = _used(there, budgets)
    name = budgets.resource
    for value in budgets.values:
        if value > high * (1 + 1e-9):
            said.append(f"{name} = {quantity(value)} is {value / high:.3g}x the largest run's.")
        if value < low * (1 - 1e-9):
            said.append(
                f"{name} = {quantity(value)} is below the smallest run's {quantity(low)}: the law "
                "may not hold there."
            )
    if budgets.values.max() > high * (1 + 1e-9):
        said.append(beyond_warning(view.fit.model.drift is not None))
    for k, source in enumerate(view.sources[1:] if len(view.sources) == 2 else view.sources):
        seen, asked = there.span(f"share:{source}"), mixes.shares[:, k + (len(view.sources) == 2)]
        if asked.min() < seen.least - 1e-9 or asked.max() > seen.high + 1e-9:
            said.append(
                f"Shares of '{source}' from {asked.min():.3g} to {asked.max():.3g} go beyond the "
                f"{seen.least:.3g} to {seen.high:.3g} of the data."
            )
    return tuple(said)


def _used(there: "Extent", budgets: Budgets) -> tuple[float, float]:
    """The least and the most of the resource that a run has used."""
    if budgets.resource == "D":
        return there.span("tokens").low, there.span("tokens").high
    if "compute" in there:
        return there.compute(budgets.cost).low, there.compute(budgets.cost).high
    ends = np.array([there.span("tokens").low, there.span("tokens").high])
    low, high = budgets.cost.flops(float(budgets.n_params or np.nan), ends)
    return float(low), float(high)
