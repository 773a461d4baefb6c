"""Offsets of runs, sampled as the runs' own levels.

Checkpoints fix the level of their run, law and offset together, far better than either. Sampled
apart, an offset has to follow every move of the law in a narrow, bent valley; sampled as the
level w = s^c z + c (g - g0), with g the law's mean over the run's rows, z stays free of the law
that the data leave to it. Measured on twelve backbones of four checkpoints each (capability law,
offsets three times the scatter): 30 gradients a draw apart, 11 so; on 34 backbones of 20 (loss
law) 93 and 7. The map has the Jacobian of the centring alone, since g depends on no offset.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.inference.model import Model
from bayescale.inference.packing import LEVEL, Packing
from bayescale.scatter import SCALES


def run_levels(model: Model, values: Mapping[str, Any], batch: Mapping[str, Any]) -> Any:
    """The law's mean over the rows of each run, on the noise's scale, shape (..., run)."""
    at_rows = model.by_row(model.coordinates(values), batch["index"])
    mean = model.mean(model.to_params(at_rows, batch["refs"]), batch["inputs"], batch.get("drift"))
    located = SCALES[model.noise.on].forward(mean)
    xp, index = namespace(located), batch["index"][model.noise.runs]
    lead = values["run_sd"].shape
    located = xp.broadcast_to(located, (*lead, *index.shape)) * batch["mask"]
    count = values["run_offset"].shape[-1]
    if xp is np:
        sums, rows = np.zeros((*lead, count)), np.bincount(index, batch["mask"], count)
        for run in np.flatnonzero(rows):
            sums[..., run] = located[..., index == run].sum(axis=-1)
    else:
        sums = xp.zeros((*lead, count)).at[..., index].add(located)
        rows = xp.zeros(count).at[index].add(1.0 * batch["mask"])
    return sums / xp.maximum(rows, 1)


def moved(
    model: Model, values: Mapping[str, Any], batch: Mapping[str, Any], centring: Mapping[str, Any]
) -> Any:
    """How far levels lie from where the search left them, times the centring; 0 before it ends."""
    start = centring[LEVEL]
    xp = namespace(values["run_offset"])
    off = xp.isnan(start)
    levels = run_levels(model, values, batch)
    return centring["run_offset"] * xp.where(off, 0.0, levels - xp.where(off, 0.0, start))


def as_offsets(
    model: Model,
    packing: Packing,
    vectors: np.ndarray,
    batch: Mapping[str, Any],
    centring: Mapping[str, Any],
) -> np.ndarray:
    """Vectors that hold levels as vectors that hold offsets, shape (chain, draw, dim)."""
    if LEVEL not in centring or np.isnan(centring[LEVEL]).any():
        return vectors
    made = vectors.copy()
    place = packing.slice_of("run_offset")
    for chain, drawn in enumerate(vectors):
        values = packing.constrain(drawn, centring)
        made[chain, :, place] -= moved(model, values, batch, centring)
    return made
