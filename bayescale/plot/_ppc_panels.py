"""Panels of predictive checks: replicates as bands or bars, what was observed as points."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.plot import canvas, scales, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.check.predictive.quantity import Picture

PAIRS = ((0.9, "q05", "q95"), (0.5, "q25", "q75"))
MANY = 40  # places along x above which bars become bands
SMALL = 0.1  # scales of the noise below which the tail's panel doesn't look


def draw(ax: "Axes", picture: "Picture") -> list[Any]:
    """Draw a picture; returns the legend's entries."""
    return _FORMS[picture.kind](ax, picture)


def handles(kind: str) -> list[Any]:
    """Legend entries of a panel's form."""
    look = {"marker": "o", "markeredgecolor": style.INK}
    entries = style.level_handles("of replicates", style.SKY)
    if kind == "pit":
        return [*_uniform_handles(), style.line_handle("observed", style.VERMILLION)]
    name = "run" if kind == "trend" else "observed"
    entries.append(style.line_handle(name, style.BLUE, "", **look))
    if kind == "trend":
        entries.append(style.line_handle("observed trend", style.VERMILLION, style.TRUE))
    return entries


def _uniform_handles() -> list[Any]:
    entries = style.level_handles("simultaneous", style.SKY)
    for entry in entries:
        entry.set_label(f"{entry.get_label()}, if uniform")
    return entries


def _bands(ax: "Axes", x: np.ndarray, picture: "Picture") -> None:
    for level, low, high in PAIRS:
        look: dict[str, Any] = {"alpha": style.ALPHA[level], "linewidth": 0, "zorder": 3}
        ax.fill_between(x, picture.data[low], picture.data[high], color=style.SKY, **look)


def _trend(ax: "Axes", picture: "Picture") -> list[Any]:
    """Residuals, the trend through them, and trends of replicates."""
    data, s = picture.data, canvas.scale(ax)
    x, y = data["x"], data["y"]
    _bands(ax, data["grid"], picture)
    line = {"color": style.VERMILLION, "linestyle": style.TRUE, "linewidth": 1.8 * s, "zorder": 7}
    ax.plot(data["grid"], data["trend"], **line)
    lines = np.concatenate([data["q05"], data["q95"], data["trend"]])
    usual = min(1.4 * float(np.quantile(np.abs(y), 0.9)), float(np.abs(y).max()))
    most = max(usual, float(np.abs(lines).max())) * 1.05
    inside = np.abs(y) <= most
    style.points(ax, x[inside], y[inside], style.BLUE, alpha=0.65)
    if not inside.all():  # drawn at the edge, as arrows
        for sign, marker in ((1, "^"), (-1, "v")):
            out = ~inside & (np.sign(y) == sign)
            edge = np.full(out.sum(), sign * most)
            style.points(ax, x[out], edge, style.BLUE, marker=marker, clip_on=False)
    ax.set_ylim(-most * 1.04, most * 1.04)
    ax.axhline(0.0, color=style.INK, linewidth=0.8 * s, zorder=2)
    _log_x(ax, x, picture)
    return handles("trend")


def _log_x(ax: "Axes", x: np.ndarray, picture: "Picture") -> None:
    if not picture.log:
        return
    low, high = float(x.min()), float(x.max())
    pad = max((high / low) ** 0.05, 1.02)
    ax.set_xlim(low / pad, high * pad)
    scales.log_axis(ax, "x", picture.log)
    if picture.log == "C" and high / low < 30:  # 1.5e20 is wide
        from matplotlib import ticker

        ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 3) if high / low > 6 else (1, 2, 5)))


def _slots(ax: "Axes", picture: "Picture") -> list[Any]:
    """Places (budgets, groups): bars of replicates and what was observed."""
    data, s = picture.data, canvas.scale(ax)
    x, y = data["x"].astype(float), data["y"]
    if picture.log:
        ax.set_xscale("log")
    if len(x) > MANY:
        _bands(ax, x, picture)
    else:
        for level, low, high in PAIRS:
            look: dict[str, Any] = {"linewidth": 7.0 * s, "alpha": style.ALPHA[level] + 0.15}
            ax.vlines(x, data[low], data[high], color=style.SKY, zorder=3, **look)
    style.points(ax, x, y, style.BLUE)
    every = np.concatenate([data["q05"], data["q95"], y])
    if every.min() > 0 and every.max() / every.min() > 20:
        scales.log_axis(ax, "y")
    elif every.min() < 0 < every.max():
        ax.axhline(0.0, color=style.INK, linewidth=0.8 * s, zorder=2)
    _log_x(ax, x, picture)
    if picture.labels:
        _names(ax, picture.labels)
    return handles("slots")


def _names(ax: "Axes", labels: Any) -> None:
    short = [text if len(text) <= 14 else text[:13] + "…" for text in labels]
    size = canvas.text_size(ax, 0.8)
    room = 72 * canvas.axes_width(ax) / len(short)
    crowded = 0.6 * size * max(map(len, short)) > room
    step = max(1, int(np.ceil(1.2 * size / room)))  # not every name has room
    places = range(0, len(short), step)
    ax.set_xticks(list(places), [short[k] for k in places], rotation=90 if crowded else 0)
    ax.set_xlim(-0.6, len(short) - 0.4)


def _tail(ax: "Axes", picture: "Picture") -> list[Any]:
    """Ordered absolute residuals against their expectation under replication."""
    data, s = picture.data, canvas.scale(ax)
    shown = (data["median"] > SMALL * data["median"].max() / 5) & (data["y"] > 0)
    if not shown.any():
        shown[:] = True
    x, y = data["median"][shown], data["y"][shown]
    for level, low, high in PAIRS:
        look: dict[str, Any] = {"alpha": style.ALPHA[level], "linewidth": 0, "zorder": 3}
        ax.fill_between(x, data[low][shown], data[high][shown], color=style.SKY, **look)
    ends = np.array([x.min(), x.max()])
    ax.plot(ends, ends, color=style.INK, linewidth=0.8 * s, zorder=2)
    ax.set_xscale("log")
    ax.set_yscale("log")
    style.points(ax, x, y, style.BLUE)
    ax.set_xlim(x.min() * 0.9, x.max() * 1.6)
    lowest = max(float(data["q05"][shown].min()), x.min() / 4, 1e-12)
    ax.set_ylim(min(lowest, y.min()) * 0.9, max(float(data["q95"].max()), y.max()) * 1.15)
    scales.log_axis(ax, "x")
    scales.log_axis(ax, "y")
    count = min(len(picture.labels), len(x))
    style.name_points(ax, x[:count], y[:count], picture.labels[:count])
    return handles("tail")


def _pit(ax: "Axes", picture: "Picture") -> list[Any]:
    """ECDF of PIT values minus the uniform one, with simultaneous bands."""
    data, s = picture.data, canvas.scale(ax)
    grid = data["grid"]
    _bands(ax, grid, picture)
    ax.axhline(0.0, color=style.INK, linewidth=0.8 * s, zorder=2)
    ax.plot(grid, data["y"], color=style.VERMILLION, linewidth=1.5 * s, zorder=6)
    ax.set_xlim(0, 1)
    return handles("pit")


_FORMS = {"trend": _trend, "slots": _slots, "tail": _tail, "pit": _pit}
