"""Budgets that a user asks about: their price, and what lies outside the data."""

from typing import TYPE_CHECKING

import numpy as np

from bayescale.answers.beyond import beyond_warning
from bayescale.answers.points import say_reach
from bayescale.errors import FitError

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel
    from bayescale.extent import Extent


def price_of(seen: "Extent", cost: "CostModel | None" = None) -> "CostModel":
    """The price of new sizes: the one given, or that of the data where it holds for them."""
    price = cost or seen.cost
    if price.kind == "active":
        raise FitError(
            "this fit's compute counts active parameters, which a new size doesn't fix: pass "
            "cost=six_nd(6 * share) with the share of parameters that are active."
        )
    return price


def missing_note(missing: np.ndarray) -> tuple[str, ...]:
    """What an answer says where some draws have no optimum."""
    if missing.max() <= 0:
        return ()
    share = f"{missing.max():.1%} of draws"
    return (f"{share} have no optimum within range; intervals are of the rest.",)


def budget_notes(seen: "Extent", budgets: np.ndarray, drifting: bool = False) -> tuple[str, ...]:
    """What an answer says of budgets above the largest run, or below the smallest."""
    if "C" not in seen:
        return ()
    data = seen.span("C")
    above, below = float(budgets.max() / data.high), float(budgets.min() / data.low)
    notes: tuple[str, ...] = ()
    if above > 1 + 1e-9:
        notes += (f"{say_reach({'C': above})} the data. {beyond_warning(drifting)}",)
    if below < 1 - 1e-9:
        notes += (
            f"{say_reach({'C': below})} the data: the law was fitted to larger runs, and small "
            "ones often lie off it.",
        )
    return notes
