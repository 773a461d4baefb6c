"""IsoFLOP slices: loss against size at a few budgets, with the minimum of each."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.allocation import check_law
from bayescale.answers.points import read_values
from bayescale.data.slices import NEAR, find_budgets
from bayescale.errors import FitError
from bayescale.plot import canvas, scales, style
from bayescale.plot.bands import POINTS, Group, bands, frontier, groups, law_of, shown_rows, thinned
from bayescale.tables import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.answers.surface import Surface
    from bayescale.data.cost import CostModel
    from bayescale.fitted import Fit

MOST = 5  # slices drawn
BESIDE = 4.0  # a slice goes at least this factor beyond its minimum


def isoflop(
    fit: "Fit",
    *,
    ax: "Axes | None" = None,
    budgets: Any = None,
    cost: "CostModel | None" = None,
    title: str | None = None,
    seed: int = 0,
    **group: Any,
) -> "Axes":
    """Draw loss against N at a few budgets, each with 90 and 50% credible bands.

    Runs within 10% of a budget are drawn with its slice; the minimum of each slice is marked
    with the 90% interval of N_opt.

    Parameters
    ----------
    fit : Fit
        A fit of a law of N and D; or of the law ``isoflop``, whose own slices are drawn
        (`bayescale.plot.slices` has their minima against compute, too).
    ax : matplotlib Axes, optional
        Where to draw; default: a new figure.
    budgets : number, str or several, optional
        Compute in FLOP. Default: where the runs cluster in compute, else quantiles of it.
    cost : CostModel, optional
        Price of N and D; default: that of the data.
    title : str, optional
        Default: what is shown, the law and the number of runs.
    seed : int
        Seed of the draws for groups that are not in the data.
    **group
        For pooled fits, the group by its column (``corpus="c4"``): one group at a time.

    Returns
    -------
    matplotlib Axes
        x: N in parameters, log; y: loss in the law's unit, log.

    Raises
    ------
    FitError
        The law isn't one of N and D, or the fit has groups and none was named.
    DataError
        A budget isn't a positive number.
    """
    if fit.law.name == "isoflop" and fit.law.recipe:
        return _own(fit, ax, title, budgets is None and cost is None and not group)
    check_law(fit)
    (part,) = groups(fit, group, most=1)
    few = thinned(fit)
    chosen = choose_budgets(fit, part) if budgets is None else np.sort(read_values("C", budgets))
    best = frontier(few, part, chosen, cost, seed)
    ax = canvas.new_axes(ax)
    shades = scales.colour_scale(chosen, "viridis_r", 0.3, 1.0)
    law = law_of(few, part, seed)
    for k, budget in enumerate(chosen):
        colour = scales.hex_colour(shades, budget)
        sizes = _near(fit, part, budget)
        text = quantity(budget) if k else f"C = {quantity(budget)} FLOP"
        _slice(
            ax, law, cost or fit.extent.cost, budget, best["N_opt"][:, k], sizes[0], colour, text
        )
        style.points(ax, *sizes, colour)
        draw_minimum(ax, best["N_opt"][:, k], best["loss"][:, k])
    dress(ax, fit, style.heading("IsoFLOP slices", fit, title), "run within 10% of C")
    return ax


def _own(fit: "Fit", ax: "Axes | None", title: str | None, plain: bool) -> "Axes":
    """Slices of the law ``isoflop``, which has its budgets and its price from the runs."""
    from bayescale.answers.isoflop.run import isoflop as read
    from bayescale.plot._slices import valleys

    if not plain:
        raise FitError(
            "a fit of the law 'isoflop' has slices of its own: leave budgets, cost and group out."
        )
    ax = canvas.new_axes(ax)
    valleys(ax, read(fit), title)
    return ax


def choose_budgets(fit: "Fit", part: Group) -> np.ndarray:
    """Budgets of the slices: where runs cluster in compute, else quantiles of it.

    At most five are kept, spread evenly; with fewer than three clusters the data are no IsoFLOP
    sweep.
    """
    every = fit.runs.column("C")[part.rows]
    centres = find_budgets(every, fit.runs.column("N")[part.rows])
    if len(centres) < 3:
        return np.exp(np.unique(np.quantile(np.log(every), [0.1, 0.3, 0.5, 0.7, 0.9])))
    logs = np.log(centres)
    wanted = np.linspace(logs[0], logs[-1], MOST)
    return centres[np.unique(np.abs(logs - wanted[:, None]).argmin(axis=1))]


def _near(fit: "Fit", part: Group, budget: float) -> tuple[np.ndarray, np.ndarray]:
    """Size and loss of the runs within 10% of a budget."""
    rows = part.rows & (np.abs(np.log(fit.runs.column("C") / budget)) <= NEAR)
    rows = shown_rows(fit, rows)
    return fit.runs.column("N")[rows], fit.runs.column(fit.law.response)[rows]


def _slice(
    ax: "Axes",
    law: "Surface",
    cost: "CostModel",
    budget: float,
    best: np.ndarray,
    sizes: np.ndarray,
    colour: str,
    text: str,
) -> None:
    """One slice with its bands, over its runs and around its minimum, named at its end."""
    grid = around(best, sizes, BESIDE)
    tokens = cost.tokens(grid, np.full(POINTS, budget))
    draws = law.mean(np.arange(law.size)[:, None], N=grid, D=tokens)
    draw_slice(ax, grid, draws, colour, text)


def around(best: np.ndarray, sizes: np.ndarray, beside: float) -> np.ndarray:
    """Sizes along a slice: over its runs, and a factor beyond both ends of its minimum's 90%."""
    low, high = np.nanquantile(best, [0.05, 0.95])
    ends = np.concatenate([sizes, [low / beside, high * beside]])
    return np.geomspace(ends.min(), ends.max(), POINTS)


