"""Models that are cheapest over a life of serving: how far to over-train, and what that saves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescale.errors import FitError
from bayescale.plot import scales, style
from bayescale.plot.intervals import about, intervals_along, named, two_panels
from bayescale.tables import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.answers.serving.result import InferenceOptimum

MOST = 6


def serving(
    answer: "InferenceOptimum",
    *,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    figure: "Figure | SubFigure | None" = None,
    title: str | None = None,
) -> np.ndarray:
    """Draw over-training and saving against the tokens served, with 50 and 90% intervals.

    Parameters
    ----------
    answer : InferenceOptimum
    ax : two matplotlib Axes, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    title : str, optional
        Of the first panel.

    Returns
    -------
    array of matplotlib Axes, shape (2,)
        x: tokens served; y: D/N over that of the training-optimal model (log), and the share of
        its training and serving FLOP that is saved (%).

    Raises
    ------
    FitError
        No tokens are served, no draw reaches the loss, or more than six losses.
    """
    shown = answer.inference_tokens > 0
    if not shown.any():
        raise FitError("this plot needs inference tokens above 0.")
    if len(answer.target) > MOST:
        raise FitError(f"this plot shows {MOST} losses at most; ask for fewer.")
    if not np.isfinite(answer.draws["N"][:, :, shown]).any():
        raise FitError("no draw reaches the loss, so there is nothing to draw.")
    axes, figure = two_panels(ax, figure, "over-training, saving")
    x, count = answer.inference_tokens[shown], len(answer.target)
    for k in range(count):
        intervals_along(axes[0], x, answer.draws["overtraining"][:, k, shown], k, count)
        intervals_along(axes[1], x, 100 * answer.draws["saving"][:, k, shown], k, count)
    for panel in axes:
        panel.set_xlim(x.min() / 1.3, x.max() * 1.3)
        scales.log_axis(panel, "x", "D")
    axes[1].set_ylim(bottom=0)
    scales.log_axis(axes[0], "y", "D")
    head = title if title is not None else about(answer.converged, _heading(answer))
    label = "tokens served"
    style.finish(axes[0], None, head, label, "D/N over training-optimal")
    style.finish(axes[1], None, "Saved of training and serving", label, "FLOP saved (%)")
    style.panel_legend(axes, figure, [*named(_labels(answer)), *style.level_handles()])
    return axes


def _labels(answer: "InferenceOptimum") -> list[str]:
    if answer.kind == "C":
        return [f"loss of C = {quantity(float(c))} FLOP" for c in answer.target]
    return [f"loss {c:g}" for c in answer.target]


def _heading(answer: "InferenceOptimum") -> str:
    if len(answer.target) == 1:
        return f"Cheapest to serve: {_labels(answer)[0]}"
    return "Cheapest to train and serve"
