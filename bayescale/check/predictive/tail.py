"""The largest residuals: one run gone wrong, or noise with another tail."""

import numpy as np

from bayescale.check.predictive.advice import heavier_tail, varying_noise
from bayescale.check.predictive.quantity import Checked, Picture, against, bands_of
from bayescale.check.predictive.replicates import Replicates

LARGE = 2.0  # scales of the noise beyond which a residual is large
NAMED = 3  # runs named in the picture
MOST_DRAWN = 400  # ordered residuals in the picture, the largest ones first


def tail(seen: Replicates) -> Checked:
    """Largest absolute standardised residual, and the share of large ones.

    T are the largest |z| and the share of |z| > 2, where z is a run's residual around its own
    offset in scales of the noise.
    """
    size, size_replicated = np.abs(seen.z), np.abs(seen.z_replicated)
    typical = np.median(size, axis=0)
    worst = np.argsort(-typical)[:NAMED]
    rows = [str(seen.runs.row_numbers[k]) for k in worst]
    percent = seen.factor * np.median(seen.observed[:, worst[0]])
    largest = against(
        "largest",
        "scales of the noise",
        (size.max(axis=1), size_replicated.max(axis=1)),
        seen.effective,
        (
            "look at this run: failed, mistyped, or of another setting? "
            f"{heavier_tail(seen.model)}",
            "the noise's tail is heavier than these runs show: log_normal noise may do",
        ),
        f"row {rows[0]} ({percent:+.3g} {seen.unit})",
    )
    share = against(
        "share beyond 2",
        "% of runs",
        (
            100 * np.mean(size > LARGE, axis=1),
            100 * np.mean(size_replicated > LARGE, axis=1),
        ),
        seen.effective,
        (
            "more runs lie far off than the noise has room for: "
            f"{heavier_tail(seen.model)}, or {varying_noise(seen.model)}",
            "fewer runs lie far off than the noise expects: a few extreme runs may have widened it",
        ),
    )
    labels = [f"row {row}" for row in rows]
    picture = _picture(typical, size_replicated, labels)
    return Checked("tail", "Largest residuals", (largest, share), picture)


def _picture(typical: np.ndarray, replicated: np.ndarray, labels: list[str]) -> Picture:
    """Ordered absolute residuals, the largest first."""
    ordered = np.sort(replicated, axis=1)[:, ::-1][:, :MOST_DRAWN]
    return Picture(
        "tail",
        "expected |residual| (scales of the noise)",
        "observed |residual| (scales)",
        {"y": np.sort(typical)[::-1][:MOST_DRAWN]} | bands_of(ordered),
        labels,
    )
