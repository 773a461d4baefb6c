"""Backbone selection: who is probably best at which budget, and what the leaders reach."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.points import read_values
from bayescale.errors import FitError, nearest
from bayescale.plot import canvas, scales, style
from bayescale.plot.bands import DRAWS, bands
from bayescale.tables import intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.answers.selection.result import Selection

GRID = 81
MOST = 6  # backbones with a line of their own
BANDED = 3  # of them with a band of what they reach
LEAST = 0.05  # P(best) somewhere from which a backbone is drawn
RANKED = 10  # backbones of a law without tokens
NARROW = 4.5  # inches of a figure below which panels stand one below the other
SIZE = (9.0, 3.9)
DASHES = (
    "-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (7, 1.5, 1.2, 1.5)),
    (0, (3, 1.2, 1.2, 1.2, 1.2, 1.2)), (0, (9, 3)),
)  # fmt: skip


def selection(
    answer: "Selection",
    *,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    figure: "Figure | SubFigure | None" = None,
    models: Sequence[str] | None = None,
    within: tuple[Any, Any] | None = None,
    title: str | None = None,
) -> np.ndarray:
    """Draw P(best) of each backbone against compute, and what the leaders reach.

    Left: the probability of being the best of all, a line a backbone, with the budgets asked
    about as ticks above. Right: the response of the leaders with 90% credible bands. Of a law
    without tokens: P(best) of the leading backbones, and what they reach with 50% and 90%
    intervals.

    Parameters
    ----------
    answer : Selection
    ax : two matplotlib Axes, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    models : sequence of str, optional
        Backbones to draw, up to six; default: those that are probably best somewhere.
    within : (number, number), optional
        Range of budgets in FLOP; default: that of the answer's crossovers.
    title : str, optional

    Returns
    -------
    array of matplotlib Axes, shape (2,)

    Raises
    ------
    FitError
        An unknown backbone, too many of them, or axes of another number than panels.
    """
    if figure is None and ax is None:
        figure = canvas.new_figure(None, SIZE)
    narrow = figure is not None and canvas.figure_width(figure) < NARROW
    axes, figure = canvas.panels(2, ax, figure, "P(best), and the response", 1 if narrow else 2)
    head = title if title is not None else _heading(answer)
    if answer.within is None:
        _ranked(axes, answer, models, head, narrow)
        return axes
    ends = answer.within if within is None else read_values("C", list(within))
    budgets = np.geomspace(float(ends[0]), float(ends[1]), GRID)
    contest = answer.contest(budgets, -(-answer.contenders.size // DRAWS))
    chance = contest.probability()
    drawn = _drawn(answer, chance, models)
    _chances(axes[0], answer, budgets, chance, drawn, head)
    _courses(axes[1], answer, budgets, contest.values, drawn)
    handles = [
        style.line_handle(answer.models[m], style.COLOURS[k], DASHES[k])
        for k, m in enumerate(drawn)
    ]
    if (rest := _rest(chance, drawn)).max(initial=0) >= LEAST:
        handles.append(style.line_handle("all others", style.GREY, ":"))
        axes[0].plot(budgets, rest, color=style.GREY, linestyle=":", linewidth=1.2, zorder=3)
    style.panel_legend(axes, figure, [*handles, style.level_handles()[0]])
    return axes


def _heading(answer: "Selection") -> str:
    failed = "" if answer.converged else "\n(that fit fails its gate)"
    return f"Best of {len(answer.models)} backbones{failed}"


def _drawn(answer: "Selection", chance: np.ndarray, models: Sequence[str] | None) -> list[int]:
    """Positions of the backbones to draw: those that may be best somewhere, and runners-up."""
    if models is not None:
        return _named(answer, models, MOST)
    top = np.nan_to_num(chance).max(axis=0)
    leading = [int(k) for k in np.argsort(-top, kind="stable")[:MOST] if top[k] >= LEAST]
    for listed in answer.standings:
        near = [answer.models.index(s.model) for s in listed[:BANDED]]
        leading += [k for k in near if k not in leading][: max(0, BANDED - len(leading))]
    return leading


def _named(answer: "Selection", models: Sequence[str], most: int) -> list[int]:
    known = list(answer.models)
    for name in models:
        if name not in known:
            raise FitError(
                f"there is no backbone '{name}' in this answer; there are {', '.join(known[:12])}."
                + nearest(str(name), known)
            )
    if not 0 < len(models) <= most:
        raise FitError(f"this plot shows 1 to {most} backbones, and models names {len(models)}.")
    return [known.index(name) for name in models]


def _rest(chance: np.ndarray, drawn: list[int]) -> np.ndarray:
    """P(best) of all that have no line of their own."""
    return 1 - chance[:, drawn].sum(axis=1)


def _chances(
    ax: "Axes",
    answer: "Selection",
    budgets: np.ndarray,
    chance: np.ndarray,
    drawn: list[int],
    head: str,
) -> None:
    s = canvas.scale(ax)
    for k, m in enumerate(drawn):
        look: dict[str, Any] = {"color": style.COLOURS[k], "linestyle": DASHES[k]}
        ax.plot(budgets, chance[:, m], linewidth=1.7 * s, zorder=5, **look)
    ax.set_xlim(budgets[0], budgets[-1])
    ax.set_ylim(-0.02, 1.04)
    scales.log_axis(ax, "x", "C")
    inside = [c for c in answer.C if budgets[0] <= c <= budgets[-1]]
    ticks: dict[str, Any] = {"marker": "v", "color": style.INK, "linestyle": "", "clip_on": False}
    ax.plot(inside, np.full(len(inside), 1.04), markersize=4.5 * s, zorder=7, **ticks)
    style.finish(ax, None, head, "compute C (FLOP)", "P(best)")


def _courses(
    ax: "Axes", answer: "Selection", budgets: np.ndarray, values: np.ndarray, drawn: list[int]
) -> None:
    """Medians of those drawn, with bands for the first few by their greatest P(best)."""
    s = canvas.scale(ax)
    for k, m in enumerate(drawn):
        found = bands(budgets, values[:, :, m])
        if k < BANDED:
            low, high = found.intervals[0.9]
            look: dict[str, Any] = {"color": style.COLOURS[k], "alpha": style.ALPHA[0.9]}
            ax.fill_between(found.x, low, high, linewidth=0, zorder=3, **look)
        look = {"color": style.COLOURS[k], "linestyle": DASHES[k], "linewidth": 1.7 * s}
        ax.plot(found.x, found.median, zorder=5, **look)
    ax.set_xlim(budgets[0], budgets[-1])
    scales.log_axis(ax, "x", "C")
    unit = f" ({answer.unit})" if answer.unit else ""
    style.finish(ax, None, "", "compute C (FLOP)", f"{answer.response}{unit}")


def _ranked(
    axes: np.ndarray,
    answer: "Selection",
    models: Sequence[str] | None,
    head: str,
    stacked: bool,
) -> None:
    """P(best) and response of the leading backbones, a line each."""
    listed = answer.standings[0]
    if models is not None:
        chosen = {answer.models[k] for k in _named(answer, models, len(answer.models))}
        listed = tuple(s for s in listed if s.model in chosen)
    else:
        listed = listed[:RANKED]
    names, heights = [s.model for s in listed], np.arange(len(listed), 0, -1)
    chance, reached = axes
    s = canvas.scale(chance)
    edge: dict[str, Any] = {"edgecolor": style.INK, "linewidth": 0.5 * s}
    chance.barh(heights, [x.p_best for x in listed], 0.62, color=style.SKY, zorder=3, **edge)
    draws = answer.draws[answer.response][:, 0]
    for height, x in zip(heights, listed, strict=True):
        q = intervals(draws[:, answer.models.index(x.model)])
        for low, high, width in (("q05", "q95", 1.3), ("q25", "q75", 3.4)):
            ends = [q[low], q[high]]
            reached.plot(ends, [height] * 2, color=style.BLUE, linewidth=width * s, zorder=4)
        look: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": style.INK}
        reached.plot(q["median"], height, "o", markersize=4.5 * s, zorder=5, **look)
    for panel in axes:
        panel.set_ylim(0.4, len(listed) + 0.6)
        panel.set_yticks(heights, names if stacked or panel is chance else [""] * len(listed))
        panel.tick_params(axis="y", length=0)
    unit = f" ({answer.unit})" if answer.unit else ""
    style.finish(chance, None, head, "P(best)", "")
    style.finish(reached, None, "", f"{answer.response}{unit}, 50% and 90% credible", "")
    chance.grid(False, axis="y")
    reached.grid(False, axis="y")
