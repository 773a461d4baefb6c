"""``bayescale worth``: what repeated epochs and other domains' tokens are worth."""

from functools import partial
from typing import Annotated, Any

import typer

from bayescale.cli.options import FitFile, Groups, Json, Seed


def command(
    fit: FitFile,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Where tokens are compared: --at text=60B --at vision=20B --at N=1B; sources "
            "left out have none. Default: the data's mean mixture.",
        ),
    ] = None,
    unique: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE=TOKENS", help="Unique tokens there: more of it are repeated ones."
        ),
    ] = None,
    epochs: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Epochs of which the worth is told.")
    ] = "2,3,4,5,10",
    group: Groups = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE.png", help="Also draw a picture (.svg, .pdf).")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say what a repeated epoch is worth in fresh ones, and one domain's token for another's loss.

    Of mixture, decoupled and repetition laws. P(harm): the probability that one more token of the
    source raises the target's loss.

    For example:

      bayescale worth fit.nc --epochs 2,4,8
      bayescale worth fit.nc --at text=60B --at vision=20B --at N=1B --plot worth.png
    """
    from bayescale.answers.worth import worth
    from bayescale.cli.output import check_place, tell
    from bayescale.cli.reading import pairs, split_values
    from bayescale.saving import load

    where = pairs(split_values(at), "--at", "name=value, such as text=60B or N=1B")
    size = where.pop("N", None)
    tokens = {name.removeprefix("D_"): value for name, value in where.items()}
    there = pairs(split_values(unique), "--unique", "source=tokens, such as vision=5B")
    groups = pairs(group, "--group", "column=name, such as corpus=c4")
    check_place(plot)
    asked: Any = split_values([epochs])
    found = worth(
        load(fit), epochs=asked, N=size, D=tokens or None, unique=there, seed=seed, **groups
    )
    tell(found, json, plot, partial(_draw, found), size=partial(_size, found))


def _draw(found: Any, figure: Any) -> None:
    from bayescale.plot import worth

    worth(found, ax=figure.add_subplot())


def _size(found: Any) -> tuple[float, float]:
    from bayescale.plot._worth import picture_size

    return picture_size(found)
