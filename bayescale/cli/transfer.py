"""``bayescale transfer``: what carries over, of text benchmarks or between domains."""

from typing import Annotated, Any

import typer

from bayescale.cli.options import FitFile, Json


def command(
    fit: FitFile,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE.png", help="Also draw a picture (.svg, .pdf).")
    ] = None,
    json: Json = False,
) -> None:
    """Say what carries over.

    Of a capability law: the transfer coefficient of each text benchmark, and those that are a
    tax (below 0 with probability above 95%). Of a mixture law: what a token of one domain is
    worth to another.

    For example:

      bayescale fit capability:benchmarks=text_* runs.csv -o fit.nc
      bayescale transfer fit.nc --plot transfer.png
    """
    from bayescale.cli.output import check_place, tell
    from bayescale.saving import load

    check_place(plot)
    found, draw, size = _answer(load(fit))
    tell(found, json, plot, lambda figure: draw(found, ax=figure.add_subplot()), size=size)


def _answer(fit: Any) -> tuple[Any, Any, Any]:
    """The answer that suits the law, what draws it, and the size of the picture."""
    if (fit.law.recipe or ("", ""))[0] == "mixture":
        from bayescale.answers.worth import worth as ask
        from bayescale.plot._worth import picture_size
        from bayescale.plot._worth import worth as draw
    else:
        from bayescale.answers.transfer import transfer_tax as ask
        from bayescale.plot._transfer_tax import picture_size
        from bayescale.plot._transfer_tax import transfer_tax as draw
    found: Any = ask(fit)
    return found, draw, lambda: picture_size(found)
