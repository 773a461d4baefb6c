"""``bayescale demo``: the whole job on runs whose truth is known."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescale.cli.options import Json, Seed

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.tables import Table

POINT = {"N": 70e9, "D": 1.4e12}
BUDGET = 5.76e23

NEXT = """Next, on your own table (CSV, Parquet, JSON lines; one row a run):

  bayescale fit auto runs.csv -o fit.nc
  bayescale predict fit.nc --N 70B --D 1.4T
  bayescale allocate fit.nc --C 5.76e23
  bayescale report fit.nc -o report.html

Fitted already: bayescale models. Public sweeps to try: bayescale datasets. Laws: bayescale laws."""


def command(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE.png", help="Where the picture goes.")
    ] = "bayescale-demo.png",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Fit a simulated sweep, compare with the truth behind it, and draw a picture.

    For example:

      bayescale demo
      bayescale demo -o sweep.png --seed 1
    """
    from bayescale.cli.fit import fit_aloud, result_table
    from bayescale.cli.output import show, show_json
    from bayescale.data.simulate import simulated_sweep
    from bayescale.files import check_writable
    from bayescale.inference.model import Model
    from bayescale.laws import get_law

    check_writable(output)
    runs, truth = simulated_sweep()
    model = Model(get_law("chinchilla"))
    fitted = fit_aloud(model, runs, {}, {"seed": seed}, quiet=json)
    if not json:
        show("", result_table(fitted))
    recovery = compare(fitted, truth)
    prediction, allocation = fitted.predict(**POINT), fitted.allocate(BUDGET)
    true_loss = float(model.law.mean(**{p.name: truth[p.name] for p in model.law.params}, **POINT))
    if not json:
        point = replace(prediction.table(), title="A run of 70B parameters on 1.4T tokens")
        budget = replace(allocation.table(), title="The best use of 5.76e23 FLOP", warnings=())
        show("", recovery_table(recovery), "", point)
        show(_truth_line(true_loss, prediction.records()[0]["loss"]), "", budget)
    from bayescale.plot import save

    save(fitted, "overview", output, truth=truth)
    if json:
        answers = {"prediction": prediction.to_dict(), "allocation": allocation.to_dict()}
        show_json(
            {"fit": fitted.to_dict(), "recovery": recovery, **answers, "true_loss": true_loss}
            | {"picture": output}
        )
    else:
        show("", f"wrote {output}", "", NEXT)


def _truth_line(true_loss: float, found: dict[str, float]) -> str:
    inside = found["q05"] <= true_loss <= found["q95"]
    verdict = "inside" if inside else "OUTSIDE"
    return f"the truth there is {true_loss:.4f}: {verdict} the 90% credible interval"


def compare(fitted: "Fit", truth: dict[str, float]) -> list[dict[str, Any]]:
    """For each stated parameter the truth, the 90% interval, and whether it holds the truth."""
    found = []
    for name, value in truth.items():
        row = fitted.summary.loc[name]
        low, middle, high = (float(row[k]) for k in ("q05", "median", "q95"))
        record = {"parameter": name, "truth": value, "q05": low, "median": middle, "q95": high}
        found.append(record | {"inside": bool(low <= value <= high), "sd": float(row["sd"])})
    return found


def recovery_table(recovery: list[dict[str, Any]]) -> "Table":
    """The truth beside what was found."""
    from bayescale.tables import Table, quantity, with_spread

    rows = []
    for r in recovery:
        low, middle, high = (with_spread(r[k], r["sd"]) for k in ("q05", "median", "q95"))
        verdict = "inside" if r["inside"] else "OUTSIDE"
        rows.append([r["parameter"], quantity(r["truth"], 4), middle, f"{low} to {high}", verdict])
    inside = sum(r["inside"] for r in recovery)
    return Table(
        ["", "truth", "median", "90% interval", "truth is"],
        rows,
        title=f"Truth against the fit: {inside} of {len(rows)} inside the 90% interval",
        notes=["a 90% interval misses one time in ten; these parameters move together"],
        text=["", "truth is"],
    )
