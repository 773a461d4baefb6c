"""The mixtures among which to look, in coordinates without constraints between them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayescale.answers.mix.limits import NARROW, at_total, check_total, most_tokens
from bayescale.answers.mix.problem import Problem
from bayescale.errors import FitError
from bayescale.tables import quantity

RANGE = np.log(1e4)  # tokens this far from the best of a coarse scan, either way, if N is free
SCAN = np.linspace(0.02, 0.98, 97)  # of ln N, from one parameter to one token
SOME = 64  # draws that a coarse look takes
POINTS = 96  # mixtures among which starts are chosen


@dataclass(frozen=True)
class Region:
    """Mixtures ``centre + basis @ x`` with ``slopes @ x + room > 0``, and how many tokens.

    Parameters
    ----------
    problem : Problem
    low, high : array, shape (source,)
        Shares allowed, each end reached by some mixture.
    centre : array, shape (source,)
        A mixture inside.
    basis : array, shape (source, unknown)
        Moves of shares that sum to nothing; none of sources whose share is fixed.
    slopes, room : array, shape (bound, unknown), (bound,)
    total : float
        Tokens: the stated ones, or where to start from.
    tokens_range : (float, float)
        Log of tokens over ``total`` between which to look, where N is free.
    """

    problem: Problem
    low: np.ndarray
    high: np.ndarray
    centre: np.ndarray
    basis: np.ndarray
    slopes: np.ndarray
    room: np.ndarray
    total: float
    tokens_range: tuple[float, float]

    @property
    def unknowns(self) -> int:
        """Shares that can be chosen freely, and the tokens where N is free."""
        return self.basis.shape[1] + self.problem.free

    def arrays(self) -> Mapping[str, np.ndarray]:
        """All that a compiled program reads of it."""
        p = self.problem
        return {
            "centre": self.centre,
            "basis": self.basis,
            "slopes": self.slopes,
            "room": self.room,
            "total": np.array(self.total),
            "compute": np.array((p.C or 0.0) / p.factor),
            "N": np.array(p.N or 1.0),
            "unique": np.minimum(p.all_unique, 1e300),
            "used": 1 / p.caps,  # of a source's unique tokens by one of its tokens
            "tokens_range": np.array(self.tokens_range),
            "weights": p.weights[p.counted],
        }

    def points(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Shares and all tokens of unknowns, shapes (..., source) and (...)."""
        count = self.basis.shape[1]
        total = self.total * np.exp(x[..., count]) if self.problem.free else self.total
        shares = self.centre + x[..., :count] @ self.basis.T
        return self.within(shares), np.broadcast_to(total, x.shape[:-1])

    def within(self, shares: np.ndarray) -> np.ndarray:
        """Shares moved to their limits where they pass them by rounding; they sum to one."""
        shares = np.clip(shares, self.low, self.high)
        # what that adds up to is taken from the source that is farthest from its limits
        free = np.argmax(np.minimum(shares - self.low, self.high - shares), axis=-1)
        rest = 1 - shares.sum(-1, keepdims=True)
        return shares + rest * (np.arange(shares.shape[-1]) == free[..., None])

    def coordinates(self, shares: np.ndarray) -> np.ndarray:
        """Unknowns of mixtures, with the tokens of the coarse scan."""
        x = (shares - self.centre) @ self.basis
        tokens = np.zeros((*x.shape[:-1], int(self.problem.free)))
        return np.concatenate([x, tokens], axis=-1)


def make_region(problem: Problem) -> Region:
    """The mixtures that a problem allows.

    Raises
    ------
    FitError
        There are none, or a target that counts has an infinite loss in all.
    """
    low, high, caps = problem.low, problem.high, problem.caps
    if problem.D is not None:
        check_total(problem.objectives, low, high, caps, problem.D)
        total, ends = problem.D, (0.0, 0.0)
    else:
        total, ends = _scan(problem)
    # caps bound shares only at a fixed number of tokens; else they are bounds of their own
    inner = at_total(low, high, caps, total)
    low, high = inner if problem.D is not None else at_total(low, high, caps + np.inf, total)
    choice = np.flatnonzero(high - low > NARROW)
    middle = inner[0] + (inner[1] - inner[0]) * _part(*inner)
    basis = np.zeros((len(low), max(len(choice) - 1, 0)))
    if len(choice) > 1:
        basis[choice] = np.linalg.svd(np.eye(len(choice)) - 1 / len(choice))[0][:, :-1]
    else:
        choice = choice[:0]
    # where all others at their least bound a source, an end of its own is put out of reach
    implied = high[choice] > 1 - (low.sum() - low[choice]) - NARROW
    slopes = np.concatenate([basis[choice], -basis[choice]])
    room = np.concatenate([(middle - low)[choice], (high - middle)[choice] + implied])
    return Region(problem, low, high, middle, basis, slopes, room, total, ends)


