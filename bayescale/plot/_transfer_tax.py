"""Transfer coefficients of text benchmarks, those that tax a backbone apart."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import FitError
from bayescale.plot import canvas, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.answers.transfer import TransferTax

MOST = 60
LOOKS = {  # kind -> colour, marker, face
    "carries over": (style.BLUE, "o", style.BLUE),
    "not told apart from 0": (style.GREY, "o", "white"),
    "tax": (style.VERMILLION, "D", style.VERMILLION),
}


def transfer_tax(
    answer: "TransferTax",
    *,
    ax: "Axes | None" = None,
    most: int | None = None,
    title: str | None = None,
) -> "Axes":
    """Draw lambda of each benchmark with 50% and 90% credible intervals, the largest on top.

    Filled markers are sure of their sign (probability above 95%).

    Parameters
    ----------
    answer : TransferTax
    ax : matplotlib Axes, optional
        Where to draw; default: a new figure.
    most : int, optional
        How many benchmarks to draw, those farthest from 0; default: all, up to 60.
    title : str, optional

    Returns
    -------
    matplotlib Axes
        x: lambda, without a unit; y: benchmarks.

    Raises
    ------
    FitError
        ``most`` isn't a positive number.
    """
    if most is not None and most < 1:
        raise FitError(f"most is {most}; expected one benchmark or more.")
    records = _records(answer, MOST if most is None else most)
    ax = canvas.new_axes(ax, picture_size(answer))
    s, count = canvas.scale(ax), len(records)
    sure = {n: "tax" for n in answer.tax} | {n: "carries over" for n in answer.positive}
    kinds = [sure.get(r["benchmark"], "not told apart from 0") for r in records]
    for height, record, kind in zip(range(count, 0, -1), records, kinds, strict=True):
        q, (colour, marker, face) = record["lambda"], LOOKS[kind]
        for low, high, width in (("q05", "q95", 1.2), ("q25", "q75", 3.0)):
            ends = [q[low], q[high]]
            ax.plot(ends, [height] * 2, color=colour, linewidth=width * s, zorder=4)
        look: dict[str, Any] = {"markerfacecolor": face, "markeredgecolor": style.INK}
        ax.plot(q["median"], height, marker, markersize=4.2 * s, markeredgewidth=0.6 * s, zorder=5,
                **look)  # fmt: skip
    ax.axvline(0.0, color=style.INK, linewidth=0.9 * s, linestyle=style.TRUE, zorder=3)
    ax.set_ylim(0.3, count + 0.7)
    ax.set_yticks(range(count, 0, -1), [r["benchmark"] for r in records])
    failed = "" if answer.converged else "\n(that fit fails its gate)"
    head = title if title is not None else f"Transfer of {count} text benchmarks{failed}"
    style.finish(ax, None, head, r"transfer $\lambda$, 50% and 90% credible", "")
    _names(ax, count)
    ax.grid(False, axis="y")
    style.legend(ax, _handles(kinds, s), loc="best")
    return ax


def picture_size(answer: "TransferTax") -> tuple[float, float]:
    """Width and height in inches."""
    return 6.0, 1.3 + 0.2 * min(len(answer.benchmarks), MOST)


def _records(answer: "TransferTax", most: int) -> list[dict[str, Any]]:
    """The benchmarks farthest from 0, the largest lambda first."""
    far = sorted(answer.records(), key=lambda r: -abs(r["lambda"]["median"]))[:most]
    return sorted(far, key=lambda r: -r["lambda"]["median"])


def _names(ax: "Axes", count: int) -> None:
    """Names as large as there is room for between two lines."""
    room = 0.85 * 72 * canvas.axes_height(ax) / max(count, 1)
    size = float(np.clip(room, 3.5, canvas.text_size(ax, 0.85)))
    ax.tick_params(axis="y", length=0, labelsize=size)


def _handles(kinds: list[str], s: float) -> list[Any]:
    found = []
    for kind, (colour, marker, face) in LOOKS.items():
        if kind in kinds:
            look: dict[str, Any] = {"marker": marker, "markerfacecolor": face}
            found.append(style.line_handle(kind, colour, "-", **look))
    return found
