"""How a fit looks in print: the gate's verdict first, then parameters, then what to know."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bayescale.errors import LawError
from bayescale.tables import Table, with_spread
from bayescale.tree import describe

if TYPE_CHECKING:
    from bayescale.fitted import Fit

MAX_ROWS = 60


def fit_table(fit: "Fit") -> Table:
    """The table that `print(fit)` shows."""
    kinds = ("param", "derived", "noise", "drift")
    many = ("run_offset", "drift_step")
    shown = [
        (name, row)
        for name, row in _scalars(fit)
        if fit.variables[name.split("[")[0]].kind in kinds and not name.startswith(many)
    ]
    rows = [_row(fit, name, row) for name, row in shown[:MAX_ROWS]]
    notes = [f"model: {fit.law.text()}", f"noise: {fit.model.noise.describe()}"]
    notes += [f"drift: {fit.model.drift.describe()}"] if fit.model.drift else []
    notes += [f"pooling: {p} {q.kind} over {q.column}" for p, q in fit.model.pooling.by_param]
    notes += fit.extent.describe().splitlines()
    if len(shown) > MAX_ROWS:
        notes.append(f"{len(shown) - MAX_ROWS} more parameters: see fit.summary.")
    columns = ["", "median", "90% interval", "sd", "R-hat", "ESS", "meaning"]
    if fit.law.signs:
        columns.insert(3, "P(< 0)")
    return Table(
        columns=columns,
        rows=rows,
        title=fit.title,
        warnings=[*(str(p) for p in fit.gate.problems), *fit.remarks],
        notes=notes,
    )


def _scalars(fit: "Fit") -> Iterator[tuple[str, dict[str, float]]]:
    columns = {k: v for k, v in fit.scalars.items() if k != "parameter"}
    for place, name in enumerate(fit.scalars["parameter"]):
        yield str(name), {k: float(v[place]) for k, v in columns.items()}


def _row(fit: "Fit", name: str, row: dict[str, float]) -> list[str]:
    sd = row["sd"]
    info = describe(fit, name.split("[")[0])
    unit = f" ({info['unit']})" if info["unit"] else ""
    asked = name.split("[")[0] in fit.law.signs
    return [
        name,
        with_spread(row["median"], sd),
        f"{with_spread(row['q05'], sd)} to {with_spread(row['q95'], sd)}",
        *([f"{row['p_negative']:.2f}" if asked else ""] if fit.law.signs else []),
        with_spread(sd, sd),
        f"{row['rhat']:.3f}",
        f"{min(row['ess_bulk'], row['ess_tail']):,.0f}",
        info["meaning"] + unit,
    ]


def _equation(fit: "Fit") -> str:
    try:
        return fit.law.latex()
    except LawError:  # a user's law that SymPy can't trace, or no SymPy
        return fit.law.text()


def fit_record(fit: "Fit") -> dict[str, Any]:
    """The fit as JSON: law, data, gate, every scalar with intervals and diagnostics."""
    gate = fit.gate.to_dict()
    return {
        "law": fit.law.name,
        "equation": _equation(fit),
        "noise": fit.model.noise.describe(),
        "drift": fit.model.drift and fit.model.drift.describe(),
        "pooling": fit.model.pooling.to_dict(),
        "priors": {p.site: str(p.prior) for p in fit.model.params},
        "converged": gate.pop("converged"),
        "reasons": gate.pop("reasons"),
        "remarks": list(fit.remarks),
        "diagnostics": gate,
        "parameters": {name: {k: float(v) for k, v in row.items()} for name, row in _scalars(fit)},
        "n_runs": len(fit.data),
        "data": {
            "source": fit.extent.source,
            "sha256": fit.extent.sha256,
            "columns": dict(fit.extent.columns),
            "cost": fit.extent.cost.describe(),
            "flags": [
                {"kind": f.kind, "rows": list(f.rows), "message": f.message}
                for f in fit.extent.flags
            ],
        },
        **{k: fit.record[k] for k in ("seed", "settings", "device", "seconds", "versions")},
        "gradients_per_draw": fit.record["gradients_per_draw"],
    }
