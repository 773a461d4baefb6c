"""The laws of several fits as one: each draw belongs to one of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayescale.answers.surface import Surface


@dataclass(frozen=True)
class MixedSurface:
    """Draws of several laws, one after the other.

    Parameters
    ----------
    surfaces : sequence of Surface
    picks : sequence of integer arrays
        Draws taken of each.
    """

    surfaces: Sequence[Surface]
    picks: Sequence[np.ndarray]

    @property
    def size(self) -> int:
        """Number of draws."""
        return sum(len(p) for p in self.picks)

    @cached_property
    def _owner(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.picks)), [len(p) for p in self.picks])

    @cached_property
    def _own_draw(self) -> np.ndarray:
        return np.concatenate(list(self.picks))

    @property
    def wander(self) -> np.ndarray:
        """Error of ln N_opt per e-fold of compute beyond the data, shape (draw,)."""
        parts = zip(self.surfaces, self.picks, strict=True)
        return np.concatenate([np.broadcast_to(s.wander, s.size)[p] for s, p in parts])

    def mean(self, draw: Any, **inputs: Any) -> np.ndarray:
        """Each draw's own law at given inputs, broadcast together; see `Surface.mean`."""
        return self._each("mean", draw, inputs)

    def ranked(self, draw: Any, **inputs: Any) -> np.ndarray:
        """What choices at one compute are ranked by; see `Surface.ranked`."""
        return self._each("ranked", draw, inputs)

    def held(self, N: np.ndarray, D: np.ndarray) -> "MixedSurface":
        """The laws with their drifts held; see `LawDraws.held`."""
        held = []
        for k, (surface, pick) in enumerate(zip(self.surfaces, self.picks, strict=True)):
            at = np.full((2, surface.size), np.nan)  # draws that aren't taken have no run
            at[:, pick] = np.stack([N, D])[:, self._owner == k]
            held.append(surface.held(*at))
        return replace(self, surfaces=held)

    def _each(self, which: str, draw: Any, inputs: Mapping[str, Any]) -> np.ndarray:
        names = list(inputs)
        draw, *arrays = np.broadcast_arrays(draw, *(np.asarray(inputs[n], float) for n in names))
        owner, own = self._owner[draw], self._own_draw[draw]
        found = np.empty(draw.shape)
        for k, surface in enumerate(self.surfaces):
            mine = owner == k
            if mine.any():
                there = {n: a[mine] for n, a in zip(names, arrays, strict=True)}
                found[mine] = getattr(surface, which)(own[mine], **there)
        return found
