"""What tokens are worth: a repeated epoch in fresh ones, one domain's token in another's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.beyond import shares_note
from bayescale.answers.marginal import (
    Mix,
    efolds_beyond,
    epoch_worths,
    most_epochs,
    own_slopes,
    read_epochs,
    read_mix,
    token_slopes,
)
from bayescale.answers.objectives import SOURCE, Objectives, objectives_of
from bayescale.answers.surface import surface
from bayescale.errors import FitError
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.fitted import Fit

EPOCHS = (2.0, 3.0, 4.0, 5.0, 10.0)


@dataclass(frozen=True)
class Worth(Shown):
    """Posterior of what tokens are worth.

    Parameters
    ----------
    epochs : array, shape (epoch,)
    repeated : mapping
        Source -> worth of the e-th epoch in fresh ones, draws of shape (draw, epoch); empty for
        a law without repetition.
    total : mapping
        Source -> worth of all epochs up to the e-th in fresh ones.
    sources, targets : tuple of str
        Empty for a law of one loss.
    exchange : array, shape (draw, source, target), or None
        Worth of one more token of a source in a target's own tokens (of a target that is no
        source: in tokens drawn evenly from all): the ratio of the slopes of the target's loss.
        NaN where the target has no own tokens and its loss is infinite.
    harm : array, shape (source, target), or None
        Probability that one more token of the source raises the target's loss.
    at : mapping
        N and tokens by source at which tokens are compared.
    title : str
    converged : bool
    warnings, notes : tuple of str
    """

    epochs: np.ndarray
    repeated: Mapping[str, np.ndarray] = field(repr=False)
    total: Mapping[str, np.ndarray] = field(repr=False)
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    exchange: np.ndarray | None = field(repr=False)
    harm: np.ndarray | None = field(repr=False)
    at: Mapping[str, float]
    title: str
    converged: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def epoch_records(self) -> list[dict[str, Any]]:
        """A record for each repeated source and epoch."""
        return [
            {
                "source": source,
                "epoch": float(e),
                "worth": intervals(draws[:, k]),
                "total": intervals(self.total[source][:, k]),
            }
            for source, draws in self.repeated.items()
            for k, e in enumerate(self.epochs)
        ]

    def token_records(self) -> list[dict[str, Any]]:
        """A record for each pair of source and target; a target's own tokens are left out."""
        if self.exchange is None or self.harm is None:
            return []
        found = []
        for m, target in enumerate(self.targets):
            for k, source in enumerate(self.sources):
                draws = self.exchange[:, k, m]
                if source == target or not np.isfinite(draws).all():
                    continue
                record = {"source": source, "target": target, "worth": intervals(draws)}
                found.append(record | {"harm": float(self.harm[k, m])})
        return found

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "converged": self.converged,
            "warnings": list(self.warnings),
            "epochs": self.epoch_records(),
            "at": dict(self.at),
            "tokens": self.token_records(),
            "notes": list(self.notes),
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each epoch of a source, and for each source and target."""
        rows = [
            {"what": "epoch", "source": r["source"], "epoch": r["epoch"], **r["worth"]}
            for r in self.epoch_records()
        ]
        rows += [
            {"what": "token", "source": r["source"], "target": r["target"], **r["worth"],
             "harm": r["harm"]}
            for r in self.token_records()
        ]  # fmt: skip
        return frame(rows)

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, repeated, epoch) and (draw, source, target)."""
        import xarray as xr

        arrays: dict[str, Any] = {}
        axes: dict[str, Any] = {"epoch": self.epochs, "repeated": list(self.repeated)}
        if self.repeated:
            stacked = np.stack(list(self.repeated.values()), axis=1)
            arrays["epoch_worth"] = (("draw", "repeated", "epoch"), stacked)
        if self.exchange is not None:
            arrays["token_worth"] = (("draw", "source", "target"), self.exchange)
            axes |= {"source": list(self.sources), "target": list(self.targets)}
        return xr.Dataset(arrays, axes)

    def table(self) -> Table:
        """The answer as a table."""
        rows = []
        for r in self.epoch_records():
            what = [f"epoch {r['epoch']:g} of {r['source']}", "a fresh epoch"]
            q, sd = r["worth"], float(np.std(self.repeated[r["source"]]))
            rows.append([*what, *_cells(q, sd), f"all {r['total']['median']:.3g}"])
        for r in self.token_records():
            own = r["target"] in self.sources
            what = [
                f"token of {r['source']}",
                r["target"] if own else f"even mix, for {r['target']}",
            ]
            sd = (r["worth"]["q95"] - r["worth"]["q05"]) / 3.3
            rows.append([*what, *_cells(r["worth"], sd), f"P(harm) {r['harm']:.2f}"])
        columns = ["", "in terms of", "worth", "90%", "besides"]
        text = ("", "in terms of", "besides")
        return Table(columns, rows, self.title, self.warnings, self.notes, text)


def _cells(q: Mapping[str, float], sd: float) -> list[str]:
    middle, low, high = (with_spread(q[k], sd) if abs(q[k]) >= 1e-3 else f"{q[k]:.2g}"
                         for k in ("median", "q05", "q95"))  # fmt: skip
    return [middle, f"{low} to {high}"]


