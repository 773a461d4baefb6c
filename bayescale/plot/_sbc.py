"""Simulation-based calibration: how far ranks are from uniform, quantity by quantity."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import FitError
from bayescale.plot import canvas, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.check.calibration.result import Calibration

COLUMNS, MOST = 4, 24  # panels side by side, and in all


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
    size = (2.3, 1.9) if len(names) > 1 else (canvas.WIDTH, canvas.HEIGHT)
    panels, figure = canvas.panels(len(names), axes, figure, "quantities", COLUMNS, size)
    share, low, high = result.band()
    edge = 1.25 * float(max(np.abs(high - share).max(), np.abs(low - share).max()))
    columns = min(COLUMNS, len(names))
    for k, (panel, name) in enumerate(zip(panels, names, strict=True)):
        difference = result.ecdf(name) - share
        failing = name in result.failing
        _draw(panel, share, low - share, high - share, difference, failing)
        most = max(edge, 1.1 * float(np.abs(difference).max()))
        panel.set_ylim(-most, most)
        panel.set_xlim(0, 1)
        panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        below = figure is None or k + columns >= len(names)
        side = "ECDF difference" if figure is None or k % columns == 0 else ""
        head = f"{name}: FAILS" if failing else name
        style.finish(panel, None, head, "rank (share)" if below else "", side)
        if failing:
            panel.title.set_color(style.WARNING)
            panel._left_title.set_color(style.WARNING)
    _words(result, panels, figure, title, left)
    return panels


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


def _curve(failing: bool) -> dict[str, Any]:
    colour = style.VERMILLION if failing else style.BLUE
    return {"color": colour, "linestyle": (0, (4, 1.5)) if failing else "-", "linewidth": 1.2}


def _words(
    result: "Calibration",
    panels: np.ndarray,
    figure: "Figure | SubFigure | None",
    title: str | None,
    left: int,
) -> None:
    """The verdict above, the legend below."""
    from matplotlib.patches import Patch

    inside = 1 - result.each
    band = Patch(color=style.GREY, alpha=0.3, linewidth=0)
    band.set_label(f"holds {inside:.3%} of right curves whole, {1 - result.level / 2:.2%} of all")
    kinds = {name in result.failing for name in result.ranks}
    handles: list[Any] = [band]
    for failing in sorted(kinds):
        look = {k: v for k, v in _curve(failing).items() if k in ("color", "linestyle")}
        handles.append(
            style.line_handle("fails" if failing else "passes", look["color"], look["linestyle"])
        )
    style.panel_legend(panels, figure, handles)
    if figure is not None and len(panels) > 1:
        head = result.headline() if title is None else title
        head += f" ({left} more not drawn)" if left else ""
        size = canvas.text_size(panels[0], 1.15)
        figure.suptitle(head, x=0.01, ha="left", fontsize=size, wrap=True)
    elif title is not None:
        panels[0].set_title(title, loc="left", fontsize=canvas.text_size(panels[0], 1.1))
