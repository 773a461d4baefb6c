"""What a sensitivity check watches: exponents, irreducible loss, the optimum, loss at a point."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.allocation import laws_exponent
from bayescale.answers.optimum import optimum
from bayescale.answers.points import as_inputs, reach, read_points, read_values, say_reach
from bayescale.answers.surface import Surface, surface
from bayescale.answers.wander import compute_range
from bayescale.errors import FitError
from bayescale.tables import quantity, with_spread

if TYPE_CHECKING:
    from bayescale.fitted import Fit

BEYOND = 10.0  # the default budget, over the largest compute of the data


@dataclass(frozen=True)
class Quantity:
    """Draws of one quantity.

    Parameters
    ----------
    name : str
        Key in records: ``a``, ``E``, ``L_opt``, ``N_opt``, ``loss``.
    draws : array, shape (chain, draw)
        NaN where a draw has none (a law without an optimum in range).
    label, unit : str
        For tables and axes.
    log : bool
        Whether changes are ratios, and shifts those of the logarithm.
    """

    name: str
    draws: np.ndarray
    label: str
    unit: str = ""
    log: bool = False

    @property
    def scaled(self) -> np.ndarray:
        """Finite draws on the scale of shifts, chains joined unless a draw was left out."""
        values = np.log(self.draws) if self.log else self.draws
        good = np.isfinite(values)
        return values if good.all() else values[good][None]

    @property
    def sd(self) -> float:
        """Posterior standard deviation on the scale of shifts."""
        return float(self.scaled.std())

    def middle(self) -> tuple[float, float, float]:
        """Median and the ends of the 90% interval."""
        q = np.quantile(self.scaled, [0.5, 0.05, 0.95])
        median, low, high = np.exp(q) if self.log else q
        return float(median), float(low), float(high)

    def write(self, value: float, spread: float | None = None) -> str:
        """A value of this quantity for people."""
        return quantity(value) if self.log else with_spread(value, spread or self.sd)

    def write_change(self, change: float) -> str:
        """A change of this quantity for people: a difference, or percent."""
        if not np.isfinite(change):
            return "–"
        return f"{100 * change:+.1f}%" if self.log else f"{change:+.4f}"


@dataclass(frozen=True)
class Moved:
    """A quantity under a change, against the base fit.

    Parameters
    ----------
    median, q05, q95 : float
        Under the change.
    change : float
        Of the median; relative (0.1 is 10% more) for sizes.
    shift : float
        The change in posterior standard deviations of the base fit.
    mc_error : float
        Monte Carlo standard error of ``shift``.
    """

    median: float
    q05: float
    q95: float
    change: float
    shift: float
    mc_error: float


def moved(base: Quantity, new: Quantity) -> Moved:
    """How a quantity moved from one fit to another."""
    if not new.scaled.size:
        return Moved(*[float("nan")] * 6)
    gap = float(np.median(new.scaled) - np.median(base.scaled))
    errors = [float(statistics().mcse(q.scaled, method="median")) for q in (base, new)]
    with np.errstate(all="ignore"):
        shift, mc_error = np.array([gap, math.hypot(*errors)]) / base.sd
    change = float(np.expm1(gap)) if base.log else gap
    return Moved(*new.middle(), change, float(shift), float(mc_error))


def statistics() -> Any:
    """ArviZ's statistics of plain arrays, imported when first needed."""
    from arviz_stats.base.array import array_stats

    return array_stats


@dataclass(frozen=True)
class Watch:
    """Which quantities are watched, so that every refit is asked the same.

    Parameters
    ----------
    C : float or None
        Budget of the optimum, FLOP.
    at : mapping
        Inputs of the point at which loss is watched; empty for none.
    group : mapping
        Grouping column -> group, for pooled fits.
    seed : int
        Seed of the draws for groups that are not in the data.
    """

    C: float | None
    at: Mapping[str, float]
    group: Mapping[str, Any]
    seed: int

    def of(self, fit: "Fit") -> dict[str, Quantity]:
        """The watched quantities of a fit.

        Raises
        ------
        FitError
            No draw has an optimum, or the group isn't in the fit.
        """
        laws = surface(fit, self.group, self.seed)
        unit, chains = fit.law.response_unit, next(iter(fit.stats.values())).shape
        listed: dict[str, Quantity] = {}
        for name, draws in self._exponents(fit, laws).items():
            listed[name] = Quantity(name, draws, name, unit if name == "E" else "")
        if self.C is not None:
            known = compute_range(fit.extent)
            best = optimum(laws, fit.runs.cost, np.array([self.C]), known)
            if np.isnan(best["loss"]).all():
                raise FitError(f"no posterior draw has an optimum at C = {quantity(self.C)} FLOP.")
            if "a" not in listed:  # the local exponent, where the law has none of its own
                listed = {"a": Quantity("a", best["a"], "a")} | listed
            listed["L_opt"] = Quantity("L_opt", best["loss"], "L*", unit)
            listed["N_opt"] = Quantity("N_opt", best["N_opt"], "N_opt", "parameters", log=True)
        if self.at:
            points = {k: np.array([v]) for k, v in self.at.items()}
            inputs = as_inputs(fit, points, self.group)
            loss = laws.mean(np.arange(laws.size), **inputs)
            listed["loss"] = Quantity("loss", loss, fit.law.response, unit)
        return {n: replace(q, draws=q.draws.reshape(chains)) for n, q in listed.items()}

    def _exponents(self, fit: "Fit", laws: Surface) -> dict[str, np.ndarray]:
        """Exponents and floor: a and E of laws of N and D, else all that isn't a coefficient."""
        derived = [d.name for d in fit.law.derived if not d.by]
        names = [p.name for p in fit.law.params if p.coordinate is None]
        if fit.law.of_n_and_d:
            derived, names = [n for n in derived if n == "a"], [n for n in names if n == "E"]
        found = {n: laws_exponent(fit, laws, n) for n in derived}
        known = {n: v for n, v in found.items() if v is not None}
        known |= {n: np.asarray(laws.params[n]) for n in names}
        return {n: v for name, draws in known.items() for n, v in _each(fit, name, draws)}

    def describe(self) -> str:
        """What is watched, for notes: ``L* and N_opt at C = 5.7e22``."""
        parts = [f"L* and N_opt at C = {quantity(self.C)} FLOP"] if self.C is not None else []
        if self.at:
            parts.append("loss at " + ", ".join(f"{k} = {quantity(v)}" for k, v in self.at.items()))
        return "; ".join(parts)

    def reach(self, fit: "Fit") -> str:
        """How far outside the data that lies, in words; empty inside."""
        asked = dict(self.at) | ({} if self.C is None else {"C": self.C})
        far = reach(fit, {k: np.array([v]) for k, v in asked.items()})
        return say_reach({k: float(v[0]) for k, v in far.items()})

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "C": self.C,
            "at": dict(self.at),
            "group": {k: str(v) for k, v in self.group.items()},
        }


