"""Drift, sampled along what it and the law say apart.

A slow drift and the law can stand in for each other: the loss at a run fixes their sum far better
than either, and by how much they trade depends on the drift's scale s. Sampled as declared, that
is a narrow valley that bends with s: 250 to 880 gradients a draw on sweeps of 32 to 226 runs. The
frame (`frame`) straightens it: here it is chosen, about a typical point of the posterior.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.drift import SCALE, STEP
from bayescale.inference.frame import KNOWN, PULL, SHEAR, TURN
from bayescale.inference.mode import Mode, find_mode, hessian, whiten
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.inference.rows import at_rows
from bayescale.scatter import SCALES

ROUNDS = 2  # of climbing law and weights, then the noise
NUDGE = 1e-4  # of each number of the vector, for slopes of the law
Gradient = Callable[[np.ndarray], tuple[float, np.ndarray]]
Centring = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Setting:
    """A model, how its sites lie in a vector, and its data, unpadded, from `make_batch`."""

    model: Model
    packing: Packing
    batch: Mapping[str, Any]


def choose_frame(
    there: Setting,
    centring: Centring,
    vector: np.ndarray,
) -> dict[str, np.ndarray]:
    """Frame of a model's drift, about a point.

    Parameters
    ----------
    there : Setting
    centring : mapping
        Under which the vector is to be read.
    vector : array, shape (dim,)

    Returns
    -------
    dict
        To be added to ``centring``, in place of the frame that it has.
    """
    packing = there.packing
    frame = packing.frame
    assert frame is not None
    slopes, weights, residual = _at_rows(there, centring, vector)
    hinges = _by_label(there)
    bare = declared(packing, centring)
    prior = packing.join(packing.sample_prior(np.random.default_rng(0), 500), bare)
    curved = (slopes.T * weights) @ slopes + np.diag(1 / np.maximum(prior.var(axis=0), 1e-12))
    both = np.einsum("nd,n,nlk->ldk", slopes, weights, hinges)
    taken = np.linalg.solve(curved, both)  # (label, dim, knot)
    left = hinges - np.einsum("nd,ldk->nlk", slopes, taken)
    known, turn = np.linalg.eigh(np.einsum("nlj,n,nlk->ljk", left, weights, left))
    told = np.einsum("nlk,n,n->lk", left, weights, residual)
    variance = np.exp(2 * frame.log_noise(packing.cut(vector)))
    return {
        TURN: turn.reshape(*frame.shape, frame.shape[-1]),
        SHEAR: np.einsum("ldj,ljk->dlk", taken, turn).reshape(len(vector), *frame.shape),
        KNOWN: np.maximum(known, 0.0).reshape(frame.shape) * variance,
        PULL: np.einsum("ljk,lj->lk", turn, told).reshape(frame.shape) * variance,
    }


def settle(
    there: Setting,
    centring: Centring,
    gradient_of: Callable[[Mapping[str, Any]], Gradient],
    start: np.ndarray,
) -> Mode:
    """A typical point of a model with drift, and the whitening there.

    The mode is none: with as many weights as there are, it passes through some runs exactly, with
    next to no noise. So noise and drift's scale are held while law and weights are climbed, and
    then the noise is climbed with each residual as large as it is on average over what the runs
    leave open of law and weights (the steps of an EM algorithm).

    Parameters
    ----------
    there, centring
        As for `choose_frame`, with the frame in ``centring``.
    gradient_of : callable
        From a batch to value and gradient of the log density under ``centring``.
    start : array, shape (dim,)
    """
    packing, batch = there.packing, there.batch
    noise = [p.name for p in there.model.noise.params() if p.name != "run_offset"]
    of_noise, held = np.zeros((2, packing.size), dtype=bool)
    for site in packing.sites:
        of_noise[packing.slice_of(site.name)] = site.name in noise
        held[packing.slice_of(site.name)] = site.name in (*noise, SCALE)
    vector, gradient, spent = start.copy(), gradient_of(batch), 0
    for _ in range(ROUNDS):
        found = find_mode(_held(gradient, vector, ~held), vector[~held][None])
        vector[~held] = found.vector
        spread = {
            **batch,
            "response": _spread(there, centring, vector, ~held, found),
        }
        noisy = find_mode(_held(gradient_of(spread), vector, of_noise), vector[of_noise][None])
        vector[of_noise] = noisy.vector
        spent += found.evaluations + noisy.evaluations
    value, slope = gradient(vector)
    curvature = hessian(lambda v: (0.0, -gradient(v)[1]), vector)
    return Mode(vector, whiten(curvature), value, spent + 2 * len(slope))


def _spread(
    there: Setting,
    centring: Centring,
    vector: np.ndarray,
    free: np.ndarray,
    found: Mode,
) -> np.ndarray:
    """Responses whose squared residuals are those of these runs on average over what is open."""
    at = SCALES[there.model.noise.on]
    located, slopes = _located(there, centring, vector)
    open_part = np.square(slopes[:, free] @ found.whitening).sum(axis=1)
    residual = at.forward(there.batch["response"]) - located
    return at.backward(located + np.copysign(np.sqrt(residual**2 + open_part), residual))


def _located(
    there: Setting,
    centring: Centring,
    vector: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The mean on the noise's scale, (row,), and its slopes in the vector, (row, dim)."""
    moves = np.diag(NUDGE * np.maximum(1.0, np.abs(vector)))
    nudged = np.concatenate([vector[None], vector + moves, vector - moves])
    mean, params = at_rows(there.model, there.batch, there.packing.constrain(nudged, centring))
    located = there.model.noise.location(mean, params)
    up, down = np.split(located[1:], 2)
    return located[0], (up - down).T / (2 * np.diag(moves))


