"""``bayescale invariance``: whether exponents stay the same in all mixtures, or are equal."""

from typing import Annotated, Any, Literal, cast

import typer

from bayescale.cli.options import FitFile, Groups, Json, Picture, Seed


def command(
    fit: FitFile,
    delta: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="A smaller change is taken for none: .02 of a, .05 of alpha - beta."
        ),
    ] = None,
    loo: Annotated[
        bool, typer.Option("--loo/--no-loo", help="Also fit the tied laws, and compare them.")
    ] = True,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Leave out together the rows that share this column."),
    ] = None,
    refit: Annotated[
        str,
        typer.Option(metavar="WHEN", help="exact or never: as of `bayescale compare`."),
    ] = "exact",
    workers: Annotated[
        int | None, typer.Option(metavar="INT", help="Refits at the same time.", min=1)
    ] = None,
    group: Groups = None,
    plot: Picture = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Ask whether an exponent stays the same, and what speaks for a law in which it does.

    A fit of decoupled objectives: does the allocation exponent depend on the mixture? A fit with
    exponents alpha and beta: are they equal, so that N and D grow alike? Told are the change with
    its probabilities, and how laws with tied exponents predict runs left out.

    For example:

      bayescale fit decoupled runs.csv -o fit.nc
      bayescale invariance fit.nc --by run --plot invariance.png
      bayescale invariance chinchilla.nc --no-loo --json
    """
    from bayescale.cli.output import check_place, tell
    from bayescale.cli.reading import pairs
    from bayescale.saving import load

    if refit not in ("exact", "never"):
        raise typer.BadParameter(f"--refit is '{refit}'; expected exact or never")
    check_place(plot)
    options: dict[str, Any] = {} if delta is None else {"delta": delta}
    options |= {"loo": loo}
    if loo:
        how = cast(Literal["exact", "never"], refit)
        options |= {"by": by, "refit": how, "workers": workers, "progress": False}
    found = _ask(
        load(fit), pairs(group, "--group", "column=name, such as corpus=c4"), seed, options
    )

    def draw(figure: Any) -> None:
        from bayescale.plot import invariance

        invariance(found, ax=figure.add_subplot())

    tell(found, json, plot, draw)


def _ask(fit: Any, group: dict[str, str], seed: int, options: dict[str, Any]) -> Any:
    """The question that suits the fit's law."""
    from bayescale.answers.invariance.ask import equal_exponents, invariance

    if (fit.law.recipe or ("",))[0] == "decoupled":
        return invariance(fit, **options)
    return equal_exponents(fit, seed=seed, group=group or None, **options)
