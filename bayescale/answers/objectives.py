"""Several losses of one model at once: a law whose rows are told apart by a label, draw by draw."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.surface import surface
from bayescale.answers.wander import Wander, efolds_beyond, wander_of
from bayescale.data.cost import six_nd
from bayescale.drift import Drift, Path
from bayescale.errors import FitError
from bayescale.scatter import SCALES

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.law import Input, Law

SOURCE = "source"  # axis of the tokens that one model is trained on
REPEATED = "repeated"  # axis of the sources that may be repeated


@dataclass(frozen=True)
class View:
    """A law's losses as one function of parameters and inputs: a value, so that it can be a key.

    Parameters
    ----------
    law : Law
    label : str
        Column that tells the losses apart: ``target``, ``objective``.
    names : tuple of str
        Its labels, in the order of the losses' last axis.
    sources : tuple of str
        What models are trained on, in the order of the last axis of D.
    repeated : tuple of str
        Sources whose data may be repeated, in the order of the last axis of U.
    drift : Drift, optional
        How losses may wander from the law.
    on : str
        The noise's scale, on which they do.
    """

    law: "Law"
    label: str
    names: tuple[str, ...]
    sources: tuple[str, ...]
    repeated: tuple[str, ...]
    drift: Drift | None = None
    on: str = "log"

    @property
    def reads_size(self) -> bool:
        """Whether the law reads parameters N; one without is of runs of one size."""
        return any(i.name == "N" for i in self.law.inputs)

    @property
    def places(self) -> np.ndarray:
        """Positions of the repeated sources among all."""
        return np.array([self.sources.index(s) for s in self.repeated], dtype=int)

    def losses(
        self, params: Mapping[str, Any], N: Any, D: Any, U: Any = None, xp: ModuleType = np
    ) -> Any:
        """Losses, shape (..., objective), of parameters of shape (..., objective or 1, own axes).

        N, D and U are as in `Objectives.losses`. Without drift: see `moved`.
        """
        count, D = len(self.names), xp.asarray(D)
        inputs: dict[str, Any] = {self.label: np.eye(count), "D": _rows(D, count, xp)}
        if self.reads_size:
            inputs["N"] = xp.asarray(N)[..., None]
        if self.repeated:
            unique = D[..., self.places] if U is None else xp.asarray(U)
            inputs["U"] = _rows(unique, count, xp)
        return self.law.mean(**params, **inputs)

    def place(self, N: Any, D: Any, xp: ModuleType = np) -> Any:
        """Where models lie along the drift, as in `Drift.place`, shape (...)."""
        assert self.drift is not None
        sizes = {"N": xp.asarray(N)} if self.reads_size else {}
        return self.drift.place(self.law, {**sizes, "D": xp.asarray(D)})

    def moved(self, losses: Any, by: Any) -> Any:
        """Losses moved by a drift, both of shape (..., objective)."""
        return SCALES[self.on].moved(losses, by)


@dataclass(frozen=True)
class Objectives:
    """The losses of one model on several targets (or objectives), for all posterior draws.

    Parameters
    ----------
    fit : Fit
    view : View
        The law's losses as a function of parameters and inputs.
    params : mapping
        Parameter -> draws, shape (draw, objective or 1, own axes ...).
    paths : tuple of Path
        How far each objective's draws wander from the law; empty without drift.
    wander : Wander
        Errors of the best size and shares beyond the runs.
    """

    fit: "Fit"
    view: View
    params: Mapping[str, np.ndarray]
    paths: tuple[Path, ...]
    wander: Wander

    @property
    def size(self) -> int:
        """Number of draws."""
        return len(next(iter(self.params.values())))

    @property
    def label(self) -> str:
        """Column that tells the losses apart."""
        return self.view.label

    @property
    def names(self) -> tuple[str, ...]:
        """The losses' labels, in the order of their last axis."""
        return self.view.names

    @property
    def sources(self) -> tuple[str, ...]:
        """What models are trained on, in the order of the last axis of D."""
        return self.view.sources

    @property
    def repeated(self) -> tuple[str, ...]:
        """Sources whose data may be repeated, in the order of the last axis of U."""
        return self.view.repeated

    @property
    def reads_size(self) -> bool:
        """Whether the law reads parameters N; one without is of runs of one size."""
        return self.view.reads_size

    @cached_property
    def own(self) -> np.ndarray:
        """1 where a source is the objective's own, shape (objective, source)."""
        return np.array([[float(s == n) for s in self.sources] for n in self.names])

    @property
    def places(self) -> np.ndarray:
        """Positions of the repeated sources among all."""
        return self.view.places

    def losses(self, draw: Any, N: Any, D: Any, U: Any = None, xp: ModuleType = np) -> Any:
        """Losses of given draws at given inputs, broadcast together.

        Parameters
        ----------
        draw : integer array
            Positions of draws.
        N : array or None
            Parameters; not read by a law without a size term.
        D : array, shape (..., source)
            Sampled tokens; ``D.shape[:-1]`` broadcasts with ``draw`` and N.
        U : array, shape (..., repeated), optional
            Unique tokens of the repeated sources; default: none is repeated.
        xp : module
            ``numpy``, or ``jax.numpy`` for gradients.

        Returns
        -------
        array, shape (..., objective)
        """
        found = self.exact(draw, N, D, U, xp)
        return self.view.moved(found, self.drift(draw, N, D)) if self.paths else found

    def exact(self, draw: Any, N: Any, D: Any, U: Any = None, xp: ModuleType = np) -> Any:
        """As `losses`, without drift."""
        picked = {k: xp.asarray(v)[draw] for k, v in self.params.items()}
        return self.view.losses(picked, N, D, U, xp)

    def drift(self, draw: Any, N: Any, D: Any) -> np.ndarray:
        """How far each objective has drifted on the noise's scale, shape (..., objective)."""
        place = self.view.place(N, D)
        return self.drift_at(draw, place)

    def drift_at(self, draw: Any, place: Any) -> np.ndarray:
        """The same at places along the drift."""
        return np.stack([path.at(draw, place) for path in self.paths], axis=-1)

    def take(self, draws: np.ndarray) -> "Objectives":
        """The objectives of some draws."""
        params = {k: v[draws] for k, v in self.params.items()}
        paths = tuple(p.take(draws) for p in self.paths)
        return replace(self, params=params, paths=paths, wander=self.wander.take(draws))

    @property
    def known(self) -> tuple[float, float]:
        """Range of the runs' N D (D of all sources), or of D where the law reads no N."""
        there = self.fit.extent
        tokens = there.span("tokens")
        if not self.reads_size:
            return tokens.low, tokens.high
        if "compute" in there and there.cost.kind == "six_nd":
            seen = there.compute(six_nd(1.0))
            return seen.low, seen.high
        return there.span("N").low * tokens.low, there.span("N").high * tokens.high

    def efolds_beyond(self, amount: Any) -> Any:
        """How far a product N D (or D, see `known`) lies beyond the runs, e-folds."""
        return efolds_beyond(np.asarray(amount, dtype=float), self.known)

    def irreducible(self, draw: Any) -> np.ndarray:
        """E of each objective for given draws, shape (..., objective).

        Raises
        ------
        FitError
            The law has no irreducible loss.
        """
        if "E" not in self.params:
            raise FitError(
                f"law '{self.fit.law.name}' has no irreducible loss E; compare losses themselves "
                "(objective='weighted')."
            )
        E = self.params["E"][draw]
        own_axis = bool(self.fit.law.param("E").dims)
        return E[..., 0, :] if own_axis else np.broadcast_to(
            E, (*E.shape[:-1], len(self.names))
        )  # fmt: skip


