"""A fit's loss surface: one law a posterior draw, evaluated anywhere."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.law_draws import LawDraws
from bayescale.drift import COMPUTE, Path
from bayescale.errors import FitError, nearest

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit

# e-folds of compute either side within which a loss is sought, one after the other
REACHES = (0.25, 0.75, 1.75, 3.75, 7.75, float(np.log(1e9)))


@dataclass(frozen=True)
class Surface:
    """The laws of all posterior draws, for one group of runs.

    Parameters
    ----------
    fit : Fit
    params : mapping
        Parameter -> draws, shape (draw, ...); law and noise, in the field's terms, with the
        parameters' own axes behind.
    group : mapping
        Grouping column -> the group that it is of.
    drift, inner : Path, optional
        How far each draw wanders from the law; and how far it would if it went straight on beyond
        the runs.
    """

    fit: "Fit"
    params: Mapping[str, np.ndarray]
    group: Mapping[str, str]
    drift: Path | None = None
    inner: Path | None = None

    @property
    def size(self) -> int:
        """Number of draws."""
        return len(next(iter(self.params.values())))

    @property
    def wander(self) -> np.ndarray | float:
        """Error of ln N_opt per e-fold of compute beyond the data, shape (draw,), or 0."""
        drift = self.fit.model.drift
        if drift is None:
            return 0.0
        rng = np.random.default_rng([self.fit.seed, 37])
        return drift.size * rng.standard_normal(self.size)

    def mean(self, draw: Any, **inputs: Any) -> np.ndarray:
        """The law's mean moved by its drift; see `exact`."""
        return self._moved(self.drift, draw, inputs)

    def ranked(self, draw: Any, **inputs: Any) -> np.ndarray:
        """What choices at one compute are ranked by; see `LawDraws.ranked`."""
        drift = self.fit.model.drift
        moves_all = drift is None or drift.along == COMPUTE
        return self.exact(draw, **inputs) if moves_all else self.mean(draw, **inputs)

    def held(self, N: np.ndarray, D: np.ndarray) -> "Surface":
        """The laws with their drift held; see `LawDraws.held`."""
        drift = self.fit.model.drift
        if self.drift is None or drift is None or drift.along != COMPUTE:
            return self
        place = drift.place(self.fit.law, {"N": N, "D": D})
        level = Path.level(self.drift.at(np.arange(self.size), place))
        return replace(self, drift=level, inner=level)

    def take(self, draws: np.ndarray) -> "Surface":
        """The laws of some draws."""
        paths = {n: p.take(draws) for n in ("drift", "inner") if (p := getattr(self, n))}
        return replace(self, params={k: v[draws] for k, v in self.params.items()}, **paths)

    def straight(self, draw: Any, **inputs: Any) -> np.ndarray:
        """The mean with the drift going straight on beyond the runs: all that they tell."""
        return self._moved(self.inner, draw, inputs)

    def _moved(self, path: Path | None, draw: Any, inputs: Mapping[str, Any]) -> np.ndarray:
        mean, model = self.exact(draw, **inputs), self.fit.model
        if path is None or model.drift is None:
            return mean
        arrays = {k: np.asarray(v, dtype=float) for k, v in inputs.items()}
        return model.moved(mean, path.at(draw, model.drift.place(model.law, arrays)))

    def exact(self, draw: Any, **inputs: Any) -> np.ndarray:
        """The law's own mean for given draws at given inputs, broadcast together.

        Parameters
        ----------
        draw : integer array
            Positions of draws.
        **inputs
            The law's inputs, each an array that broadcasts with ``draw`` (those with an axis of
            their own have it behind).
        """
        picked = {p.name: self.params[p.name][draw] for p in self.fit.law.params}
        arrays = {k: np.asarray(v, dtype=float) for k, v in inputs.items()}
        return np.asarray(self.fit.law.mean(**picked, **arrays))


def surface(fit: "Fit", group: Mapping[str, Any] | None = None, seed: int = 0) -> Surface:
    """The laws of all draws for one group.

    Parameters
    ----------
    fit : Fit
    group : mapping, optional
        Grouping column -> group, for pooled fits. A column that is left out means a new group:
        drawn around the common value where the pooling is partial.
    seed : int
        Seed of the draws for new groups.

    Raises
    ------
    FitError
        An unknown column or group, or no group given where each has its own parameters.
    """
    model, chosen = fit.model, {k: str(v) for k, v in (group or {}).items()}
    _check_group(fit, chosen)
    rng = np.random.default_rng([fit.seed, seed, 17])
    sites = dict(fit.sites)
    if model.drift:
        sites["drift_step"] = fit.drift_steps
    coordinates, places = {}, {}
    for p in model.params:
        pool = model.pool(p)
        if pool is None:
            coordinates[p.site] = sites[p.site]
        elif pool.column in chosen:
            known = model.coordinates(sites)[p.site]
            place = fit.layout.labels[pool.column].index(chosen[pool.column])
            places[pool.column] = place
            coordinates[p.site] = known[:, place]
        elif pool.kind == "partial":
            support = p.prior.support
            common = support.unconstrain(sites[f"{p.site}_pop"])
            sd = sites[f"{p.site}_sd"].reshape(-1, *(1,) * len(p.dims))
            spread = sd * rng.standard_normal(common.shape)
            coordinates[p.site] = support.constrain(common + spread)
        elif p.name in ("run_offset", "drift_step"):  # standard normal, whatever the group
            known = sites[p.site]
            coordinates[p.site] = rng.standard_normal((len(known), *known.shape[2:]))
        else:
            labels = ", ".join(fit.layout.labels[pool.column][:10])
            raise FitError(
                f"{p.name} of this fit differs by '{pool.column}': say which, e.g. "
                f"{pool.column}='{fit.layout.labels[pool.column][0]}' (known: {labels})."
            )
    refs = {k: np.asarray(v) for k, v in fit.layout.refs.items()}
    known = model.to_params(coordinates, model.references(refs, places))
    params = {p.name: known[p.name] for p in model.params}
    return Surface(fit, params, chosen, *_paths(fit, params))


