"""The optimum of every draw, by one compiled program that takes draws in parts of one size."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.answers.mix.region import Region, starts
from bayescale.answers.mix.solver import TOLERANCE, minimise
from bayescale.answers.objectives import View
from bayescale.answers.wander import read_at
from bayescale.drift import follow

PART = 250  # draws a call: their arrays lie in the cache, and any number of draws is one program
MOST_KEPT = 16
CORNER = 1e-6  # of share: an optimum so close to a limit is tried at it

_kept: dict[Any, Callable[..., Any]] = {}


@dataclass(frozen=True)
class Solution:
    """The optimum of every draw.

    Parameters
    ----------
    shares : array, shape (draw, source)
    total : array, shape (draw,)
        Tokens.
    value : array, shape (draw,)
        What is minimised.
    error : array, shape (draw,)
        What is left of the slopes, nats.
    apart : array, shape (draw,)
        How much worse the worst start ended than the best, nats.
    edge : array, shape (draw,)
        Whether the best size lies at the end of the range in which it was looked for.
    """

    shares: np.ndarray
    total: np.ndarray
    value: np.ndarray
    error: np.ndarray
    apart: np.ndarray
    edge: np.ndarray


def solve(region: Region, draws: np.ndarray) -> Solution:
    """Find the optimum of each of these draws, from several starts.

    Parameters
    ----------
    region : Region
    draws : integer array, shape (draw,)
    """
    problem = region.problem
    begin = starts(region, draws)
    if region.unknowns:
        x, _, error = _run(region, draws, begin)
    else:
        x = np.zeros((len(draws), 1, 0))
        error = np.zeros((len(draws), 1))
    shares, total = region.points(x)
    tokens = shares * total[..., None]
    value = problem.value(draws[:, None], problem.size(total), tokens)
    value = np.where(np.isfinite(value), value, np.inf)
    best = (np.arange(len(draws)), np.argmin(value, axis=1))
    shares, total, apart = shares[best], total[best], value.max(axis=1) - value[best]
    shares, value = _to_corners(region, draws, shares, total, value[best])
    ends = np.zeros(len(draws), bool)
    if problem.free:
        log = np.log(total / region.total)
        ends = (log < region.tokens_range[0] + 1e-3) | (log > region.tokens_range[1] - 1e-3)
        ends &= ~_at_cap(region, total)
    return Solution(shares, total, value, error[best], apart, ends)


def _to_corners(
    region: Region, draws: np.ndarray, shares: np.ndarray, total: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Optima met from inside, moved to the limits they approach where that costs nothing."""
    problem = region.problem
    near = np.where(shares - region.low < CORNER, region.low, shares)
    near = np.where(region.high - near < CORNER, region.high, near)
    near = region.within(near)
    there = problem.value(draws, problem.size(total), near * total[:, None])
    better = there <= value + TOLERANCE  # False where a target needs some tokens of its own
    return np.where(better[:, None], near, shares), np.where(better, there, value)


def _at_cap(region: Region, total: np.ndarray) -> np.ndarray:
    """Whether the tokens are all that unique ones allow, which is no end of our making."""
    from bayescale.answers.mix.limits import most_tokens

    p = region.problem
    return total > most_tokens(p.low, p.high, p.caps) * 0.99


