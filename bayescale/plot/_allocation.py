"""Compute-optimal parameters and tokens against compute."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.allocation import laws_exponent
from bayescale.answers.optimum import optimum
from bayescale.answers.points import read_values
from bayescale.errors import FitError, nearest
from bayescale.plot import canvas, scales, style
from bayescale.plot.bands import (
    Group,
    bands,
    budgets_of,
    data_range,
    frontier,
    groups,
    law_of,
    stated,
    thinned,
)
from bayescale.tables import intervals, with_spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit

SHOWN = {  # symbol, line, marker of known optima
    "N_opt": (r"$N_\mathrm{opt}$", "-", "o"),
    "D_opt": (r"$D_\mathrm{opt}$", (0, (5, 1.5)), "s"),
}


def allocation(
    fit: "Fit",
    *,
    ax: "Axes | None" = None,
    extend: float = 1.5,
    known: Mapping[str, Any] | None = None,
    cost: "CostModel | None" = None,
    truth: Mapping[str, float] | None = None,
    title: str | None = None,
    seed: int = 0,
    **group: Any,
) -> "Axes":
    """Draw N_opt and D_opt against compute, with 90 and 50% credible bands.

    The legend gives the slopes inside the data, N_opt ~ C^a and D_opt ~ C^b, with 90% intervals:
    the law's own exponents, else the local ones at the centre. With drift bands beyond the data are
    wider than these say.

    Parameters
    ----------
    fit : Fit
        A fit of a law of N and D.
    ax : matplotlib Axes, optional
        Where to draw; default: a new figure.
    extend : float
        Decades beyond the largest run.
    known : mapping, optional
        Optima known from elsewhere, drawn as points: ``{"C": [...], "N_opt": [...]}``, with
        ``"D_opt"`` beside or in place of ``"N_opt"``.
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
        x: compute in FLOP; y: parameters and tokens; both log.

    Raises
    ------
    FitError
        The law isn't one of N and D, no draw has an optimum, too many groups, or ``known``
        lacks a column.
    DataError
        A known optimum isn't a positive number.
    """
    parts, few = groups(fit, group), thinned(fit)
    xs = budgets_of(fit, parts, extend)
    lines = [frontier(few, part, xs, cost, seed) for part in parts]
    optima = _known(known) if known is not None else {}
    ax = canvas.new_axes(ax)
    one, handles = len(parts) == 1, []
    for k, (part, found) in enumerate(zip(parts, lines, strict=True)):
        slopes = [_slope(fit, part, found, x, xs, seed) for x in ("a", "b")]
        for j, (name, (symbol, line, _)) in enumerate(SHOWN.items()):
            colour = style.COLOURS[j if one else k]
            style.draw_bands(ax, bands(xs, found[name]), colour, line, None if one else k)
            if one:
                text = rf"{symbol} $\propto C^{'ab'[j]}$, ${'ab'[j]}$ = {slopes[j]}"
                handles.append(style.line_handle(text, colour, line))
        if not one:
            handles.append(style.group_handle(f"{part.label}: $a$ = {slopes[0]}", k))
    if not one:
        for symbol, line, _ in SHOWN.values():
            handles.append(style.line_handle(symbol, style.GREY, line))
    handles += style.level_handles()
    handles += _points(ax, optima)
    if truth is not None:
        true = optimum(stated(fit, truth), cost or fit.extent.cost, xs)
        handles.append([style.draw_truth(ax, xs, true[name][0]) for name in SHOWN][0])
    ax.set_xlim(xs[0], xs[-1])
    scales.log_axis(ax, "x", "C")
    scales.log_axis(ax, "y", "N")
    scales.make_room(ax, 0.6 * scales.legend_share(ax, len(handles)))
    scales.mark_data(ax, data_range(fit, parts, "C")[1])
    title = style.heading("Compute-optimal allocation", fit, title)
    style.finish(ax, fit, title, "compute C (FLOP)", "parameters N, tokens D")
    style.legend(ax, handles, loc="upper left")
    return ax


def _slope(
    fit: "Fit",
    part: Group,
    found: Mapping[str, np.ndarray],
    exponent: str,
    xs: np.ndarray,
    seed: int,
) -> str:
    """Median and 90% interval of an exponent: the law's own, else at the centre of the data."""
    own = laws_exponent(fit, law_of(fit, part, seed), exponent)
    if own is None:
        centre = np.exp(np.mean(np.log(fit.runs.column("C")[part.rows])))
        own = found[exponent][:, np.argmin(np.abs(np.log(xs / centre)))]
    draws = own[np.isfinite(own)]
    q, sd = intervals(draws), float(np.std(draws))
    low, middle, high = (with_spread(q[k], sd) for k in ("q05", "median", "q95"))
    return f"{middle} ({low} to {high})"


def _known(known: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Known optima, checked: equal lengths, names that the plot has."""
    allowed = ["C", *SHOWN]
    for name in known:
        if name not in allowed:
            raise FitError(
                f"known has the column '{name}'; it takes {', '.join(allowed)}."
                + nearest(name, allowed)
            )
    if "C" not in known or len(known) < 2:
        raise FitError("known needs C and at least one of N_opt and D_opt, one value a budget.")
    optima = {k: read_values(k[0], v) for k, v in known.items()}
    if len({len(v) for v in optima.values()}) > 1:
        sizes = ", ".join(f"{k} has {len(v)}" for k, v in optima.items())
        raise FitError(f"known optima differ in number ({sizes}); give one value a budget.")
    return optima


def _points(ax: "Axes", optima: Mapping[str, np.ndarray]) -> list[Any]:
    handles = []
    for name, (symbol, _, marker) in SHOWN.items():
        if name in optima:
            style.points(ax, optima["C"], optima[name], "white", marker=marker, zorder=7)
            look = {"marker": marker, "markerfacecolor": "white"}
            label = f"known {symbol}"
            handles.append(style.line_handle(label, style.INK, "", **look))
    return handles
