"""34 backbones of seven families, simulated with the published coefficients (arXiv:2608.00013).

Run it: ``python -m benchmarks.laws.capability_design``.

The paper's runs are not public; its backbones and coefficients are, the rest are stand-ins
(`bayescale.data.designs.capability`). The laws of capability are set beside laws of the backbone's
size, across families: by leaving backbones out, and by the mean absolute error that the paper
prints (loss .0383 nats with compute, .0087 with capability). Last, P0, A, B_bar and phi partially
pooled over families, and the A, B0, Bm that this gives each of them.
"""

import numpy as np

import bayescale as bs
from bayescale.check.at_runs import at_runs
from bayescale.data.designs.capability import simulate_capability, truth
from bayescale.tables import Table, render
from benchmarks.laws.reporting import say, timed_fit

READING = {"columns": {"C": ""}}


def mean_error(fit: bs.Fit, runs: bs.Runs | None = None) -> float:
    """Mean absolute error of the response."""
    there = at_runs(fit, fit.runs if runs is None else runs)
    return float(np.abs(np.median(there.mean, axis=0) - there.observed).mean())


def losses() -> None:
    """Print the law of loss from capability and tokens beside the one from size and tokens."""
    table = simulate_capability(0)
    noise = bs.normal(runs="model")
    by_score, arranged = bs.arrange("capability-loss", table, **READING)
    fits = {
        "capability": bs.fit(by_score, arranged, seed=1, progress=False),
        "compute": bs.fit("chinchilla", arranged, noise=noise, seed=1, progress=False),
        "compute, no offsets": bs.fit("chinchilla", arranged, noise=bs.normal(), seed=1,
                                      progress=False),
    }  # fmt: skip
    rows = [[n, f"{mean_error(f):.4f}", f"{_without_offsets(f):.4f}", f.gate.headline()]
            for n, f in fits.items()]  # fmt: skip
    columns = ["", "MAE of the law's mean", "of a backbone left out", "gate"]
    print(Table(columns, rows, "loss (nats); the paper: .0087 and .0383"), flush=True)
    known = truth()
    expected = {n: f"stand-in {known[n]:.3g}" for n in ("E", "alpha", "beta")}
    say(fits["capability"], expected)
    print(bs.compare({n: fits[n] for n in ("capability", "compute")}, by="model", progress=False))


def _without_offsets(fit: bs.Fit) -> float:
    """Mean absolute error of families that were left out, one at a time."""
    runs, errors = fit.runs, []
    family = runs.table["family"].astype(str).to_numpy()
    for one in np.unique(family):
        rest = runs.select(family != one, f"not {one}")
        held = runs.select(family == one, one)
        law = fit.law
        again = bs.fit(law, rest, noise=fit.model.noise, draws=250, seed=1, progress=False)
        errors.append(np.abs(np.median(at_runs(again, held).mean, axis=0) - held.column("loss")))
    return float(np.concatenate(errors).mean())


def accuracies() -> None:
    """Print the law of accuracy: transfer, absorption, and what each family's errors are."""
    table, known = simulate_capability(0), truth()
    law, runs = bs.arrange("capability:families=yes", table, **READING)
    fit = bs.fit(law, runs, seed=1, progress=False)
    print(fit)
    plain, flat = bs.arrange("capability:families=yes:absorption=none", table,
                             **READING)  # fmt: skip
    without = bs.fit(plain, flat, seed=1, progress=False)
    rows = [[n, f"{100 * mean_error(f):.3f}"] for n, f in
            {"with absorption": fit, "without": without}.items()]  # fmt: skip
    print(Table(["", "MAE (points)"], rows, "accuracy; the paper: 1.287 over all backbones"))
    print(known.table())


def families() -> None:
    """Print A, B0 and Bm of each family, in the paper's units (tokens in billions), and truth."""
    law, runs = bs.arrange("capability:families=yes", simulate_capability(0), **READING)
    pooling = {name: bs.partial("family") for name in ("A", "B_bar", "phi")}
    pooling["P0"] = bs.partial("family", bs.priors.HalfNormal(0.1))
    fit = timed_fit(law, runs, pooling=pooling)
    labels = fit.layout.labels["family"]
    found = {"A": fit.draws("A_ref"), "B0": fit.draws("B0"), "Bm": fit.draws("Bm")}
    rows, inside, true = [], 0, truth()
    for k, family in enumerate(labels):
        row = [family]
        for name, draws in found.items():
            low, middle, high = np.quantile(draws[:, k], [0.05, 0.5, 0.95])
            scale, value = (1 if name == "A" else 100), true[f"{name}[{family}]"]
            inside += int(low <= value <= high)
            row += [f"{scale * middle:.3g}", f"{scale * low:.3g} to {scale * high:.3g}",
                    f"{scale * value:.3g}"]  # fmt: skip
        rows.append(row)
    columns = ["family"] + [c for n in ("A", "B0 %", "Bm %") for c in (n, "90%", "truth")]
    title = f"families partially pooled: {inside} of {3 * len(rows)} truths in their 90% intervals"
    print(render(Table(columns, rows, title, text=columns[:1]), 150), flush=True)


if __name__ == "__main__":
    losses()
    accuracies()
    families()
