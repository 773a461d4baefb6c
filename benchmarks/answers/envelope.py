"""The envelope on simulated curves: which estimator is biased, whose intervals hold the truth.

python -m benchmarks.answers.envelope               # all
python -m benchmarks.answers.envelope coverage 100  # one of bias, coverage; simulated tables
"""

import sys
import time

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.errors import FitError
from bayescale.tables import Table

LAWS = {
    "alpha .35, beta .37": {"E": 1.82, "A": 482.0, "B": 2085.0, "alpha": 0.348, "beta": 0.366},
    "alpha .25, beta .45": {"E": 1.8, "A": 70.7, "B": 1.13e4, "alpha": 0.25, "beta": 0.45},
}
SIZES = (3, 4, 5, 8, 12)
NOISE = {"sigma": 0.002, "nu": 8.0, "run_sd": 0.002, "memory": 0.3}
RATIO, START, CHECKPOINTS, BOOTSTRAP = 300.0, 0.005, 40, 300


def curves(law: dict[str, float], sizes: int, noise: dict[str, float], seed: int) -> pd.DataFrame:
    """Curves of sizes from 50M to 3B, evenly spaced in ln N, up to 300 tokens a parameter."""
    parts = [
        pd.DataFrame({"run": f"r{k}", "N": n, "D": RATIO * n * np.geomspace(START, 1, CHECKPOINTS)})
        for k, n in enumerate(np.geomspace(5e7, 3e9, sizes))
    ]
    table = pd.concat(parts, ignore_index=True)
    inputs = {c: table[c].to_numpy() for c in table}
    return bs.simulate(
        "chinchilla", law | noise, inputs, noise=bs.Noise(runs="run", along="D"), seed=seed
    )


def exponent(law: dict[str, float]) -> float:
    """a = beta/(alpha + beta)."""
    return law["beta"] / (law["alpha"] + law["beta"])


def bias() -> None:
    """Estimators of a from exact curves, whose error is bias alone."""
    rows = []
    for name, law in LAWS.items():
        for sizes in SIZES:
            exact = {"sigma": 1e-9, "nu": 1e3, "run_sd": 1e-9, "memory": 0.3}
            found = point_estimates(curves(law, sizes, exact, 0))
            true = exponent(law)
            rows.append([name, str(sizes), *(f"{v - true:+.3f}" for v in found.values())])
    columns = ["law", "sizes", "winners as steps", "three-point parabola", "crossings"]
    notes = ["error of a; least squares of ln N on ln C"]
    print(Table(columns, rows, "Bias on exact curves", notes=notes, text=("law",)), flush=True)


def point_estimates(table: pd.DataFrame) -> dict[str, float]:
    """a by winners at each compute, by parabolas through three sizes, and by crossings."""
    log_n, grid, loss = on_grid(table)
    best = loss.argmin(axis=0)
    covered = np.isfinite(loss).sum(axis=0) > 1
    steps = slope(grid[covered], log_n[best[covered]])
    inner = covered & (best > 0) & (best < len(log_n) - 1)
    inner &= np.isfinite(loss[np.clip(best - 1, 0, None), range(len(grid))])
    inner &= np.isfinite(loss[np.clip(best + 1, None, len(log_n) - 1), range(len(grid))])
    tops = [vertex(log_n[b - 1 : b + 2], loss[b - 1 : b + 2, k]) for k, b in indexed(best, inner)]
    parabola = slope(grid[inner], np.array(tops)) if inner.sum() > 2 else np.nan
    return {"steps": steps, "parabola": parabola, "crossings": crossings(log_n, grid, loss)}


