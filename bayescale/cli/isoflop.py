"""``bayescale isoflop``: compute-optimal sizes off IsoFLOP slices, with their power law."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescale.cli import fit_options as opt
from bayescale.cli.options import Json, Seed

if TYPE_CHECKING:
    from bayescale.answers.isoflop.result import IsoFLOP


def command(
    runs: Annotated[
        str,
        typer.Argument(
            metavar="RUNS",
            help="CSV, Parquet or JSON lines with one row a run, the name of a data set, or a "
            "FIT.nc that this command wrote.",
        ),
    ],
    C: Annotated[
        list[str] | None,
        typer.Option("--C", metavar="FLOP", help="Further budgets: 1e24, or several: 1e23,1e24."),
    ] = None,
    budgets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FLOP", help="Budgets of the slices: 1e18,1e19, or a column; default: found."
        ),
    ] = None,
    shape: Annotated[
        str,
        typer.Option(metavar="NAME", help="Loss against ln N: powers, cubic or parabola."),
    ] = "powers",
    cubic: Annotated[bool, typer.Option("--cubic", help="Short for --shape cubic.")] = False,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Fit each experiment that this column names."),
    ] = None,
    map: opt.Columns = None,
    unit: opt.Units = None,
    where: opt.Where = None,
    drop_missing: opt.DropMissing = False,
    draws: opt.Draws = 1000,
    output: opt.Output = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE.png", help="Draw slices and power law; also .svg or .pdf."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Read the best size of each budget off IsoFLOP slices, and the power law of the best sizes.

    One hierarchical model of all slices: a valley of loss in ln N at each budget, whose minima
    scatter around N_opt = G (C/6)^a. Budgets without an interior minimum are kept, and named.

    For example:

      bayescale isoflop runs.csv --C 1e24 --plot slices.png
      bayescale isoflop runs.csv --budgets 1e19,1e20,1e21 --shape parabola
      bayescale isoflop sweeps.csv --by corpus --json
    """
    from bayescale.cli.modelling import reading_arguments
    from bayescale.cli.output import answer, show
    from bayescale.cli.reading import split_values

    _check_places(output, plot, by)
    asked = split_values(C)
    if runs.endswith(".nc"):
        from bayescale.answers.isoflop.run import isoflop as read
        from bayescale.saving import load

        found: Any = read(load(runs), C=asked)
    else:
        from bayescale.answers.isoflop.run import isoflop

        reading = reading_arguments(map, unit, where, drop_missing, None, None)
        found = isoflop(
            runs, budgets=_budgets(budgets), shape="cubic" if cubic else shape, C=asked, by=by,
            seed=seed, draws=draws, progress=False if json else None, **reading,
        )  # fmt: skip
    if output:
        found.fit.save(output)
    answer(found, json)
    if plot:
        _draw(found, plot)
    if not json:
        for path in filter(None, (output, plot)):
            show(f"wrote {path}")


def _check_places(output: str | None, plot: str | None, by: str | None) -> None:
    """Refuse before the minutes of sampling what can't be written after them."""
    from bayescale.errors import FitError

    if by and (output or plot):
        option = "-o" if output else "--plot"
        raise FitError(
            f"{option} takes one fit, and --by makes several; keep one with --where and leave "
            "--by out."
        )
    if output:
        from bayescale.files import check_writable

        check_writable(output)
    if plot:
        from bayescale.plot.picture import check_picture

        check_picture(plot)


def _budgets(given: list[str] | None) -> Any:
    """Numbers, or the one name of a column."""
    from bayescale.cli.reading import split_values

    listed = split_values(given)
    return listed[0] if listed and len(listed) == 1 else listed


def _draw(found: "IsoFLOP", path: str) -> None:
    from bayescale.plot import slices
    from bayescale.plot._slices import SIZE
    from bayescale.plot.picture import write_picture

    write_picture(path, lambda figure: slices(found, figure=figure), SIZE)
