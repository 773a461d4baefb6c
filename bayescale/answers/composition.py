"""Optimal size and tokens of each objective of a decoupled law, by composition of the data."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.beyond import beyond_warning
from bayescale.answers.objectives import objectives_of
from bayescale.answers.optimum import STEP
from bayescale.answers.points import read_values
from bayescale.errors import DataError, FitError
from bayescale.laws.decoupled_parts import Parts
from bayescale.tables import Shown, Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescale.extent import Span
    from bayescale.fitted import Fit
    from bayescale.law import Law

QUANTITIES = ("N_opt", "D_opt", "loss", "a", "b")


@dataclass(frozen=True)
class Optima(Shown):
    """Posterior of each objective's optimum at some compositions and budgets.

    Parameters
    ----------
    objectives, varying : tuple of str
        All, and those whose law varies with the composition.
    composition : array, shape (composition,)
        Ratio or share, as the law has it.
    C : array, shape (budget,)
        FLOP on an objective's own tokens, 6 N D.
    draws : mapping
        ``N_opt`` (parameters), ``D_opt`` (own tokens), ``loss`` (L*), and the allocation exponents
        ``a`` and ``b``; each of shape (draw, objective, composition, budget).
    kind : {"ratio", "share"}
    title, unit : str
    converged : bool
    warnings : tuple of str
    drifting : bool
        Whether there is a drift: it goes by the compute on all sources, so that each objective's
        loss differs by composition.
    """

    objectives: tuple[str, ...]
    varying: tuple[str, ...]
    composition: np.ndarray
    C: np.ndarray
    draws: Mapping[str, np.ndarray]
    kind: str
    title: str
    unit: str
    converged: bool
    warnings: tuple[str, ...]
    drifting: bool = False

    def records(self) -> list[dict[str, Any]]:
        """A nested record for each objective, composition and budget."""
        listed = []
        for o, name in enumerate(self.objectives):
            for k, r in enumerate(self.composition):
                for j, c in enumerate(self.C):
                    record = {"objective": name, self.kind: float(r), "C": float(c)}
                    found = {q: intervals(self.draws[q][:, o, k, j]) for q in QUANTITIES}
                    listed.append(record | found)
        return listed

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "unit": self.unit,
            "converged": self.converged,
            "warnings": list(self.warnings),
            "optima": self.records(),
        }

    def to_frame(self) -> "pd.DataFrame":
        """A tidy table: one row for each objective, composition, budget and quantity."""
        names = ("objective", self.kind, "C")
        return frame(
            [
                {n: record[n] for n in names} | {"quantity": q, **record[q]}
                for record in self.records()
                for q in QUANTITIES
            ]
        )

    @property
    def dataset(self) -> "xr.Dataset":
        """Draws with named dims (draw, objective, composition, budget)."""
        import xarray as xr

        dims = ("draw", "objective", "composition", "budget")
        axes = {"objective": list(self.objectives), "composition": self.composition}
        return xr.Dataset({k: (dims, v) for k, v in self.draws.items()}, {**axes, "budget": self.C})

    def table(self) -> Table:
        """The answer as a table."""
        rows, first = [], float(self.composition[0])
        for record in self.records():
            varies = record["objective"] in self.varying or self.drifting
            if not varies and record[self.kind] != first:
                continue
            mix = f"{record[self.kind]:g}" if varies else "any"
            cells = [record["objective"], mix, quantity(record["C"])]
            for name in ("N_opt", "D_opt", "loss", "a"):
                q = record[name]
                if name in ("N_opt", "D_opt"):
                    middle, low, high = (quantity(q[x]) for x in ("median", "q05", "q95"))
                else:
                    sd = (q["q95"] - q["q05"]) / 3.3
                    middle, low, high = (with_spread(q[x], sd) for x in ("median", "q05", "q95"))
                cells += [middle, f"{low} to {high}"]
            rows.append(cells)
        columns = ["objective", self.kind, "C", "N_opt", "90%", "D_opt", "90%", "L*", "90%", "a"]
        notes = [
            f"90% credible intervals; L* in {self.unit}; C = 6 N D of an objective's own tokens"
        ]
        return Table([*columns, "90%"], rows, self.title, self.warnings, notes, text=("objective",))


def optima(fit: "Fit", C: Any, composition: Any = None) -> Optima:
    """Optimal size, tokens and loss of every objective of a decoupled law.

    For each draw N_opt = N_c(r) (C/C_c(r))^a(r), D_opt = C/(6 N_opt) and
    L* = E + (C_c(r)/C)^gamma(r), with C the compute on an objective's own tokens; with drift all
    of it moved by that at the compute on all tokens (`bayescale.answers.wander`).

    Parameters
    ----------
    fit : Fit
        Of a decoupled law with a size term.
    C : number, str or several
        Budgets in FLOP ("1e21").
    composition : number or several, optional
        Ratios or shares, as the law has it. Default: those at which the law reports a, or its
        centre.

    Returns
    -------
    Optima

    Raises
    ------
    DataError
        A budget isn't a positive number, or a composition isn't one of at least 0.
    FitError
        The fit is not of a decoupled law, or of one without a size term.
    """
    parts, at = parts_of(fit.law)
    mixes = np.asarray(at or (parts.centre,), float) if composition is None else _mixes(composition)
    budgets = read_values("C", C)
    draws = [_frontier(fit, parts, k, mixes, budgets) for k in range(len(parts.objectives))]
    return Optima(
        objectives=parts.objectives,
        varying=parts.varying,
        composition=mixes,
        C=budgets,
        draws={q: np.stack([d[q] for d in draws], axis=1) for q in QUANTITIES},
        kind=parts.composition,
        title=fit.title,
        unit=fit.law.response_unit,
        converged=fit.converged,
        warnings=fit.warnings + _outside(fit, parts, mixes, budgets),
        drifting=fit.model.drift is not None,
    )


def parts_of(law: "Law") -> tuple[Parts, tuple[float, ...]]:
    """Objectives, sources and composition of a decoupled law, and where it reports a."""
    family, text = law.recipe or ("", "{}")
    record = json.loads(text)
    if family != "decoupled" or not record["size"]:
        what = "has no size term" if family == "decoupled" else "is no decoupled law"
        raise FitError(
            f"law '{law.name}' {what}; optima by composition are of the law 'decoupled' fitted to "
            "runs of several sizes."
        )
    names = {k: tuple(record[k] or record["objectives"]) for k in ("objectives", "sources")}
    parts = Parts(
        **names,
        varying=tuple(record["varying"]),
        composition=record["composition"],
        centre=record["centre"],
    )
    return parts, tuple(record["at"]) if parts.varying else ()


def _mixes(composition: Any) -> np.ndarray:
    try:
        mixes = np.atleast_1d(np.asarray(composition, dtype=float))
    except (TypeError, ValueError):
        mixes = np.array([np.nan])
    if not np.all(np.isfinite(mixes) & (mixes >= 0)):
        raise DataError(f"composition is {composition!r}; expected numbers of at least 0.")
    return mixes


def _frontier(
    fit: "Fit", parts: Parts, place: int, mixes: np.ndarray, budgets: np.ndarray
) -> dict[str, np.ndarray]:
    """Quantities of one objective, each of shape (draw, composition, budget)."""
    varying = list(parts.at)

    def at_mixes(name: str, slope: str, forward: Any, backward: Any) -> np.ndarray:
        """A parameter along the compositions, shape (draw, composition, 1)."""
        x = forward(fit.draws(name)[:, place])[:, None]
        if place in varying and slope in fit.variables:
            x = x + fit.draws(slope)[:, varying.index(place), None] * (mixes - parts.centre)
        return backward(np.broadcast_to(x, (len(x), len(mixes))))[..., None]

    def odds(x: np.ndarray) -> np.ndarray:
        return np.log(x) - np.log1p(-x)

    a = at_mixes("a", "a_slope", odds, lambda x: 1 / (1 + np.exp(-x)))
    gamma = at_mixes("gamma", "gamma_slope", np.log, np.exp)
    above = np.log(budgets) - at_mixes("C_c", "C_c_slope", np.log, lambda x: x)
    size = np.exp(at_mixes("N_c", "N_c_slope", np.log, lambda x: x) + a * above)
    found = {
        "N_opt": size,
        "D_opt": budgets / (6 * size),
        "loss": fit.draws("E")[:, place, None, None] + np.exp(-gamma * above),
        "a": np.broadcast_to(a, size.shape),
        "b": np.broadcast_to(1 - a, size.shape),
    }
    return found if fit.model.drift is None else found | _drifted(fit, parts, place, mixes, found)


def _drifted(
    fit: "Fit", parts: Parts, place: int, mixes: np.ndarray, found: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The same with drift and, beyond the runs, the optimum's wander.

    Both go by the compute on the tokens of all sources: of a ratio's two, others having none.
    """
    of = objectives_of(fit)
    name, size, own = parts.objectives[place], found["N_opt"], found["D_opt"]
    share = mixes
    if parts.composition == "ratio":
        share = (1.0 if name == parts.sources[0] else mixes) / (1 + mixes)
    least = fit.extent.span(f"share:{name}").least  # a mix without own tokens isn't one of its own
    total = own / np.clip(share, least, 1.0)[:, None]
    even = np.repeat(total[..., None] / len(parts.sources), len(parts.sources), axis=-1)
    draw = np.arange(len(size))[:, None, None]
    by = of.paths[place].at(draw, of.view.place(size, even))
    product, error = (size * total)[0], of.wander.size[:, None, None]
    up, down = (of.efolds_beyond(product * np.exp(s)) for s in (STEP, -STEP))
    more = error * (up - down) / (2 * STEP)
    moved = size * np.exp(error * of.efolds_beyond(product))
    return {
        "N_opt": moved,
        "D_opt": own * size / moved,
        "loss": of.view.moved(found["loss"], by),
        "a": found["a"] + more,
        "b": found["b"] - more,
    }


def _outside(fit: "Fit", parts: Parts, mixes: np.ndarray, budgets: np.ndarray) -> tuple[str, ...]:
    """What an answer must say of compositions and budgets that no run has."""
    groups = fit.extent.groups["objective"]
    said: list[str] = []
    largest: list[float] = []
    for objective in parts.objectives:
        largest.append(groups[objective][f"own:{objective}"].high)
        if objective in parts.varying:
            seen = groups[objective][f"{parts.composition}:{objective}"]
            said += _beyond(objective, parts.composition, seen, mixes)
    factor = float(budgets.max()) / min(largest)
    if factor > 1 + 1e-9:
        said.append(
            f"The largest budget is {factor:.3g} times the compute of the largest run on one "
            f"objective's own tokens. {beyond_warning(fit.model.drift is not None)}"
        )
    return tuple(said)


def _beyond(name: str, kind: str, seen: "Span", mixes: Sequence[float] | np.ndarray) -> list[str]:
    low, high = seen.low, seen.high
    far = [f"{r:g}" for r in mixes if r < low - 1e-9 or r > high + 1e-9]
    if not far:
        return []
    return [
        f"{kind} {', '.join(far)} is outside the {low:.3g} to {high:.3g} of '{name}' in the data."
    ]
