"""How all plots look: colours that survive colour blindness and grey print, lines, legends, words.

Nothing here touches matplotlib's global settings; every size is set on the artist itself.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.plot import bands
from bayescale.plot.bands import LEVELS, Bands
from bayescale.plot.canvas import FULL, axes_width, figure_width, root_of, scale, text_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from bayescale.fitted import Fit
    from bayescale.law import Law

# Okabe and Ito's colours, in an order whose luminances differ
BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY = (
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9",
)  # fmt: skip
COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY)
MARKERS = ("o", "s", "^", "D", "v", "P")
INK, GREY, PALE, WARNING = "#222222", "#767676", "#f1f1ee", "#b00020"
TRUE = (0, (3, 2))  # dashes of the truth
ALPHA = {0.9: 0.22, 0.5: 0.42}  # the 50% band lies on the 90% band


def panel_legend(
    axes: np.ndarray, figure: "Figure | SubFigure | None", handles: Sequence[Any]
) -> None:
    """One legend for all panels: below them in a figure of ours, else in the first panel."""
    if figure is None or len(axes) == 1:
        legend(axes[0], handles, loc="upper right", ncols=2)
        return
    _sized(axes[0], handles)
    size = text_size(axes[0], 0.85)
    figure.legend(
        handles=list(handles),
        loc="outside lower center",
        ncols=min(len(handles), 5 if figure_width(figure) > 4.5 else 3),
        fontsize=size,
        frameon=False,
        columnspacing=1.2,
        handletextpad=0.5,
    )


def draw_bands(
    ax: "Axes", found: Bands, colour: str, line: Any = "-", nth: int | None = None
) -> None:
    """Draw the 90 and 50% intervals as bands below the points, the median as a line above them.

    ``nth`` is the position of one group among several: its line carries markers, so that groups
    stay apart in grey, and its bands are paler.
    """
    alone = nth is None
    for level in LEVELS:
        low, high = found.intervals[level]
        alpha = ALPHA[level] * (1.0 if alone else 0.6)
        ax.fill_between(found.x, low, high, color=colour, alpha=alpha, linewidth=0, zorder=3)
    s = scale(ax)
    look: dict[str, Any] = {"color": colour, "linestyle": line, "linewidth": 1.6 * s, "zorder": 6}
    if nth is not None:
        look |= {"marker": MARKERS[nth], "markersize": 4.5 * s, "markeredgecolor": INK}
        look |= {"markeredgewidth": 0.5 * s, "markevery": (2 + 2 * nth, 12)}
    ax.plot(found.x, found.median, **look)


def group_handle(label: str, nth: int) -> Any:
    """A legend entry for one group among several."""
    return line_handle(label, COLOURS[nth], marker=MARKERS[nth], markeredgecolor=INK)


def draw_truth(ax: "Axes", x: np.ndarray, y: np.ndarray) -> Any:
    """What the runs were simulated from, as a line over the fit's; its legend entry."""
    width = 1.3 * scale(ax)
    ax.plot(x, y, color=INK, linestyle=TRUE, linewidth=width, zorder=6.5)
    return line_handle("truth", INK, TRUE)


def response_label(fit: "Fit", before: str = "") -> str:
    """The response and its unit, where it has one, for an axis."""
    unit = f" ({fit.law.response_unit})" if fit.law.response_unit else ""
    return f"{before} {fit.law.response}{unit}".strip()


def level_handles(kind: str = "credible", colour: str = GREY) -> list[Any]:
    """Legend entries of the bands: ``90% credible``, ``50% credible``."""
    from matplotlib.patches import Patch

    return [
        Patch(color=colour, alpha=ALPHA[level], linewidth=0, label=f"{level:.0%} {kind}")
        for level in LEVELS
    ]


