"""Axes for inputs: logarithmic ones, the edge of the data, and colour as a third axis."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.plot.canvas import axes_height, axes_width, root_of, scale, text_size
from bayescale.plot.style import GREY, PALE
from bayescale.tables import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# the first that has room
BEYOND = ("beyond the largest run", "beyond the data", "beyond\nthe data", "beyond")


def log_axis(ax: "Axes", axis: str, name: str = "") -> None:
    """A logarithmic axis with as many labels as there is room for.

    Powers of ten for compute (``name="C"``), 10M and 1B for sizes and tokens, plain numbers for
    short spans.
    """
    from matplotlib import ticker

    (ax.set_xscale if axis == "x" else ax.set_yscale)("log")
    it = ax.xaxis if axis == "x" else ax.yaxis
    low, high = it.get_view_interval()
    decades = abs(np.log10(high / low)) if low > 0 and high > 0 else 1.0
    length = axes_width(ax) if axis == "x" else axes_height(ax)
    room = int(max(3, 72 * length / ((4.2 if axis == "x" else 2.4) * text_size(ax, 0.9))))
    it.set_minor_formatter(ticker.NullFormatter())
    if name == "C" and decades > 1.5:
        it.set_major_locator(ticker.LogLocator(numticks=room))
        it.set_major_formatter(ticker.LogFormatterMathtext())
        return
    if decades > 1:
        subs = [s for s in ((1.0, 2.0, 5.0), (1.0, 3.0)) if decades * len(s) <= min(room, 7)]
        it.set_major_locator(ticker.LogLocator(subs=subs[0] if subs else (1.0,), numticks=room))
    else:
        it.set_major_locator(ticker.MaxNLocator(min(6, room), steps=[1, 2, 2.5, 5, 10]))
        it.set_minor_locator(ticker.NullLocator())
    it.set_major_formatter(ticker.FuncFormatter(lambda v, _: quantity(float(v))))


def make_room(ax: "Axes", share: float) -> None:
    """Lengthen the y axis upwards so that a share of its new length is free, for a legend."""
    if not 0 < share < 0.9:
        return
    scaled = ax.yaxis.get_transform()
    low, high = scaled.transform(np.array(ax.get_ylim()))
    top = scaled.inverted().transform(np.array([high + (high - low) * share / (1 - share)]))
    ax.set_ylim(ax.get_ylim()[0], float(top[0]))


def pad_limits(ax: "Axes", low: float, high: float, share: float = 0.07) -> None:
    """Limits of the y axis around two values, with a margin that the axis's scale makes even."""
    scaled = ax.yaxis.get_transform()
    ends = scaled.transform(np.array([low, high]))
    margin = share * (ends[1] - ends[0])
    bottom, top = scaled.inverted().transform(ends + np.array([-margin, margin]))
    ax.set_ylim(float(bottom), float(top))


def legend_share(ax: "Axes", rows: int) -> float:
    """Share of the axes' height that a legend of some rows takes."""
    return rows * 1.45 * text_size(ax, 0.85) / 72 / axes_height(ax)


def clear_corner(ax: "Axes", x: np.ndarray, y: np.ndarray, labels: Sequence[str]) -> None:
    """Lengthen the y axis so that no point lies under a legend in the upper right corner."""
    size = text_size(ax, 0.85)
    wide = (0.56 * max(map(len, labels)) + 4) * size / 72 / axes_width(ax)
    share = min(legend_share(ax, len(labels)) + 0.03, 0.8)
    along, scaled = ax.xaxis.get_transform(), ax.yaxis.get_transform()
    left, right = along.transform(np.array(ax.get_xlim()))
    under = along.transform(np.asarray(x, float)) > right - wide * (right - left)
    if under.any():
        low, high = scaled.transform(np.array(ax.get_ylim()))
        top = scaled.transform(np.array([np.max(y[under])]))[0]
        needed = low + (top - low) / (1 - share)
        if needed > high:
            ax.set_ylim(ax.get_ylim()[0], float(scaled.inverted().transform(np.array([needed]))[0]))


def mark_data(ax: "Axes", largest: float, smallest: float | None = None) -> None:
    """Shade what lies beyond the data, and name the edge."""
    left, right = ax.get_xlim()
    if right > largest * (1 + 1e-9):
        ax.axvspan(largest, right, color=PALE, zorder=0.5, linewidth=0)
        ax.axvline(largest, color=GREY, linewidth=0.9 * scale(ax), linestyle=":", zorder=1)
        room = np.log(right / largest) / np.log(right / left) * axes_width(ax) * 72
        size = text_size(ax, 0.8)
        text = next((t for t in BEYOND if max(map(len, t.split("\n"))) * 0.62 * size < room), "")
        ax.annotate(
            text,
            (largest, 0),
            (3 * scale(ax), 3 * scale(ax)),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            color=GREY,
            fontsize=size,
            zorder=7,
        )
    if smallest is not None and left < smallest / (1 + 1e-9):
        ax.axvspan(left, smallest, color=PALE, zorder=0.5, linewidth=0)
    ax.set_xlim(left, right)


def colour_scale(values: np.ndarray, name: str, low: float = 0.2, high: float = 0.95) -> Any:
    """A log colour scale in one hue for values, light to dark so that grey print keeps it."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    shades = colormaps[name](np.linspace(low, high, 64))
    least, most = float(values.min()), float(values.max())
    norm = LogNorm(least, most if most > least else least * 1.01)
    return ScalarMappable(norm, LinearSegmentedColormap.from_list(f"{name}_part", shades))


def hex_colour(mapped: Any, value: float) -> str:
    """A colour of a colour scale as text."""
    from matplotlib.colors import to_hex

    return to_hex(mapped.to_rgba(value))


def colour_bar(ax: "Axes", mapped: Any, label: str) -> None:
    """A slim colour bar beside the axes; it takes no room from a user's other axes."""
    from matplotlib import ticker

    s = scale(ax)
    beside = ax.inset_axes((1.02, 0.0, 0.025, 1.0))
    bar = root_of(ax).colorbar(mapped, cax=beside)
    bar.set_label(label, fontsize=text_size(ax, 0.85))
    bar.ax.yaxis.set_major_locator(ticker.LogLocator(numticks=6))
    bar.ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: quantity(float(v))))
    bar.ax.yaxis.set_minor_formatter(ticker.NullFormatter())
    bar.ax.tick_params(labelsize=text_size(ax, 0.8), length=2 * s, which="both")
    bar.outline.set_visible(False)
