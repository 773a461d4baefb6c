"""``bayescale approaches``: parametric, IsoFLOP and envelope from one table of runs."""

from typing import Annotated, Any

import typer

from bayescale.cli import fit_options as opt
from bayescale.cli.options import Budgets, Json, Picture, Seed


def command(
    runs: opt.RunTable,
    C: Budgets,
    run: opt.RunNames = None,
    law: Annotated[
        str, typer.Option(metavar="LAW", help="Law of N and D of the parametric approach.")
    ] = "chinchilla",
    map: opt.Columns = None,
    unit: opt.Units = None,
    where: opt.Where = None,
    drop_missing: opt.DropMissing = False,
    cost: opt.Cost = None,
    factor: opt.Factor = None,
    drop_before: opt.DropBefore = None,
    smooth: opt.Smooth = None,
    last: opt.Last = False,
    draws: opt.Draws = 1000,
    plot: Picture = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare three approaches to the compute-optimal size, made from one table of runs.

    Parametric (a fitted law), IsoFLOP (slices at fixed compute) and envelope (training curves,
    with --run) as far as the runs allow; what can't be made is told with the reason. Pairs that
    disagree are named with a probability.

    For example:

      bayescale approaches curves.csv --run run_id --C 1e24 --plot approaches.png
      bayescale approaches sweep.csv --C 1e23,1e24 --json
    """
    from bayescale.answers.approaches import approaches
    from bayescale.cli.modelling import curve_arguments, reading_arguments
    from bayescale.cli.output import check_place, tell
    from bayescale.cli.reading import split_values

    check_place(plot)
    reading = reading_arguments(map, unit, where, drop_missing, cost, factor)
    reading |= curve_arguments(run, drop_before, smooth, last, None)
    found = approaches(
        runs, C=split_values(C), law=law, draws=draws, seed=seed,
        progress=False if json else None, **reading,
    )  # fmt: skip

    def draw(figure: Any) -> None:
        from bayescale.plot import approaches as picture

        picture(found, figure=figure)

    tell(found, json, plot, draw, wide=True)
