"""How answers grow with posterior draws: warm times for 500 to 16,000, and their ratios.

Run it: ``python -m benchmarks.answers.speed [FOLDER]``. Fits are kept in FOLDER, where they are
read again; without one they are made anew (simulated runs, a few minutes).

A posterior of any size is made of one of 2,000 draws, repeated: the time of an answer depends on
their number only. Each time is the least of three after one call that compiles and imports: wall
clock, and CPU seconds of the process, which a busy machine changes least.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.data.designs import (
    simulate_capability,
    simulate_mixture_grid,
    simulate_text_multimodal,
)
from bayescale.data.simulate import simulated_sweep
from bayescale.fitted import Fit
from bayescale.laws.effective import plain_design
from bayescale.laws.repetition import repetition
from bayescale.tables import Table

SIZES = (500, 1000, 4000, 16000)
BASE = 1000
TIMES = 3
SAMPLING = {"chains": 2, "draws": 1000, "seed": 1, "progress": False}
Answer = Callable[[Fit], Any]


def chinchilla() -> Fit:
    """The sweep that ships with the package."""
    return bs.fit("chinchilla", simulated_sweep()[0], **SAMPLING)


def repeated() -> Fit:
    """Runs with up to 40 epochs."""
    law = repetition(excess_params=False)
    truth = {"E": 1.8, "A": 480, "B": 2000, "alpha": 0.35, "beta": 0.36, "R_D_star": 15}
    runs = bs.simulate(law, {**truth, "sigma": 0.005, "nu": 20}, plain_design(), seed=1)
    return bs.fit(law, runs, **SAMPLING)


def two_objectives() -> Fit:
    """The text/multimodal grid."""
    return bs.fit("decoupled", simulate_text_multimodal(0), **SAMPLING)


def three_modalities() -> Fit:
    """The 268-run mixture design."""
    return bs.fit("mixture", simulate_mixture_grid(0), **SAMPLING)


def backbones() -> Fit:
    """34 backbones of seven families."""
    return bs.fit("capability", simulate_capability(0), columns={"C": ""}, **SAMPLING)


def slices() -> Fit:
    """IsoFLOP slices of a Chinchilla law."""
    rng = np.random.default_rng(1)
    C = np.repeat([1e18, 3e18, 1e19, 3e19, 1e20], 9)
    N = 0.6 * (C / 6) ** 0.45 * np.tile(np.geomspace(0.2, 5, 9), 5)
    loss = (1.8 + 480 * N**-0.35 + 2000 * (C / 6 / N) ** -0.36) * np.exp(rng.normal(0, 2e-3, 45))
    return bs.isoflop(pd.DataFrame({"N": N, "C": C, "loss": loss}), **SAMPLING).fit


# what is timed: the fit, and the question
ASKED: dict[str, tuple[Callable[[], Fit], Answer]] = {
    "predict, one point": (chinchilla, lambda f: f.predict(N="70B", D="1.4T")),
    "allocate, one budget": (chinchilla, lambda f: f.allocate("5.76e23")),
    "inference_optimum": (
        chinchilla, lambda f: bs.inference_optimum(f, C="1e23", inference_tokens="1T"),
    ),
    "compute_multiplier": (chinchilla, lambda f: bs.compute_multiplier(f, f, "1e22")),
    "allocate_limited": (repeated, lambda f: bs.allocate_limited(f, "1e22", "25B")),
    "optima, 3 compositions": (two_objectives, lambda f: bs.optima(f, "1e22")),
    "pareto, 50 ratios": (two_objectives, lambda f: bs.pareto(f, "1e22")),
    "mix, N given": (three_modalities, lambda f: bs.mix(f, D="150B", N="8B", draws=None)),
    "mix, N free": (three_modalities, lambda f: bs.mix(f, C="1e22", draws=None)),
    "select, 3 budgets": (backbones, lambda f: bs.select(f, ["1e20", "1e21", "1e22"])),
    "isoflop, 3 budgets": (slices, lambda f: bs.isoflop(f, C=["1e21", "1e22", "1e23"])),
}  # fmt: skip


def resized(fit: Fit, draws: int) -> Fit:
    """The fit with so many draws: its own, repeated or thinned."""
    chains, length = fit.stats["lp"].shape
    at = np.resize(np.arange(length), draws // chains)
    kept = {k: replace(v, values=v.values[:, at]) for k, v in fit.variables.items()}
    return replace(fit, variables=kept, stats={k: v[:, at] for k, v in fit.stats.items()})


def warm(answer: Answer, fit: Fit) -> tuple[float, float]:
    """Least wall and CPU seconds of an answer that was asked before."""
    answer(fit)
    found = []
    for _ in range(TIMES):
        wall, cpu = time.perf_counter(), time.process_time()
        answer(fit)
        found.append((time.perf_counter() - wall, time.process_time() - cpu))
    walls, cpus = zip(*found, strict=True)
    return min(walls), min(cpus)


def saved(make: Callable[[], Fit], folder: Path | None) -> Fit:
    """A fit from the folder, or made and kept there."""
    path = folder / f"{make.__name__}.nc" if folder else None
    if path and path.exists():
        return bs.load(path)
    fit = make()
    if path:
        fit.save(path)
    return fit


def main(folder: Path | None) -> None:
    """Print seconds and ratios for every answer."""
    fits: dict[str, Fit] = {}
    rows = []
    for name, (make, answer) in ASKED.items():
        if make.__name__ not in fits:
            fits[make.__name__] = saved(make, folder)
        base = fits[make.__name__]
        times = {n: warm(answer, resized(base, n)) for n in SIZES}
        cells = [f"{wall:.2f} ({cpu:.2f})" for wall, cpu in times.values()]
        ratios = [f"{times[n][1] / times[BASE][1]:.2g}x" for n in SIZES]
        rows.append([name, *cells, " ".join(ratios)])
        print(" | ".join(rows[-1]), flush=True)
    columns = ["", *(f"{n:,} draws" for n in SIZES), "CPU over 1,000 draws"]
    notes = ["wall seconds (CPU seconds), warm, the least of three"]
    print(Table(columns, rows, "Time of answers by posterior draws", notes=notes))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