def make_watch(
    fit: "Fit", C: Any, at: Mapping[str, Any] | None, group: Mapping[str, Any], seed: int
) -> Watch:
    """What to watch of a fit: the defaults where nothing is asked.

    Raises
    ------
    FitError
        A draw isn't finite, several budgets, or a budget for a law that compute says nothing of.
    DataError
        A budget or input isn't a positive number.
    """
    check_finite(fit)
    budget = None if C is None else one_value("C", C)
    point = _point(fit, at) if at else {}
    if fit.law.of_n_and_d:
        if fit.runs.cost.kind != "active":
            budget = budget or default_budget(fit)
        elif budget is not None:
            raise FitError(
                "this fit's compute counts active parameters, which a new size doesn't fix: leave "
                "C out and give a point, at={'N': …, 'D': …}."
            )
        return Watch(budget, point, dict(group), seed)
    inputs = [i.name for i in fit.law.inputs]
    if budget is not None and inputs == ["C"]:
        point, budget = {"C": budget}, None
    if budget is not None:
        given = ", ".join(f"'{name}': …" for name in inputs)
        raise FitError(
            f"law '{fit.law.name}' reads {', '.join(inputs)}, so a budget C says nothing of it; "
            f"give a point, at={{{given}}}."
        )
    return Watch(None, point or _usual_point(fit), dict(group), seed)


def default_budget(fit: "Fit") -> float:
    """Ten times the largest compute of the data, FLOP."""
    runs = fit.runs
    if "C" in runs.table:
        return BEYOND * float(runs.column("C").max())
    return BEYOND * float(runs.cost.flops(runs.column("N"), runs.column("D"), runs.table).max())


def one_value(name: str, given: Any) -> float:
    """A single quantity from a number or text.

    Raises
    ------
    FitError
        There are several.
    """
    values = read_values(name, given)
    if len(values) != 1:
        raise FitError(f"{name} has {len(values)} values; give one.")
    return float(values[0])


def check_finite(fit: "Fit") -> None:
    """Raise unless every draw of the fit is a finite number.

    Raises
    ------
    FitError
        Naming the quantity, and how many of its draws aren't.
    """
    for name, draws in fit.sites.items():
        bad = int((~np.isfinite(draws)).reshape(len(draws), -1).any(axis=1).sum())
        if bad:
            raise FitError(
                f"{bad} of {len(draws)} draws of {name} are not finite, so nothing can be said of "
                "this fit's sensitivity; fit again (print the fit for what to try)."
            )


def _each(fit: "Fit", name: str, draws: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The numbers of a quantity one by one, with their labels."""
    declared = (*fit.law.params, *fit.law.derived)
    dims = next(d.dims for d in declared if d.name == name)
    for place in np.ndindex(*draws.shape[1:]):
        where = ",".join(fit.law.axes[d][k] for d, k in zip(dims, place, strict=True))
        yield (f"{name}[{where}]" if where else name), draws[(slice(None), *place)]


def _point(fit: "Fit", at: Mapping[str, Any]) -> dict[str, float]:
    points, group = read_points(fit, {k: one_value(k, v) for k, v in at.items()})
    assert not group
    return {c: float(points[c][0]) for c in fit.law.number_columns}


def _usual_point(fit: "Fit") -> dict[str, float]:
    """Ten times the largest value of a single input; else the run with the lowest response."""
    inputs = fit.law.inputs
    columns = {c: fit.runs.column(c).astype(float) for c in fit.law.number_columns}
    if len(inputs) == 1 and inputs[0].positive and not inputs[0].dims:
        return {inputs[0].name: BEYOND * float(columns[inputs[0].name].max())}
    best = int(np.argmin(fit.runs.column(fit.law.response).astype(float)))
    return {name: float(v[best]) for name, v in columns.items()}
