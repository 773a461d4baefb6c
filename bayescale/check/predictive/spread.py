"""Noise that changes with compute."""

import numpy as np

from bayescale.check.predictive.advice import varying_noise
from bayescale.check.predictive.quantity import Checked, Picture, Skipped, against, bands_of
from bayescale.check.predictive.replicates import CLIP, Replicates
from bayescale.check.predictive.trend import NAMES, inputs_of

LEAST = 12  # runs that can be cut into a low, a middle and a high third
BINS = 5  # of the picture


def spread(seen: Replicates) -> Checked | Skipped:
    """Spread of residuals in the upper third of compute over that in the lower third.

    T is the ratio of mean |z|, z clipped at 2.5 scales so that one run can't decide it. Laws
    without C take their first input.
    """
    known = inputs_of(seen)
    name = "C" if "C" in known else known[0]
    x = seen.runs.column(name).astype(float)
    if len(x) < LEAST:
        return Skipped("spread", f"fewer than {LEAST} runs")
    low, high = np.quantile(x, [1 / 3, 2 / 3])
    if low == high or x.min() <= 0:
        return Skipped("spread", f"{name} does not divide the runs into low and high")
    lower, upper = x <= low, x >= high
    sizes = [np.minimum(np.abs(z), CLIP) for z in (seen.z, seen.z_replicated)]
    ratio = [v[:, upper].mean(axis=1) / v[:, lower].mean(axis=1) for v in sizes]
    quantity = against(
        f"high over low {name}",
        "ratio",
        (ratio[0], ratio[1]),
        seen.effective,
        varying_noise(seen.model, name),
    )
    order = np.array_split(np.argsort(x, kind="stable"), BINS)
    at = np.array([np.exp(np.log(x[rows]).mean()) for rows in order])
    binned = [np.stack([v[:, rows].mean(axis=1) for rows in order], axis=1) for v in sizes]
    data = {"x": at, "y": np.median(binned[0], axis=0)} | bands_of(binned[1])
    picture = Picture("slots", NAMES.get(name, name), "mean |residual| (scales)", data, log=name)
    return Checked("spread", f"Noise against {name}", (quantity,), picture)
