"""Power-scaling: how far prior and likelihood decide each quantity."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import FitError
from bayescale.plot import canvas, scales, style
from bayescale.plot._sensitivity_inputs import heading

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

    from bayescale.check.sensitivity.scaling import PowerScaling, Sensitivity

LEAST = 1e-3  # smaller sensitivities are drawn there
MOST = 40  # quantities drawn at once


def dots(
    result: "PowerScaling",
    ax: Any,
    figure: "Figure | SubFigure | None",
    quantities: Sequence[str] | None,
    title: str | None,
) -> np.ndarray:
    """A line a quantity with two points; see `bayescale.plot.sensitivity`."""
    listed = list(result.quantities) if quantities is None else [result[n] for n in quantities]
    if not 0 < len(listed) <= MOST:
        raise FitError(
            f"this plot shows 1 to {MOST} quantities, and there are {len(listed)}: say which, "
            f"quantities=['{result.quantities[0].name}']."
        )
    if figure is None and ax is None:
        figure = canvas.new_figure(None, dots_size(result))
    axes, figure = canvas.panels(1, ax, figure, "one")
    panel, count = axes[0], len(listed)
    s = canvas.scale(panel)
    for place, q in enumerate(listed):
        height = count - place
        ends = np.maximum([q.prior, q.likelihood], LEAST)
        panel.plot(ends, [height] * 2, color="0.8", linewidth=1.2 * s, zorder=2)
        for value, colour, marker in zip(ends, *_looks(), strict=True):
            face = colour if value >= result.threshold else "white"
            look: dict[str, Any] = {"markerfacecolor": face, "markeredgecolor": colour}
            panel.plot([value], [height], marker, markersize=6 * s, zorder=4, **look)
    values = [v for q in listed for v in (q.prior, q.likelihood)]
    low, high = max(min(*values, result.threshold), LEAST), max(*values, result.threshold)
    panel.set_xscale("log")
    panel.set_xlim(low / (high / low) ** 0.08, high * (high / low) ** 0.08)
    scales.log_axis(panel, "x")
    panel.axvline(result.threshold, color=style.INK, linestyle=style.TRUE, linewidth=1.1 * s)
    panel.set_yticks(range(count, 0, -1), [_label(q) for q in listed])
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(0.3, count + 0.7)
    head = heading(result, title)
    style.finish(panel, None, head, "change of the posterior per doubling of the power", "")
    panel.grid(False, axis="y")
    _legend(panel, figure, result.threshold)
    return axes


def dots_size(result: "PowerScaling") -> tuple[float, float]:
    """Width and height in inches."""
    return 6.0, 1.6 + 0.27 * min(len(result.quantities), MOST)


def _looks() -> tuple[tuple[str, str], tuple[str, str]]:
    return (style.VERMILLION, style.BLUE), ("D", "o")


def _label(q: "Sensitivity") -> str:
    return q.label.replace("L*", r"$L^*$").replace("N_opt", r"$N_\mathrm{opt}$")


def _legend(panel: Any, figure: Any, threshold: float) -> None:
    handles = [
        style.line_handle(name, colour, "", marker=marker, markersize=6 * canvas.scale(panel))
        for name, colour, marker in zip(("prior", "likelihood"), *_looks(), strict=True)
    ]
    handles.append(style.line_handle(f"{threshold:g}: from here it counts", style.INK, style.TRUE))
    if figure is None:
        style.legend(panel, handles)
        return
    size = canvas.text_size(panel, 0.85)
    figure.legend(
        handles=handles, loc="outside lower center", ncols=3, fontsize=size, frameon=False
    )
