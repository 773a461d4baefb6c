"""Laws compared: differences of elpd, weights, and where one law predicts better than another."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.plot import canvas, scales, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.check.comparison.result import Comparison

MOST = 5  # laws whose single differences are drawn
LINEAR = 0.8  # quantile of the sizes of differences up to which their axis is linear
NARROW = 4.5  # inches of a figure below which panels stand one below the other
LABELS = {"C": "compute C (FLOP)", "D": "training tokens D", "N": "parameters N"}


def comparison(
    result: "Comparison",
    *,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    figure: "Figure | SubFigure | None" = None,
    against: str | None = None,
    title: str | None = None,
) -> "np.ndarray":
    """Draw laws by their elpd, and the differences run by run.

    The first panel has each law's elpd minus the best law's, with one and two standard errors of
    the difference, and its stacking weight. The second has the difference for each left-out run
    (or group): above 0 the best law predicts it better.

    Parameters
    ----------
    result : Comparison
    ax : two matplotlib Axes, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    against : str, optional
        Column for the second panel's x axis; default: C, D or N, the first that the runs have.
        For groups its largest value.
    title : str, optional
        Title of the first panel.

    Returns
    -------
    array of matplotlib Axes, shape (2,)
        First: x elpd difference in nats. Second: x the column, y elpd difference in nats.

    Raises
    ------
    DataError
        There is no such column.
    FitError
        Axes of another number than panels.
    """
    narrow = figure is not None and canvas.figure_width(figure) < NARROW
    axes, figure = canvas.panels(
        2, ax, figure, "differences, and run by run", 1 if narrow else 2, (4.6, 3.8)
    )
    _ladder(axes[0], result)
    units = result.best.units
    what = "row" if result.by == "row" else result.by
    head = title if title is not None else f"Leave one {what} out: {len(units)} in turn"
    style.finish(axes[0], None, head, "elpd difference to the best, 1 and 2 SE (nats)", "")
    axes[0].grid(False, axis="y")
    handles = _single(axes[1], result, against)
    if handles:
        style.legend(axes[1], handles, loc="best")
    return axes


def _ladder(ax: "Axes", result: "Comparison") -> None:
    """One line a law, the best on top: difference, standard errors, weight, verdict."""
    s = canvas.scale(ax)
    size = canvas.text_size(ax, 0.85)
    names = result.names
    for k, name in enumerate(names):
        middle, error = result.difference(name)
        colour = style.COLOURS[k % len(style.COLOURS)] if k else style.INK
        for times, width in ((2.0, 1.2), (1.0, 3.2)):
            ends = (middle - times * error, middle + times * error)
            ax.plot(ends, (-k, -k), color=colour, linewidth=width * s, zorder=4)
        look: dict[str, Any] = {"markeredgecolor": style.INK, "markeredgewidth": 0.6 * s}
        marker = style.MARKERS[(k - 1) % len(style.MARKERS)] if k else "*"
        ax.plot(middle, -k, marker=marker, markersize=(7 if k else 11) * s, color=colour, **look,
                zorder=5)  # fmt: skip
        weight = f"weight {result.stacking[name]:.2f}"
        failed = "" if result.fits[name].converged else "; did not pass its gate"
        ax.annotate(
            f"{name}: {weight}{failed}",
            (0, -k),
            (4 * s, 7 * s),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="bottom",
            fontsize=size,
            color=style.WARNING if failed else style.INK,
            zorder=6,
        )
    ax.axvline(0.0, color=style.INK, linewidth=0.9 * s, linestyle=":", zorder=3)
    ax.set_ylim(-len(names) + 0.4, 0.75)
    ax.set_yticks([])


def _single(ax: "Axes", result: "Comparison", against: str | None) -> list[Any]:
    """Differences of single runs or groups against a column; the legend's entries."""
    name, x = _along(result, against)
    s, best = canvas.scale(ax), result.best
    handles, drawn = [], []
    for k, other in enumerate(result.names[1 : MOST + 1], start=1):
        y = best.elpd_i - result.loos[other].elpd_i
        colour = style.COLOURS[k % len(style.COLOURS)]
        marker = style.MARKERS[(k - 1) % len(style.MARKERS)]
        style.points(ax, x, y, colour, marker=marker, alpha=0.75)
        look = {"markeredgecolor": style.INK}
        handles.append(style.line_handle(f"against {other}", colour, "", marker=marker, **look))
        drawn.append(y)
    ax.axhline(0.0, color=style.INK, linewidth=0.9 * s, zorder=3)
    _tame(ax, np.concatenate(drawn))
    if (x > 0).all() and x.max() > x.min():
        margin = (x.max() / x.min()) ** 0.04
        ax.set_xlim(x.min() / margin, x.max() * margin)
        scales.log_axis(ax, "x", name)
    head = f"Run by run: above 0, {best.name} is better"
    if len(handles) == 1:  # said in the title, where no point hides under a legend
        head, handles = f"{head} than {result.names[1]}", []
    label = LABELS.get(name, name) + ("" if result.by == "row" else f", largest of the {result.by}")
    style.finish(ax, None, head, label, "elpd difference (nats)")
    return handles


def _along(result: "Comparison", against: str | None) -> tuple[str, np.ndarray]:
    """The column to draw against, and its value for each unit."""
    fit, units = result.fits[result.best.name], result.best.units
    name = against or next((c for c in ("C", "D", "N") if c in fit.runs.table), None)
    if name is None:
        return "position in the table", np.arange(1.0, len(units) + 1)
    values = fit.runs.column(name).astype(float)
    return name, np.array([values[units.rows(u)].max() for u in range(len(units))])


def _tame(ax: "Axes", y: np.ndarray) -> None:
    """Draw far differences in: linear for most of them, logarithmic beyond."""
    from matplotlib import ticker

    usual, most = float(np.quantile(np.abs(y), LINEAR)), float(np.abs(y).max())
    if usual > 0 and most > 5 * usual:
        ax.set_yscale("asinh", linear_width=usual)
        steps = [m * 10.0**k for k in range(-6, 9) for m in (1, 3)]
        ticks = [t for t in steps if 0.7 * usual < t < 1.3 * most]
        ax.yaxis.set_major_locator(ticker.FixedLocator([-t for t in ticks] + [0.0] + ticks))
        ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:g}"))
        ax.yaxis.set_minor_locator(ticker.NullLocator())
    scales.pad_limits(ax, float(y.min()), float(y.max()))
