"""``bayescale select``: which backbone to train on a compute budget."""

from functools import partial
from typing import Annotated, Any

import typer

from bayescale.cli.options import FitFile, Json, Seed


def command(
    fit: FitFile,
    C: Annotated[
        list[str] | None,
        typer.Option(
            "--C",
            metavar="FLOP",
            help="Budgets: 1e21, or several: 1e20,1e21. Left out where the law has no tokens.",
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE.csv", help="New backbones with their benchmark scores, and N (--params)."
        ),
    ] = None,
    backbones: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Those that compete: a,b,c; all.")
    ] = None,
    params: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN|NAME=N",
            help="Column of parameters (N), or each backbone's: --params qwen-8b=8B.",
        ),
    ] = None,
    vision: Annotated[
        str, typer.Option(metavar="PARAMS", help="Vision tower trained along: 0.4B.")
    ] = "0",
    inference_tokens: Annotated[
        str, typer.Option(metavar="TOKENS", help="Tokens to serve, paid from the budget too.")
    ] = "0",
    covariate: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A covariate of the law, for all: year=1.5."),
    ] = None,
    family: Annotated[
        str | None, typer.Option(metavar="NAME", help="Family of all backbones; their own.")
    ] = None,
    no_offsets: Annotated[
        bool, typer.Option("--no-offsets", help="Compare the laws' means, without own offsets.")
    ] = False,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE.png", help="Also draw a picture (.svg, .pdf).")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Choose the backbone to train on a budget, by a fit of a capability law.

    Each backbone gets the tokens that the budget buys at its size. P(best) is the share of
    posterior draws in which it beats all others; regret is what choosing it gives away.

    For example:

      bayescale fit capability:benchmarks=text_* runs.csv -o fit.nc
      bayescale select fit.nc --C 1e20,1e21,1e22 --vision 0.4B --plot select.png
      bayescale select fit.nc --C 1e21 --models new.csv --params params_b
    """
    from bayescale.cli.output import check_place, tell
    from bayescale.cli.reading import pairs, split_values
    from bayescale.saving import load

    check_place(plot)
    from bayescale.answers.selection.run import select

    asked = pairs(covariate, "--covariate", "name=value, such as year=1.5")
    values: dict[str, Any] = {n: number(v, f"--covariate {n}") for n, v in asked.items()}
    found = select(
        load(fit),
        split_values(C),
        table=models,
        backbones=split_values(backbones),
        params=_params(params),
        vision_params=vision,
        inference_tokens=inference_tokens,
        family=family,
        offsets=not no_offsets,
        seed=seed,
        **values,
    )
    tell(found, json, plot, partial(_draw, found), size=_size)


def _draw(found: Any, figure: Any) -> None:
    from bayescale.plot import selection

    selection(found, figure=figure)


def _size() -> tuple[float, float]:
    from bayescale.plot._selection import SIZE

    return SIZE


def _params(given: list[str] | None) -> dict[str, str] | str | None:
    """One column, or pairs of model and parameters."""
    from bayescale.cli.reading import pairs, split_values

    listed = split_values(given)
    if not listed:
        return None
    if len(listed) == 1 and "=" not in listed[0]:
        return listed[0]
    return pairs(listed, "--params", "model=parameters, such as qwen-8b=8B")


def number(text: str, what: str) -> float:
    """A plain number.

    Raises
    ------
    typer.BadParameter
        It is none.
    """
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{what} is '{text}'; expected a number") from None
