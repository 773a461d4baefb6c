"""What repeated epochs and other domains' tokens are worth, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import FitError, nearest
from bayescale.plot import canvas, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescale.answers.worth import Worth

TALL = {0.9: 0.34, 0.5: 0.6}  # height of a band, in rows
HARM = 0.95  # probability of harm from which a row is marked


@dataclass(frozen=True)
class Row:
    """One line of the picture: a label, quantiles, and which block it belongs to."""

    label: str
    q: dict[str, float]
    block: str
    harm: bool = False


def worth(
    answer: "Worth",
    *,
    ax: "Axes | None" = None,
    targets: str | Sequence[str] | None = None,
    title: str | None = None,
) -> "Axes":
    """Draw worths as bands, 50% and 90% credible: repeated epochs first, then target by target.

    Parameters
    ----------
    answer : Worth
    ax : matplotlib Axes, optional
        Where to draw; default: a new figure as tall as there are rows.
    targets : sequence of str, optional
        Those to draw; default: all, and repeated epochs.
    title : str, optional

    Returns
    -------
    matplotlib Axes
        x: worth in fresh epochs, or in the target's own tokens; y: what is worth it.

    Raises
    ------
    FitError
        An unknown target.
    """
    rows = _rows(answer, targets)
    ax = canvas.new_axes(ax, _size(len(rows)))
    s, count, blocks = canvas.scale(ax), len(rows), list(dict.fromkeys(r.block for r in rows))
    for k, row in enumerate(rows):
        nth = blocks.index(row.block)
        y, colour = count - k, style.COLOURS[nth % len(style.COLOURS)]
        for level, (low, high) in {0.9: ("q05", "q95"), 0.5: ("q25", "q75")}.items():
            ax.barh(y, row.q[high] - row.q[low], TALL[level], row.q[low], color=colour,
                    alpha=style.ALPHA[level], linewidth=0, zorder=3)  # fmt: skip
        look: dict[str, Any] = {"markeredgecolor": style.INK, "markeredgewidth": 0.5 * s}
        face = "white" if row.harm else colour
        ax.plot(row.q["median"], y, style.MARKERS[nth % len(style.MARKERS)], markersize=4 * s,
                markerfacecolor=face, zorder=5, **look)  # fmt: skip
        if k and rows[k - 1].block != row.block:
            ax.axhline(y + 0.5, color="0.8", linewidth=0.6 * s, zorder=1)
    for x in (0.0, 1.0):
        ax.axvline(x, color=style.INK, linewidth=0.9 * s, linestyle=style.TRUE, zorder=2)
    ax.set_ylim(0.3, count + 0.7)
    ax.set_yticks(range(count, 0, -1), [r.label for r in rows])
    failed = "" if answer.converged else " (that fit fails its gate)"
    head = title if title is not None else f"Worth of tokens{failed}"
    style.finish(ax, None, head, _label(blocks), "")
    _names(ax, count)
    ax.grid(False, axis="y")
    _legend(ax, any(r.harm for r in rows))
    return ax


def picture_size(answer: "Worth") -> tuple[float, float]:
    """Width and height in inches of all rows."""
    return _size(len(_rows(answer, None)))


def _size(rows: int) -> tuple[float, float]:
    return canvas.WIDTH, 1.7 + 0.19 * rows


def _rows(answer: "Worth", targets: str | Sequence[str] | None) -> list[Row]:
    chosen = (
        answer.targets if targets is None else (targets,) if isinstance(targets, str) else targets
    )
    for name in chosen:
        if name not in answer.targets:
            raise FitError(
                f"there is no target '{name}'; the law has {', '.join(answer.targets)}."
                + nearest(str(name), list(answer.targets))
            )
    found = [] if targets is not None else [
        Row(f"{r['source']}, epoch {r['epoch']:g}", r["worth"], "epochs")
        for r in answer.epoch_records()
    ]  # fmt: skip
    for record in answer.token_records():
        if record["target"] in chosen:
            label = f"{record['source']} → {record['target']}"
            harm = record["harm"] > HARM
            found.append(Row(label, record["worth"], record["target"], harm))
    if not found:
        raise FitError("there is nothing to draw: no own tokens of any target at this mixture.")
    return found


def _label(blocks: list[str]) -> str:
    tokens = "worth of a token in the target's own"
    if blocks == ["epochs"]:
        return "worth of the epoch in fresh ones"
    return f"worth: epochs in fresh ones, {tokens[9:]}" if "epochs" in blocks else tokens


def _names(ax: "Axes", count: int) -> None:
    """Names as large as there is room for between two lines."""
    room = 0.85 * 72 * canvas.axes_height(ax) / max(count, 1)
    size = float(np.clip(room, 3.5, canvas.text_size(ax, 0.85)))
    ax.tick_params(axis="y", length=0, labelsize=size)


def _legend(ax: "Axes", harm: bool) -> None:
    handles = style.level_handles()
    if harm:
        look: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": style.INK}
        handles.append(style.line_handle("does harm (P > .95)", style.INK, "", marker="o", **look))
    below = -(4.2 * canvas.text_size(ax)) / 72 / canvas.axes_height(ax)
    style.legend(ax, handles, loc="upper center", ncols=3, bbox_to_anchor=(0.5, below),
                 columnspacing=1.0)  # fmt: skip
