"""``bayescale holdout``: fit laws to small runs, and see whether they predict the larger ones."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from bayescale.cli import fit_options as opt
from bayescale.cli.options import Json, Seed


def _option(metavar: str, text: str, *names: str, **limits: Any) -> Any:
    return typer.Option(*names, metavar=metavar, help=text, **limits)


def command(
    law: Annotated[
        str, typer.Argument(metavar="LAW", help="A law, or several: chinchilla,coupled.")
    ],
    runs: opt.RunTable,
    split: Annotated[
        str,
        _option(
            "SPLIT",
            "compute:10 (fit C <= C_max/10), size:largest, data:largest, group:COLUMN "
            "(each left out in turn), fraction:0.7, random:20x0.7.",
        ),
    ] = "compute:10",
    stack: Annotated[
        bool, typer.Option("--stack", help="Also the weighted mixture of the laws.")
    ] = False,
    shift: Annotated[
        bool,
        typer.Option("--shift", help="Also each law moved by what it misses of the largest runs."),
    ] = False,
    by: Annotated[
        str | None,
        _option("COLUMN", "Names the run: its rows are left out together to weigh the stack."),
    ] = None,
    point: Annotated[
        list[str] | None,
        _option("NAME", "Also a point estimate with bootstrap: huber or least_squares.", "--point"),
    ] = None,
    map: opt.Columns = None,
    unit: opt.Units = None,
    where: opt.Where = None,
    drop_missing: opt.DropMissing = False,
    cost: opt.Cost = None,
    factor: opt.Factor = None,
    run: opt.RunNames = None,
    drop_before: opt.DropBefore = None,
    smooth: opt.Smooth = None,
    last: opt.Last = False,
    thin: opt.Thin = None,
    noise: opt.NoiseName = None,
    noise_varies_with: opt.VariesWith = None,
    known_sd: opt.KnownSd = None,
    runs_column: opt.RunsColumn = None,
    along: opt.Along = None,
    pool: opt.Pools = None,
    prior: opt.Priors = None,
    drift: opt.DriftAlong = None,
    draws: Annotated[int, _option("INT", "Kept draws a chain, of four chains.")] = 250,
    workers: Annotated[int | None, _option("INT", "Fits at the same time.", min=1)] = None,
    folder: Annotated[
        str | None, _option("DIR", "Keep finished fits here; the same command goes on from them.")
    ] = None,
    plot: Annotated[
        str | None,
        _option("FILE.png", "Draw predicted against observed; also .svg or .pdf."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Fit laws to a part of the runs, and score what they say of the rest.

    The table tells which share of the held-out runs lies inside the 50, 80, 90 and 95% intervals,
    and how good the predictions are: interval (Winkler) score, CRPS, RMSE of log loss.

    For example:

      bayescale holdout chinchilla runs.csv --split compute:10
      bayescale holdout chinchilla,coupled runs.csv --stack --plot holdout.png
      bayescale holdout chinchilla sweep.csv --split group:family --json
    """
    from bayescale.choosing import choose_all
    from bayescale.cli.modelling import build_model, curve_arguments, reading_arguments
    from bayescale.cli.output import answer, show
    from bayescale.cli.reading import split_values

    reading = reading_arguments(map, unit, where, drop_missing, cost, factor)
    reading |= curve_arguments(run, drop_before, smooth, last, thin)
    columns = {
        "varies_with": noise_varies_with,
        "known_sd": known_sd,
        "runs": runs_column,
        "along": along,
    }
    names = split_values([law]) or [law]
    named, table = choose_all({name: name for name in names}, runs, reading)
    models = {n: build_model(law, noise, pool, prior, drift, **columns) for n, law in named.items()}
    first = next(iter(models.values()))
    if plot:
        from bayescale.plot.picture import check_picture

        check_picture(plot)
    from bayescale.check import holdout

    spread = {"workers": workers, "folder": folder, "progress": False if json else None}
    result = holdout(
        {name: replace(model.law, noise=model.noise) for name, model in models.items()}, table,
        split=split, pooling=first.pooling, points=split_values(point) or (),
        stack=stack, shift=shift, by=by,
        seed=seed, draws=draws, **spread,
    )  # fmt: skip
    answer(result, json)
    if plot:
        _draw(result, plot)
        if not json:
            show(f"wrote {plot}")


def _draw(result: Any, path: str) -> None:
    from bayescale.plot import holdout
    from bayescale.plot.picture import write_picture

    panels = min(len(result.labels), 5) + 1
    size = (8.8, 3.4 * -(-panels // 2))
    labels = result.labels[: panels - 1]
    write_picture(path, lambda figure: holdout(result, figure=figure, labels=labels), size)
