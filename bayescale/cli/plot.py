"""``bayescale plot``: a picture of a saved fit."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bayescale.cli.options import FitFile, Groups, Json


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
    C: Annotated[
        list[str] | None,
        typer.Option("--C", metavar="FLOP", help="Budgets of the isoflop slices: 1e20,1e21."),
    ] = None,
    extend: Annotated[
        float | None,
        typer.Option(metavar="X", help="Powers of ten beyond the largest run.", min=0),
    ] = None,
    group: Groups = None,
    json: Json = False,
) -> None:
    """Draw a picture of a saved fit.

    Bands hold 50% and 90% of the posterior.

    For example:

      bayescale plot fit.nc
      bayescale plot fit.nc --kind allocation -o allocation.svg
    """
    from bayescale.cli.output import show, show_json
    from bayescale.cli.reading import pairs, split_values
    from bayescale.files import check_writable
    from bayescale.saving import load

    kind = check_kind(kind)
    path = Path(output or f"{Path(fit).stem}-{kind}.png")
    check_writable(path)
    given = {"budgets": split_values(C), "extend": extend}
    given |= pairs(group, "--group", "column=name, such as corpus=c4")
    fitted = load(fit)
    from bayescale.plot import save

    options = {name: value for name, value in given.items() if value is not None}
    check_options(kind, options)
    save(fitted, kind, path, **options)
    if json:
        show_json({"kind": kind, "output": str(path), "converged": fitted.converged})
    else:
        show(fitted.title)
        show(f"wrote {path}")


def check_kind(kind: str) -> str:
    """A plot's name as the package writes it, before matplotlib is imported for it.

    Raises
    ------
    FitError
        There is no such plot; the message gives the nearest.
    """
    from bayescale.errors import FitError, nearest
    from bayescale.plot import KINDS

    name = kind.replace("-", "_")
    if name not in KINDS:
        message = f"there is no plot '{kind}'; known: {', '.join(KINDS)}."
        raise FitError(message + nearest(name, list(KINDS)))
    return name


def check_options(kind: str, options: dict[str, Any]) -> None:
    """Raise where a plot doesn't take an option that was given."""
    import inspect

    from bayescale.errors import FitError
    from bayescale.plot import PLOTS

    taken = inspect.signature(PLOTS[kind]).parameters
    for name, shell in (("budgets", "--C"), ("extend", "--extend")):
        if name in options and name not in taken:
            raise FitError(f"the plot '{kind}' takes no {shell}.")
    groups = options.keys() - {"budgets", "extend"}
    if groups and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        raise FitError(f"the plot '{kind}' shows all groups; leave out --group.")
