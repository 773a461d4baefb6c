"""Perturbed inputs: medians and intervals of fits made again, over the base fit's band."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.sensitivity.quantities import Quantity
from bayescale.errors import FitError, nearest
from bayescale.plot import canvas, scales, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.check.sensitivity.perturbation import Perturbation, Refit

FAR = 1.0  # SDs from which a fit counts as moved
NARROW = 5.0  # inches of a figure below which panels stand one below the other
USUAL = ("a", "L_opt", "loss")


def forest(
    result: "Perturbation",
    ax: Any,
    figure: "Figure | SubFigure | None",
    quantities: Sequence[str] | None,
    title: str | None,
) -> np.ndarray:
    """A panel a quantity, a line a fit; see `bayescale.plot.sensitivity`."""
    names = chosen(result.base, quantities)
    if figure is None and ax is None:
        figure = canvas.new_figure(None, forest_size(result))
    narrow = figure is not None and canvas.figure_width(figure) < NARROW
    axes, figure = canvas.panels(
        len(names), ax, figure, "one a quantity", 1 if narrow else len(names)
    )
    for k, (panel, name) in enumerate(zip(axes, names, strict=True)):
        _panel(panel, result, name, labelled=k == 0 or narrow or figure is None)
        head = "" if k else heading(result, title)
        style.finish(panel, None, head, axis_label(result.base[name], result), "")
        panel.grid(False, axis="y")
    style.panel_legend(axes, figure, _handles(result, names))
    return axes


def forest_size(result: "Perturbation") -> tuple[float, float]:
    """Width and height in inches."""
    return 9.0, 1.7 + 0.24 * (len(result.refits) + 1)


def chosen(base: Mapping[str, Quantity], quantities: Sequence[str] | None) -> list[str]:
    """Quantities to show, checked.

    Raises
    ------
    FitError
        An unknown one, or none.
    """
    if quantities is None:
        return ([n for n in USUAL if n in base] or list(base))[:2]
    for name in quantities:
        if name not in base:
            known = list(base)
            message = f"no quantity '{name}'; there are {', '.join(known)}."
            raise FitError(message + nearest(str(name), known))
    if not quantities:
        raise FitError(f"quantities names nothing; there are {', '.join(base)}.")
    return list(quantities)


def heading(result: Any, title: str | None) -> str:
    """The user's title, or the result's, saying so where its fit failed its gate."""
    if title is not None:
        return title
    return result.title if result.converged else f"{result.title}\n(that fit fails its gate)"


def axis_label(q: Quantity, result: Any) -> str:
    """A quantity with its unit, and the budget where it is of one."""
    from bayescale.tables import quantity

    words = {"a": "allocation exponent a", "E": "irreducible loss E"}
    label = words.get(q.name, q.label)
    if q.name in ("L_opt", "N_opt"):
        symbol = r"$L^*$" if q.name == "L_opt" else r"$N_\mathrm{opt}$"
        label = f"{symbol} at C = {quantity(result.watch.C)} FLOP"
    return f"{label} ({q.unit})" if q.unit else label


def _panel(ax: "Axes", result: "Perturbation", name: str, labelled: bool) -> None:
    q, s, count = result.base[name], canvas.scale(ax), len(result.refits)
    draws = q.draws[np.isfinite(q.draws)]
    low, low50, middle, high50, high = np.quantile(draws, [0.05, 0.25, 0.5, 0.75, 0.95])
    for left, right, level in ((low, high, 0.9), (low50, high50, 0.5)):
        ax.axvspan(left, right, color=style.GREY, alpha=style.ALPHA[level], linewidth=0, zorder=1)
    ax.axvline(middle, color=style.INK, linewidth=0.9 * s, zorder=2)
    for place, refit in enumerate(result.refits):
        _line(ax, refit, name, count - place, s)
    ax.set_ylim(0.3, count + 0.7)
    labels = [_short(r.label) for r in result.refits] if labelled else []
    ax.set_yticks(range(count, 0, -1), labels or [""] * count)
    ax.tick_params(axis="y", length=0)
    if q.log:
        scales.log_axis(ax, "x", "N")


def _line(ax: "Axes", refit: "Refit", name: str, height: int, s: float) -> None:
    m = refit.moved[name]
    far = abs(m.shift) > FAR
    colour, marker = (style.VERMILLION, "D") if far else (style.BLUE, "o")
    ax.plot([m.q05, m.q95], [height] * 2, color=colour, linewidth=1.4 * s, zorder=4)
    face = colour if refit.converged else "white"
    look: dict[str, Any] = {"markerfacecolor": face, "markeredgecolor": colour, "zorder": 5}
    ax.plot([m.median], [height], marker=marker, markersize=4.5 * s, linestyle="", **look)


def _short(label: str) -> str:
    """A label without its bracket."""
    return label.split(" (")[0] if label.endswith(")") else label


def _handles(result: "Perturbation", names: Sequence[str]) -> list[Any]:
    handles = [*style.level_handles("of the fit")]
    moved = [abs(r.moved[n].shift) > FAR for r in result.refits for n in names]
    if not all(moved):
        handles.append(style.line_handle("made again: median, 90%", style.BLUE, marker="o"))
    if any(moved):
        text = f"moved by more than {FAR:g} SD"
        handles.append(style.line_handle(text, style.VERMILLION, marker="D"))
    if not all(r.converged for r in result.refits):
        look = {"markerfacecolor": "white", "marker": "o"}
        handles.append(style.line_handle("fails its gate", style.INK, "", **look))
    return handles
