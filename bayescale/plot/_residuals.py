"""Residuals: each run against what the fit expects of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import FitError, nearest
from bayescale.plot import canvas, scales, style
from bayescale.plot.bands import LEVELS, Residuals, groups, residuals_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.fitted import Fit

NAMED = 8  # outliers named by their row
FAR = 2.0  # an outlier: beyond twice the 90% predictive interval
SUSPECT = ("diverged", "few-tokens", "mixed-units", "cost-far", "duplicates")  # not: repeats
MOST_PANELS = 6  # unasked
BINS = 8  # of the predictive band where the noise differs from run to run


def residuals(
    fit: "Fit",
    *,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    figure: "Figure | SubFigure | None" = None,
    against: str | Sequence[str] | None = None,
    title: str | None = None,
    seed: int = 0,
    **group: Any,
) -> "Axes | np.ndarray":
    """Draw residuals against N, D, C and fitted loss, with 90 and 50% predictive bands.

    A residual is observed over fitted minus one, in percent (with noise on the response itself:
    observed minus fitted). Fitted is the posterior median of the law's mean. The bands hold 90
    and 50% of new runs, noise included, so one run in ten lies outside by chance. Outliers are
    named by their row in the file, and runs that the reader flagged are circled. Where some lie
    far off, the axis is linear within the 90% band and logarithmic beyond it.

    Parameters
    ----------
    fit : Fit
    ax : matplotlib Axes, or one for each panel, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    against : str or several, optional
        ``"N"``, ``"D"``, ``"C"``, ``"fitted"`` or any column of numbers; default: those of
        these four that the runs have, of a single ``ax`` the fitted loss.
    title : str, optional
        Title of the first panel; default: what is shown, the law and the number of runs.
    seed : int
        Seed of the noise of new runs.
    **group
        For pooled fits, the group by its column (``corpus="c4"``); default: all runs.

    Returns
    -------
    matplotlib Axes, or an array of them
        x: the input in its unit, log; y: residual in percent.

    Raises
    ------
    FitError
        An unknown column or group, or axes of another number than panels.
    """
    alone = ax is not None and not isinstance(ax, Sequence | np.ndarray)
    names = _names(fit, against, alone)
    found = residuals_of(fit, groups(fit, group, most=len(fit.runs)), seed)
    axes, figure = canvas.panels(len(names), ax, figure, "names in against")
    flagged, (far, labels) = _flagged(fit, found.rows), _outliers(fit, found)
    for k, (panel, name) in enumerate(zip(axes, names, strict=True)):
        x = found.fitted if name == "fitted" else fit.runs.column(name)[found.rows].astype(float)
        _bands(panel, fit, found, x)
        _runs(panel, found, x, flagged)
        _dress(panel, fit, found, name, x, 2 if figure is None and k == 0 else 0)
        style.name_points(panel, x[far], found.residual[far], labels)
        head = style.heading("Residuals", fit, title) if k == 0 else ""
        first = figure is None or k % canvas.COLUMNS == 0
        if not first:
            panel.tick_params(labelleft=False)
        side = _side_label(fit) if first else ""
        style.finish(panel, fit if k == 0 else None, head, _label(fit, name), side)
    style.panel_legend(axes, figure, _handles(bool(flagged.any())))
    return axes[0] if alone else axes


def _names(fit: "Fit", against: str | Sequence[str] | None, alone: bool) -> list[str]:
    """What to draw residuals against, checked."""
    known = [str(c) for c in fit.runs.table.columns if fit.runs.table[c].dtype.kind in "fiu"]
    known = [c for c in known if c != fit.law.response] + ["fitted"]
    if against is None:
        usual = dict.fromkeys(("N", "D", "C", *fit.law.number_columns))
        listed = [n for n in usual if n in known and np.ptp(fit.runs.column(n)) > 0]
        return ["fitted"] if alone else [*listed[: MOST_PANELS - 1], "fitted"]
    names = [against] if isinstance(against, str) else list(against)
    for name in names:
        if name not in known:
            raise FitError(
                f"residuals can't be drawn against '{name}'; known: {', '.join(known)}."
                + nearest(name, known)
            )
    if not names:
        raise FitError(f"against names nothing; known: {', '.join(known)}.")
    return names


def limits(replicates: np.ndarray, level: float) -> tuple[float, float]:
    """Central interval of new runs' residuals, over draws and runs together."""
    low, high = np.quantile(replicates, [0.5 - level / 2, 0.5 + level / 2])
    return float(low), float(high)


