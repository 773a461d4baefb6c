"""Compute-optimal parameters and tokens against compute."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.allocation import laws_exponent
from bayescale.answers.points import read_values
from bayescale.errors import FitError, nearest
from bayescale.plot import canvas, scales, style
from bayescale.plot.bands import Group, bands, frontier, groups, law_of, span, thinned
from bayescale.tables import intervals, with_spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit

SHOWN = {"N_opt": ("a", "-", "o"), "D_opt": ("b", (0, (5, 1.5)), "s")}


def allocation(
    fit: "Fit",
    *,
    ax: "Axes | None" = None,
    extend: float = 1.5,
    known: Mapping[str, Any] | None = None,
    cost: "CostModel | None" = None,
    title: str | None = None,
    seed: int = 0,
    **group: Any,
) -> "Axes":
    """Draw N_opt and D_opt against compute, with 90 and 50% credible bands.

    The legend gives the slopes, N_opt ~ C^a and D_opt ~ C^b, with 90% intervals: the law's own
    exponents, else the local ones at the centre of the data.

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
    xs = span(fit, "C", extend)
    lines = [frontier(few, part, xs, cost, seed) for part in parts]
    optima = _known(known) if known is not None else {}
    ax = canvas.new_axes(ax)
    handles = []
    for k, (part, found) in enumerate(zip(parts, lines, strict=True)):
        for j, (name, (exponent, line, _)) in enumerate(SHOWN.items()):
            colour = style.COLOURS[k if len(parts) > 1 else j]
            style.draw_bands(ax, bands(xs, found[name]), colour, line)
            slope = _slope(fit, part, found, exponent, xs, seed)
            text = rf"$\mathrm{{{name[0]}_{{opt}}}} \propto C^{exponent}$, ${exponent}$ = {slope}"
            label = f"{part.label}: {text}" if part.label else text
            handles.append(style.line_handle(label, colour, line))
    handles += style.level_handles()
    handles += _points(ax, optima)
    ax.set_xlim(xs[0], xs[-1])
    scales.log_axis(ax, "x", "C")
    scales.log_axis(ax, "y", "N")
    scales.make_room(ax, 0.12 * len(parts))
    scales.mark_data(ax, float(fit.runs.column("C").max()))
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
    for name, (_, _, marker) in SHOWN.items():
        if name in optima:
            style.points(ax, optima["C"], optima[name], "white", marker=marker, zorder=7)
            look = {"marker": marker, "markerfacecolor": "white"}
            label = rf"known $\mathrm{{{name[0]}_{{opt}}}}$"
            handles.append(style.line_handle(label, style.INK, "", **look))
    return handles
