"""Sweeps simulated from a known Chinchilla law, and the file in which contenders find them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.speed.million import NOISE, TRUTH

DESIGNS = ("chinchilla", "random")
POINTS = "chinchilla-epoch"  # the data set whose N and D make the first design


@dataclass(frozen=True)
class Sweeps:
    """Arrays of shape (sweep, row)."""

    N: np.ndarray
    D: np.ndarray
    loss: np.ndarray

    def __len__(self) -> int:
        return len(self.loss)

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        """Each sweep's columns."""
        return (
            {"N": n, "D": d, "loss": y}
            for n, d, y in zip(self.N, self.D, self.loss, strict=True)
        )  # fmt: skip

    def first(self, count: int) -> "Sweeps":
        """The first few."""
        return Sweeps(self.N[:count], self.D[:count], self.loss[:count])

    def write(self, path: Path) -> None:
        np.savez(path, N=self.N, D=self.D, loss=self.loss)

    @classmethod
    def read(cls, path: str | Path) -> "Sweeps":
        with np.load(path) as found:
            return cls(found["N"], found["D"], found["loss"])


def simulate(count: int, rows: int, design: str, seed: int) -> Sweeps:
    """Sweeps with the law and noise of `benchmarks.speed.million`; sweep k has seed (seed, k).

    The design is that of the Chinchilla points (drawn with replacement where there are not as many
    as rows), the same in all sweeps; or N and D at random over three decades each, new in each.
    """
    from bayescale.laws import get_law
    from bayescale.noise import Noise

    law, noise = get_law("chinchilla"), Noise()
    points = _points(rows, seed) if design == "chinchilla" else None
    columns = []
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        N, D = points or (10 ** rng.uniform(7, 10, rows), 10 ** rng.uniform(9, 12, rows))
        loss = noise.draw(rng, law.mean(**TRUTH, N=N, D=D), NOISE, {})
        columns.append((N, D, loss))
    return Sweeps(*(np.stack(c) for c in zip(*columns, strict=True)))


def _points(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from bayescale.data import read_runs

    runs = read_runs(POINTS)
    picked = np.arange(rows)
    if rows != len(runs):
        picked = np.random.default_rng(seed).integers(0, len(runs), rows)
    return runs.column("N")[picked], runs.column("D")[picked]
