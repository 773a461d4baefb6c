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
    from bayescale.cli.output import show, show_json
    from bayescale.saving import load

    if plot:
        from bayescale.plot.picture import check_picture

        check_picture(plot)
    found, draw = _answer(load(fit))
    if not json:
        show(found)
    if plot:
        draw(plot)
    if json:
        show_json({**found.to_dict(), "plot": plot})
    elif plot:
        show(f"wrote {plot}")


def _answer(fit: Any) -> tuple[Any, Any]:
    """The answer that suits the law, and how to draw it into a file."""
    from bayescale.plot.picture import write_picture

    family = (fit.law.recipe or ("", ""))[0]
    if family == "mixture":
        from bayescale.answers.worth import worth
        from bayescale.plot._worth import picture_size as size_of_worth
        from bayescale.plot._worth import worth as draw_worth

        found = worth(fit)
        return found, lambda path: write_picture(
            path, lambda figure: draw_worth(found, ax=figure.add_subplot()), size_of_worth(found)
        )
    from bayescale.answers.transfer import transfer_tax
    from bayescale.plot._transfer_tax import picture_size
    from bayescale.plot._transfer_tax import transfer_tax as draw_tax

    tax = transfer_tax(fit)
    return tax, lambda path: write_picture(
        path, lambda figure: draw_tax(tax, ax=figure.add_subplot()), picture_size(tax)
    )
