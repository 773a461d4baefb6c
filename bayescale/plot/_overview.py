"""A fit at a glance: loss, residuals, allocation and tokens per parameter."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayescale.plot import canvas, style
from bayescale.plot._allocation import allocation
from bayescale.plot._loss_curves import loss_curves
from bayescale.plot._residuals import residuals
from bayescale.plot._tokens_per_param import tokens_per_param

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit

SIZE = (11.0, 8.0)
NARROW = 6.0  # inches: figures up to this width get one column


def overview(
    fit: "Fit",
    *,
    figure: "Figure | SubFigure | None" = None,
    extend: float = 1.5,
    cost: "CostModel | None" = None,
    truth: Mapping[str, float] | None = None,
    title: str | None = None,
    seed: int = 0,
    **group: Any,
) -> "Figure | SubFigure":
    """Draw `loss_curves`, `residuals`, `allocation` and `tokens_per_param` in one figure.

    For a law of one variable, which allocates nothing: the first two. In a figure narrower than
    six inches the panels stand in one column; such a figure should be high.

    Parameters
    ----------
    fit : Fit
    figure : matplotlib Figure or SubFigure, optional
        Where to draw; default: a new figure.
    extend : float
        Decades beyond the largest run.
    cost : CostModel, optional
        Price of N and D; default: that of the data.
    truth : mapping, optional
        Parameters that the runs were simulated from, every one of the law's: drawn as a line.
    title : str, optional
        Default: the law's equation, the number of runs and where they are from.
    seed : int
        Seed of the noise of new runs.
    **group
        For pooled fits, the group by its column (``corpus="c4"``); default: all, up to six.

    Returns
    -------
    matplotlib Figure or SubFigure

    Raises
    ------
    FitError
        As the single plots.
    """
    if not (fit.law.of_n_and_d or len(fit.law.columns) == 1):
        return _of_residuals(fit, figure, title, seed, group)
    whole = len(fit.law.inputs) > 1
    figure = canvas.new_figure(figure, SIZE if whole else (SIZE[0], SIZE[1] / 1.8))
    wide = canvas.figure_width(figure) > NARROW
    count = 4 if whole else 2
    axes = figure.subplots(
        count // 2 if wide else count, 2 if wide else 1, gridspec_kw={"wspace": 0.06}
    ).ravel()
    common: dict[str, Any] = {"seed": seed, **group}
    curve = {"extend": extend, "cost": cost, "truth": truth, **common}
    what = "compute" if whole else fit.law.inputs[0].meaning or fit.law.inputs[0].name
    loss_curves(fit, ax=axes[0], title=f"{fit.law.response.capitalize()} against {what}", **curve)
    how = "over" if fit.model.noise.on == "log" else "less"
    against = "C" if "C" in fit.runs.table else "fitted"
    residuals(
        fit,
        ax=axes[1],
        against=against,
        title=f"Observed {how} fitted {fit.law.response}",
        **common,
    )
    if whole:
        allocation(fit, ax=axes[2], title="Compute-optimal parameters and tokens", **curve)
        tokens_per_param(fit, ax=axes[3], title="Compute-optimal tokens per parameter", **curve)
    head = f"{style.equation(fit.law)}   fitted to {len(fit.runs):,} runs from {fit.runs.source}"
    size = canvas.text_size(axes[0], 1.25)
    figure.suptitle(head if title is None else title, fontsize=size, x=0.01, ha="left")
    return figure


def _of_residuals(
    fit: "Fit", figure: Any, title: str | None, seed: int, group: Mapping[str, Any]
) -> "Figure | SubFigure":
    """What can be drawn of any law: residuals against what it reads."""
    figure = canvas.new_figure(figure, SIZE)
    residuals(fit, figure=figure, title=title, seed=seed, **group)
    return figure