def _paths(fit: "Fit", params: Mapping[str, np.ndarray]) -> tuple[Path | None, Path | None]:
    """Drifts of all draws, and those that go straight on beyond the runs."""
    grid = fit.layout.drift
    if grid is None:
        return None, None
    scale, steps = params["drift_scale"], params["drift_step"]
    known = np.where(np.arange(steps.shape[-1]) < 2 * grid.half, steps, 0.0)
    return Path.of(grid, scale, steps), Path.of(grid, scale, known)


def _check_group(fit: "Fit", chosen: Mapping[str, str]) -> None:
    for column, label in chosen.items():
        if column not in fit.layout.labels:
            known = list(dict.fromkeys((*fit.model.columns, *fit.law.label_columns)))
            groups = f"groups are by {', '.join(known)}" if known else "the fit has no groups"
            raise FitError(f"unknown argument '{column}': {groups}.{nearest(column, known)}")
        labels = list(fit.layout.labels[column])
        if label not in labels:
            raise FitError(
                f"{column} '{label}' is not in the fit; known: {', '.join(labels[:20])}."
                + nearest(label, labels)
            )


def best_size(
    laws: LawDraws, cost: "CostModel", budget: np.ndarray, draw: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The size that minimises loss under a budget, for each element.

    A coarse scan of ln N brackets the minimum, then Chandrupatla's method (SciPy) refines it.

    Parameters
    ----------
    laws : LawDraws
    cost : CostModel
    budget : array
        FLOP.
    draw : integer array
        Draw of each element; broadcasts with ``budget``.

    Returns
    -------
    n_params : array
        NaN where loss has no minimum inside the scanned range (tokens or parameters below 1).
    loss : array
    """
    from scipy.optimize.elementwise import find_minimum

    budget, draw = np.broadcast_arrays(np.asarray(budget, float), draw)
    flat_budget, flat_draw = budget.ravel(), draw.ravel()

    def loss_at(log_n: np.ndarray, c: np.ndarray, k: np.ndarray) -> np.ndarray:
        size = np.exp(log_n)
        with np.errstate(all="ignore"):
            return laws.ranked(k.astype(int), N=size, D=cost.tokens(size, c))

    widest = np.log(cost.params(flat_budget, np.ones_like(flat_budget)))  # N if D is 1 token
    shares = np.linspace(0.02, 0.98, 61)[:, None]
    scan = loss_at(shares * widest, flat_budget, flat_draw)
    low = np.argmin(np.where(np.isfinite(scan), scan, np.inf), axis=0)
    inside = (low > 0) & (low < len(shares) - 1)
    middle = np.clip(low, 1, len(shares) - 2)
    step = (shares[1, 0] - shares[0, 0]) * widest
    centre = shares[middle, 0] * widest
    found: Any = find_minimum(
        loss_at, (centre - step, centre, centre + step), args=(flat_budget, flat_draw.astype(float))
    )
    ok = inside & np.asarray(found.success)
    size = np.where(ok, np.exp(found.x), np.nan).reshape(budget.shape)
    with np.errstate(all="ignore"):
        return size, laws.mean(draw, N=size, D=cost.tokens(size, budget))


def compute_for_loss(
    laws: LawDraws, cost: "CostModel", loss: np.ndarray, near: float
) -> np.ndarray:
    """The compute at which the frontier of each draw reaches a loss, the nearest to ``near``.

    With a drift the frontier may rise again far beyond the runs, so brackets grow from ``near``.

    Parameters
    ----------
    laws : LawDraws
    cost : CostModel
    loss : array, shape (draw,)
        One loss a draw.
    near : float
        FLOP near which to look; a factor 1e9 on either side is searched.

    Returns
    -------
    array, shape (draw,)
        Infinite where no compute in that range is enough, NaN where it is reached below it.
    """
    from scipy.optimize.elementwise import find_root

    def excess(log_c: np.ndarray, k: np.ndarray, target: np.ndarray) -> np.ndarray:
        return best_size(laws, cost, np.exp(log_c), k.astype(int))[1] - target

    draws, middle = np.arange(laws.size, dtype=float), np.full(laws.size, np.log(near))
    start = excess(middle, draws, loss)
    side = np.where(start > 0, 1.0, -1.0)  # a loss below that of ``near`` is sought above it
    inner, outer = middle.copy(), np.full(laws.size, np.nan)
    waiting, last = np.isfinite(start) & (start != 0), start.copy()
    for reach in REACHES:
        x = middle[waiting] + side[waiting] * reach
        last[waiting] = excess(x, draws[waiting], loss[waiting])
        crossed = last[waiting] * side[waiting] <= 0
        outer[waiting] = np.where(crossed, x, np.nan)
        inner[waiting] = np.where(last[waiting] * side[waiting] > 0, x, inner[waiting])
        waiting[waiting] = ~crossed
    result, found = np.where(start == 0, near, np.nan), np.isfinite(outer)
    if found.any():
        ends = (np.minimum(inner, outer)[found], np.maximum(inner, outer)[found])
        root: Any = find_root(
            excess, ends, args=(draws[found], loss[found]), tolerances={"xrtol": 1e-9}
        )
        result[found] = np.exp(np.asarray(root.x))
    return np.where(waiting & (last > 0), np.inf, result)
