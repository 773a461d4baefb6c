"""What is asked of a mixture: what to minimise, which budget, which mixtures are allowed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.mix.limits import read_limits
from bayescale.answers.objectives import Objectives
from bayescale.answers.points import read_values
from bayescale.answers.wander import Wander
from bayescale.drift import COMPUTE
from bayescale.errors import FitError, nearest
from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel

KINDS = ("mean", "weighted", "worst")


@dataclass(frozen=True)
class Problem:
    """A question about the best mixture.

    Parameters
    ----------
    objectives : Objectives
    kind : {"mean", "weighted", "worst"}
        Mean of L - E, weighted mean of L, or the largest weighted L - E.
    weights : array, shape (objective,)
        0: the target doesn't count. They sum to one, but for ``worst``, whose largest is one.
    low, high : array, shape (source,)
        Shares allowed, by the limits alone.
    caps : array, shape (source,)
        Most tokens of each source, by its unique ones where the law has no repetition.
    unique : array, shape (repeated,)
        Unique tokens of the sources that may be repeated; infinite where none are stated.
    N, D, C : float or None
        Parameters, sampled tokens, FLOP; N and D None where N is free.
    factor : float
        C = factor N D.
    wander : Wander
        Errors of the best size and shares at this budget.
    floor : array, shape (draw, objective), or None
        What losses are counted from: E, moved by its drift at this budget; None where losses
        themselves count.
    """

    objectives: Objectives
    kind: str
    weights: np.ndarray
    low: np.ndarray
    high: np.ndarray
    caps: np.ndarray
    unique: np.ndarray
    N: float | None
    D: float | None
    C: float | None
    factor: float
    wander: Wander
    floor: np.ndarray | None

    @property
    def free(self) -> bool:
        """Whether N is to be found too."""
        return self.D is None

    @property
    def counted(self) -> np.ndarray:
        """Positions of the targets that count."""
        return np.flatnonzero(self.weights)

    def losses(self, draw: Any, N: Any, D: Any) -> np.ndarray:
        """Losses of given draws, shape (..., objective); repetition by the unique tokens.

        With drift, and each draw's best choice where it wanders to.
        """
        of = self.objectives
        with np.errstate(all="ignore"):
            U = np.minimum(D, self.all_unique) if of.repeated else None
            if self.wander:
                N, D, U = self.wander.read_at(draw, N, D, U)
            return of.losses(draw, N, D, None if U is None else U[..., of.places])

    @property
    def all_unique(self) -> np.ndarray:
        """Unique tokens of every source, shape (source,); infinite where none are stated."""
        found = np.full(len(self.objectives.sources), np.inf)
        found[self.objectives.places] = self.unique
        return found

    @property
    def fixed_drift(self) -> bool:
        """Whether all choices have drifted alike: the place doesn't move with the size."""
        drift = self.objectives.view.drift
        return not self.free or drift is None or drift.along == COMPUTE

    def value(self, draw: Any, N: Any, D: Any) -> np.ndarray:
        """What is minimised, in nats/token, for given draws at given N and tokens."""
        return self.score(draw, self.losses(draw, N, D))

    def score(self, draw: Any, losses: np.ndarray) -> np.ndarray:
        """What is minimised, from losses of given draws."""
        of = self.counted
        found, weights = losses[..., of], self.weights[of]
        if self.kind == "weighted":
            return found @ weights
        assert self.floor is not None
        reducible = found - self.floor[draw][..., of]
        return (reducible * weights).max(-1) if self.kind == "worst" else reducible @ weights

    def size(self, D: Any) -> Any:
        """Parameters at some tokens: the stated ones, or what the compute leaves."""
        if self.free:
            assert self.C is not None
            return self.C / (self.factor * D)
        return self.N

    def budget(self) -> str:
        """The budget in words."""
        said = [f"{n} = {quantity(v)}" for n in "CDN" if (v := getattr(self, n)) is not None]
        return ", ".join([*said, *(["N free"] if self.free else [])])

    def aim(self) -> str:
        """What is minimised, in words."""
        names = [self.objectives.names[k] for k in self.counted]
        listed = ", ".join(names)
        even = len(set(self.weights[self.counted])) == 1
        if not even:
            pairs = zip(names, self.weights[self.counted], strict=True)
            listed = ", ".join(f"{n} {w:.3g}" for n, w in pairs)
        if len(names) == 1:
            return f"L of {names[0]}" if self.kind == "weighted" else f"L - E of {names[0]}"
        said = {"mean": "mean of L - E over", "weighted": "weighted mean of L over"}
        return f"{said.get(self.kind, 'largest L - E of')} {listed}"