def objectives_of(fit: "Fit", group: Mapping[str, Any] | None = None, seed: int = 0) -> Objectives:
    """All losses of a law with labels (mixture, decoupled), seen as functions of N and tokens.

    Parameters
    ----------
    fit : Fit
    group : mapping, optional
        Grouping column -> group, for fits that are pooled over more than the law's own labels.
    seed : int
        Seed of the draws for groups that are not in the data.

    Raises
    ------
    FitError
        The law has one response a run, or its labels aren't losses of one model.
    """
    label = _label(fit.law)
    names, group = fit.law.axes[label.dims[0]], dict(group or {})
    if label.name in group:
        raise FitError(
            f"this answer is about all of {', '.join(names)} at once; leave {label.name} out of "
            "the group, and give weights to say which count."
        )
    by_label = [p.name for p in fit.law.params if p.by == label.name]
    each = names if by_label else names[:1]
    known = label.name in fit.layout.labels  # the noise's scale may differ by it, or the law itself
    drift = fit.model.drift
    each = names if drift and known else each  # each has a path of its own
    found = [surface(fit, group | ({label.name: n} if known else {}), seed) for n in each]
    params = {}
    for p in fit.law.params:
        several = found if p.name in by_label else found[:1]
        params[p.name] = np.stack([s.params[p.name] for s in several], axis=1)
    axes = fit.law.axes
    noise = fit.model.noise.on
    view = View(fit.law, label.name, names, axes[SOURCE], axes.get(REPEATED, ()), drift, noise)
    paths = [s.drift for s in found if s.drift is not None]
    paths = paths * (len(names) if len(paths) == 1 else 1)
    wander = wander_of(fit, found[0].size, len(axes[SOURCE]))
    return Objectives(fit, view, params, tuple(paths), wander)


def _label(law: "Law") -> "Input":
    """The law's label input, where it tells losses of one model apart."""
    labels = [i for i in law.inputs if i.kind == "label"]
    tokens = [i for i in law.inputs if i.name == "D" and i.dims == (SOURCE,)]
    others = {i.name for i in law.inputs} - {"N", "D", "U", *(i.name for i in labels)}
    if len(labels) == 1 and tokens and not others:
        return labels[0]
    if labels and not tokens and law.name == "bimodal":
        raise FitError(
            "law 'bimodal' has one loss a run, of a modality or of a pair; how the tokens of one "
            "model move several losses is told by a mixture or decoupled law."
        )
    raise FitError(
        f"law '{law.name}' has one response ({law.response}) of a run, and reads "
        f"{', '.join(law.columns)}: there are no two objectives to weigh. Fit a mixture or "
        "decoupled law to losses on several targets (bayescale fit mixture RUNS)."
    )


def _rows(values: Any, count: int, xp: ModuleType) -> Any:
    """Values with an axis of rows, one an objective, in front of their own axis."""
    return xp.broadcast_to(values[..., None, :], (*values.shape[:-1], count, values.shape[-1]))
