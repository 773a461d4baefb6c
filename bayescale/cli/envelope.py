"""``bayescale envelope``: compute-optimal sizes from where training curves cross."""

from typing import Annotated, Any

import typer

from bayescale.cli import fit_options as opt
from bayescale.cli.options import Json, Picture, Seed


def command(
    runs: opt.RunTable,
    run: opt.RunNames = None,
    along: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="Checkpoints near each other along this column scatter alike; or checkpoint.",
        ),
    ] = "D",
    C: Annotated[
        list[str] | None,
        typer.Option("--C", metavar="FLOP", help="Budgets to answer for: 1e24, or 1e23,1e24."),
    ] = None,
    near: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Leave out checkpoints more than this share above the lowest loss at their "
            "compute; 0 keeps all.",
        ),
    ] = 0.05,
    map: opt.Columns = None,
    unit: opt.Units = None,
    where: opt.Where = None,
    drop_missing: opt.DropMissing = False,
    cost: opt.Cost = None,
    factor: opt.Factor = None,
    drop_before: opt.DropBefore = None,
    smooth: opt.Smooth = None,
    last: opt.Last = False,
    thin: Annotated[
        int, typer.Option(metavar="INT", help="At most so many checkpoints of a run.")
    ] = 40,
    draws: Annotated[int, typer.Option(metavar="INT", help="Posterior draws.")] = 2000,
    plot: Picture = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find compute-optimal sizes from where training curves of several sizes cross.

    Rows are checkpoints; --run names the training run (N: one curve a size). Where the curves of
    two neighbouring sizes cross, the best size lies between them; a power law goes through the
    crossings, and its intervals hold the scatter of runs. Learning rates should be constant, or
    curves made of finished runs.

    For example:

      bayescale envelope curves.csv --run run_id --C 1e24 --plot envelope.png
      bayescale envelope curves.csv --run run_id --drop-before 2B --smooth 5 --json
    """
    from bayescale.answers.envelope import envelope
    from bayescale.cli.modelling import curve_arguments, reading_arguments
    from bayescale.cli.output import check_place, tell
    from bayescale.cli.reading import split_values

    check_place(plot)
    reading = reading_arguments(map, unit, where, drop_missing, cost, factor)
    reading |= curve_arguments(run, drop_before, smooth, last, None)
    found = envelope(
        runs, along=along, C=split_values(C), near=near or None, thin=thin, draws=draws, seed=seed,
        **reading,
    )  # fmt: skip

    def draw(figure: Any) -> None:
        from bayescale.plot import envelope as picture

        picture(found, ax=figure.add_subplot())

    tell(found, json, plot, draw)
