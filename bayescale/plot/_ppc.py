"""Predictive checks: each test quantity's picture, observed against replicated."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import FitError
from bayescale.plot import _ppc_panels as panels_of
from bayescale.plot import canvas, scales, style
from bayescale.plot.picture import write_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.check.predictive.quantity import Checked
    from bayescale.check.predictive.result import PredictiveChecks
    from bayescale.fitted import Fit

COLUMNS = 3
PANEL = (3.7, 2.9)  # inches


def ppc(
    result: "PredictiveChecks | Fit",
    axes: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    *,
    figure: "Figure | SubFigure | None" = None,
    check: str | Sequence[str] | None = None,
    title: str | None = None,
    seed: int = 0,
) -> "Axes | np.ndarray":
    """Draw predictive checks, all in one figure or some of them.

    Bands (or bars) hold 90 and 50% of replicates, points are what was observed. Below each
    title stand the p-values; a flagged panel says so in red. In a panel of residuals the dashed
    line is the trend through them, and the bands are trends through replicates; residuals beyond
    the axes are drawn as arrows at the edge.

    Parameters
    ----------
    result : PredictiveChecks or Fit
        From `bayescale.check.ppc` or `bayescale.check.prior_ppc`; of a fit, its posterior
        predictive checks are made first.
    axes : matplotlib Axes, one for each check, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    check : str or several, optional
        Names such as ``"trend_C"``; default: all that were made.
    title : str, optional
        Title of the figure, or of a single panel; default: the verdict, or what is shown.
    seed : int
        Seed of the replicates, where a fit is given.

    Returns
    -------
    matplotlib Axes, or an array of them
        One where one check is named.

    Raises
    ------
    FitError
        An unknown or skipped check, or axes of another number than checks.
    """
    found = _checks(result, seed)
    alone = isinstance(check, str)
    names = [check] if isinstance(check, str) else [c.name for c in found.checks]
    names = names if check is None or alone else list(check)
    chosen = [found[name] for name in names]
    if not chosen:
        raise FitError("no check was made, so there is nothing to draw: " + _reasons(found))
    size = PANEL if len(chosen) > 1 else (canvas.WIDTH, canvas.HEIGHT)
    where, figure = canvas.panels(len(chosen), axes, figure, "checks", _columns(figure), size)
    shared = figure is not None and len(chosen) > 1
    for k, (panel, one) in enumerate(zip(where, chosen, strict=True)):
        head = title if title is not None and not shared else None
        _panel(panel, found, one, first=k == 0 and not shared, alone=not shared, title=head)
    if shared:
        assert figure is not None
        _words(found, where, figure, title)
    return where[0] if alone else where


def save_ppc(result: "PredictiveChecks", path: str | Path, check: str | None = None) -> Path:
    """Draw `ppc` into a file, as large as its panels need."""
    count = len(result.checks) if check is None else 1
    size = (canvas.WIDTH, canvas.HEIGHT)
    if count > 1:
        rows = -(-count // COLUMNS)
        size = (PANEL[0] * min(count, COLUMNS), PANEL[1] * rows + 0.8)
    return write_picture(path, lambda figure: ppc(result, figure=figure, check=check), size)


def _checks(result: "PredictiveChecks | Fit", seed: int) -> "PredictiveChecks":
    from bayescale.fitted import Fit

    if not isinstance(result, Fit):
        return result
    from bayescale.check.predictive.run import ppc as made

    return made(result, seed=seed)


def _reasons(found: "PredictiveChecks") -> str:
    return "; ".join(f"{s.name}: {s.reason}" for s in found.skipped) + "."


def _columns(figure: "Figure | SubFigure | None") -> int:
    """Panels side by side: as many as a figure has room for."""
    if figure is None:
        return COLUMNS
    return int(np.clip(canvas.figure_width(figure) // 2.6, 1, COLUMNS))


def _panel(
    ax: "Axes",
    found: "PredictiveChecks",
    check: "Checked",
    *,
    first: bool,
    alone: bool,
    title: str | None,
) -> None:
    """One check with its p-values above it."""
    handles = panels_of.draw(ax, check.picture)
    flagged = any(q.flagged for q in check.quantities)
    lines = [check.title if title is None else title, *_verdicts(ax, check, found.draws)]
    style.finish(ax, None, "\n".join(lines), check.picture.xlabel, check.picture.ylabel)
    ax.title.set_fontsize(canvas.text_size(ax))
    look = {"fontsize": canvas.text_size(ax), "loc": "left"}
    colour = style.WARNING if flagged else style.INK
    ax.set_title("\n".join(lines), color=colour, linespacing=1.25, **look)
    if alone:
        if found.fit is not None and not found.converged and first:
            _warn(ax, style.verdict(found.fit))
        scales.make_room(ax, scales.legend_share(ax, -(-len(handles) // 2)) + 0.06)
        style.legend(ax, handles, loc="upper left", ncols=2, columnspacing=1.0)


def _verdicts(ax: "Axes", check: "Checked", draws: int) -> list[str]:
    """A line, or several where it would be too long, with the p-values."""
    parts = []
    for q in check.quantities:
        parts.append(f"{q.name}: p {q.p_text(draws)}" + (f", {q.verdict}" if q.flagged else ""))
    room = int(72 * canvas.axes_width(ax) / (0.52 * canvas.text_size(ax)))
    lines = [parts[0]]
    for part in parts[1:]:
        joined = f"{lines[-1]}; {part}"
        lines = [*lines[:-1], joined] if len(joined) <= room else [*lines, part]
    return lines


def _warn(ax: "Axes", text: str) -> None:
    look = {"color": style.WARNING, "fontsize": canvas.text_size(ax, 0.85), "zorder": 9}
    ax.annotate(text, (0.02, 0.03), xycoords="axes fraction", **look)


def _words(
    found: "PredictiveChecks",
    where: np.ndarray,
    figure: "Figure | SubFigure",
    title: str | None,
) -> None:
    """The verdict above all panels and one legend below them."""
    kinds = {c.picture.kind for c in found.checks}
    style.panel_legend(where, figure, panels_of.handles("trend" if "trend" in kinds else "slots"))
    size = canvas.text_size(where[0], 1.1)
    head = title
    if head is None:
        head = (
            f"{found.kind.capitalize()} predictive checks of {found.law} on {found.runs:,} runs "
            f"from {found.source}: {found.headline()}"
        )
        if found.fit is not None and not found.converged:
            head = f"{style.verdict(found.fit)}. {head}"
    wide = max(30, int(canvas.figure_width(figure) * 72 / (0.55 * size)))
    colour = style.INK if found.converged else style.WARNING
    look: dict[str, Any] = {"x": 0.01, "ha": "left", "fontsize": size, "color": colour}
    figure.suptitle(textwrap.fill(head, wide), **look)
