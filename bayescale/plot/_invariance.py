"""Does something stay the same: posterior of its change, and the region that matters to nobody."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.plot import canvas, scales, style
from bayescale.plot.intervals import DASHES, about

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.answers.invariance.result import Invariance


def invariance(
    answer: "Invariance", *, ax: "Axes | None" = None, title: str | None = None
) -> "Axes":
    """Draw the posterior density of each change, with the region of practical equivalence.

    Parameters
    ----------
    answer : Invariance
    ax : matplotlib Axes, optional
        Where to draw; default: a new figure.
    title : str, optional

    Returns
    -------
    matplotlib Axes
        x: change; y: density over its peak. Filled: the 90% interval.
    """
    from matplotlib.patches import Patch
    from scipy.stats import gaussian_kde

    ax, handles = canvas.new_axes(ax), []
    s, delta = canvas.scale(ax), answer.changes[0].delta
    ax.axvspan(-delta, delta, color=style.PALE, zorder=0.5, linewidth=0)
    ax.axvline(0.0, color=style.INK, linestyle=":", linewidth=1.2 * s, zorder=2)
    for k, change in enumerate(answer.changes):
        low, high = np.quantile(change.draws, [0.0005, 0.9995])
        margin = 0.08 * (high - low)
        grid = np.linspace(low - margin, high + margin, 256)
        density = gaussian_kde(change.draws)(grid)
        density = density / density.max()
        ends = np.quantile(change.draws, [0.05, 0.95])
        inside = (grid >= ends[0]) & (grid <= ends[1])
        look: dict[str, Any] = {"color": style.COLOURS[k % 6]}
        alpha = style.ALPHA[0.5] if len(answer.changes) == 1 else style.ALPHA[0.9]
        ax.fill_between(grid[inside], density[inside], alpha=alpha, linewidth=0, zorder=3, **look)
        ax.plot(grid, density, linestyle=DASHES[k % 6], linewidth=1.6 * s, zorder=5, **look)
        text = f"{change.name}: P(< 0) {change.below_zero:.2f}, P(same) {change.equivalent:.2f}"
        handles.append(style.line_handle(text, style.COLOURS[k % 6], DASHES[k % 6]))
    left, right = ax.get_xlim()
    ax.set_xlim(min(left, -1.6 * delta), max(right, 1.6 * delta))
    ax.set_ylim(0, 1.05)
    shade = {"alpha": style.ALPHA[0.9], "linewidth": 0}
    handles.append(Patch(color=style.GREY, label="90% credible", **shade))
    handles.append(Patch(facecolor=style.PALE, edgecolor="0.8", label=f"same within {delta:g}"))
    scales.make_room(ax, scales.legend_share(ax, len(handles)) + 0.03)
    ax.set_yticks([0, 0.5, 1])
    head = title if title is not None else about(answer.converged, answer.question)
    what = answer.changes[0].meaning if len(answer.changes) == 1 else "change"
    style.finish(ax, None, head, what, "density over its peak")
    style.legend(ax, handles, loc="upper left")
    return ax
