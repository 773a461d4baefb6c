"""The lower envelope of training curves: curves, band, and where neighbouring sizes cross."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.plot import canvas, scales, style
from bayescale.plot.bands import bands
from bayescale.tables import intervals, quantity, with_spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.answers.envelope import Envelope

LIKELY = 0.4  # crossings of at least this probability are marked


def envelope(answer: "Envelope", *, ax: "Axes | None" = None, title: str | None = None) -> "Axes":
    """Draw loss against compute: curves by size, their envelope, and where curves cross.

    Thin grey lines are the posterior medians of the curves that are likely on the envelope, dark
    for large sizes, pale ones those that are not; dots are checkpoints. The band is the least
    loss of all curves, 90 and 50% credible. Marks are crossings of neighbouring sizes with the
    90% interval of their compute: there the best size is the mean of the two (geometric).

    Parameters
    ----------
    answer : Envelope
    ax : matplotlib Axes, optional
        Where to draw; default: a new figure.
    title : str, optional

    Returns
    -------
    matplotlib Axes
        x: compute in FLOP, y: loss in the unit of the runs; both log.
    """
    ax = canvas.new_axes(ax)
    grid = answer.crossings.grid
    _curves(ax, answer, grid)
    xs, lowest = np.exp(grid), answer.crossings.lowest
    style.draw_bands(ax, bands(xs, lowest), style.BLUE)
    _crossings(ax, answer)
    ax.set_xlim(xs[0] / 1.2, xs[-1] * 1.2)
    ends = answer.curves.data.loss
    scales.pad_limits(ax, float(lowest.min()), float(ends.max()))
    scales.log_axis(ax, "x", "C")
    scales.log_axis(ax, "y")
    q = intervals(answer.exponents["a"])
    sd = float(np.std(answer.exponents["a"]))
    middle, low, high = (with_spread(q[k], sd) for k in ("median", "q05", "q95"))
    a = rf"$N_\mathrm{{opt}} \propto C^a$, $a$ = {middle} ({low} to {high})"
    handles = [
        style.line_handle("least loss of all curves", style.BLUE),
        *style.level_handles(colour=style.BLUE),
        style.line_handle("curve of a run (pale: never the best)", style.GREY),
        style.line_handle(f"curves cross; {a}", style.INK, "", marker="D"),
    ]
    scales.make_room(ax, 0.8 * scales.legend_share(ax, len(handles)))
    head = title if title is not None else f"Envelope: {answer.source}"
    style.finish(ax, None, head, "compute C (FLOP)", f"loss ({answer.unit})")
    style.legend(ax, handles, loc="upper right")
    return ax


def _curves(ax: "Axes", answer: "Envelope", grid: np.ndarray) -> None:
    """Every run's curve and checkpoints in grey, and the sizes at the ends of the best ones."""
    data, s = answer.curves.data, canvas.scale(ax)
    loss = np.median(answer.curves.at(grid), axis=0)
    share = np.array(list(answer.on_envelope.values()))
    shade = (data.log_n - data.log_n.min()) / max(float(np.ptp(data.log_n)), 1e-9)
    for k in range(len(data.names)):
        on = share[k] >= 0.05
        colour = str(0.62 - 0.45 * shade[k]) if on else "0.86"
        inside = np.isfinite(loss[k])
        look: dict[str, Any] = {"color": colour, "linewidth": 0.8 * s, "zorder": 4 if on else 2}
        ax.plot(np.exp(grid[inside]), loss[k, inside], **look)
        rows = data.code == k
        dots: dict[str, Any] = {"s": 3.0 * s**2, "color": colour, "linewidths": 0}
        ax.scatter(np.exp(data.log_c[rows]), data.loss[rows], zorder=look["zorder"], **dots)
    best = np.argsort(-share, kind="stable")
    ends = [np.flatnonzero(data.code == k)[0] for k in best if share[k] >= 0.5]
    names = [f"{quantity(float(np.exp(data.log_n[k])))}" for k in best if share[k] >= 0.5]
    if len(ends):
        style.name_points(ax, np.exp(data.log_c[ends]), data.loss[ends], names)


def _crossings(ax: "Axes", answer: "Envelope") -> None:
    from bayescale.answers.envelope.result import crossing_records

    s = canvas.scale(ax)
    for record in crossing_records(answer):
        if record["probability"] < LIKELY:
            continue
        q = record["C"]
        middle = q["median"]
        y = float(np.nanmedian(answer.loss(middle)))
        ax.errorbar(
            [middle],
            [y],
            xerr=[[middle - q["q05"]], [q["q95"] - middle]],
            color=style.INK,
            marker="D",
            markersize=4.5 * s,
            markeredgecolor="white",
            markeredgewidth=0.6 * s,
            capsize=2.5 * s,
            elinewidth=1.2 * s,
            zorder=9,
        )