def worth(
    fit: "Fit",
    *,
    epochs: Sequence[float] = EPOCHS,
    N: Any = None,
    D: Mapping[str, Any] | None = None,
    unique: Mapping[str, Any] | None = None,
    seed: int = 0,
    **group: Any,
) -> Worth:
    r"""Say what a repeated epoch is worth, and one domain's token for another's loss.

    The e-th epoch of a source is worth :math:`\phi(e) - \phi(e-1)` fresh ones, with
    :math:`\phi(e) = 1 + R^*(1 - e^{-(e-1)/R^*})`. At a mixture, a token of source k is worth
    :math:`(\partial L_m/\partial D_k)/(\partial L_m/\partial D_m)` tokens of the target m's own:
    tau with additive transfer; else with all that a token does to shares, and through them to
    effective tokens and to effective size (capacity). A drift along compute scales both slopes
    alike; beyond the runs best shares wander, and worths with them (`bayescale.answers.wander`).

    Parameters
    ----------
    fit : Fit
        Of a mixture, decoupled or repetition law.
    epochs : sequence of float
        Epochs of which the worth is told.
    N : number or str, optional
        Parameters at which tokens are compared; default: the geometric mean of the data.
    D : mapping, optional
        Source -> tokens of the mixture at which they are compared, 0 where not given; default:
        the data's mean shares of the geometric mean of their tokens.
    unique : mapping, optional
        Source -> unique tokens; more tokens of it are then repeated ones.
    seed : int
        Seed of the draws for groups that are not in the data.
    **group
        For pooled fits, the group by its column.

    Returns
    -------
    Worth

    Raises
    ------
    DataError
        A number isn't a positive one.
    FitError
        The law has neither repetition nor sources, or a name is unknown.
    """
    R_star = _repetition(fit, group, seed)
    mixed = any(i.name == "D" and i.dims == (SOURCE,) for i in fit.law.inputs)
    if not R_star and not mixed:
        _refuse(fit)
    asked = read_epochs(epochs)
    last, total = epoch_worths(R_star, asked)
    exchange, harm, at, names = None, None, {}, ((), ())
    notes = ["worth of an epoch: in fresh epochs of the same source"] if R_star else []
    if mixed:
        of = objectives_of(fit, group, seed)
        mixture = read_mix(of, N, D, unique)
        exchange, harm = _exchange(of, mixture)
        names = (of.sources, of.names)
        at = {f"D_{s}": float(x) for s, x in zip(of.sources, mixture.tokens, strict=True)}
        at |= {} if mixture.N is None else {"N": mixture.N}
        notes += _said(of, mixture, exchange)
    return Worth(
        epochs=asked, repeated=last, total=total, sources=names[0], targets=names[1],
        exchange=exchange, harm=harm, at=at,
        title=fit.title,
        converged=fit.converged,
        warnings=fit.warnings + _beyond(fit, R_star, asked),
        notes=tuple(notes),
    )  # fmt: skip


def _refuse(fit: "Fit") -> None:
    more = " The transfer tax of a capability law: bayescale transfer."
    raise FitError(
        f"law '{fit.law.name}' reads {', '.join(fit.law.columns)}: it has neither repeated data "
        "(U) nor tokens of several sources, so there is nothing to be worth something. Fit a "
        "mixture, decoupled or repetition law."
        + (more if fit.law.name.startswith("capability") else "")
    )


def _repetition(fit: "Fit", group: Mapping[str, Any], seed: int) -> dict[str, np.ndarray]:
    """Draws of R* by source; one called 'data' for a law of one kind of data."""
    names = {p.name for p in fit.law.params}
    if "R_D_star" in names:
        return {"data": surface(fit, group, seed).params["R_D_star"]}
    if "R_star" in names:
        R = objectives_of(fit, group, seed).params["R_star"][:, 0]
        return {s: R[:, k] for k, s in enumerate(fit.law.axes["repeated"])}
    return {}


def _exchange(of: Objectives, at: Mix) -> tuple[np.ndarray, np.ndarray]:
    """Worths, and probabilities of harm; shapes (draw, source, target) and (source, target)."""
    with np.errstate(all="ignore"):
        slopes = token_slopes(of, at)
        own = own_slopes(of, slopes)
        exchange = slopes / own[:, None, :]
    lost = ~np.isfinite(own)
    exchange = np.where(lost[:, None, :], np.nan, exchange)
    return exchange, (np.where(np.isfinite(slopes), slopes, 0.0) > 0).mean(axis=0)


def _said(of: Objectives, at: Mix, exchange: np.ndarray) -> list[str]:
    """At which mixture tokens are compared, and what that holds."""
    tokens = ", ".join(
        f"{s} {quantity(float(x))}" for s, x in zip(of.sources, at.tokens, strict=True)
    )
    size = "" if at.N is None else f", N = {quantity(at.N)}"
    names = {p.name for p in of.fit.law.params}
    said = [f"tokens are compared at {tokens}{size}"]
    if "tau" not in names or "c" in names:
        said[0] += "; their worth includes what they do to shares"
    if "c" in names:
        said[0] += " and, through capacity, to effective size"
    drift, far = of.fit.model.drift, efolds_beyond(of, at)
    if far > 0:
        said.append(f"that is {np.exp(far):.3g}x the compute of the largest run")
    if drift is not None:
        said.append("a drift along compute changes all worths of a target alike, and cancels")
        said += [shares_note(drift.shares)] if far else []
    gone = [t for t, bad in zip(of.names, np.isnan(exchange).any((0, 1)), strict=True) if bad]
    if gone:
        said.append(f"{', '.join(gone)}: no own tokens at this mixture, nothing to compare with")
    return said


def _beyond(fit: "Fit", R_star: Mapping[str, Any], epochs: np.ndarray) -> tuple[str, ...]:
    """Which epochs no run has."""
    said = []
    for source in R_star:
        most = most_epochs(fit.extent, "" if source == "data" else source)
        if (far := epochs[epochs > most * (1 + 1e-6)]).size:
            listed = ", ".join(f"{e:g}" for e in far)
            said.append(f"{source}: the runs have up to {most:.3g} epochs, not {listed}.")
    return tuple(said)
