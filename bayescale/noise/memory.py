r"""Scatter that a training run remembers: AR(1) along its checkpoints.

With z the residual of a checkpoint in scales of the noise, and g its distance from the run's
previous checkpoint,

.. math:: z_i = \phi_i z_{i-1} + \sqrt{1 - \phi_i^2}\,\epsilon_i, \qquad
          \phi_i = e^{-g_i/m},

so that every z has scale one whatever the distances are, and neighbours far apart are
independent. The first checkpoint of a run has none before it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescale.arrays import namespace

# distance of a first checkpoint from the one that it doesn't have: exp(-g/m) is 0 for any memory
FAR = 1e6


def chain_columns(code: np.ndarray, place: np.ndarray, ordinal: bool) -> dict[str, np.ndarray]:
    """For each row the previous checkpoint of its run, and the distance from it.

    Parameters
    ----------
    code : integer array, shape (row,)
        Number of the run.
    place : array, shape (row,)
        Tokens, or what else orders checkpoints; no two of a run are equal.
    ordinal : bool
        Whether neighbours count as one apart; else the distance is in the logarithm of place.

    Returns
    -------
    dict
        ``previous``, positions (the row's own for the first of a run), and ``gap``.
    """
    order = np.lexsort((place, code))
    follows = np.append(False, code[order][1:] == code[order][:-1])
    previous = np.arange(len(code))
    previous[order[1:]] = np.where(follows[1:], order[:-1], order[1:])
    first = previous == np.arange(len(code))
    if ordinal:
        return {"previous": previous, "gap": np.where(first, FAR, 1.0)}
    log_place = np.log(place)
    return {"previous": previous, "gap": np.where(first, FAR, log_place - log_place[previous])}


def take_chain(columns: Mapping[str, Any], rows: np.ndarray) -> dict[str, np.ndarray]:
    """Chain columns of some rows; a row whose previous checkpoint is left out begins anew."""
    place = np.full(len(columns["previous"]), -1)
    place[rows] = np.arange(len(rows))
    previous = place[columns["previous"][rows]]
    own = np.arange(len(rows))
    lost = previous < 0
    gap = np.where(lost | (previous == own), FAR, columns["gap"][rows])
    return {"previous": np.where(lost, own, previous), "gap": gap}


def correlation(columns: Mapping[str, Any], memory: Any) -> tuple[Any, Any]:
    r"""Correlation :math:`\phi` of each row with its previous one, and :math:`\sqrt{1-\phi^2}`."""
    xp = namespace(memory, columns["gap"])
    distance = columns["gap"] / memory
    return xp.exp(-distance), xp.sqrt(-xp.expm1(-2 * distance))


def innovations(z: Any, columns: Mapping[str, Any], memory: Any) -> tuple[Any, Any]:
    """What is new in each residual given the previous one, and its scale; shape (..., row)."""
    phi, rest = correlation(columns, memory)
    return (z - phi * z[..., columns["previous"]]) / rest, rest


def accumulate(fresh: np.ndarray, columns: Mapping[str, Any], memory: Any) -> np.ndarray:
    """Residuals from innovations; inverse of `innovations`, all runs and draws at once."""
    phi, rest = correlation(columns, memory)
    phi = np.broadcast_to(phi, fresh.shape)
    z = rest * fresh
    previous = columns["previous"]
    for rows in generations(previous)[1:]:
        z[..., rows] += phi[..., rows] * z[..., previous[rows]]
    return z


def generations(previous: np.ndarray) -> list[np.ndarray]:
    """Rows by their place in the run: all first checkpoints, all second ones, and so on."""
    depth = np.where(previous == np.arange(len(previous)), 0, -1)
    while (waiting := depth < 0).any():
        ready = waiting & (depth[previous] >= 0)
        depth[ready] = depth[previous[ready]] + 1
    return [np.flatnonzero(depth == k) for k in range(int(depth.max(initial=0)) + 1)]