def draw_slice(ax: "Axes", grid: np.ndarray, draws: np.ndarray, colour: str, text: str) -> None:
    """One slice with its bands, named at its end, from losses of shape (draw, size)."""
    found = bands(grid, draws)
    style.draw_bands(ax, found, colour)
    ax.annotate(
        text,
        (grid[-1], found.median[-1]),
        (4 * canvas.scale(ax), 0),
        textcoords="offset points",
        va="center",
        color=colour,
        fontsize=canvas.text_size(ax, 0.85),
        zorder=8,
    )


def draw_minimum(ax: "Axes", size: np.ndarray, loss: np.ndarray, hollow: bool = False) -> None:
    """The minimum of a slice with the 90% interval of its size; hollow where it isn't interior."""
    low, middle, high = np.nanquantile(size, [0.05, 0.5, 0.95])
    s = canvas.scale(ax)
    ax.errorbar(
        [middle],
        [np.nanmedian(loss)],
        xerr=[[middle - low], [high - middle]],
        zorder=9,
        **mark(s, hollow),
    )


def mark(s: float, hollow: bool = False) -> dict[str, Any]:
    """How a minimum looks at a scale ``s``."""
    look = {"color": style.INK, "marker": "D", "markersize": 4.5 * s, "markeredgecolor": "white"}
    if hollow:
        look |= {"markerfacecolor": "white", "markeredgecolor": style.INK}
    return look | {"markeredgewidth": 0.6 * s, "capsize": 2.5 * s, "elinewidth": 1.2 * s}


def dress(ax: "Axes", fit: "Fit", heading: str, runs: str) -> None:
    """Axes, title and legend of slices; ``runs`` says which runs are drawn."""
    scales.log_axis(ax, "x", "N")
    ax.margins(x=0.14)
    ax.autoscale_view()
    if fit.model.noise.on == "log":
        scales.log_axis(ax, "y")
    style.finish(
        ax,
        fit,
        heading,
        "parameters N",
        f"{fit.law.response} ({fit.law.response_unit})",
    )
    run = style.line_handle(runs, style.GREY, "", marker="o")
    handles = [
        *style.level_handles(),
        style.line_handle(r"minimum, 90% of $N_\mathrm{opt}$", style.INK, "-", marker="D"),
        run,
    ]
    style.legend(ax, handles, loc="lower left")
