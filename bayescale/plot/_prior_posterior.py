"""Prior against posterior, a panel for each parameter."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import FitError, nearest
from bayescale.inference.gate import PRIOR_SHARE, PRIOR_SHIFT
from bayescale.inference.posterior import scalars, variables
from bayescale.plot import canvas, scales, style
from bayescale.tree import describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.fitted import Fit

MOST = 16  # panels
PRIOR_DRAWS = 4000
WIDE = 4.0  # a prior whose 90% interval spans more than this factor is drawn on a log axis


def prior_posterior(
    fit: "Fit",
    *,
    names: str | Sequence[str] | None = None,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    figure: "Figure | SubFigure | None" = None,
    title: str | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Draw prior and posterior density of each parameter.

    Both densities are scaled to their own peak, since a posterior can be fifty times as narrow
    as its prior; each panel tells its SD as a share of the prior's. A parameter about which the
    runs said nothing is marked in red: its posterior is its prior.

    Parameters
    ----------
    fit : Fit
    names : str or several, optional
        Parameters, derived quantities or sampled coordinates (``"alpha"``, ``"a"``, ``"E[c4]"``;
        ``"E"`` stands for all groups of a pooled E). Default: what carries the priors, that is
        every sampled scalar, and the allocation exponent a where the law has one.
    ax : matplotlib Axes, or one for each panel, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    title : str, optional
        Title of the first panel; default: what is shown, the law and the number of runs.
    seed : int
        Seed of the prior draws.

    Returns
    -------
    array of matplotlib Axes
        x: the quantity in its unit, log where the prior is wide; y: density over its peak.

    Raises
    ------
    FitError
        An unknown name, more than 16 panels, or axes of another number than panels.
    """
    before, after = _draws(fit, seed)
    chosen = _choose(fit, names, list(after))
    axes, figure = canvas.panels(
        len(chosen), ax, figure, ", ".join(chosen), columns=4 if len(chosen) > 9 else 3,
        size=(3.0, 2.2),
    )  # fmt: skip
    for k, (panel, name) in enumerate(zip(axes, chosen, strict=True)):
        _panel(panel, before[name], after[name])
        head = style.heading("Prior and posterior", fit, title) if k == 0 else ""
        style.finish(panel, fit if k == 0 else None, head, _label(fit, name), "")
        panel.spines["left"].set_visible(False)
        panel.tick_params(left=False, labelleft=False)
        panel.grid(False, axis="y")
    style.panel_legend(axes, figure, _handles())
    return axes


def _draws(fit: "Fit", seed: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Prior and posterior draws of every scalar, by name."""
    layout = fit.layout
    labels = {**layout.labels, layout.cell_dim: layout.cells}
    rng = np.random.default_rng([fit.seed, seed, 37])
    with np.errstate(all="ignore"):  # wild prior draws may overflow in derived quantities
        prior = variables(
            fit.model, layout, fit.packing, fit.packing.sample_prior(rng, PRIOR_DRAWS)
        )
    return scalars(prior, labels, lead=1), {
        k: v.ravel() for k, v in scalars(fit.variables, labels).items()
    }


def _choose(fit: "Fit", names: str | Sequence[str] | None, known: list[str]) -> list[str]:
    """Names of the panels, checked."""
    if names is None:
        sites = [s.name for s, shape in zip(fit.packing.sites, fit.packing.shapes, strict=True)
                 if not shape]  # fmt: skip
        chosen = sites + [n for n in ("a",) if n in known]
    else:
        chosen = []
        for name in [names] if isinstance(names, str) else names:
            found = [k for k in known if k == name or k.startswith(f"{name}[")]
            if not found:
                raise FitError(
                    f"this fit has no '{name}'; it has {', '.join(known[:30])}."
                    + nearest(name, known)
                )
            chosen += found
        chosen = list(dict.fromkeys(chosen))
    if not 1 <= len(chosen) <= MOST:
        raise FitError(
            f"{len(chosen)} parameters can't be drawn at once ({MOST} at most): "
            f"pass names=[…] of {', '.join(known[:12])}, …"
        )
    return chosen


def _panel(ax: "Axes", before: np.ndarray, after: np.ndarray) -> None:
    """One parameter: prior, posterior, its 90% interval, and how much was learnt."""
    before = before[np.isfinite(before)]
    ends = np.quantile(before, [0.05, 0.95])
    log = bool(min(before.min(), after.min()) > 0 and ends[1] > WIDE * ends[0])
    x, y = _density(before, log, 0.01)
    ax.fill_between(x, 0, y, color=style.GREY, alpha=0.15, linewidth=0, zorder=2)
    look: dict[str, Any] = {"linewidth": 1.3 * canvas.scale(ax)}
    ax.plot(x, y, color=style.GREY, linestyle=(0, (4, 2)), zorder=4, **look)
    x, y = _density(after, log, 0.0005)
    low, high = np.quantile(after, [0.05, 0.95])
    inside = (x >= low) & (x <= high)
    ax.fill_between(
        x[inside], 0, y[inside], color=style.BLUE, alpha=style.ALPHA[0.5], linewidth=0, zorder=3
    )
    ax.plot(x, y, color=style.BLUE, zorder=5, **look)
    size = canvas.text_size(ax, 0.8)
    ax.set_ylim(0, 1.08 / max(0.5, 1 - 2.0 * size / 72 / canvas.axes_height(ax)))
    if log:
        scales.log_axis(ax, "x")
    share, told = _learnt(before, after, log)
    ax.annotate(
        f"SD {share:.0%} of prior" if told else "posterior = prior",
        (0.98, 0.98),
        xycoords="axes fraction",
        ha="right",
        va="top",
        fontsize=size,
        color=style.INK if told else style.WARNING,
        fontweight="normal" if told else "bold",
        zorder=8,
    )


def _learnt(before: np.ndarray, after: np.ndarray, log: bool) -> tuple[float, bool]:
    """Posterior SD over prior SD, and whether the runs said anything, by the gate's rule."""
    if log:
        before, after = np.log(before), np.log(after)
    share = float(after.std() / before.std())
    moved = abs(after.mean() - before.mean()) / before.std()
    return share, bool(share <= PRIOR_SHARE or moved >= PRIOR_SHIFT)


def _density(draws: np.ndarray, log: bool, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Density over its peak on a grid, per unit of x or (on a log axis) of ln x."""
    from scipy.stats import gaussian_kde

    values = np.log(draws) if log else draws
    low, high = np.quantile(values, [tail, 1 - tail])
    margin = 0.08 * (high - low)
    grid = np.linspace(low - margin, high + margin, 256)
    density = gaussian_kde(values)(grid) if high > low else np.ones_like(grid)
    return np.exp(grid) if log else grid, density / density.max()


def _label(fit: "Fit", name: str) -> str:
    """Symbol (or name) and unit."""
    base, bracket, rest = name.partition("[")
    symbols = {p.name: p.latex for p in fit.model.params} | {
        d.name: d.latex for d in fit.law.derived
    }
    symbol = f"${symbols[base]}$" if symbols.get(base) else base
    unit = describe(fit, base)["unit"]
    return symbol + bracket + rest + (f" ({unit})" if unit else "")


def _handles() -> list[Any]:
    from matplotlib.patches import Patch

    alpha = style.ALPHA[0.5]
    return [
        style.line_handle("prior", style.GREY, (0, (4, 2))),
        style.line_handle("posterior", style.BLUE),
        Patch(color=style.BLUE, alpha=alpha, linewidth=0, label="90% credible"),
    ]
