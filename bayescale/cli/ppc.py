"""``bayescale ppc``: posterior (or prior) predictive checks of a saved fit."""

from typing import Annotated

import typer

from bayescale.cli.options import FitFile, Json, Seed


def command(
    fit: FitFile,
    check: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="trend_C, tail, isoflop_minimum, … or trend, isoflop, group; group:COLUMN for "
            "any column. Repeatable; by default all that the runs can carry.",
        ),
    ] = None,
    prior: Annotated[
        bool, typer.Option("--prior", help="What the prior replicates, in place of the posterior.")
    ] = False,
    C: Annotated[
        list[str] | None,
        typer.Option("--C", metavar="FLOP", help="Budgets of the IsoFLOP slices: 1e20,1e21."),
    ] = None,
    draws: Annotated[
        int, typer.Option(metavar="INT", help="Draws, each with a replicate of all runs.")
    ] = 500,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE.png", help="Draw every check; also .svg or .pdf."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare the runs with replicates of them from the fit.

    Each line is a quantity of the runs (a trend of residuals, the largest one, the bend of
    IsoFLOP slices, ...) beside what the fitted law and noise give for it. A p-value near 0 or 1
    says that the law or the noise misses something, and what to try next stands below the table.
    The exit code is 0 whatever is flagged; scripts read flagged in the JSON.

    For example:

      bayescale ppc fit.nc
      bayescale ppc fit.nc --plot checks.png
      bayescale ppc fit.nc --check trend_C --check group:family --json
    """
    from bayescale.cli.output import answer
    from bayescale.cli.reading import split_values
    from bayescale.saving import load

    if plot:
        from bayescale.plot.picture import check_picture

        check_picture(plot)
    fitted = load(fit)
    from bayescale.check.predictive.run import ppc, prior_ppc

    make = prior_ppc if prior else ppc
    result = make(fitted, checks=check or None, draws=draws, seed=seed, budgets=split_values(C))
    if plot:
        from bayescale.plot._ppc import save_ppc

        save_ppc(result, plot)
    answer(result, json)
