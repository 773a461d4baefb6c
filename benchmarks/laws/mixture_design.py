"""The 268-run grid of text, vision and audio, simulated with the published coefficients.

Run it: ``python -m benchmarks.laws.mixture_design [SEEDS]``.

The runs of the paper are not public; its grid and most coefficients are, the rest are stand-ins
(`bayescale.data.designs.mixture_grid`). Counted is how often 90% intervals hold the coefficients.
Then each component is left out: what that costs without any noise (the order to be found), in the
fit's own errors, and in what leaving runs out says of 268 noisy runs.
"""

import sys

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.check.at_runs import at_runs
from bayescale.data.designs.mixture_grid import MODALITIES, design, simulate_mixture_grid, truth
from bayescale.laws.mixture import mixture
from bayescale.tables import Table
from benchmarks.laws.reporting import errors, parts, say, say_errors

VARIANTS = {
    "full": "mixture",
    "no repetition": "mixture:repetition=no",
    "no transfer": "mixture:transfer=none:capacity=own",
    "no capacity": "mixture:capacity=none",
    "neither": "mixture:transfer=none:capacity=none",
}
NAMES = ("alpha", "beta", "c", "R_star", "v", "E", "A", "B")


def coverage(seeds: int) -> None:
    """Print one fit beside the truth, and how often intervals hold the truth."""
    known = {n: truth()[n] for n in truth() if n.partition("[")[0] in NAMES}
    inside: dict[str, list[bool]] = {n: [] for n in known}
    cost = []
    for seed in range(seeds):
        fit = bs.fit("mixture", simulate_mixture_grid(seed), seed=1, progress=False)
        if seed == 0:
            say(fit, {n: f"{v:.4g}" for n, v in known.items()})
        low, high = (fit.summary.loc[list(known), q] for q in ("q05", "q95"))
        for name, value in known.items():
            inside[name].append(bool(low[name] < value < high[name]))
        cost.append(fit.record["gradients_per_draw"])
    kinds: dict[str, list[bool]] = {}
    for name, held in inside.items():
        kinds.setdefault(name.partition("[")[0], []).extend(held)
    kinds["all"] = [x for held in inside.values() for x in held]
    rows = [[n, f"{sum(h)} of {len(h)}", f"{np.mean(h):.0%}"] for n, h in kinds.items()]
    notes = [f"gradients a draw: {min(cost):.1f} to {max(cost):.1f}"]
    print(Table(["", "90% intervals that hold it", ""], rows, f"{seeds} seeds", notes=notes))


def without_noise() -> pd.DataFrame:
    """The grid with the losses of the law itself."""
    table, known = design(), truth()
    law = mixture(MODALITIES, repetition=("vision", "audio"))
    values: dict = {}
    for name in known:
        head, _, label = name.rstrip("]").partition("[")
        values.setdefault(head, {})[label] = known[name]
    given = {p.name: values[p.name] for p in law.params} | {"sigma": 1e-9}
    return bs.simulate(law, given, dict(table), noise=bs.log_normal())


def ablations() -> None:
    """Print what each component is worth."""
    exact, noisy = without_noise(), simulate_mixture_grid(0)
    rows, fits = [], {}
    for name, law in VARIANTS.items():
        best = bs.fit(law, exact, seed=1, draws=250, progress=False)
        fits[name] = bs.fit(law, noisy, seed=1, progress=False)
        errors_of = [_rmse(f) for f in (best, fits[name])]
        rows.append([name, *(f"{100 * e:.3f}%" for e in errors_of)])
    print(Table(["", "RMSE without noise", "RMSE of 268 runs"], rows, "log loss"))
    print(bs.compare(fits, by="run", progress=False))


def _rmse(fit: bs.Fit) -> float:
    there = at_runs(fit, fit.runs)
    return float(np.sqrt(np.mean(np.log(np.median(there.mean, axis=0) / there.observed) ** 2)))


def largest_scale() -> None:
    """Print errors of the runs of the largest model from the smaller ones."""
    table = simulate_mixture_grid(0)
    found = {}
    for name in ("full", "no repetition", "no transfer", "no capacity"):
        law, runs = bs.arrange(VARIANTS[name], table)
        small, held = parts(runs, runs.column("N") == runs.column("N").max(), "the largest size")
        found[name] = errors(bs.fit(law, small, seed=1, progress=False), held)
    say_errors("runs of 8.3B predicted from 457M to 4.7B", found)


if __name__ == "__main__":
    coverage(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    ablations()
    largest_scale()