def _part(low: np.ndarray, high: np.ndarray) -> float:
    width = high.sum() - low.sum()
    return float((1 - low.sum()) / width) if width > NARROW else 0.5


def _scan(problem: Problem) -> tuple[float, tuple[float, float]]:
    """Where to look for the tokens: the best of a coarse scan of sizes, and how far from it."""
    assert problem.C is not None
    budget = problem.C / problem.factor
    most = most_tokens(problem.low, problem.high, problem.caps) * (1 - 1e-6)
    totals = np.minimum(budget ** (1 - SCAN), most)
    found, draw, tokens = [], _some(problem.objectives.size), np.zeros(len(problem.low))
    for total in totals:
        low, high = at_total(problem.low, problem.high, problem.caps, total)
        tokens = (low + (high - low) * _part(low, high)) * total
        found.append(np.mean(problem.value(draw, problem.size(total), tokens)))
    values = np.where(np.isfinite(found), found, np.inf)
    if np.isinf(values).all():
        check_finite(problem, tokens, float(tokens.sum()))
    best = float(totals[int(np.argmin(values))])
    if best >= most * (1 - 1e-9):
        best = 0.5 * most
    top = min(RANGE, float(np.log(most / best))) if np.isfinite(most) else RANGE
    return best, (-RANGE, top)


def check_finite(problem: Problem, tokens: np.ndarray, total: float) -> None:
    """Raise where a target that counts has no finite loss under the limits."""
    of = problem.objectives
    losses = problem.losses(_some(of.size), problem.size(total), tokens)
    for k in problem.counted:
        if not np.isfinite(losses[:, k]).all():
            name = of.names[k]
            if name in of.sources and tokens[of.sources.index(name)] <= 0:
                raise FitError(
                    f"the limits leave no tokens of '{name}', without which its loss is infinite "
                    f"in law '{of.fit.law.name}': raise its limit, or leave it out of the targets "
                    "that count."
                )
            raise FitError(
                f"the loss of '{name}' at {quantity(total)} tokens is not finite in "
                f"{np.mean(~np.isfinite(losses[:, k])):.0%} of the draws; check the fit."
            )


def candidates(region: Region) -> np.ndarray:
    """Mixtures from all over the region, shape (point, source); its centre is the first."""
    rng, p = np.random.default_rng(0), region.problem
    count, (low, high) = len(region.centre), at_total(p.low, p.high, p.caps, region.total)
    shares = [np.full(count, 1 / count), *(0.8 * np.eye(count) + 0.2 / count)]
    shares += list(rng.dirichlet(np.full(count, 0.7), POINTS))
    moves = (np.array(shares) - region.centre) @ region.basis @ region.basis.T
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(moves > 1e-12, (high - region.centre) / moves, np.inf)
        down = np.where(moves < -1e-12, (low - region.centre) / moves, np.inf)
    far = np.minimum(1.0, np.minimum(up.min(axis=1), down.min(axis=1)))
    return np.concatenate([region.centre[None], region.centre + 0.9 * far[:, None] * moves])


def starts(region: Region, draws: np.ndarray, count: int = 3) -> np.ndarray:
    """Starts for all draws, shape (start, unknown): the centre, and good ones led by others."""
    if not region.basis.shape[1]:
        return np.zeros((1, region.unknowns))
    p, shares = region.problem, candidates(region)
    draw = draws[_some(len(draws))][:, None]
    values = p.value(draw, p.size(region.total), shares * region.total)
    expected = np.where(np.isfinite(values), values, np.inf).mean(axis=0)
    kept = [0]
    for k in np.argsort(expected):
        far = all(np.abs(shares[k] - shares[j]).sum() > 0.2 for j in kept)
        if np.isfinite(expected[k]) and far and len(kept) < count:
            kept.append(int(k))
    # as many for every region of one shape, so that one program serves them
    kept += [kept[-1]] * (count - len(kept))
    return region.coordinates(shares[kept])


def _some(size: int) -> np.ndarray:
    return np.unique(np.linspace(0, size - 1, min(size, SOME)).astype(int))