def _held(gradient: Gradient, vector: np.ndarray, free: np.ndarray) -> Gradient:
    """The density of some numbers of a vector while the others are held."""

    def of_part(part: np.ndarray) -> tuple[float, np.ndarray]:
        whole = vector.copy()
        whole[free] = part
        value, slope = gradient(whole)
        return value, slope[free]

    return of_part


def without_drift(packing: Packing, gradient: Gradient, starts: np.ndarray) -> np.ndarray:
    """The mode with the drift's weights held at zero, and its scale at the prior's median."""
    free = np.ones(packing.size, dtype=bool)
    for name in (STEP, SCALE):
        free[packing.slice_of(name)] = False
    held = starts[0].copy()
    held[packing.slice_of(STEP)] = 0.0
    held[free] = find_mode(_held(gradient, held, free), starts[:, free]).vector
    return held


def _at_rows(
    there: Setting,
    centring: Centring,
    vector: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slopes of the law in the vector, (row, dim); weights and residuals of rows, (row,).

    Residuals are of the law alone, as if there were no drift.
    """
    model, packing, batch = there.model, there.packing, there.batch
    values = packing.constrain(vector, centring)
    bare = declared(packing, centring)
    slopes = _located(there, bare, packing.join(values, bare))[1]
    mean, params = at_rows(model, batch, {k: v[None] for k, v in values.items()})
    alone = {k: v for k, v in batch["noise"].items() if k != "previous"}
    u = SCALES[model.noise.on].forward(batch["response"])
    z, scale = model.noise.standardised(u, mean, params, alone)
    weights = 1 / np.square(scale)
    if model.noise.tail == "student_t":
        weights = weights * (params["nu"] + 1) / (params["nu"] + z**2)
    slopes[:, packing.slice_of(STEP)] = 0.0
    slopes[:, packing.slice_of(SCALE)] = 0.0
    away = np.einsum("nlk,lk->n", _by_label(there), np.atleast_2d(values[STEP]))
    residual = (z * scale)[0] + values[SCALE] * away
    return slopes, np.broadcast_to(weights, mean.shape)[0], residual


def declared(packing: Packing, centring: Centring) -> dict[str, np.ndarray]:
    """A centring whose drift is as declared."""
    assert packing.frame is not None
    return dict(centring) | packing.frame.none(packing.size)


def _by_label(there: Setting) -> np.ndarray:
    """Hinges of each label's drift, zero at the rows of others: (row, label, knot)."""
    assert there.packing.frame is not None
    shape, batch = there.packing.frame.shape, there.batch
    if len(shape) == 1:
        return batch["drift"][:, None]
    assert there.model.drift is not None
    own = np.eye(shape[0])[batch["index"][str(there.model.drift.by)]]
    return own[:, :, None] * batch["drift"][:, None, :]
