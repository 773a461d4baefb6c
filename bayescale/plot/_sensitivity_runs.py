"""Influence of single runs: the shift against compute when each is left out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.plot import canvas, scales, style
from bayescale.plot._sensitivity_inputs import NARROW, chosen, heading
from bayescale.tables import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.check.sensitivity.influences import Influence

SIZE = (9.0, 3.9)  # inches
NAMED = 4  # runs named by their row
AXES = {"C": "compute C (FLOP)", "N": "parameters N", "D": "training tokens D"}


def shifts(
    result: "Influence",
    ax: Any,
    figure: "Figure | SubFigure | None",
    quantities: Sequence[str] | None,
    title: str | None,
) -> np.ndarray:
    """A panel a quantity, a point a run; see `bayescale.plot.sensitivity`."""
    names = chosen(result.base, quantities)
    if figure is None and ax is None:
        figure = canvas.new_figure(None, SIZE)
    narrow = figure is not None and canvas.figure_width(figure) < NARROW
    axes, figure = canvas.panels(
        len(names), ax, figure, "one a quantity", 1 if narrow else len(names)
    )
    across = next((n for n in AXES if n in result.columns), "row")
    x = result.columns[across] if across != "row" else result.row_numbers
    for k, (panel, name) in enumerate(zip(axes, names, strict=True)):
        _panel(panel, result, name, np.asarray(x, float), across)
        head = "" if k else heading(result, title)
        side = f"shift of {_symbol(result, name)} without the run (SD)"
        style.finish(panel, None, head, AXES.get(across, "row of the file"), side)
    style.panel_legend(axes, figure, _handles(result))
    return axes


def _panel(ax: "Axes", result: "Influence", name: str, x: np.ndarray, across: str) -> None:
    shift, again = result.shift[name], result.refitted
    there = np.isfinite(shift)
    ax.axhline(0.0, color=style.INK, linewidth=0.9 * canvas.scale(ax), zorder=3)
    for picked, colour, marker in (
        (there & ~again, style.BLUE, "o"),
        (there & again, style.VERMILLION, "D"),
    ):
        style.points(ax, x[picked], shift[picked], colour, marker=marker)
    most = float(np.abs(shift[there]).max()) if there.any() else 1.0
    edge = max(1.15 * most, 1e-3)
    ax.set_ylim(-edge, edge)
    if across != "row" and x.min() > 0 and x.max() > x.min():
        margin = (x.max() / x.min()) ** 0.06
        ax.set_xlim(x.min() / margin, x.max() * margin)
        scales.log_axis(ax, "x", across)
    order = np.argsort(-np.where(there, np.abs(shift), -1.0))[: min(NAMED, int(there.sum()))]
    labels = [str(result.row_numbers[k]) for k in order]
    style.name_points(ax, x[order], shift[order], labels)


def _symbol(result: "Influence", name: str) -> str:
    if name == "L_opt":
        return rf"$L^*$({quantity(result.watch.C)})" if result.watch.C else r"$L^*$"
    return r"ln $N_\mathrm{opt}$" if name == "N_opt" else result.base[name].label


def _handles(result: "Influence") -> list[Any]:
    look = {"markeredgecolor": style.INK}
    handles = []
    if not result.refitted.all():
        text = "run (far ones by row), by weights"
        handles.append(style.line_handle(text, style.BLUE, "", marker="o", **look))
    if result.refitted.any():
        text = "run, by a fit made again"
        handles.append(style.line_handle(text, style.VERMILLION, "", marker="D", **look))
    return handles
