"""Hold-outs: predicted against observed for runs that were not fitted, and the coverage."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.extrapolation.held import INTERVALS, Held, joined
from bayescale.errors import FitError
from bayescale.plot import canvas, scales, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.check.extrapolation.result import Holdout

MOST = 5  # laws drawn at once
NARROW = 4.5  # inches of a figure below which panels stand one below the other
WIDE_RANGE = 2.5  # largest over smallest loss above which axes are logarithmic
BARS = {"90": 0.6, "50": 0.95}  # level -> opacity of its bars


def holdout(
    result: "Holdout",
    *,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    figure: "Figure | SubFigure | None" = None,
    labels: Sequence[str] | None = None,
    title: str | None = None,
) -> "np.ndarray":
    """Draw predicted against observed for held-out runs, a panel a law, then the coverage.

    Thin bars hold 90%, thick ones 50% of what the law expects of a new run; runs outside their
    90% interval are marked. The last panel has, for each law, the share of runs inside central
    intervals of every level: below the diagonal, intervals are too narrow.

    Parameters
    ----------
    result : Holdout
    ax : matplotlib Axes, one for each panel, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    labels : sequence of str, optional
        Laws and estimators to draw; default: all.
    title : str, optional
        Title of the first panel; default: the law and its coverage.

    Returns
    -------
    array of matplotlib Axes
        x: observed, y: predicted, both in the response's unit; last: nominal and observed
        coverage in percent.

    Raises
    ------
    FitError
        An unknown label, too many of them, or axes of another number than panels.
    """
    chosen = list(labels) if labels is not None else list(result.labels)
    if not 0 < len(chosen) <= MOST:
        raise FitError(
            f"this hold-out has {len(result.labels)} laws and estimators, and this plot shows 1 to "
            f"{MOST}: say which, e.g. labels=['{result.labels[0]}'] (known: "
            f"{', '.join(result.labels)})."
        )
    held = {label: joined([o.held for o in result.of(label)]) for label in chosen}
    narrow = figure is not None and canvas.figure_width(figure) < NARROW
    columns, size = (1 if narrow else canvas.COLUMNS), (4.4, 3.2)
    if figure is None and len(held) == canvas.COLUMNS:  # two laws and their coverage in one row
        columns, size = 3, (3.4, 3.2)
    what = "one a law and the coverage"
    axes, figure = canvas.panels(len(held) + 1, ax, figure, what, columns, size)
    limits = _limits(list(held.values()))
    for k, (panel, (label, runs)) in enumerate(zip(axes, held.items(), strict=False)):
        _predicted(panel, runs, limits)
        head = title if title is not None and k == 0 else _heading(label, runs)
        side = f"predicted {result.response}"
        style.finish(panel, None, head, f"observed {result.response}", side)
    _coverage(axes[-1], held)
    style.panel_legend(axes, figure, _handles())
    return axes


def _heading(label: str, runs: Held) -> str:
    share = runs.scores()["coverage"]["90"]
    return f"{label}: {share:.0%} of {len(runs)} in 90%"


def _limits(held: Sequence[Held]) -> tuple[float, float]:
    """Ends of both axes, for all panels: every run with its 90% interval."""
    low = min(float(min(h.observed.min(), h.quantiles["q05"].min())) for h in held)
    high = max(float(max(h.observed.max(), h.quantiles["q95"].max())) for h in held)
    seen = [float(v) for h in held for v in (h.observed.min(), h.observed.max())]
    span = max(seen) - min(seen) or abs(max(seen)) * 0.1 or 1.0
    # an interval far wider than the runs' whole range would hide them: it is cut off
    return max(low, min(seen) - 2 * span), min(high, max(seen) + 2 * span)


def _predicted(ax: "Axes", runs: Held, limits: tuple[float, float]) -> None:
    s, many = canvas.scale(ax), len(runs) > 3000
    inside = _inside(runs)
    small = float(np.clip((60 / max(len(runs), 1)) ** 0.5, 0.35, 1.0))
    for level, opacity in BARS.items():
        low, high = (runs.quantiles[q] for q in INTERVALS[level])
        width = (1.3 if level == "90" else 4.0) * s * small
        look: dict[str, Any] = {"alpha": opacity, "linewidth": width, "rasterized": many}
        for picked, colour in ((inside, style.SKY), (~inside, style.ORANGE)):
            x = runs.observed[picked]
            ax.vlines(x, low[picked], high[picked], color=colour, zorder=2, **look)
    middle = runs.quantiles["median"]
    size = 13.0 * small * s**2  # smaller than elsewhere, so that the bars are seen
    style.points(ax, runs.observed[inside], middle[inside], style.BLUE, s=size)
    outside: dict[str, Any] = {"marker": "D", "s": size}
    style.points(ax, runs.observed[~inside], middle[~inside], style.VERMILLION, **outside)
    ax.plot(limits, limits, color=style.INK, linewidth=0.9 * s, zorder=3)
    low, high = limits
    if low > 0 and high / low > WIDE_RANGE:
        for axis in ("x", "y"):
            (ax.set_xscale if axis == "x" else ax.set_yscale)("log")
    scales.pad_limits(ax, low, high, 0.04)
    ax.set_xlim(*ax.get_ylim())
    if ax.get_xscale() == "log":
        scales.log_axis(ax, "x")
        scales.log_axis(ax, "y")


def _inside(runs: Held) -> np.ndarray:
    low, high = (runs.quantiles[q] for q in INTERVALS["90"])
    return (low <= runs.observed) & (runs.observed <= high)


def _coverage(ax: "Axes", held: dict[str, Held]) -> None:
    """Share of runs inside central intervals of every level, read off their PIT."""
    s = canvas.scale(ax)
    ax.plot([0, 100], [0, 100], color=style.INK, linewidth=0.9 * s, zorder=3)
    handles = []
    levels = np.linspace(0, 1, 101)
    for nth, (label, runs) in enumerate(held.items()):
        level = np.abs(2 * runs.pit - 1)  # the smallest central interval that holds the run
        share = np.array([np.mean(level <= p + 1e-9) for p in levels])
        look: dict[str, Any] = {"color": style.COLOURS[nth], "linewidth": 1.5 * s, "zorder": 4}
        look |= {"marker": style.MARKERS[nth], "markevery": [50, 80, 90, 95]}
        look |= {"markersize": 4.5 * s, "markeredgecolor": style.INK, "markeredgewidth": 0.5 * s}
        ax.plot(100 * levels, 100 * share, **look)
        handles.append(style.group_handle(label, nth))
    ax.set_xlim(0, 100)
    ax.set_ylim(0, 100)
    style.finish(ax, None, "Coverage", "level of the interval (%)", "runs inside (%)")
    style.legend(ax, handles, loc="upper left")


def _handles() -> list[Any]:
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(color=style.SKY, alpha=opacity, linewidth=0, label=f"{level}% new run")
        for level, opacity in BARS.items()
    ]
    look = {"markeredgecolor": style.INK}
    handles.append(style.line_handle("inside 90%", style.BLUE, "", marker="o", **look))
    handles.append(style.line_handle("outside", style.VERMILLION, "", marker="D", **look))
    handles.append(style.line_handle("as observed", style.INK))
    return handles