def _run(
    region: Region, draws: np.ndarray, begin: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Call the program part by part: x, value and error, with axes draw and start."""
    from bayescale.inference.engine import find_device, float64

    p = region.problem
    of = p.objectives
    beside = _beside(region)
    arrays, parts = dict(region.arrays()), -(-len(draws) // PART)
    device, found = find_device("cpu"), []
    with float64(device):
        for k in range(parts):
            mine = np.resize(draws[k * PART : (k + 1) * PART], PART)
            params = {name: v[mine] for name, v in of.params.items()}
            args = (params, {k: v[mine] for k, v in beside.items()}, begin, arrays)
            function = _program(of.view, tuple(p.counted.tolist()), p.kind, p.free, args, device)
            found.append([np.asarray(a) for a in function(*args)])
    x, value, error = (np.concatenate(a)[: len(draws)] for a in zip(*found, strict=True))
    return x, value, error


def _beside(region: Region) -> dict[str, np.ndarray]:
    """What else a program reads of each draw: floor, drift, and the optimum's errors."""
    p = region.problem
    of, every = p.objectives, np.arange(p.objectives.size)
    found = {"floor": np.zeros((of.size, len(of.names))) if p.floor is None else p.floor}
    if p.wander or of.paths:  # with drift always, so that one program serves all budgets
        found |= {"wander_size": p.wander.size, "wander_shares": p.wander.shares}
    if of.paths and p.fixed_drift:
        total = region.total
        size = 1.0 if not of.reads_size else float(p.size(total))
        tokens = np.full(len(of.sources), total / len(of.sources))
        found["drift"] = of.drift(every, size, tokens)
    elif of.paths:
        paths = of.paths
        found["knots"] = np.broadcast_to(paths[0].knots, (of.size, len(paths[0].knots)))
        found["values"] = np.stack([path.values for path in paths], axis=1)
        found["slopes"] = np.stack([path.slopes for path in paths], axis=1)
    return found


def _program(
    view: View, counted: tuple[int, ...], kind: str, free: bool, args: Any, device: Any
) -> Callable[..., Any]:
    """The compiled program, made once a process and kept on disk beside the sampler's."""
    from bayescale.inference.cache import compiled, shapes

    worst = kind == "worst"
    key = (view, counted, worst, free, shapes(args))
    if key not in _kept:
        _kept[key] = compiled("mix", lambda: build(view, counted, worst, free), args, None, device)[
            0
        ]
        while len(_kept) > MOST_KEPT:
            _kept.pop(next(iter(_kept)))
    return _kept[key]


def build(view: View, counted: tuple[int, ...], worst: bool, free: bool) -> Callable[..., Any]:
    """The function to compile: (parameters, beside, starts, region) -> x, value, error.

    Beside the parameters of each draw lie, from `_beside`, the floor and, where there are any, the
    drift at this budget (or its path) and the errors of the optimum.
    """
    import jax
    import jax.numpy as jnp

    of = np.array(counted)

    def point(x: Any, region: Mapping[str, Any]) -> tuple[Any, Any]:
        """Tokens of all sources, and N."""
        count = region["basis"].shape[1]
        total = region["total"] * (jnp.exp(x[count]) if free else 1.0)
        tokens = (region["centre"] + region["basis"] @ x[:count]) * total
        return tokens, region["compute"] / total if free else region["N"]

    def excess(x: Any, params: Any, beside: Any, region: Mapping[str, Any]) -> Any:
        """Weighted L - E of the targets that count."""
        D, N = point(x, region)
        U = jnp.minimum(D, region["unique"]) if view.repeated else None
        place = view.place(N, D, jnp) if "knots" in beside else None
        if "wander_size" in beside:
            N, D, U = read_at(beside["wander_size"], beside["wander_shares"], N, D, U)
        found = view.losses(params, N, D, None if U is None else U[view.places], jnp)
        if "drift" in beside:
            found = view.moved(found, beside["drift"])
        if "knots" in beside:
            by = follow(beside["knots"], beside["values"], beside["slopes"], place)
            found = view.moved(found, by)
        return (found - beside["floor"])[of] * region["weights"]

    def bounds(x: Any, region: Mapping[str, Any]) -> Any:
        count = region["basis"].shape[1]
        found = [region["slopes"] @ x[:count] + region["room"]]
        if free:
            low, high = region["tokens_range"]
            found += [jnp.stack([x[count] - low, high - x[count]])]
            tokens, _ = point(x, region)
            found += [1 - region["used"] * tokens]
        return jnp.concatenate(found)

    def best(params: Any, beside: Any, start: Any, region: Mapping[str, Any]) -> Any:
        if not worst:
            return minimise(
                lambda x: excess(x, params, beside, region).sum(),
                lambda x: bounds(x, region),
                start,
            )
        most = excess(start, params, beside, region).max()
        top = most + 0.5 * jnp.abs(most)
        x, value, error = minimise(
            lambda v: v[-1],
            lambda v: jnp.concatenate(
                [bounds(v[:-1], region), v[-1] - excess(v[:-1], params, beside, region)]
            ),
            jnp.concatenate([start, top[None]]),
        )
        return x[:-1], value, error

    each = jax.vmap(best, (None, None, 0, None))
    return jax.vmap(each, (0, 0, None, None))