def line_handle(label: str, colour: str = INK, line: Any = "-", **options: Any) -> Any:
    """A legend entry for a line or a marker."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linestyle=line, label=label, **options)


def legend(ax: "Axes", handles: Sequence[Any], loc: str = "best", **options: Any) -> None:
    """A legend without a frame, at the size of the axes."""
    _sized(ax, handles)
    s = scale(ax)
    place: dict[str, Any] = {"loc": loc}
    ax.legend(
        handles=list(handles),
        **place,
        fontsize=text_size(ax, 0.85),
        facecolor="white",
        edgecolor="none",
        framealpha=0.8,
        borderaxespad=0.4 * s,
        handlelength=1.8,
        handletextpad=0.6,
        labelspacing=0.35,
        **options,
    )


def _sized(ax: "Axes", handles: Sequence[Any]) -> None:
    """Scale the lines and markers of a legend to the axes."""
    from matplotlib.lines import Line2D

    s = scale(ax)
    for handle in handles:
        if isinstance(handle, Line2D):
            handle.set_linewidth(1.5 * s)
            handle.set_markersize(5.0 * s)
            handle.set_markeredgewidth(0.6 * s)


def points(ax: "Axes", x: np.ndarray, y: np.ndarray, colour: Any = GREY, **options: Any) -> Any:
    """Draw runs as points, smaller where there are many."""
    small = float(np.clip(axes_width(ax) / FULL, 0.4, 1.0))
    size = float(np.clip(26 - 8 * np.log10(max(len(x), 1) / 30), 5, 26)) * small**2
    settings = {"s": size, "linewidths": 0.4 * scale(ax), "edgecolors": INK, "zorder": 5}
    settings |= {"rasterized": len(x) > 3000} | options
    if isinstance(colour, str):
        return ax.scatter(x, y, color=colour, **settings)
    return ax.scatter(x, y, c=colour, **settings)


def finish(ax: "Axes", fit: "Fit | None", title: str, xlabel: str, ylabel: str) -> None:
    """Title, labels, a quiet grid; a fit that failed its gate says so above the axes.

    ``fit`` is None on further panels, where that has been said.
    """
    small = text_size(ax, 0.9)
    ax.set_xlabel(xlabel, fontsize=text_size(ax))
    ax.set_ylabel(ylabel, fontsize=text_size(ax))
    ax.tick_params(labelsize=small, width=0.8 * scale(ax), length=3.5 * scale(ax))
    ax.tick_params(which="minor", length=2 * scale(ax), width=0.5 * scale(ax))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="0.9", linewidth=0.6 * scale(ax), zorder=0)
    ax.set_axisbelow(True)
    pad = 6.0 * scale(ax)
    if fit is not None and not fit.converged:
        # as far as the figure goes: on the first of several panels there is more room than axes
        room = (1 - ax.get_position().x0) * root_of(ax).get_figwidth() * 72 / (0.58 * small)
        lines = textwrap.wrap(verdict(fit), max(20, int(room)))
        said = ax.annotate(
            "\n".join(lines),
            (0, 1),
            (0, 0.5 * pad),
            xycoords="axes fraction",
            textcoords="offset points",
            color=WARNING,
            fontsize=small,
            linespacing=1.1,
        )
        said.set_in_layout(False)  # the title's pad holds the height; width must not push axes
        pad += 1.3 * small * len(lines)
    ax.set_title(title, loc="left", fontsize=text_size(ax, 1.1), pad=pad)


def verdict(fit: "Fit") -> str:
    """The gate's verdict without its numbers: ``NOT CONVERGED: divergences``."""
    return fit.gate.headline().split(" (")[0]


def heading(what: str, fit: "Fit", title: str | None) -> str:
    """The user's title, or what is shown and of which fit."""
    few = fit.has_runs and len(fit.data) > bands.MAX_ROWS
    part = " (a part drawn)" if few else "" if fit.has_runs else " (not drawn)"
    return title if title is not None else f"{what}: {fit.law.name}, {len(fit.data):,} runs{part}"


def name_points(
    ax: "Axes", x: np.ndarray, y: np.ndarray, labels: Sequence[str], share: float = 0.75
) -> None:
    """Write labels beside points, the first ones first; one without room is left out."""
    size, s = text_size(ax, share), scale(ax)
    at = ax.transData.transform(np.column_stack([x, y])) * 72 / root_of(ax).dpi
    edges = ax.get_window_extent().get_points()[:, 0] * 72 / root_of(ax).dpi
    taken: list[tuple[float, float, float, float]] = []
    for k, label in enumerate(labels):
        wide, gap = 0.62 * size * len(label), 4 * s
        for left in (at[k, 0] + gap, at[k, 0] - gap - wide):
            box = (left, left + wide, at[k, 1] - 0.55 * size, at[k, 1] + 0.55 * size)
            inside = edges[0] < box[0] and box[1] < edges[1]
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                side = {"xytext": (gap, 0), "ha": "left"}
                if left < at[k, 0]:
                    side = {"xytext": (-gap, 0), "ha": "right"}
                look = {"va": "center", "fontsize": size, "color": INK, "zorder": 8}
                ax.annotate(label, (x[k], y[k]), textcoords="offset points", **side, **look)
                break


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    apart = one[1] < other[0] or other[1] < one[0] or one[3] < other[2] or other[3] < one[2]
    return not apart


def equation(law: "Law") -> str:
    """The law's equation as matplotlib's mathtext, or as plain text where that can't set it."""
    from matplotlib.mathtext import MathTextParser

    text = f"${law.latex()}$".replace(r"\frac", r"\dfrac")
    try:
        MathTextParser("path").parse(text)
    except ValueError:
        return law.text()
    return text
