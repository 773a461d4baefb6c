"""How a frontier is told: as JSON, as a tidy frame, as a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.beyond import shares_note
from bayescale.tables import Table, frame, intervals, quantity, with_spread

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.answers.pareto.answer import Pareto

ALL = 0.995  # share of draws that is as good as all
WIDE = 4  # letters of a name in a heading


def record(answer: "Pareto") -> dict[str, Any]:
    """The answer as JSON."""
    corner = dict(zip(answer.objectives, answer.reference.tolist(), strict=True))
    return {
        "unit": answer.unit,
        "cost": answer.cost,
        "converged": answer.converged,
        "warnings": list(answer.warnings),
        "objectives": list(answer.objectives),
        "sources": list(answer.sources),
        "hypervolume_reference": corner,
        "frontiers": [_budget(answer, k) for k in range(len(answer.budgets))],
    }


def _budget(answer: "Pareto", k: int) -> dict[str, Any]:
    marked = {p: answer.exponent[:, k, m] for m, p in enumerate(answer.marks)}
    points = []
    for p in range(len(answer.values)):
        points.append(point(answer, k, p))
        if p in marked:
            points[-1]["exponent"] = _known(marked[p])
    return {
        answer.resource: float(answer.budgets[k]),
        "knee": knee(answer, k),
        "hypervolume": intervals(answer.hypervolume[:, k]),
        "points": points,
        "choices": [
            c.to_dict(answer.sources) for c in answer.choices if c.budget == answer.budgets[k]
        ],
    }


def point(answer: "Pareto", k: int, p: int) -> dict[str, Any]:
    """All that is known of one point at one budget."""
    tokens = answer.n_tokens[:, k, p]
    found: dict[str, Any] = {answer.kind: float(answer.values[p])}
    found["shares"] = dict(zip(answer.sources, answer.shares[p].tolist(), strict=True))
    found["N"] = _known(answer.n_params[:, k, p])
    found["D"] = {s: _known(tokens[:, j]) for j, s in enumerate(answer.sources)}
    for name, draws in (("loss", answer.loss), ("weight", answer.weight)):
        found[name] = {o: _known(draws[:, k, p, j]) for j, o in enumerate(answer.objectives)}
    found["P_efficient"] = float(answer.efficient[:, k, p].mean())
    found["marked"] = p in answer.marks
    return found


def knee(answer: "Pareto", k: int) -> dict[str, Any]:
    """The composition at the knee of one budget: intervals over the draws that have one."""
    found = answer.knee[:, k]
    there = np.isfinite(found).all(-1)
    record: dict[str, Any] = {"share_of_draws": float(there.mean())}
    if answer.kind == "r":
        record["r"] = _known(found[there, 1] / found[there, 0])
    record["shares"] = {s: _known(found[there, j]) for j, s in enumerate(answer.sources)}
    return record


def _known(draws: np.ndarray) -> dict[str, float] | None:
    """Intervals of the draws that are numbers; None where none is."""
    finite = draws[np.isfinite(draws)]
    return intervals(finite) if len(finite) else None


def tidy(answer: "Pareto") -> "pd.DataFrame":
    """One row for each budget, point and quantity."""
    rows = []
    for k, c in enumerate(answer.budgets):
        for p in range(len(answer.values)):
            found = point(answer, k, p)
            at = {answer.resource: float(c), answer.kind: found[answer.kind]}
            at |= {f"share_{s}": v for s, v in found["shares"].items()}
            flat = {"N": found["N"]} | {f"D_{s}": v for s, v in found["D"].items()}
            flat |= {f"{n}_{o}": v for n in ("loss", "weight") for o, v in found[n].items()}
            rows += [
                at | {"P_efficient": found["P_efficient"], "quantity": q, **v}
                for q, v in flat.items()
                if v
            ]
    return frame(rows)


def table(answer: "Pareto") -> Table:
    """The deployable table: a row for each budget and marked composition."""
    sized = np.isfinite(answer.n_params).any()
    columns = [answer.resource, *(_mix_names(answer))]
    columns += ["N", "90%"] if sized and answer.plane.budgets.free_size else []
    columns += [f"D_{s}" for s in _short(answer.sources)]
    for name in _short(answer.objectives):
        columns += [f"L_{name}", "90%"]
    paired = np.isfinite(answer.weight).any()
    columns += [f"w_{_short(answer.objectives)[0]}"] if paired else []
    columns += (
        ["on it"] if answer.efficient[..., list(answer.marks)].mean((0, 1)).min() < ALL else []
    )
    rows = [
        _row(answer, k, p, columns) for k in range(len(answer.budgets)) for p in answer.marks
    ]  # fmt: skip
    return Table(columns, rows, answer.title, answer.warnings, _notes(answer))


def amount(answer: "Pareto", k: int) -> str:
    """A budget as briefly as it can be written: 1e22, 1.5e22, 100B."""
    value = float(answer.budgets[k])
    brief = f"{value:.0e}".replace("e+", "e")
    return brief if value >= 1e15 and float(brief) == value else quantity(value)


def _short(names: Sequence[str]) -> list[str]:
    """Names that leave room for numbers, where their first letters tell them apart."""
    brief = [n if len(n) <= WIDE + 1 else n[:WIDE] for n in names]
    return brief if len(set(brief)) == len(names) else list(names)


def _mix_names(answer: "Pareto") -> Sequence[str]:
    if answer.kind == "mixture":
        return [f"share_{s}" for s in _short(answer.sources)]
    return ["r" if answer.kind == "r" else f"share_{_short(answer.sources)[1]}"]


def _row(answer: "Pareto", k: int, p: int, columns: Sequence[str]) -> list[str]:
    cells = [amount(answer, k)]
    if answer.kind == "mixture":
        cells += [f"{x:.3g}" for x in answer.shares[p]]
    else:
        cells.append(f"{answer.values[p]:.3g}")
    if "N" in columns:
        q = _known(answer.n_params[:, k, p])
        cells += (
            [quantity(q["median"]), f"{quantity(q['q05'])} to {quantity(q['q95'])}"]
            if q
            else ["–"] * 2
        )
    for j in range(len(answer.sources)):
        cells.append(quantity(float(np.nanmedian(answer.n_tokens[:, k, p, j]))))
    for j in range(len(answer.objectives)):
        cells += loss_cells(answer.loss[:, k, p, j])
    if any(name.startswith("w_") for name in columns):
        q = _known(answer.weight[:, k, p, 0])
        cells.append(f"{q['median']:.2f}" if q else "–")
    if columns[-1] == "on it":
        cells.append(f"{answer.efficient[:, k, p].mean():.0%}")
    return cells


def loss_cells(draws: np.ndarray) -> list[str]:
    """Median and 90% interval of a loss."""
    there = draws[np.isfinite(draws)]
    if not len(there):
        return ["–", "–"]
    q, sd = intervals(there), float(np.std(there))
    middle, low, high = (with_spread(q[x], sd) for x in ("median", "q05", "q95"))
    return [middle, f"{low} to {high}"]


def _notes(answer: "Pareto") -> list[str]:
    notes = [f"90% credible intervals; L in {answer.unit}; {answer.cost}"]
    if np.isfinite(answer.weight).any():
        first = answer.objectives[0]
        notes[0] += f"; w: weight of {first} (of 1 for both) under which the row is the best"
    if answer.efficient[..., list(answer.marks)].mean((0, 1)).min() < ALL:
        notes[0] += "; on it: draws in which nothing betters the row in all losses"
    for k, c in enumerate(answer.budgets):
        notes.append(f"at {answer.resource} = {amount(answer, k)}: {_budget_line(answer, k)}")
        for choice in answer.choices:
            if choice.budget == c:
                notes.append("  " + choice.describe(answer.sources, answer.unit))
    drift = answer.plane.objectives.view.drift
    if drift is not None and answer.choices and np.any(answer.plane.wander.shares):
        notes.append(shares_note(drift.shares))
    return notes


def _budget_line(answer: "Pareto", k: int) -> str:
    found = knee(answer, k)
    text = "no knee"
    if found["share_of_draws"] > 0:
        shown = found.get("r") or found["shares"][answer.sources[-1]]
        name = "r" if "r" in found else f"share of {answer.sources[-1]}"
        text = f"knee at {name} = {shown['median']:.3g} ({shown['q05']:.3g} to {shown['q95']:.3g})"
    for m, p in enumerate(answer.marks):
        q = _known(answer.exponent[:, k, m])
        if q:
            text += (
                f"; N ~ C^{q['median']:.3f} ({q['q05']:.3f} to {q['q95']:.3f}) at {_at(answer, p)}"
            )
    volume = intervals(answer.hypervolume[:, k])
    corner = ", ".join(f"{x:.4g}" for x in answer.reference)
    low, high = volume["q05"], volume["q95"]
    return text + f"; hypervolume {volume['median']:.3g} ({low:.3g} to {high:.3g}) from {corner}"


def _at(answer: "Pareto", p: int) -> str:
    return f"{'r' if answer.kind == 'r' else 'share'} = {answer.values[p]:.3g}"
