"""Which size is efficient at a composition: the one at which no other trade is better for both."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayescale.answers.pareto.plane import BLOCK, STEP, Plane, two_shares
from bayescale.answers.pareto.terms import Terms, closed_form, terms_by_ratio, terms_of

TINY = 1e-12  # nats per e-fold of the ratio: the least that counts as a gain or a loss
WIDE = 16.0  # e-folds of N looked at either side of N = D
EDGE = 1e-3  # e-folds beyond the objectives' own best sizes
CACHED = 12_000  # elements of closed forms at a time
PRECISE = {"xatol": 1e-9, "xrtol": 1e-14}
FRACTIONS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the way between the objectives' best sizes

Found = tuple[np.ndarray, np.ndarray, np.ndarray]


def two_by_two(plane: Plane, log_r: np.ndarray) -> Found:
    r"""The efficient size at each ratio of two sources, for two objectives.

    With T and S the derivatives of a loss in ln N and ln r at fixed compute, a choice can't be
    bettered for both where :math:`T_1 S_2 = T_2 S_1`: then w S_1 + (1 - w) S_2 = 0 gives the
    weight w of the first loss under which it is the best of all sizes and ratios. That is one
    root in ln N between the objectives' own best sizes. Where a loss gains by moving either way
    (its S has the other one's sign) no weight chooses the ratio; the size is then the one best
    for the loss that alone loses.

    Parameters
    ----------
    plane : Plane
    log_r : array, shape (composition,)

    Returns
    -------
    log_n : array, shape (draw, budget, composition)
    losses : array, shape (draw, budget, composition, 2)
    weight : array, shape (draw, budget, composition)
        Of the first objective; outside 0 to 1 where the ratio is not efficient.
    """
    if closed_form(plane):
        return _closed(plane, terms_by_ratio(plane, log_r), log_r)
    found = [_numeric(plane, draws, log_r) for draws in blocks(plane, len(log_r))]
    sizes, losses, weight = zip(*found, strict=True)
    return np.concatenate(sizes), np.concatenate(losses), np.concatenate(weight)


def blocks(plane: Plane, points: int) -> list[np.ndarray]:
    """Draws in groups small enough to evaluate at once."""
    each = max(1, BLOCK // (points * len(plane.budgets.values)))
    return [np.arange(k, min(k + each, plane.size)) for k in range(0, plane.size, each)]


def balance(by_size: Any, by_ratio: Any) -> Any:
    """T1 S2 - T2 S1, positive below the efficient size; first axis: the two objectives.

    The one that gains least by the second source counts as losing, by next to nothing if need be.
    """
    first_loses = by_ratio[0] >= by_ratio[1]
    losing = np.maximum(np.maximum(by_ratio[0], by_ratio[1]), TINY)
    gaining = np.minimum(np.minimum(by_ratio[0], by_ratio[1]), -TINY)
    one, other = np.where(first_loses, by_size, by_size[::-1])
    return one * gaining - other * losing


def implied(by_ratio: Any) -> np.ndarray:
    """Weight of the first loss that makes a ratio the best, from both derivatives in ln r."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return by_ratio[1] / (by_ratio[1] - by_ratio[0])


def _closed(plane: Plane, terms: Terms, log_r: np.ndarray) -> Found:
    """Closed form, a block of draws and one budget at a time: small arrays stay in the cache."""
    products = np.log(plane.budgets.values / plane.budgets.cost.factor)  # ln(N D)
    shape = (plane.size, len(products), len(log_r))
    log_n, losses, weight = np.empty(shape), np.empty((*shape, 2)), np.empty(shape)
    each = max(1, CACHED // len(log_r))
    drifts = [plane.drift(c) for c in plane.budgets.values]
    for first in range(0, plane.size, each):
        last = min(first + each, plane.size)
        part = terms.at(slice(first * len(log_r), last * len(log_r)))
        for k, product in enumerate(products):
            x = _closed_root(part, product)  # a drift scales both sides of its equation alike
            size, data = part.parts(x, product - x)
            both = np.stack([part.E + size + data, part.slopes(x, product - x)[1]])
            found, by_ratio = np.moveaxis(both.reshape(2, 2, last - first, -1), 1, -1)
            drift = drifts[k]
            by = None if drift is None else drift[first:last, None]
            here = (slice(first, last), k)
            log_n[here] = x.reshape(last - first, -1)
            losses[here], growth = plane.moved(found, by)
            weight[here] = implied(np.moveaxis(by_ratio * growth, -1, 0))
    return log_n, losses, weight


def _closed_root(part: Terms, product: float) -> np.ndarray:
    from scipy.optimize.elementwise import find_root

    own = part.optimum(product)

    def excess(x: np.ndarray, cell: np.ndarray) -> np.ndarray:
        left = part if len(cell) == own.shape[1] else part.at(cell)  # the rest has converged
        return balance(*left.slopes(x, product - x))

    ends = (own.min(0) - EDGE, own.max(0) + EDGE)
    found: Any = find_root(excess, ends, args=(np.arange(own.shape[1]),), tolerances=PRECISE)
    return found.x


def _numeric(plane: Plane, draws: np.ndarray, log_r: np.ndarray) -> Found:
    budgets = plane.budgets
    shape = (len(draws), len(budgets.values), len(log_r))
    draw = np.broadcast_to(draws[:, None, None], shape).ravel()
    budget = np.broadcast_to(budgets.values[:, None], shape).ravel()
    ratio = np.broadcast_to(log_r, shape).ravel()
    if budgets.free_size:
        x = _root(plane, draw, ratio, budget)
    else:
        x = np.full(len(draw), np.log(budgets.n_params or 1.0))
    losses = plane.losses(draw, x, two_shares(ratio), budget)
    weight = implied(np.moveaxis(plane.slopes(draw, x, ratio, budget)[1], -1, 0))
    return x.reshape(shape), losses.reshape(*shape, -1), weight.reshape(shape)


def _root(plane: Plane, draw: np.ndarray, ratio: np.ndarray, budget: np.ndarray) -> np.ndarray:
    from scipy.optimize.elementwise import find_root

    def excess(x: np.ndarray, k: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            found = plane.slopes(draw[k], x, ratio[k], budget[k])
        return balance(*(np.moveaxis(f, -1, 0) for f in found))

    found: Any = find_root(
        excess, _wide(plane, budget), args=(np.arange(len(draw)),), tolerances=PRECISE
    )
    return np.where(found.success, found.x, np.nan)


def _wide(plane: Plane, budget: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the sizes looked at: a factor e^16 either side of as many parameters as tokens."""
    middle = 0.5 * np.log(budget / plane.budgets.cost.flops(1.0, 1.0))
    return middle - WIDE, middle + WIDE


def many(plane: Plane, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sizes between the objectives' own best ones at each composition, for any number of them.

    At a composition each loss falls to its own best size and rises beyond; between the smallest
    and the largest of these sizes one loss gains what another loses, and nowhere else. No weights
    are needed, so that parts of a frontier which no weighted sum reaches are found too.

    Parameters
    ----------
    plane : Plane
    shares : array, shape (composition, source)

    Returns
    -------
    log_n : array, shape (draw, budget, composition * size)
    losses : array, shape (draw, budget, composition * size, objective)
    """
    found = [_some(plane, draws, shares) for draws in blocks(plane, 8 * len(shares))]
    sizes, losses = zip(*found, strict=True)
    return np.concatenate(sizes), np.concatenate(losses)


def sizes_a_composition(plane: Plane) -> int:
    """How many sizes `many` gives at each composition."""
    return len(FRACTIONS) if plane.budgets.free_size else 1


def _some(plane: Plane, draws: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    budgets = plane.budgets
    shape = (len(draws), len(budgets.values), len(shares))
    draw, budget = draws[:, None, None], budgets.values[:, None]
    if budgets.free_size:
        find = _own_sizes_closed if closed_form(plane) else _own_sizes
        ends = find(plane, draws, shares)
        steps = np.array(FRACTIONS)
        x = ends.min(0)[..., None] * (1 - steps) + ends.max(0)[..., None] * steps
    else:
        x = np.full((*shape, 1), np.log(budgets.n_params or 1.0))
    losses = plane.losses(draw[..., None], x, shares[:, None], budget[..., None])
    flat = (*shape[:2], -1)
    return x.reshape(flat), losses.reshape(*shape[:2], -1, losses.shape[-1])


def _own_sizes_closed(plane: Plane, draws: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Log of the best size for each loss alone, shape (objective, draw, budget, composition)."""
    budgets = plane.budgets
    some = replace(plane, objectives=plane.objectives.take(draws))
    terms = terms_of(some, shares)
    found = [terms.optimum(p) for p in np.log(budgets.values / budgets.cost.factor)]
    return np.stack(
        [x.reshape(len(x), len(draws), len(shares)) for x in found], axis=2
    )  # fmt: skip


def _own_sizes(plane: Plane, draws: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """As `_own_sizes_closed`, for any law: where the loss's derivative in ln N is zero."""
    from scipy.optimize.elementwise import find_root

    count = len(plane.objectives.names)
    every = (count, len(draws), len(plane.budgets.values), len(shares))
    draw, budget, which, place = (
        np.broadcast_to(x, every).ravel()
        for x in (
            draws[:, None, None],
            plane.budgets.values[:, None],
            np.arange(count)[:, None, None, None],
            np.arange(len(shares)),
        )
    )

    def slope(x: np.ndarray, k: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            up, down = (
                plane.losses(draw[k], x + d, shares[place[k]], budget[k]) for d in (STEP, -STEP)
            )
        return (up - down)[np.arange(len(k)), which[k]]

    found: Any = find_root(
        slope, _wide(plane, budget), args=(np.arange(len(draw)),), tolerances={"xatol": 1e-6}
    )
    return np.where(found.success, found.x, np.nan).reshape(every)
