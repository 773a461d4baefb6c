"""Approaches to the compute-optimal size side by side: exponents, and N_opt against compute."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescale.errors import FitError
from bayescale.plot import canvas, scales, style
from bayescale.plot.bands import POINTS, bands
from bayescale.tables import intervals, with_spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.answers.approaches import Approaches

NARROW = 4.5  # inches of a figure below which panels stand one below the other
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)))
EXTEND = 1e4  # compute below the largest budget from where bands are drawn
DRAWS = 400  # of a law whose optimum is found numerically


def approaches(
    answer: "Approaches",
    *,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    figure: "Figure | SubFigure | None" = None,
    low: float | None = None,
    title: str | None = None,
) -> np.ndarray:
    """Draw the exponents of each approach, and their compute-optimal sizes over each other.

    Left, a = d ln N_opt / d ln C with 50 and 90% intervals, and the probability that neighbours
    differ; right, N_opt(C) with 90 and 50% bands.

    Parameters
    ----------
    answer : Approaches
    ax : two matplotlib Axes, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    low : float, optional
        Smallest compute drawn, FLOP; default: a ten-thousandth of the largest budget.
    title : str, optional
        Of the left panel.

    Returns
    -------
    array of two matplotlib Axes
        Left: x the exponent; right: x compute in FLOP, y parameters, both log.

    Raises
    ------
    FitError
        Another number of axes than two, or ``low`` isn't below the largest budget.
    """
    top = float(answer.C.max())
    start = low if low is not None else min(top / EXTEND, float(answer.C.min()))
    if not 0 < start < top:
        raise FitError(f"low is {low!r}; expected a compute below the largest budget, {top:g}.")
    narrow = figure is not None and canvas.figure_width(figure) < NARROW
    axes, _ = canvas.panels(2, ax, figure, "exponents and sizes", 1 if narrow else 2, (4.7, 4.2))
    _exponents(axes[0], answer, title)
    _sizes(axes[1], answer, np.geomspace(start, top, POINTS))
    return axes


def _exponents(ax: "Axes", answer: "Approaches", title: str | None) -> None:
    s, size = canvas.scale(ax), canvas.text_size(ax, 0.85)
    names = list(answer.answers)
    for k, one in enumerate(answer.answers.values()):
        draws, y = one.exponents["a"], len(names) - 1 - k
        q, sd = intervals(draws), float(np.std(draws))
        colour = style.COLOURS[k]
        ax.plot([q["q05"], q["q95"]], [y, y], color=colour, linewidth=1.4 * s, zorder=4)
        ax.plot([q["q25"], q["q75"]], [y, y], color=colour, linewidth=4.0 * s, zorder=5)
        ax.plot(
            [q["median"]], [y], marker=style.MARKERS[k], markersize=6 * s, color=colour,
            markeredgecolor="white", zorder=6,
        )  # fmt: skip
        middle, low, high = (with_spread(q[x], sd) for x in ("median", "q05", "q95"))
        text = f"{middle} ({low} to {high})" + ("" if one.converged else ", not converged")
        ax.annotate(
            text, (q["median"], y), (0, 9 * s), textcoords="offset points", ha="center",
            fontsize=size, color=style.INK, zorder=7,
        )  # fmt: skip
    said = [d for d in answer.differences if d.quantity == "a"]
    for k, d in enumerate(said):
        mark = "disagree" if d.disagree else "no disagreement"
        ax.annotate(
            f"{d.first} > {d.second}: P = {d.probability:.2f}, {mark}",
            (0.02, 0.02), (0, (len(said) - 1 - k) * 1.35 * size), xycoords="axes fraction",
            textcoords="offset points", fontsize=size, zorder=7,
            color=style.WARNING if d.disagree else style.GREY,
        )  # fmt: skip
    ax.set_yticks(range(len(names)), names[::-1])
    room = 0.4 + 0.30 * len(said)
    ax.set_ylim(-0.5 - room, len(names) - 0.4)
    ax.margins(x=0.25)
    head = title if title is not None else "Allocation exponent by approach"
    style.finish(ax, None, head, r"$a$: $N_\mathrm{opt} \propto C^a$ (50 and 90% credible)", "")
    ax.grid(False, axis="y")


def _sizes(ax: "Axes", answer: "Approaches", xs: np.ndarray) -> None:
    handles = []
    for k, (name, one) in enumerate(answer.answers.items()):
        found = bands(xs, one.n_opt(xs))
        style.draw_bands(ax, found, style.COLOURS[k], DASHES[k], k)
        handle = style.group_handle(name, k)
        handle.set_linestyle(DASHES[k])
        handles.append(handle)
    ax.set_xlim(xs[0], xs[-1] * 1.02)
    scales.log_axis(ax, "x", "C")
    scales.log_axis(ax, "y", "N")
    handles += style.level_handles()
    style.finish(ax, None, "Best size against compute", "compute C (FLOP)",
                 r"parameters $N_\mathrm{opt}$")  # fmt: skip
    style.legend(ax, handles, loc="upper left")
