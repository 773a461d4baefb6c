"""Simulation-based calibration: how far ranks are from uniform, quantity by quantity."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import FitError
from bayescale.plot import canvas, scales, style
from bayescale.plot.picture import write_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.check.calibration.result import Calibration

COLUMNS, MOST = 4, 24  # panels side by side, and in all
PANEL = (2.3, 1.9)  # inches


def sbc(
    result: "Calibration",
    axes: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    *,
    figure: "Figure | SubFigure | None" = None,
    quantities: Sequence[str] | None = None,
    title: str | None = None,
) -> np.ndarray:
    """Draw the ECDF of the ranks minus the uniform one, with bands that hold it all at once.

    The band of each panel is left anywhere by a right law's ranks with a probability of level/2
    over the number of quantities, so that all panels together stay inside with at least
    1 - level/2 (the other half is spent on the test of spread). A curve that leaves its band, or
    fails the test of spread, is red and dashed, with FAILS above it. Posteriors that are too
    narrow bend the curve up on the left and down on the right; too wide, the other way round.

    Parameters
    ----------
    result : Calibration
        From `bayescale.check.sbc`.
    axes : matplotlib Axes, one for each quantity, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    quantities : sequence of str, optional
        Default: all, those that fail first where there are more than 24.
    title : str, optional
        Default: the law and the verdict.

    Returns
    -------
    array of Axes
        x: rank as a share; y: difference of shares.

    Raises
    ------
    FitError
        An unknown quantity, or axes of another number than panels.
    """
    names, left = _names(result, quantities)
    size = PANEL if len(names) > 1 else (canvas.WIDTH, canvas.HEIGHT)
    panels, figure = canvas.panels(len(names), axes, figure, "quantities", COLUMNS, size)
    share, low, high = result.band()
    edge = 1.25 * float(max(np.abs(high - share).max(), np.abs(low - share).max()))
    shared = figure is not None and len(names) > 1
    for k, (panel, name) in enumerate(zip(panels, names, strict=True)):
        difference = result.ecdf(name) - share
        _draw(panel, share, low - share, high - share, difference, name in result.failing)
        most = max(edge, 1.1 * float(np.abs(difference).max()))
        panel.set_ylim(-most, most)
        lowest = not shared or k + COLUMNS >= len(names)
        side = "" if shared else "ECDF difference"
        style.finish(panel, None, "", "rank (share)" if lowest else "", side)
        _head(panel, name, name in result.failing)
    _words(result, names, panels, figure, title, left)
    return panels


def save_sbc(result: "Calibration", path: str | Path) -> Path:
    """Draw `sbc` into a file, as large as its panels need."""
    rows = -(-min(len(result.ranks), MOST) // COLUMNS)
    size = (PANEL[0] * COLUMNS, PANEL[1] * rows + 0.7)
    return write_picture(path, lambda figure: sbc(result, figure=figure), size)


def _names(result: "Calibration", quantities: Sequence[str] | None) -> tuple[list[str], int]:
    """Quantities to draw, and how many there is no room for."""
    known = list(result.ranks)
    if quantities is not None:
        asked = [quantities] if isinstance(quantities, str) else list(quantities)
        for name in asked:
            if name not in known:
                from bayescale.errors import nearest

                raise FitError(
                    f"'{name}' was not ranked; ranked are {', '.join(known)}."
                    + nearest(name, known)
                )
        if asked:
            return asked, 0
    if len(known) <= MOST:
        return known, 0
    failing = result.failing
    first = [*(n for n in known if n in failing), *(n for n in known if n not in failing)][:MOST]
    return [n for n in known if n in first], len(known) - MOST


def _draw(
    ax: "Axes",
    share: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    difference: np.ndarray,
    failing: bool,
) -> None:
    """Band, zero and curve of one quantity; all begin and end at zero."""
    s = canvas.scale(ax)
    x = np.concatenate([[0], share, [1]])

    def closed(values: np.ndarray) -> np.ndarray:
        return np.concatenate([[0], values, [0]])

    look: dict[str, Any] = {"color": style.GREY, "alpha": 0.3, "linewidth": 0, "zorder": 2}
    ax.fill_between(x, closed(low), closed(high), **look)
    ax.axhline(0, color=style.GREY, linewidth=0.7 * s, zorder=3)
    ax.plot(x, closed(difference), **_curve(failing), zorder=5)
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])


def _curve(failing: bool) -> dict[str, Any]:
    colour = style.VERMILLION if failing else style.BLUE
    return {"color": colour, "linestyle": (0, (4, 1.5)) if failing else "-", "linewidth": 1.2}


def _head(ax: "Axes", name: str, failing: bool) -> None:
    look = {"loc": "left", "fontsize": canvas.text_size(ax)}
    ax.set_title(
        f"{name}: FAILS" if failing else name,
        color=style.WARNING if failing else style.INK,
        **look,
    )


def _words(
    result: "Calibration",
    names: Sequence[str],
    panels: np.ndarray,
    figure: "Figure | SubFigure | None",
    title: str | None,
    left: int,
) -> None:
    """The verdict above, labels of all axes and the legend below."""
    from matplotlib.patches import Patch

    band = Patch(color=style.GREY, alpha=0.3, linewidth=0)
    count = len(result.ranks)
    every = f", all {count} quantities at once" if count > 1 else ""
    band.set_label(f"{100 * (1 - result.level / 2):.4g}% band{every}")
    handles: list[Any] = [band]
    for failing in sorted({name in result.failing for name in names}):
        look = _curve(failing)
        word = "fails" if failing else "passes"
        handles.append(style.line_handle(word, look["color"], look["linestyle"]))
    for panel in panels if figure is None or len(panels) == 1 else ():
        scales.make_room(panel, scales.legend_share(panel, 2))
    style.panel_legend(panels, figure, handles)
    if figure is None or len(panels) == 1:
        if title is not None:
            panels[0].set_title(title, loc="left", fontsize=canvas.text_size(panels[0]))
        return
    head = result.headline() if title is None else title
    head += f" ({left} more not drawn)" if left else ""
    size = canvas.text_size(panels[0])
    wide = max(30, int(canvas.figure_width(figure) * 72 / (0.55 * 1.15 * size)))
    figure.suptitle(textwrap.fill(head, wide), x=0.01, ha="left", fontsize=1.15 * size)
    figure.supylabel("ECDF difference", fontsize=size)
