"""Compute multipliers of recipes against compute."""

from typing import TYPE_CHECKING

import numpy as np

from bayescale.errors import FitError
from bayescale.plot import canvas, scales, style
from bayescale.plot.intervals import about, intervals_along, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.answers.multiplier import Multiplier

MOST = 6


def multiplier(
    answer: "Multiplier", *, ax: "Axes | None" = None, title: str | None = None
) -> "Axes":
    """Draw the compute multiplier of each recipe against compute, with 50 and 90% intervals.

    Parameters
    ----------
    answer : Multiplier
    ax : matplotlib Axes, optional
        Where to draw; default: a new figure.
    title : str, optional

    Returns
    -------
    matplotlib Axes
        x: compute in FLOP; y: compute that the reference needs for the same loss, over C (log).

    Raises
    ------
    FitError
        More than six recipes, or the reference reaches none of the losses.
    """
    if len(answer.recipes) > MOST:
        raise FitError(f"this plot shows {MOST} recipes at most; ask for fewer.")
    if not np.isfinite(answer.draws).any():
        raise FitError("no compute of the reference is enough, so there is nothing to draw.")
    ax = canvas.new_axes(ax)
    finite = np.where(np.isfinite(answer.draws), answer.draws, np.nan)
    for k in range(len(answer.recipes)):
        intervals_along(ax, answer.C, finite[:, k], k, len(answer.recipes))
    ax.axhline(1.0, color=style.INK, linestyle=":", linewidth=1.2 * canvas.scale(ax), zorder=2)
    ax.set_xlim(answer.C.min() / 1.3, answer.C.max() * 1.3)
    scales.log_axis(ax, "x", "C")
    handles = [*named(list(answer.recipes)), *style.level_handles()]
    scales.log_axis(ax, "y")
    scales.make_room(ax, 0.75 * scales.legend_share(ax, len(handles)))
    scales.log_axis(ax, "y")
    what = f"{answer.recipes[0]} against" if len(answer.recipes) == 1 else "Against"
    head = about(answer.converged, f"{what} {answer.reference}: compute for the same loss")
    label = f"compute of {answer.reference} over C"
    style.finish(ax, None, title if title is not None else head, "compute C (FLOP)", label)
    style.legend(ax, handles, loc="upper left")
    return ax
