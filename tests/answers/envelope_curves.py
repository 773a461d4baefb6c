"""Chinchilla curves with offsets of runs and scatter that they remember, by NumPy alone."""

import numpy as np
import pandas as pd

LAW = {"E": 1.8169, "A": 482.01, "B": 2085.43, "alpha": 0.34781, "beta": 0.36585}
A = LAW["beta"] / (LAW["alpha"] + LAW["beta"])


def design(sizes=8, checkpoints=30, ratio=150.0, span=(5e7, 3e9), start=0.02):
    """Inputs: sizes evenly spaced in ln N, checkpoints evenly spaced in ln D."""
    parts = [
        pd.DataFrame({"run": f"r{k}", "N": n, "D": ratio * n * np.geomspace(start, 1, checkpoints)})
        for k, n in enumerate(np.geomspace(*span, sizes))
    ]
    return pd.concat(parts, ignore_index=True)


def curves_of(seed=0, run_sd=0.002, sigma=0.002, table=None, law=LAW):
    """The design with losses."""
    table = design() if table is None else table
    rng = np.random.default_rng(seed)
    mean = law["E"] + law["A"] * table["N"] ** -law["alpha"] + law["B"] * table["D"] ** -law["beta"]
    code, _ = pd.factorize(table["run"])
    noise, last = np.zeros(len(table)), 0.0
    for i, first in enumerate(np.append(True, code[1:] != code[:-1])):
        phi = 0.0 if first else np.exp(-np.log(table["D"][i] / table["D"][i - 1]) / 0.3)
        last = phi * last + np.sqrt(1 - phi**2) * rng.standard_normal()
        noise[i] = last
    offset = run_sd * rng.standard_normal(code.max() + 1)[code]
    return table.assign(loss=mean * np.exp(offset + sigma * noise))
