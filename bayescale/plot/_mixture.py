"""The best mixture: shares of each source with intervals, beside those that were tried."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.plot import canvas, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.answers.mix.result import Mixture

TALL = {0.9: 0.30, 0.5: 0.46}  # height of a band, in rows


def mixture(answer: "Mixture", *, ax: "Axes | None" = None, title: str | None = None) -> "Axes":
    """Draw the best share of each source, with 50% and 90% credible intervals.

    Above each band lie the mixtures of the data as points; the single mixture that is best in
    expectation and the best tried one are marked.

    Parameters
    ----------
    answer : Mixture
    ax : matplotlib Axes, optional
        Where to draw; default: a new figure.
    title : str, optional

    Returns
    -------
    matplotlib Axes
        x: share of all sampled tokens in percent; y: sources.
    """
    ax = canvas.new_axes(ax, picture_size(answer))
    s, count = canvas.scale(ax), len(answer.sources)
    shares, colour = 100 * answer.draws["share"], style.BLUE
    for k, name in enumerate(answer.sources):
        row = count - k
        for level, tall in TALL.items():
            low, high = np.quantile(shares[:, k], [0.5 - level / 2, 0.5 + level / 2])
            ax.barh(row, high - low, tall, low, color=colour, alpha=style.ALPHA[level],
                    linewidth=0, zorder=3)  # fmt: skip
        middle = float(np.median(shares[:, k]))
        ax.plot([middle] * 2, [row - 0.23, row + 0.23], color=colour, linewidth=1.8 * s, zorder=4)
        _mark(ax, 100 * answer.recommended.shares[name], row, "o", style.INK, s)
        if answer.tried is not None:
            _mark(ax, 100 * answer.tried.shares[name], row, "D", "white", s)
        seen = 100 * np.unique(answer.seen[:, k].round(3))
        ax.plot(seen, np.full(len(seen), row + 0.36), "|", color=style.GREY, markersize=4.5 * s,
                markeredgewidth=0.9 * s, zorder=3)  # fmt: skip
    ax.set_ylim(0.4, count + 0.75)
    ax.set_yticks(range(count, 0, -1), answer.sources)
    ax.set_xlim(-2, min(102.0, 1.06 * max(shares.max(), 100 * answer.seen.max(initial=0)) + 2))
    failed = "" if answer.converged else " (that fit fails its gate)"
    head = title if title is not None else f"Best mixture, {answer.budget}{failed}"
    style.finish(ax, None, head, "share of all sampled tokens (%)", "")
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", length=0)
    _legend(ax, answer, s)
    return ax


def picture_size(answer: "Mixture") -> tuple[float, float]:
    """Width and height in inches."""
    return canvas.WIDTH, 1.9 + 0.38 * len(answer.sources)


def _mark(ax: "Axes", x: float, y: float, marker: str, face: str, s: float) -> None:
    look: dict[str, Any] = {"markerfacecolor": face, "markeredgecolor": style.INK}
    ax.plot(x, y, marker, markersize=5 * s, markeredgewidth=0.8 * s, zorder=6, clip_on=False,
            **look)  # fmt: skip


def _legend(ax: "Axes", answer: "Mixture", s: float) -> None:
    """Entries below the axes, where they hide no point."""
    edge: dict[str, Any] = {"markeredgecolor": style.INK}
    handles = [
        *style.level_handles(colour=style.BLUE),
        style.line_handle("best single", style.INK, "", marker="o", markerfacecolor=style.INK),
    ]
    if answer.tried is not None:
        look = {"marker": "D", "markerfacecolor": "white", **edge}
        handles.append(style.line_handle("best tried", style.INK, "", **look))
    handles.append(style.line_handle("tried", style.GREY, "", marker="|"))
    below = -(4.2 * canvas.text_size(ax)) / 72 / canvas.axes_height(ax)
    style.legend(ax, handles, loc="upper center", ncols=len(handles) if s == 1 else 3,
                 bbox_to_anchor=(0.5, below), columnspacing=1.0)  # fmt: skip
