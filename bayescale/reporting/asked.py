"""What a report is asked: points and budgets; where nothing is said, ten times the largest run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.points import read_values
from bayescale.errors import FitError
from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.fitted import Fit

TIMES = 10.0  # the largest run, where nothing is asked
RESOURCES = ("N", "D", "C")
SPENDING = ("capability", "capability-loss")  # of what a budget buys, though no run tells C


@dataclass(frozen=True)
class Asked:
    """The question of a report.

    Parameters
    ----------
    points : mapping
        Inputs of `predict`; empty where only budgets are asked.
    budgets : tuple
        Budgets of `allocate`, FLOP or text; empty where only points are.
    sizes : tuple
        Sizes to be judged at the budgets.
    group : mapping
        Grouping column -> group.
    given : bool
        Whether the user asked; else this is ten times the largest run.
    words : str
        The question in words.
    default : str
        How an unasked question was chosen; empty where it was asked.
    """

    points: Mapping[str, Any]
    budgets: tuple[Any, ...]
    sizes: tuple[Any, ...] = ()
    group: Mapping[str, Any] = field(default_factory=dict)
    given: bool = True
    words: str = ""
    default: str = ""


def read_asked(
    fit: "Fit",
    N: Any = None,
    D: Any = None,
    C: Any = None,
    at: Mapping[str, Any] | None = None,
    group: Mapping[str, Any] | None = None,
    question: str = "",
) -> Asked:
    """The question that these arguments ask.

    N and D, or one of them and C, are points to predict; C alone (or beside both) are budgets to
    split, of a law of compute points to predict.

    Parameters
    ----------
    fit : Fit
    N, D, C : number, str or several
    at : mapping
        Other inputs of the law, for a point.
    group : mapping
        Grouping column -> group.
    question : str
        The question in the user's own words.
    """
    known = {"N": _listed(N), "D": _listed(D), "C": _listed(C)}
    known = {name: values for name, values in known.items() if values}
    asked = dict(group or {})
    if not known and not at:
        usual = _usual(fit, asked)
        words = question or _in_words(fit, usual.points, usual.budgets)
        return Asked(usual.points, usual.budgets, (), asked, False, words, usual.default)
    reads_compute = "C" in fit.law.columns
    if set(known) == {"C"} and not at and (is_isoflop(fit) or not reads_compute):
        return _of_budgets(fit, known["C"], asked, question)
    points = dict(known) | dict(at or {})
    if {"N", "D"} <= set(known):
        points.pop("C", None)
    budgets = () if reads_compute else known.get("C", ())
    sizes = known.get("N", ()) if budgets and "D" not in known else ()
    words = question or _in_words(fit, points, budgets)
    return Asked(points, budgets, sizes, asked, True, words)


def _of_budgets(
    fit: "Fit", budgets: tuple[Any, ...], group: Mapping[str, Any], question: str
) -> Asked:
    """What budgets alone ask: how to split them, or what they buy."""
    words = question or _in_words(fit, {}, budgets)
    if fit.law.of_n_and_d or is_isoflop(fit):
        return Asked({}, budgets, (), group, True, words)
    buys = (fit.law.recipe or ("",))[0] in SPENDING or _largest_compute(fit) is not None
    if not buys:
        first = fit.law.number_columns[0]
        raise FitError(
            f"law '{fit.law.name}' reads {', '.join(fit.law.columns)}, so it says nothing of a "
            f"budget; ask for a point: at={{'{first}': …}} (--at {first}=…)."
        )
    points, why = _scaled(fit, budgets, group)
    return Asked(points, budgets, (), group, True, words, why)


def _listed(values: Any) -> tuple[Any, ...]:
    if values is None:
        return ()
    return (values,) if isinstance(values, str | int | float) else tuple(values)


@dataclass(frozen=True)
class _Usual:
    points: Mapping[str, Any]
    budgets: tuple[Any, ...]
    default: str


def _usual(fit: "Fit", group: Mapping[str, Any]) -> _Usual:
    """Ten times the largest run: a budget, or the run again with more tokens."""
    ten = f"{TIMES:g} times"
    if fit.law.of_n_and_d and "C" in fit.extent and fit.extent.cost.kind != "active":
        largest = fit.extent.span("C").high
        why = f"No point was asked for, so the budget is {ten} the largest run's compute."
        return _Usual({}, (TIMES * largest,), why)
    if is_isoflop(fit):
        why = f"No budget was asked for, so it is {ten} the largest slice's."
        return _Usual({}, (TIMES * fit.extent.span("C").high,), why)
    point = largest_run(fit, group)
    grown = _grown(fit)
    for name in grown:
        point[name] *= TIMES
    what = {"D": "tokens", "C": "compute", "N": "parameters"}.get(grown[0][0] if grown else "", "")
    if not what:
        return _Usual(
            point, (), "No point was asked for, so the answer is at the best run's inputs."
        )
    why = (
        f"No point was asked for, so the answer is for the largest run again with {ten} its {what}."
    )
    return _Usual(point, _budgets(fit), why)


def _scaled(
    fit: "Fit", budgets: tuple[Any, ...], group: Mapping[str, Any]
) -> tuple[dict[str, Any], str]:
    """For budgets of a law that splits none: the largest run again, its tokens as they buy."""
    grown, largest = _grown(fit), _largest_compute(fit)
    if largest is None or not grown or grown[0][0] != "D":
        usual = _usual(fit, group)
        return dict(usual.points), usual.default.replace("No point was asked for, so", "Besides,")
    times = read_values("C", list(budgets)) / largest
    point: dict[str, Any] = dict(largest_run(fit, group))
    scaled = {n: [v * t for t in times] if n in grown else v for n, v in point.items()}
    why = "Predicted is the largest run again, with as many tokens as the budget buys it."
    return scaled, why


def is_isoflop(fit: "Fit") -> bool:
    """Whether a fit is of IsoFLOP slices, which tell sizes, and no loss elsewhere."""
    return (fit.law.recipe or ("",))[0] == "isoflop"


def _largest_compute(fit: "Fit") -> float | None:
    name = next((n for n in ("compute", "C") if n in fit.extent), None)
    return None if name is None else fit.extent.span(name).high


def _budgets(fit: "Fit") -> tuple[Any, ...]:
    """Ten times the largest run's compute, where the runs tell it and the law isn't one of it."""
    largest = _largest_compute(fit)
    return () if largest is None or fit.law.columns == ("C",) else (TIMES * largest,)


def _grown(fit: "Fit") -> list[str]:
    """Columns that ten times the compute makes ten times as large, all others staying."""
    columns = fit.law.number_columns
    for first in ("D", "C", "N"):
        found = [c for c in columns if c == first or c.startswith(f"{first}_")]
        if found:
            epochs = [c for c in columns if c == "U" or c.startswith("U_")] if first == "D" else []
            return found + epochs
    return []


def largest_run(fit: "Fit", group: Mapping[str, Any]) -> dict[str, float]:
    """Inputs of the run with the most compute (else tokens, size), or else the best response.

    Of a fit that was shipped without its runs: the largest value of what can be bought, and the
    median of all else.
    """
    columns = fit.law.number_columns
    if not fit.has_runs:
        spans = {c: fit.extent.span(c) for c in columns}
        bought = {c for c in columns if c.split("_")[0] in (*RESOURCES, "U")}
        return {c: s.high if c in bought else s.median for c, s in spans.items()}
    table = fit.runs.table
    rows = np.ones(len(table), dtype=bool)
    for column, name in group.items():
        if column in table:
            rows &= table[column].astype(str).to_numpy() == str(name)
    if not rows.any():
        raise FitError(f"no run is of {', '.join(f'{k}={v}' for k, v in group.items())}.")
    merit = _merit(fit)
    best = int(np.argmax(np.where(rows & np.isfinite(merit), merit, -np.inf)))
    return {c: float(fit.runs.column(c)[best]) for c in columns}


def _merit(fit: "Fit") -> np.ndarray:
    """How large each run is, shape (run,): its compute, else tokens or size, else its response."""
    table, columns = fit.runs.table, fit.law.number_columns
    tokens = [c for c in columns if c == "D" or c.startswith("D_")]
    if "C" in table:
        return fit.runs.column("C").astype(float)
    if tokens:
        every = np.sum([fit.runs.column(c).astype(float) for c in tokens], axis=0)
        return every * fit.runs.column("N").astype(float) if "N" in columns else every
    if "N" in columns:
        return fit.runs.column("N").astype(float)
    worse = fit.law.response in ("loss", "error")
    return fit.runs.column(fit.law.response).astype(float) * (-1 if worse else 1)


def _in_words(fit: "Fit", points: Mapping[str, Any], budgets: tuple[Any, ...]) -> str:
    """The question as a person would put it."""
    if points:
        at = ", ".join(f"{name} = {_several(values)}" for name, values in points.items())
        return f"Which {fit.law.response} does a run with {at} reach?"
    if not (fit.law.of_n_and_d or is_isoflop(fit)):
        return f"What is the best use of {_several(budgets)} FLOP?"
    return (
        f"How should {_several(budgets)} FLOP be split between parameters and training tokens, and "
        f"which {fit.law.response} does that reach?"
    )


def _several(values: Any) -> str:
    listed = _listed(values)
    shown = [v if isinstance(v, str) else quantity(float(v)) for v in listed]
    return " or ".join(shown)
