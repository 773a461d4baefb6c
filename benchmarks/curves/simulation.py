"""Simulated training curves: offsets of runs, and scatter that each run remembers."""

from collections.abc import Iterator, Sized
from dataclasses import dataclass

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.data.simulate import simulate
from benchmarks.curves.ways import Way

LAW = {"E": 1.8169, "A": 482.01, "B": 2085.43, "alpha": 0.34781, "beta": 0.36585}
NOISE = {"sigma": 0.006, "nu": 8.0, "run_sd": 0.008, "memory": 1.0}
TRUE_NOISE = bs.Noise(runs="run", along="D")
SIZES = np.geomspace(5e7, 3e9, 8)
LENGTHS = (20.0, 60.0, 200.0)  # tokens per parameter at the end of a run
REACH = 10.0  # of the larger budget, over the largest compute


def design(checkpoints: int) -> dict[str, np.ndarray]:
    """Inputs of 8 sizes trained 3 lengths each, with checkpoints evenly spaced in log tokens.

    Checkpoints begin at a fiftieth of a run's tokens.
    """
    parts = []
    for k, (size, length) in enumerate((n, m) for n in SIZES for m in LENGTHS):
        tokens = size * length * np.geomspace(0.02, 1.0, checkpoints)
        parts.append(pd.DataFrame({"run": f"r{k + 1}", "N": size, "D": tokens}))
    table = pd.concat(parts, ignore_index=True)
    return {name: table[name].to_numpy() for name in table}


def budgets() -> tuple[float, float]:
    """The largest compute of the design, and ten times that."""
    largest = 6 * SIZES[-1] ** 2 * LENGTHS[-1]
    return largest, REACH * largest


def truth() -> dict[str, float]:
    """The allocation exponent and the best losses at both budgets."""
    E, A, B, alpha, beta = (LAW[k] for k in ("E", "A", "B", "alpha", "beta"))
    gamma = alpha * beta / (alpha + beta)
    G = (alpha * A / (beta * B)) ** (1 / (alpha + beta))
    K = A * G**-alpha + B * G**beta
    best = [E + K * (c / 6) ** -gamma for c in budgets()]
    return {"a": beta / (alpha + beta), "L*(C_max)": best[0], "L*(10 C_max)": best[1]}


@dataclass(frozen=True)
class DataSets(Sized):
    """Simulated tables for one way of fitting; the same ones for all ways."""

    way: Way
    size: int
    checkpoints: int
    seed: int

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[bs.Runs]:
        inputs = design(self.checkpoints)
        for nth in range(self.size):
            frame = simulate(
                "chinchilla", LAW | NOISE, inputs, noise=TRUE_NOISE, seed=self.seed + nth
            )
            yield bs.read_runs(frame, curves=bs.Curves(run="run", last=self.way.last))
