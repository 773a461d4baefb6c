"""``bayescale plot``: a picture of a saved fit."""

from pathlib import Path
from typing import Annotated

import typer

from bayescale.cli.options import FitFile, Json


def command(
    fit: FitFile,
    kind: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="overview, loss_curves, isoflop, residuals, allocation, tokens_per_param or "
            "prior_posterior.",
        ),
    ] = "overview",
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.png",
            help="Also .svg or .pdf; by default the fit's name and the kind, in this folder.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Draw a picture of a saved fit.

    Bands hold 50% and 90% of the posterior.

    For example:

      bayescale plot fit.nc
      bayescale plot fit.nc --kind allocation -o allocation.svg
    """
    from bayescale.cli.output import show, show_json
    from bayescale.errors import FitError, nearest
    from bayescale.files import check_writable
    from bayescale.plot import KINDS
    from bayescale.saving import load

    if kind not in KINDS:
        message = f"there is no plot '{kind}'; known: {', '.join(KINDS)}."
        raise FitError(message + nearest(kind, list(KINDS)))
    path = Path(output or f"{Path(fit).stem}-{kind}.png")
    check_writable(path)
    fitted = load(fit)
    from bayescale.plot import save

    save(fitted, kind, path)
    if json:
        show_json({"kind": kind, "output": str(path), "converged": fitted.converged})
    else:
        show(f"{fitted.law.name} fitted to {len(fitted.runs)} runs: {fitted.gate.headline()}")
        show(f"wrote {path}")
