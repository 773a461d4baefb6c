"""Several losses of one model at once: a law whose rows are told apart by a label, draw by draw."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.surface import surface
from bayescale.errors import FitError

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
    """

    law: "Law"
    label: str
    names: tuple[str, ...]
    sources: tuple[str, ...]
    repeated: tuple[str, ...]

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

        N, D and U are as in `Objectives.losses`.
        """
        count, D = len(self.names), xp.asarray(D)
        inputs: dict[str, Any] = {self.label: np.eye(count), "D": _rows(D, count, xp)}
        if self.reads_size:
            inputs["N"] = xp.asarray(N)[..., None]
        if self.repeated:
            unique = D[..., self.places] if U is None else xp.asarray(U)
            inputs["U"] = _rows(unique, count, xp)
        return self.law.mean(**params, **inputs)


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
    """

    fit: "Fit"
    view: View
    params: Mapping[str, np.ndarray]

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
        picked = {k: xp.asarray(v)[draw] for k, v in self.params.items()}
        return self.losses_of(picked, N, D, U, xp)

    def losses_of(
        self, params: Mapping[str, Any], N: Any, D: Any, U: Any = None, xp: ModuleType = np
    ) -> Any:
        """As `losses`, for parameters picked from `params`: shape (..., objective or 1, ...)."""
        return self.view.losses(params, N, D, U, xp)

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
    found = [surface(fit, group | ({label.name: n} if known else {}), seed) for n in each]
    params = {}
    for p in fit.law.params:
        several = found if p.name in by_label else found[:1]
        params[p.name] = np.stack([s.params[p.name] for s in several], axis=1)
    axes = fit.law.axes
    view = View(fit.law, label.name, names, axes[SOURCE], axes.get(REPEATED, ()))
    return Objectives(fit, view, params)


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
