"""Optimum under limited unique tokens: epochs, and the loss beside that of fresh data."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescale.answers.data_limit import ADVISED
from bayescale.errors import FitError
from bayescale.plot import canvas, scales, style
from bayescale.plot.intervals import about, intervals_along, named, two_panels
from bayescale.tables import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.answers.data_limit import LimitedAllocation

MOST = 6


def data_limit(
    answer: "LimitedAllocation",
    *,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    figure: "Figure | SubFigure | None" = None,
    title: str | None = None,
) -> np.ndarray:
    """Draw epochs and loss of the optimum against compute, with 50 and 90% intervals.

    Parameters
    ----------
    answer : LimitedAllocation
    ax : two matplotlib Axes, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    title : str, optional
        Of the first panel.

    Returns
    -------
    array of matplotlib Axes, shape (2,)
        x: compute in FLOP; y: epochs (log), and the loss with the median of fresh data dashed.

    Raises
    ------
    FitError
        More than six limits.
    """
    if len(answer.unique_tokens) > MOST:
        raise FitError(f"this plot shows {MOST} limits at most; ask for fewer.")
    axes, figure = two_panels(ax, figure, "epochs, loss")
    count, s = len(answer.unique_tokens), canvas.scale(axes[0])
    for k in range(count):
        intervals_along(axes[0], answer.C, answer.draws["epochs"][:, :, k], k, count)
        intervals_along(axes[1], answer.C, answer.draws["loss"][:, :, k], k, count)
    order = np.argsort(answer.C)
    fresh = np.nanmedian(answer.draws["loss_fresh"][:, :, 0], axis=0)
    mark = {"marker": "_", "markersize": 9 * s} if len(order) < 3 else {}
    axes[1].plot(answer.C[order], fresh[order], color=style.INK, linestyle=style.TRUE, zorder=6,
                 linewidth=1.3 * s, **mark)  # fmt: skip
    axes[0].axhline(ADVISED, color=style.GREY, linestyle=":", linewidth=1.2 * s, zorder=2)
    for panel in axes:
        panel.set_xlim(answer.C.min() / 1.3, answer.C.max() * 1.3)
        scales.log_axis(panel, "x", "C")
    low, high = axes[0].get_ylim()
    axes[0].set_ylim(min(0.9, low) if low > 0 else 0.9, max(high, 1.3 * ADVISED))
    scales.log_axis(axes[0], "y", "D")
    labels = [f"{quantity(float(u))} unique tokens" for u in answer.unique_tokens]
    what = labels[0] if count == 1 else "limited unique tokens"
    head = title if title is not None else about(answer.converged, f"Optimum: {what}")
    style.finish(axes[0], None, head, "compute C (FLOP)", "epochs at the optimum")
    unit = f" ({answer.unit})" if answer.unit else ""
    style.finish(axes[1], None, "Loss of the optimum", "compute C (FLOP)", f"loss{unit}")
    lines = [
        style.line_handle("fresh data (median)", style.INK, style.TRUE),
        style.line_handle(f"{ADVISED} epochs", style.GREY, ":"),
    ]
    style.panel_legend(axes, figure, [*named(labels), *style.level_handles(), *lines])
    return axes
