"""Answers at a few points: bands along many of them, bars at single ones."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.plot import canvas, style
from bayescale.plot.bands import bands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

SIZE = (9.0, 3.9)  # inches of a picture of two panels
NARROW = 4.5  # inches of a figure below which panels stand one below the other
LINE = 3  # points from which a line is drawn through them
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (7, 1.5, 1.2, 1.5)), (0, (3, 1, 1, 1)), ":")


def two_panels(
    ax: "Axes | Sequence[Axes] | np.ndarray | None",
    figure: "Figure | SubFigure | None",
    what: str,
) -> "tuple[np.ndarray, Figure | SubFigure | None]":
    """Axes of two panels, side by side where there is room; see `canvas.panels`."""
    if figure is None and ax is None:
        figure = canvas.new_figure(None, SIZE)
    narrow = figure is not None and canvas.figure_width(figure) < NARROW
    return canvas.panels(2, ax, figure, what, 1 if narrow else 2)


def intervals_along(ax: "Axes", x: np.ndarray, draws: np.ndarray, nth: int, of: int) -> None:
    """Draw medians with 50% and 90% intervals at each x.

    Parameters
    ----------
    ax : Axes
    x : array, shape (point,)
    draws : array, shape (draw, point)
        NaN where a draw has no value.
    nth, of : int
        Position of this one among several, which tells its colour, dashes and marker.
    """
    colour, s = style.COLOURS[nth % len(style.COLOURS)], canvas.scale(ax)
    marker = style.MARKERS[nth % len(style.MARKERS)]
    order = np.argsort(x)
    found = bands(x[order], draws[:, order])
    if len(x) >= LINE:
        style.draw_bands(ax, found, colour, DASHES[nth % len(DASHES)])
    else:
        shift = 1.0 + 0.04 * (nth - (of - 1) / 2)  # side by side on a log axis
        for level, width in ((0.9, 1.2), (0.5, 3.4)):
            low, high = found.intervals[level]
            ax.vlines(found.x * shift, low, high, color=colour, linewidth=width * s, zorder=5)
        x = found.x * shift
        order = np.arange(len(x))
    look: dict[str, Any] = {"linestyle": "", "color": colour, "markeredgecolor": style.INK}
    look |= {"markersize": 4.5 * s, "markeredgewidth": 0.5 * s, "zorder": 6.5}
    ax.plot(x[order], found.median, marker=marker, **look)


def named(labels: list[str]) -> list[Any]:
    """Legend entries of several, by `intervals_along`'s colour, dashes and marker."""
    if len(labels) < 2:
        return []
    return [
        style.line_handle(
            label, style.COLOURS[k % 6], DASHES[k % 6], marker=style.MARKERS[k % 6],
            markeredgecolor=style.INK,
        )
        for k, label in enumerate(labels)
    ]  # fmt: skip


def about(converged: bool, title: str) -> str:
    """The title, with what must be said of a fit that failed its gate."""
    return title if converged else f"{title}\n(that fit fails its gate)"
