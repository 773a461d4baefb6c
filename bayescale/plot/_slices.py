"""An IsoFLOP answer: its slices with their minima, and the minima against compute."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.surface import surface
from bayescale.plot import canvas, scales, style
from bayescale.plot._isoflop import around, draw_minimum, draw_slice, dress, mark
from bayescale.plot.bands import DRAWS, POINTS, bands
from bayescale.tables import intervals, quantity, with_spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.answers.isoflop.result import IsoFLOP

BESIDE = 1.3  # a slice goes at least this factor beyond its minimum: a valley says little beyond
NARROW = 4.5  # inches of a figure below which panels stand one below the other
SIZE = (9.4, 4.2)


def slices(
    answer: "IsoFLOP",
    *,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    figure: "Figure | SubFigure | None" = None,
    extend: float = 1.0,
    title: str | None = None,
) -> np.ndarray:
    """Draw the slices of an IsoFLOP answer, and their minima against compute.

    Left, loss against N at each budget: the runs, the valley with 90 and 50% credible bands, and
    its minimum with the 90% interval of N_opt. Right, N_opt against C: the minima and the power
    law with its bands, carried on beyond the largest budget. A hollow mark is a minimum whose
    slice has its lowest loss at an end.

    Parameters
    ----------
    answer : IsoFLOP
    ax : two matplotlib Axes, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    extend : float
        Decades of compute beyond the largest budget (and those asked about).
    title : str, optional
        Of the left panel; default: what is shown, the law and the number of runs.

    Returns
    -------
    array of two matplotlib Axes
        x: N in parameters and C in FLOP; y: loss in the law's unit and N in parameters; log.

    Raises
    ------
    FitError
        Another number of axes than two.
    """
    narrow = figure is not None and canvas.figure_width(figure) < NARROW
    axes, _ = canvas.panels(2, ax, figure, "slices and minima", 1 if narrow else 2, (4.7, 4.2))
    valleys(axes[0], answer, title)
    _power_law(axes[1], answer, extend)
    return axes


def valleys(ax: "Axes", answer: "IsoFLOP", title: str | None) -> None:
    """Loss against N at each budget, with the minimum of each."""
    fit = answer.fit
    keep = np.unique(np.linspace(0, len(answer.scatter) - 1, DRAWS).astype(int))
    shades = scales.colour_scale(answer.C, "viridis_r", 0.3, 1.0)
    names = fit.runs.table["budget"].astype(str).to_numpy()
    for k, (budget, label) in enumerate(zip(answer.C, answer.labels, strict=True)):
        law, own = surface(fit, {"budget": label}), names == label
        best = answer.draws["N_opt"][keep, k]
        sizes, losses = fit.runs.column("N")[own], fit.runs.column(fit.law.response)[own]
        grid = around(best, sizes, BESIDE)
        colour = scales.hex_colour(shades, budget)
        text = quantity(budget, 2) if k else f"C = {quantity(budget, 2)}"
        draw_slice(ax, grid, law.mean(keep[:, None], N=grid, C=budget), colour, text)
        style.points(ax, sizes, losses, colour)
        draw_minimum(ax, best, answer.draws["loss"][keep, k], not answer.interior[k])
    dress(ax, fit, style.heading("IsoFLOP slices", fit, title), "run")


def _power_law(ax: "Axes", answer: "IsoFLOP", extend: float) -> None:
    largest = max(answer.C.max(), *answer.asked) if len(answer.asked) else answer.C.max()
    low = min(answer.C.min(), *answer.asked) if len(answer.asked) else answer.C.min()
    xs = np.geomspace(low, largest * 10.0**extend, POINTS)
    style.draw_bands(ax, bands(xs, answer.n_opt(xs)), style.BLUE)
    s = canvas.scale(ax)
    for k, budget in enumerate(answer.C):
        q05, middle, q95 = np.quantile(answer.draws["N_opt"][:, k], [0.05, 0.5, 0.95])
        ax.errorbar(
            [budget], [middle], yerr=[[middle - q05], [q95 - middle]], zorder=9,
            **mark(s, not answer.interior[k]),
        )  # fmt: skip
    ax.set_xlim(xs[0] / 1.3, xs[-1])
    scales.log_axis(ax, "x", "C")
    scales.log_axis(ax, "y", "N")
    handles = [
        style.line_handle(rf"$N_\mathrm{{opt}} \propto C^a$, $a$ = {_exponent(answer)}",
                          style.BLUE),
        *style.level_handles(),
        style.line_handle("minimum of a slice, 90%", style.INK, "-", marker="D"),
    ]  # fmt: skip
    if not answer.interior.all():
        look: dict[str, Any] = {"marker": "D", "markerfacecolor": "white"}
        handles.append(style.line_handle("no interior minimum", style.INK, "", **look))
    scales.make_room(ax, 0.6 * scales.legend_share(ax, len(handles)))
    scales.mark_data(ax, float(answer.C.max()))
    style.finish(ax, None, "Best size against compute", "compute C (FLOP)",
                 r"parameters $N_\mathrm{opt}$")  # fmt: skip
    style.legend(ax, handles, loc="upper left")


def _exponent(answer: "IsoFLOP") -> str:
    """Median and 90% interval of a."""
    a = answer.exponents["a"]
    q, sd = intervals(a), float(np.std(a))
    middle, low, high = (with_spread(q[k], sd) for k in ("median", "q05", "q95"))
    return f"{middle} ({low} to {high})"
