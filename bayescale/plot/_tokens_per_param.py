"""Compute-optimal tokens per parameter against compute."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayescale.answers.optimum import optimum
from bayescale.plot import canvas, scales, style
from bayescale.plot.bands import bands, budgets_of, data_range, frontier, groups, stated, thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit

RULE = 20.0  # tokens per parameter, Hoffmann et al. 2022, arXiv:2203.15556, table 3


def tokens_per_param(
    fit: "Fit",
    *,
    ax: "Axes | None" = None,
    extend: float = 1.5,
    cost: "CostModel | None" = None,
    truth: Mapping[str, float] | None = None,
    title: str | None = None,
    seed: int = 0,
    **group: Any,
) -> "Axes":
    """Draw D_opt/N_opt against compute, with 90 and 50% credible bands.

    Parameters
    ----------
    fit : Fit
        A fit of a law of N and D.
    ax : matplotlib Axes, optional
        Where to draw; default: a new figure.
    extend : float
        Decades beyond the largest run.
    cost : CostModel, optional
        Price of N and D; default: that of the data.
    truth : mapping, optional
        Parameters that the runs were simulated from, every one of the law's: drawn as a line.
    title : str, optional
        Default: what is shown, the law and the number of runs.
    seed : int
        Seed of the draws for groups that are not in the data.
    **group
        For pooled fits, the group by its column (``corpus="c4"``); default: all, up to six.

    Returns
    -------
    matplotlib Axes
        x: compute in FLOP; y: tokens per parameter; both log. A dotted line at 20 marks the
        rule of thumb of Hoffmann et al. 2022.

    Raises
    ------
    FitError
        The law isn't one of N and D, no draw has an optimum, or too many groups.
    """
    parts, few = groups(fit, group), thinned(fit)
    xs = budgets_of(fit, parts, extend)
    lines = [frontier(few, part, xs, cost, seed)["tokens_per_param"] for part in parts]
    ax = canvas.new_axes(ax)
    one, handles = len(parts) == 1, []
    for k, (part, line) in enumerate(zip(parts, lines, strict=True)):
        style.draw_bands(ax, bands(xs, line), style.COLOURS[k], nth=None if one else k)
        handles.append(
            style.line_handle("compute-optimal D/N", style.COLOURS[k])
            if one
            else style.group_handle(part.label, k)
        )
    handles += style.level_handles(colour=style.BLUE if one else style.GREY)
    width = 1.3 * canvas.scale(ax)
    ax.axhline(RULE, color=style.INK, linestyle=":", linewidth=width, zorder=4)
    handles.append(style.line_handle("20, rule of thumb (Hoffmann et al. 2022)", style.INK, ":"))
    if truth is not None:
        line = optimum(stated(fit, truth), cost or fit.extent.cost, xs)["tokens_per_param"][0]
        handles.append(style.draw_truth(ax, xs, line))
    ax.set_xlim(xs[0], xs[-1])
    scales.log_axis(ax, "x", "C")
    scales.log_axis(ax, "y", "ratio")
    scales.make_room(ax, scales.legend_share(ax, len(handles)))
    scales.mark_data(ax, data_range(fit, parts, "C")[1])
    title = style.heading("Tokens per parameter", fit, title)
    style.finish(ax, fit, title, "compute C (FLOP)", "tokens per parameter D/N")
    style.legend(ax, handles, loc="upper left")
    return ax