def _bands(ax: "Axes", fit: "Fit", found: Residuals, x: np.ndarray) -> None:
    """Predictive bands: one for all runs, or by bins of x where the noise differs."""
    noise = fit.model.noise
    pooled = {pool.column for name, pool in fit.model.pooling.by_param if name in ("sigma", "nu")}
    differs = bool(noise.varies_with or noise.known_sd or pooled)
    edges = np.unique(np.quantile(x, np.linspace(0, 1, (BINS if differs else 1) + 1)))
    if len(edges) < 2:
        edges = np.array([edges[0] / 1.1, edges[0] * 1.1])
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
    for level in LEVELS:
        pairs = [limits(found.replicates[:, place == k], level) for k in np.unique(place)]
        low, high = np.array(pairs).T
        used = np.append(edges[np.unique(place)], edges[-1])
        low, high = np.append(low, low[-1]), np.append(high, high[-1])
        look: dict[str, Any] = {"alpha": style.ALPHA[level], "linewidth": 0, "zorder": 2}
        ax.fill_between(used, low, high, step="post", color=style.SKY, **look)
    ax.axhline(0.0, color=style.INK, linewidth=0.9 * canvas.scale(ax), zorder=3)


def _runs(ax: "Axes", found: Residuals, x: np.ndarray, flagged: np.ndarray) -> None:
    """Runs as points; flagged ones circled."""
    style.points(ax, x, found.residual, style.BLUE)
    if flagged.any():
        ring = {"facecolors": "none", "edgecolors": style.VERMILLION, "zorder": 6}
        s = canvas.scale(ax)
        ax.scatter(x[flagged], found.residual[flagged], s=60 * s**2, linewidths=1.3 * s, **ring)


def _outliers(fit: "Fit", found: Residuals) -> tuple[np.ndarray, list[str]]:
    """Positions of the largest outliers, the largest first, and their row numbers."""
    score = np.abs(found.residual) / _usual(found)
    order = np.argsort(-score)[:NAMED]
    far = order[score[order] > FAR]
    return far, [str(fit.runs.row_numbers[found.rows[k]]) for k in far]


def _usual(found: Residuals) -> np.ndarray:
    """For each run the residual that 90% of new runs in its place stay below."""
    return np.maximum(np.quantile(np.abs(found.replicates), 0.9, axis=0), 1e-12)


def _flagged(fit: "Fit", rows: np.ndarray) -> np.ndarray:
    """Which runs the reader flagged as suspect."""
    marked = {row for flag in fit.runs.flags if flag.kind in SUSPECT for row in flag.rows}
    return np.isin(fit.runs.row_numbers[rows], list(marked))


def _dress(ax: "Axes", fit: "Fit", found: Residuals, name: str, x: np.ndarray, rows: int) -> None:
    """Scales and limits: far outliers are drawn in by a scale that is logarithmic far out.

    ``rows`` of a legend have to find room above the runs.
    """
    from matplotlib import ticker

    usual = _usual(found)
    half, widest = float(np.median(usual)), float(usual.max())
    most = float(np.abs(found.residual).max())
    if most > 5 * half and most > 2 * widest:
        ax.set_yscale("asinh", linear_width=half)
        steps = [m * 10.0**k for k in range(-9, 10) for m in (1, 3)]
        ticks = [t for t in steps if 0.5 * half < t < 1.5 * most]
        ax.yaxis.set_major_locator(ticker.FixedLocator([-t for t in ticks] + [0.0] + ticks))
        ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:g}"))
        ax.yaxis.set_minor_locator(ticker.NullLocator())
    low, high = float(found.residual.min()), float(found.residual.max())
    scales.pad_limits(ax, min(low, -1.3 * widest), max(high, 1.3 * widest))
    scales.make_room(ax, scales.legend_share(ax, rows))
    if (x > 0).all() and x.max() > x.min():
        ax.set_xlim(x.min() / (x.max() / x.min()) ** 0.04, x.max() * (x.max() / x.min()) ** 0.04)
        scales.log_axis(ax, "x", name)


def _side_label(fit: "Fit") -> str:
    if fit.model.noise.on == "log":
        return "residual (%)"
    return style.response_label(fit, "residual of")


def _label(fit: "Fit", name: str) -> str:
    fixed = {"N": "parameters N", "D": "training tokens D", "C": "compute C (FLOP)"}
    if name == "fitted":
        return style.response_label(fit, "fitted")
    return fixed.get(name, name)


def _handles(flagged: bool) -> list[Any]:
    handles = style.level_handles("predictive", style.SKY)
    look = {"marker": "o", "markeredgecolor": style.INK}
    handles.append(style.line_handle("run (far ones by row)", style.BLUE, "", **look))
    if flagged:
        look = {"marker": "o", "markerfacecolor": "none"}
        handles.append(style.line_handle("flagged when read", style.VERMILLION, "", **look))
    return handles
