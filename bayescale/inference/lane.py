"""One of many fits on its way: what it was given, and how far it has come."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayescale.inference.chains import CAREFUL
from bayescale.inference.mode import Mode


@dataclass(frozen=True)
class Lane:
    """One fit on its way.

    Parameters
    ----------
    index : int
        Position among the fits asked for.
    batch : dict
        Its data, padded.
    z, keys : array, shape (chain, dim), (chain, 2)
        Whitened starts of its chains, and keys of their random numbers.
    candidates : array, shape (candidate, dim)
        Where the search for the mode may start.
    mode : Mode, optional
        Once it is found.
    target : float
        Acceptance probability that the step size aims at.
    deep : bool
        Whether trajectories may have their full length.
    state : array, shape (chain, state), optional
        Where its chains are, once they have moved.
    traces : tuple
        Kept draws so far: arrays of shape (chain, draw, ...), by chunk.
    steps : float
        Mean length of its trajectories at the end of warm-up.
    looks : int
        How often draws that mixed badly have taught what makes the posterior round.
    """

    index: int
    batch: dict[str, Any]
    z: np.ndarray
    keys: np.ndarray
    candidates: np.ndarray
    target: float
    deep: bool
    mode: Mode | None = None
    state: np.ndarray | None = None
    traces: tuple[tuple[np.ndarray, ...], ...] = field(default=(), repr=False)
    steps: float = 0.0
    looks: int = 0

    def restarted(self, target: float, deep: bool) -> "Lane":
        """The same lane before its first iteration, with other settings."""
        return replace(self, target=target, deep=deep, state=None, traces=())

    def relearnt(self, z: np.ndarray) -> "Lane":
        """The same lane before its first iteration, with what its draws teach of the posterior.

        The curvature at the mode says little of one that bends: the first time its whitening is
        the draws' covariance, after that a map that bends.

        Parameters
        ----------
        z : array, shape (chain, draw, dim)
            Draws in the present whitened space; each chain goes on from its last.
        """
        mode = self.mode
        assert mode is not None
        place, starts = mode.relearnt(z, curved=self.looks > 0)
        target = max(self.target, CAREFUL)
        again = replace(self, mode=place, z=starts, target=target, looks=self.looks + 1)
        return again.restarted(target, deep=True)
