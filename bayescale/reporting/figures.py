"""Pictures of a page: drawn for a phone's width, and put into the page itself."""

import base64
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any

from bayescale.check.lazy_jax import unloaded_jax_hidden
from bayescale.reporting.blocks import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (4.6, 3.5)  # inches: on a phone it shrinks to four fifths, so text stays readable
# text for a phone; and the same picture has the same bytes
SETTINGS: Any = {"svg.hashsalt": "bayescale", "font.size": 12.0}
DPI = 220  # of pictures with too many points for SVG
LARGEST = 80_000  # bytes of an SVG; larger ones become PNG


def picture(
    draw: "Callable[[Figure], Any]",
    alt: str,
    caption: str,
    size: tuple[float, float] = SIZE,
) -> Picture:
    """Let ``draw`` fill a figure, and take it as SVG, or as PNG where that is smaller.

    Parameters
    ----------
    draw : callable
        Gets the figure.
    alt, caption : str
    size : (float, float)
        Inches.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    with unloaded_jax_hidden(), rc_context(SETTINGS):
        draw(figure)
        kind, content = "svg+xml", _saved(figure, "svg", metadata={"Date": None})
        if len(content) > LARGEST:
            kind, content = "png", _fewer_colours(_saved(figure, "png", dpi=DPI))
    uri = f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    return Picture(uri, alt, caption, round(96 * size[0]), round(96 * size[1]))


def axes_picture(draw: Callable[..., Any], alt: str, caption: str, **options: Any) -> Picture:
    """`picture` of a plot of one panel: ``draw(ax=…)`` with options of the plot."""
    return picture(lambda figure: draw(ax=figure.add_subplot(), **options), alt, caption)


def _fewer_colours(png: bytes) -> bytes:
    """The picture with 256 colours: a third of the bytes, and the same to the eye."""
    from PIL import Image

    out = BytesIO()
    Image.open(BytesIO(png)).convert("RGB").quantize(256).save(out, "png", optimize=True)
    return out.getvalue()


def _saved(figure: "Figure", kind: str, **options: Any) -> bytes:
    out = BytesIO()
    figure.savefig(out, format=kind, **options)
    return out.getvalue()
