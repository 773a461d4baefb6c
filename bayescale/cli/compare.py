"""``bayescale compare``: saved fits of several laws, ranked and weighed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from bayescale.cli.options import Json, Seed

if TYPE_CHECKING:
    from bayescale.fitted import Fit


def command(
    fits: Annotated[
        list[str],
        typer.Argument(metavar="FIT.nc...", help="Files that `bayescale fit … -o` wrote."),
    ],
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Leave out together the rows that share this column, such as run; 'row' leaves "
            "out single rows.",
        ),
    ] = None,
    refit: Annotated[
        str,
        typer.Option(
            metavar="WHEN",
            help="exact: fit again without the runs where importance weights don't serve; never: "
            "only say which.",
        ),
    ] = "exact",
    max_refits: Annotated[
        int, typer.Option(metavar="INT", help="At most so many refits a law.", min=0)
    ] = 50,
    workers: Annotated[
        int | None, typer.Option(metavar="INT", help="Refits at the same time.", min=1)
    ] = None,
    N: Annotated[
        list[str] | None,
        typer.Option("--N", metavar="PARAMS", help="Also predict by the stack: 70B, with --D."),
    ] = None,
    D: Annotated[
        list[str] | None, typer.Option("--D", metavar="TOKENS", help="Training tokens: 1.4T.")
    ] = None,
    C: Annotated[
        list[str] | None,
        typer.Option("--C", metavar="FLOP", help="Also allocate budgets by the stack: 5.76e23."),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE.png", help="Draw the differences; also .svg or .pdf."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare laws fitted to the same runs by how well they predict runs left out.

    elpd is the log predictive density of runs that a law was not shown; rows of one run
    (checkpoints) are left out together. stack is each law's weight in the mixture that predicts
    best: --N and --D, or --C, ask that mixture.

    For example:

      bayescale compare chinchilla.nc kaplan.nc
      bayescale compare a.nc b.nc c.nc --by run --plot compare.png
      bayescale compare chinchilla.nc coupled.nc --C 5.76e23 --json
    """
    from bayescale.cli.output import show, show_json
    from bayescale.cli.reading import split_values

    if plot:
        from bayescale.plot.picture import check_picture

        check_picture(plot)
    loaded = load_named(fits)
    from bayescale.check import compare

    result = compare(
        loaded, by=by, refit=cast(Literal["exact", "never"], refit), max_refits=max_refits,
        seed=seed, workers=workers, progress=False if json else None,
    )  # fmt: skip
    if not json:
        show(result)
    asked = {"N": split_values(N), "D": split_values(D), "C": split_values(C)}
    told = ask_stack(result, {k: v for k, v in asked.items() if v}, seed)
    if plot:
        _draw(result, plot)
    if json:
        more = {name: answer.to_dict() for name, answer in told.items()}
        show_json({**result.to_dict(), **more, "plot": plot})
        return
    show(*(item for answer in told.values() for item in ("", answer)))
    if plot:
        show(f"wrote {plot}")


def load_named(paths: list[str]) -> "dict[str, Fit]":
    """Fits by their law's name, or by their file's where two are of one law.

    Raises
    ------
    FitError
        A file can't be read, or is given twice.
    """
    from bayescale.errors import FitError
    from bayescale.saving import load

    double = next((p for p in paths if paths.count(p) > 1), None)
    if double is not None:
        raise FitError(f"{double} is given twice; give each fit once.")
    fits = [load(path) for path in paths]
    for names in ([f.law.name for f in fits], [Path(p).stem for p in paths], paths):
        if len(set(names)) == len(names):
            return dict(zip(names, fits, strict=True))
    raise FitError("two fits have one name.")  # pragma: no cover: paths differ


def ask_stack(result: Any, asked: dict[str, list[str]], seed: int) -> dict[str, Any]:
    """The stack's answers: a prediction, and an allocation of budgets that no point used up."""
    points = asked if not {"N", "D"} <= set(asked) else {k: asked[k] for k in ("N", "D")}
    told = {}
    if set(points) - {"C"}:
        told["prediction"] = result.stack.predict(seed=seed, **points)
    if "C" in asked and (points is not asked or set(asked) == {"C"}):
        told["allocation"] = result.stack.allocate(asked["C"], seed=seed)
    return told


def _draw(result: Any, path: str) -> None:
    from bayescale.plot import comparison
    from bayescale.plot.picture import write_picture

    write_picture(path, lambda figure: comparison(result, figure=figure), (9.0, 3.8))
