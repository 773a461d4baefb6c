"""Pareto frontiers: one loss against another, with the runs that have both."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.pareto import frontier
from bayescale.answers.pareto.show import amount
from bayescale.errors import FitError, nearest
from bayescale.plot import canvas, scales, style
from bayescale.plot.bands import LEVELS
from bayescale.plot.picture import write_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.answers.pareto.answer import Pareto

MOST = 4  # frontiers that stay apart
ROOM = 0.6  # of the frontiers' own span that runs beyond may lengthen the axes by
LINES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))


def pareto(
    answer: "Pareto",
    ax: "Axes | None" = None,
    *,
    objectives: "tuple[str, str] | None" = None,
    truth: Any = None,
    title: str | None = None,
) -> "Axes":
    """Draw the frontier of two losses at each budget, with bands of what is attainable.

    A band of 90% lies between what 5% and what 95% of draws attain; the line is what half of them
    attain (see `Pareto.band`). Markers are compositions: medians of both losses there.

    Parameters
    ----------
    answer : Pareto
        From `bayescale.pareto`.
    ax : matplotlib Axes, optional
        Where to draw; default: a new figure.
    objectives : (str, str), optional
        Losses along x and y; default: the first two.
    truth : array, shape (point, 2), or a list of them, optional
        Known frontiers, drawn as lines.
    title : str, optional
        Default: the law and the number of runs.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    FitError
        More than four budgets, or an unknown loss.
    """
    if len(answer.budgets) > MOST:
        raise FitError(
            f"the answer has {len(answer.budgets)} budgets, and {MOST} frontiers can be told apart "
            "in one picture: ask about fewer."
        )
    pair = _pair(answer, objectives)
    ax = canvas.new_axes(ax)
    handles, seen = [], []
    for k in range(len(answer.budgets)):
        seen.append(_draw(ax, answer, k, pair))
        unit = "FLOP" if answer.resource == "C" else "tokens"
        label = f"{answer.resource} = {amount(answer, k)} {unit}"
        look = {"marker": style.MARKERS[k], "markeredgecolor": style.INK}
        handles.append(style.line_handle(label, style.COLOURS[k], LINES[k], **look))
    handles += style.level_handles()
    room = ROOM / len(answer.budgets)
    _limits(ax, np.concatenate(seen), answer.runs[:, pair], room)
    several = len(answer.budgets) > 1  # from lower left to upper right: the other corner is free
    if not several:
        scales.make_room(ax, scales.legend_share(ax, len(handles) + 1))
    handles += _runs(ax, answer.runs[:, pair])
    for line in [] if truth is None else [truth] if np.ndim(truth) == 2 else list(truth):
        handle = style.draw_truth(ax, *np.asarray(line, dtype=float).T)
        handles += [] if any(h.get_label() == "truth" for h in handles) else [handle]
    _name_marks(ax, answer, pair)
    fit = answer.plane.objectives.fit
    unit = f" ({answer.unit})" if answer.unit else ""
    first, second = (answer.objectives[j] for j in pair)
    names = f"{first} {fit.law.response}{unit}", f"{second} {fit.law.response}{unit}"
    style.finish(ax, fit, style.heading("Pareto frontier", fit, title), *names)
    style.legend(ax, handles, loc="lower right" if several else "upper right")
    return ax


def save_pareto(answer: "Pareto", path: str | Path, **options: Any) -> Path:
    """Draw `pareto` into a file."""
    size = (canvas.WIDTH, canvas.HEIGHT)
    return write_picture(
        path, lambda figure: pareto(answer, figure.add_subplot(), **options), size
    )  # fmt: skip


def _pair(answer: "Pareto", objectives: "tuple[str, str] | None") -> list[int]:
    names = list(answer.objectives)
    chosen = list(objectives or names[:2])
    for name in chosen:
        if name not in names:
            known = ", ".join(names)
            raise FitError(f"there is no loss '{name}'; losses are {known}." + nearest(name, names))
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise FitError(f"objectives is {objectives!r}; expected two losses, for x and y.")
    return [names.index(name) for name in chosen]


def _draw(ax: "Axes", answer: "Pareto", k: int, pair: list[int]) -> np.ndarray:
    """Bands, line and markers of one budget; the corners that must be in the picture."""
    colour, s = style.COLOURS[k], canvas.scale(ax)
    middle, *edges = _curves(answer, k, pair)
    pale = 1.0 if len(answer.budgets) == 1 else 0.75
    for n, level in enumerate(LEVELS):
        corners = np.concatenate([edges[2 * n], edges[2 * n + 1][::-1]])
        look = {"color": colour, "alpha": style.ALPHA[level] * pale, "linewidth": 0}
        ax.fill(*corners[np.isfinite(corners).all(1)].T, **look, zorder=3)
    ax.plot(*middle.T, color=colour, linestyle=LINES[k], linewidth=1.6 * s, zorder=6)
    marks = np.nanmedian(answer.loss[:, k, list(answer.marks)][..., pair], axis=0)
    look = {"marker": style.MARKERS[k], "edgecolors": style.INK, "zorder": 7}
    ax.scatter(*marks.T, color=colour, s=(5.0 * s) ** 2, linewidths=0.6 * s, **look)
    corners = np.concatenate([*edges[:2], marks])
    return corners[np.isfinite(corners).all(1)]


def _curves(answer: "Pareto", k: int, pair: list[int]) -> list[np.ndarray]:
    """The curve of half of the draws, and both edges of each band, shape (corner, 2) each."""
    levels = [0.5, *(0.5 + x / 2 * side for x in LEVELS for side in (-1, 1))]
    if answer.kind != "mixture":
        return [curve[:, pair] for curve in answer.band(k, levels)]
    losses = answer.loss[:, k][..., pair]
    return frontier.attainment(losses, frontier.efficient(losses[:, None])[:, 0], levels)


def _limits(ax: "Axes", corners: np.ndarray, runs: np.ndarray, room: float) -> None:
    """Axes around the frontiers, and as far towards the runs as keeps the frontiers readable."""
    low, high = corners.min(0), corners.max(0)
    span = high - low
    if len(runs):
        reach = np.clip(np.quantile(runs, 0.5, axis=0), high, high + room * span)
        near = runs[(runs <= reach + 1e-12).all(1)]
        high = np.maximum(high, near.max(0)) if len(near) else high
    ax.set_xlim(low[0] - 0.06 * span[0], high[0] + 0.08 * span[0])
    ax.set_ylim(low[1] - 0.06 * span[1], high[1] + 0.08 * span[1])


def _runs(ax: "Axes", runs: np.ndarray) -> list[Any]:
    """The runs in view, and how many there are."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    x, y = runs[:, 0], runs[:, 1]
    inside = (left <= x) & (x <= right) & (bottom <= y) & (y <= top)
    if not inside.any():
        return []
    style.points(ax, x[inside], y[inside], zorder=2.5)
    count = f"{inside.sum()} of {len(runs)}" if inside.sum() < len(runs) else f"{len(runs)}"
    look = {"marker": "o", "markeredgecolor": style.INK}
    return [style.line_handle(f"runs ({count})", style.GREY, "", **look)]


def _name_marks(ax: "Axes", answer: "Pareto", pair: list[int]) -> None:
    """Compositions beside the markers of the first budget, where they are two sources' own."""
    if answer.kind == "mixture":
        return
    for k in range(len(answer.budgets)):
        at = np.nanmedian(answer.loss[:, k, list(answer.marks)][..., pair], axis=0)
        values = [answer.values[p] for p in answer.marks]
        word = "r" if answer.kind == "r" else answer.sources[1]
        labels = [f"{word} = {v:.2g}" if i == 0 else f"{v:.2g}" for i, v in enumerate(values)]
        style.name_points(ax, at[:, 0], at[:, 1], labels)
