"""Loss against compute: the runs, and the compute-optimal frontier with its bands."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.optimum import optimum
from bayescale.answers.prediction import predict
from bayescale.answers.surface import Surface
from bayescale.plot import canvas, scales, style
from bayescale.plot.bands import (
    Group,
    bands,
    budgets_of,
    data_range,
    frontier,
    groups,
    law_of,
    shown_rows,
    span,
    stated,
    thinned,
)
from bayescale.tables import intervals, with_spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit

REPEATS = 8  # new runs a draw: quantiles of noise need more draws than those of the mean


def loss_curves(
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
    """Draw the runs and the loss that the fit expects, with 90 and 50% credible bands.

    For a law of N and D the curve is the compute-optimal frontier L*(C), the least loss that a
    budget buys; runs off the optimum lie above it. For a law of one variable it is the law
    itself, and dashed lines hold 90% of new runs (predictive: noise included). The irreducible
    loss E is drawn where the law has one.

    Parameters
    ----------
    fit : Fit
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
        Seed of the noise of new runs.
    **group
        For pooled fits, the group by its column (``corpus="c4"``); default: all, up to six.

    Returns
    -------
    matplotlib Axes
        x: compute in FLOP (or the law's variable), log; y: loss in the law's unit, log.

    Raises
    ------
    FitError
        The law has no N and D and more than one input, or too many groups.
    """
    parts, few = groups(fit, group), thinned(fit)
    inputs = [i.name for i in fit.law.inputs]
    name = inputs[0] if len(inputs) == 1 else "C"
    # only of a resource can there be more than in the data; a loss that is read only falls
    extend = extend if name in ("N", "D", "C") else 0
    xs = span(fit, parts, name, extend) if len(inputs) == 1 else budgets_of(fit, parts, extend)
    if len(inputs) == 1:
        lines = [_means(law_of(few, part, seed), xs) for part in parts]
    else:
        lines = [frontier(few, part, xs, cost, seed)["loss"] for part in parts]
    ax = canvas.new_axes(ax)
    one = len(parts) == 1
    handles = []
    for k, (part, line) in enumerate(zip(parts, lines, strict=True)):
        style.draw_bands(ax, bands(xs, line), style.COLOURS[k], nth=None if one else k)
        if fit.has_runs:
            _runs(ax, fit, part, name, None if one else k)
        handles.append(
            _curve_handle(part, len(inputs)) if one else style.group_handle(part.label, k)
        )
    handles += style.level_handles(colour=style.BLUE if one else style.GREY)
    if one and len(inputs) == 1:
        handles.append(_predictive(ax, few, parts[0], xs, seed))
    handles += _floors(ax, fit, parts, xs)
    handles += _truth(ax, fit, truth, xs, cost) if truth is not None else []
    _dress(ax, fit, parts, name, title)
    if fit.has_runs:
        shown = np.concatenate([shown_rows(fit, part.rows) for part in parts])
        at, observed = (fit.runs.column(c)[shown] for c in (name, fit.law.response))
        scales.clear_corner(ax, at, observed, [h.get_label() for h in handles])
    style.legend(ax, handles, loc="upper right")
    return ax


def _means(law: Surface, xs: np.ndarray) -> np.ndarray:
    """Draws of the law of one variable along it, shape (draw, point)."""
    name = law.fit.law.inputs[0].name
    return law.mean(np.arange(law.size)[:, None], **{name: xs})


def _truth(
    ax: "Axes",
    fit: "Fit",
    truth: Mapping[str, float],
    xs: np.ndarray,
    cost: "CostModel | None",
) -> list[Any]:
    law = stated(fit, truth)
    if len(fit.law.inputs) == 1:
        return [style.draw_truth(ax, xs, _means(law, xs)[0])]
    return [style.draw_truth(ax, xs, optimum(law, cost or fit.extent.cost, xs)["loss"][0])]


def _curve_handle(part: Group, inputs: int) -> Any:
    what = "law" if inputs == 1 else r"compute-optimal loss $L^*(C)$"
    return style.line_handle(f"{what}, {part.label}" if part.label else what, style.BLUE)


def _predictive(ax: "Axes", fit: "Fit", part: Group, xs: np.ndarray, seed: int) -> Any:
    """Lines around 90% of new runs; their legend entry."""
    name = fit.law.inputs[0].name
    drawn = [
        predict(fit, seed=seed + k, **{name: xs}, **part.where).new_run for k in range(REPEATS)
    ]
    low, high = bands(xs, np.concatenate(drawn)).intervals[0.9]
    look = {"color": style.BLUE, "linestyle": (0, (4, 2)), "linewidth": 0.8 * canvas.scale(ax)}
    ax.plot(xs, low, zorder=2.5, **look)
    ax.plot(xs, high, zorder=2.5, **look)
    return style.line_handle("90% predictive (a new run)", style.BLUE, "--")


def _floors(ax: "Axes", fit: "Fit", parts: list[Group], xs: np.ndarray) -> list[Any]:
    """The irreducible loss as a line, with a 90% band where it is alone; its legend entry."""
    if "E" not in {p.name for p in fit.law.params}:
        return []
    look: dict[str, Any] = {"linestyle": "-.", "linewidth": 1.0 * canvas.scale(ax), "zorder": 2}
    ends = xs[[0, -1]]
    if len(parts) > 1:
        for part, colour in zip(parts, style.COLOURS, strict=False):
            middle = float(np.median(law_of(fit, part).params["E"]))
            ax.plot(ends, [middle] * 2, color=colour, **look)
        return [style.line_handle("irreducible loss E (median)", style.GREY, "-.")]
    draws = law_of(fit, parts[0]).params["E"]
    found, sd = intervals(draws), float(draws.std())
    ax.plot(ends, [found["median"]] * 2, color=style.INK, **look)
    ax.fill_between(
        ends, found["q05"], found["q95"], color=style.GREY, alpha=0.25, linewidth=0, zorder=1
    )
    low, high = (with_spread(found[q], sd) for q in ("q05", "q95"))
    label = f"irreducible loss E = {with_spread(found['median'], sd)} ({low} to {high})"
    return [style.line_handle(label, style.INK, "-.")]


def _runs(ax: "Axes", fit: "Fit", part: Group, name: str, position: int | None) -> None:
    """The runs: coloured by size in a law of N and D, by group, or grey."""
    rows = shown_rows(fit, part.rows)
    x, y = fit.runs.column(name)[rows], fit.runs.column(fit.law.response)[rows]
    if position is not None:
        marker, colour = style.MARKERS[position], style.COLOURS[position]
        style.points(ax, x, y, colour, marker=marker)
        return
    sizes = fit.runs.column("N")[rows] if "N" in fit.runs.table and name == "C" else x
    if name != "C" or sizes.min() == sizes.max():
        style.points(ax, x, y)
        return
    mapped = scales.colour_scale(sizes, "YlOrBr")
    style.points(ax, x, y, mapped.to_rgba(sizes))
    scales.colour_bar(ax, mapped, "parameters N of the run")


def _dress(ax: "Axes", fit: "Fit", parts: list[Group], name: str, title: str | None) -> None:
    least, most = data_range(fit, parts, name)
    ax.set_xlim(least / 1.3, ax.dataLim.x1)
    scales.log_axis(ax, "x", name)
    if fit.model.noise.on == "log":
        scales.log_axis(ax, "y")
    scales.mark_data(ax, most)
    what = "compute" if name == "C" else fit.law.inputs[0].meaning or name
    unit = "FLOP" if name == "C" else fit.law.inputs[0].unit
    label = (what if name in what else f"{what} {name}") + (f" ({unit})" if unit else "")
    head = style.heading(f"{fit.law.response.capitalize()} against {what}", fit, title)
    style.finish(ax, fit, head, label, style.response_label(fit))