def on_grid(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ln N of each run, ln C, and loss along it: infinite outside a run's data."""
    runs = [g for _, g in table.groupby("run", sort=False)]
    log_n = np.array([np.log(g["N"].iloc[0]) for g in runs])
    log_c = [np.log(6 * g["N"].to_numpy() * g["D"].to_numpy()) for g in runs]
    grid = np.linspace(min(c[0] for c in log_c), max(c[-1] for c in log_c), 2000)
    loss = [np.interp(grid, c, g["loss"], np.inf, np.inf) for c, g in zip(log_c, runs, strict=True)]
    order = np.argsort(log_n, kind="stable")
    return log_n[order], grid, np.stack(loss)[order]


def indexed(best: np.ndarray, keep: np.ndarray) -> list[tuple[int, int]]:
    """Positions that are kept, with the best run there."""
    return [(int(k), int(best[k])) for k in np.flatnonzero(keep)]


def vertex(x: np.ndarray, y: np.ndarray) -> float:
    """Minimum of the parabola through three points."""
    second, first, _ = np.polyfit(x - x[1], y, 2)
    return float(x[1] - first / (2 * second))


def crossings(log_n: np.ndarray, grid: np.ndarray, loss: np.ndarray) -> float:
    """Slope through the crossings of neighbouring sizes on the envelope; NaN below two."""
    best, at, middle = loss.argmin(axis=0), [], []
    for k in np.flatnonzero(np.diff(best)):
        i, j = best[k], best[k + 1]
        if log_n[j] > log_n[i] and np.isfinite(loss[[i, j]][:, k : k + 2]).all():
            at.append(grid[k])
            middle.append((log_n[i] + log_n[j]) / 2)
    return slope(np.array(at), np.array(middle)) if len(set(at)) > 1 else np.nan


def slope(x: np.ndarray, y: np.ndarray) -> float:
    """Least squares."""
    return float(np.polyfit(x, y, 1)[0])


def bootstrap(table: pd.DataFrame, seed: int) -> np.ndarray:
    """a of tables whose runs are drawn with replacement."""
    rng, names = np.random.default_rng(seed), table["run"].unique()
    log_n, grid, loss = on_grid(table)
    found = []
    for _ in range(BOOTSTRAP):
        kept = np.unique(rng.integers(0, len(names), len(names)))
        found.append(crossings(log_n[kept], grid, loss[kept]))
    return np.array([a for a in found if np.isfinite(a)])


def coverage(tables: int = 60) -> None:
    """Share of simulated tables whose intervals hold a: Bayesian envelope and bootstrap."""
    rows = []
    for name, law in LAWS.items():
        for sizes in (4, 5, 8, 12):
            rows += _covered(name, law, sizes, tables)
    columns = [
        "law", "sizes", "", "50% holds", "90% holds", "90% width", "bias", "RMSE", "refused",
        "seconds a table",
    ]  # fmt: skip
    notes = [f"{tables} tables each; offsets of runs .2%, scatter .2% with a memory of .3 e-folds"]
    print(Table(columns, rows, "Intervals of a", notes=notes, text=("law", "")), flush=True)


def _covered(name: str, law: dict[str, float], sizes: int, tables: int) -> list[list[str]]:
    ways = {"envelope": lambda t, s: bs.envelope(t, run="run", draws=1000, seed=s).exponents["a"],
            "bootstrap of runs": bootstrap}  # fmt: skip
    rows = []
    for label, way in ways.items():
        begin, draws, refused = time.perf_counter(), [], 0
        for seed in range(tables):
            try:
                a = way(curves(law, sizes, NOISE, seed), seed)
            except FitError:
                a = np.array([])
            refused += len(a) < 30
            draws += [np.quantile(a, [0.05, 0.25, 0.5, 0.75, 0.95])] if len(a) >= 30 else []
        seconds = (time.perf_counter() - begin) / tables
        q, true = np.array(draws), exponent(law)
        held = [np.mean((q[:, i] <= true) & (true <= q[:, -1 - i])) for i in (1, 0)]
        error = q[:, 2] - true
        rows.append(
            [name, str(sizes), label, *(f"{h:.0%}" for h in held)]
            + [f"{np.median(q[:, -1] - q[:, 0]):.3f}", f"{error.mean():+.4f}"]
            + [f"{np.sqrt(np.mean(error**2)):.4f}", str(refused), f"{seconds:.2f}"]
        )
    print(rows, flush=True)
    return rows


if __name__ == "__main__":
    asked = sys.argv[1:] or ["bias", "coverage"]
    counts = [int(a) for a in asked if a.isdigit()]
    if "bias" in asked:
        bias()
    if "coverage" in asked:
        coverage(*counts)