def read_problem(
    objectives: Objectives,
    cost: "CostModel",
    *,
    C: Any,
    D: Any,
    N: Any,
    unique: Mapping[str, Any] | None,
    limits: Mapping[str, Any] | None,
    objective: str | None,
    weights: Mapping[str, Any] | None,
    targets: Sequence[str] | str | None,
) -> Problem:
    """Check what is asked, and put it in the order of the law's labels; see `mix`."""
    kind = objective or ("weighted" if weights else "mean")
    if kind not in KINDS:
        raise FitError(
            f"objective is {kind!r}; expected {' or '.join(KINDS)}." + nearest(str(kind), [*KINDS])
        )
    if kind == "mean" and weights:
        raise FitError("objective='mean' counts all targets alike; take 'weighted' with weights.")
    size, tokens, compute = read_budget(objectives, cost, C, D, N)
    low, high, caps, endless = read_limits(objectives, limits, unique)
    free = objectives.reads_size and tokens is None
    product = compute / cost.factor if free and compute else (size or 1.0) * (tokens or 1.0)
    far = objectives.efolds_beyond(product)
    return Problem(
        objectives=objectives,
        kind=kind,
        weights=read_weights(objectives.names, weights, targets, kind),
        low=low,
        high=high,
        caps=caps,
        unique=endless,
        N=size,
        D=tokens,
        C=compute,
        factor=cost.factor,
        wander=objectives.wander.at(far, size=free),
        floor=None if kind == "weighted" else _floor(objectives, size, tokens, product),
    )


def _floor(of: Objectives, size: float | None, tokens: float | None, product: float) -> np.ndarray:
    """E of each objective, drifted as losses are at this budget, shape (draw, objective).

    Where the size is free and the drift is along size or tokens alone, E is taken as it is.
    """
    every = np.arange(of.size)
    E, drift = of.irreducible(every), of.view.drift
    if drift is None or (tokens is None and drift.along != COMPUTE):
        return E
    total = product if tokens is None else tokens  # at a free size any will do, so that of 1
    D = np.full(len(of.sources), total / len(of.sources))
    return of.view.moved(E, of.drift(every, 1.0 if size is None else size, D))


def read_weights(
    names: tuple[str, ...], weights: Any, targets: Sequence[str] | str | None, kind: str
) -> np.ndarray:
    """Weights of all targets: those given, 1 for others, 0 for those that don't count."""
    chosen = names if targets is None else (targets,) if isinstance(targets, str) else targets
    given = dict(weights or {})
    for name in (*chosen, *given):
        if name not in names:
            raise FitError(
                f"there is no target '{name}'; the law has {', '.join(names)}."
                + nearest(str(name), list(names))
            )
    found = np.array([1.0 if n in chosen else 0.0 for n in names])
    for name, value in given.items():
        try:
            weight = float(value)
        except (TypeError, ValueError):
            weight = float("nan")
        if not (np.isfinite(weight) and weight >= 0):
            raise FitError(
                f"the weight of '{name}' is {value}; expected a number of at least 0 (0: it "
                "doesn't count)."
            )
        if name in chosen:
            found[names.index(name)] = weight
    if not found.any():
        raise FitError("all weights are 0, so that nothing counts; give one target a positive one.")
    return found / (found.max() if kind == "worst" else found.sum())


def read_budget(
    objectives: Objectives, cost: "CostModel", C: Any, D: Any, N: Any
) -> tuple[float | None, float | None, float | None]:
    """N, D and C as far as they are stated or follow; N and D None where N is free."""
    law, N = objectives.fit.law, None if N == "free" else N
    given = {k: _one(k, v) for k, v in (("N", N), ("D", D), ("C", C)) if v is not None}
    if not objectives.reads_size:
        if set(given) != {"D"}:
            raise FitError(
                f"law '{law.name}' here is of runs of one size and doesn't read N: give the "
                "tokens D alone."
            )
        return None, given["D"], None
    if len(given) == 3:
        raise FitError("N, D and C are all given; give two of them, or C alone to leave N free.")
    if set(given) == {"D"} or set(given) == {"N"} or not given:
        only = f"{next(iter(given))} alone" if given else "no budget"
        raise FitError(
            f"{only} is given: more of the rest always lowers the loss. Give C (N is then free), "
            "or two of N, D and C."
        )
    if "C" in given and cost.kind == "active":
        raise FitError(
            "this fit's compute counts active parameters, which a new size doesn't fix: give D "
            "and N, or pass cost=six_nd(6 * share) with the share of parameters that are active."
        )
    if set(given) == {"C"} and cost.kind == "custom":
        raise FitError(f"N can't be left free under {cost.describe()}; give N, or cost=six_nd().")
    return _completed(given, cost)


def _completed(
    given: Mapping[str, float], cost: "CostModel"
) -> tuple[float | None, float | None, float | None]:
    if set(given) == {"C"}:
        return None, None, given["C"]
    if "C" not in given:
        known = cost.kind != "active"
        flops = float(cost.flops(given["N"], given["D"])) if known else None
        return given["N"], given["D"], flops
    if "N" in given:
        return given["N"], float(cost.tokens(given["N"], given["C"])), given["C"]
    return float(cost.params(given["C"], given["D"])), given["D"], given["C"]


def _one(name: str, value: Any) -> float:
    read = read_values(name, value)
    if len(read) != 1:
        raise FitError(f"{name} has {len(read)} values; a mixture is of one budget at a time.")
    return float(read[0])
