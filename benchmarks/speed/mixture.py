"""The 268-run mixture design, 32 parameters: bayescale beside PyMC with nutpie, warm.

Run it where both are installed: ``python -m benchmarks.speed.mixture``. Both fit the same simulated
losses (the published coefficients, see `bayescale.data.designs`) under the same priors, first once
to compile, then timed. PyMC's model is written as a user writes it: size and data terms at the
geometric mean of N and of each target's own tokens. Counted are CPU seconds of the whole process,
which a busy machine changes least, for the smallest bulk ESS of the law's parameters and the
noise's.
"""

import sys
import time
from typing import Any

import numpy as np

import bayescale as bs
from bayescale.data.designs import simulate_mixture_grid
from bayescale.data.designs.mixture_grid import MODALITIES
from bayescale.law import Law
from bayescale.laws.mixture import mixture
from bayescale.tables import Table

REPEATED = ("vision", "audio")
SEED, DRAWS, CHAINS = 1, 1000, 4
Draws = dict[str, np.ndarray]  # parameter -> (chain, draw, ...)


def ours(law: Law, runs: bs.Runs, seed: int) -> tuple[Draws, float]:
    """One fit: draws and gradient evaluations a draw."""
    fit = bs.fit(law, runs, seed=seed, chains=CHAINS, draws=DRAWS, progress=False)
    names = [p.name for p in law.params] + ["sigma", "nu"]
    return {n: fit.variables[n].values for n in names}, fit.record["gradients_per_draw"]


def pymc_model(law: Law, runs: bs.Runs) -> Any:
    """The law as a PyMC user writes it."""
    import pymc as pm

    D = np.stack([runs.column(f"D_{m}") for m in MODALITIES], axis=1)
    U = np.stack([runs.column(f"U_{m}") for m in REPEATED], axis=1)
    at = np.array([MODALITIES.index(t) for t in runs.column("target")])
    rows = np.arange(len(at))
    share, own = D / D.sum(axis=1, keepdims=True), D[rows, at]
    log_n = np.log(runs.column("N")) - np.log(runs.column("N")).mean()
    centre = np.array([np.log(own[at == k]).mean() for k in range(3)])
    source = np.array([[MODALITIES.index(x) for x in t.split("→")] for t in law.axes["transfer"]])
    acts = share[:, source[:, 0]] * (at[:, None] == source[:, 1])
    is_repeated = np.array([m in REPEATED for m in MODALITIES])[at]
    which = np.array([REPEATED.index(m) if m in REPEATED else 0 for m in MODALITIES])[at]
    unique = np.where(is_repeated, U[rows, which], own)
    with pm.Model() as model:
        E = pm.LogNormal("E", np.log(1.5), 1.0, shape=3)
        size = pm.LogNormal("size_term", np.log(0.3), 1.0, shape=3)
        data = pm.LogNormal("data_term", np.log(0.3), 1.0, shape=3)
        alpha = pm.LogNormal("alpha", np.log(0.35), 0.4, shape=3)
        beta = pm.LogNormal("beta", np.log(0.35), 0.4, shape=3)
        c = pm.Normal("c", 0.0, 1.0, shape=3)
        v = pm.Normal("v", 0.0, 2.0, shape=len(source))
        R_star = pm.LogNormal("R_star", np.log(4.0), 1.2, shape=2)
        sigma = pm.LogNormal("sigma", np.log(0.01), 1.0, shape=3)
        nu = pm.Gamma("nu", 2.0, 0.1, shape=3)
        star = R_star[which]
        epochs = 1 - star * pm.math.expm1(-(own / unique - 1) / star)
        log_d = pm.math.log(unique * epochs) - centre[at] + pm.math.dot(acts, v)
        log_size = log_n + c[at] * (1 - share[rows, at])
        mean = E[at] + size[at] * pm.math.exp(-alpha[at] * log_size)
        mean = mean + data[at] * pm.math.exp(-beta[at] * log_d)
        loss = np.log(runs.column("loss"))
        pm.StudentT("loss", nu=nu[at], mu=pm.math.log(mean), sigma=sigma[at], observed=loss)
    return model


def theirs(compiled: Any, seed: int) -> tuple[Draws, float]:
    """One run of nutpie with its defaults."""
    import nutpie

    tree = nutpie.sample(compiled, draws=DRAWS, chains=CHAINS, seed=seed, progress_bar=False)
    steps = float(tree.sample_stats["n_steps"].mean())
    names = ("E", "alpha", "beta", "c", "v", "R_star", "sigma", "nu", "size_term", "data_term")
    return {n: tree.posterior[n].values for n in names}, steps


def smallest_ess(draws: Draws) -> float:
    """Smallest bulk ESS over all elements."""
    from arviz_stats.base import array_stats

    return float(min(np.min(array_stats.ess(x, chain_axis=0, draw_axis=1)) for x in draws.values()))


def timed(fit: Any) -> list[str]:
    """CPU and wall seconds of a second fit, its ESS and gradients, as a row of the table."""
    fit(SEED)
    wall, cpu = time.perf_counter(), time.process_time()
    draws, gradients = fit(SEED + 1)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    least = smallest_ess(draws)
    return [f"{x:.4g}" for x in (cpu, wall, gradients, least, 1000 * cpu / least)]


def main() -> None:
    """Print CPU seconds of a warm fit for 1,000 effective draws, ours and nutpie's."""
    law = mixture(MODALITIES, repetition=REPEATED)
    runs = bs.read_runs(simulate_mixture_grid(3), columns={"D": ""})
    rows = [["bayescale", *timed(lambda seed: ours(law, runs, seed))]]
    try:
        import nutpie
    except ModuleNotFoundError:
        print("no nutpie here", file=sys.stderr)
    else:
        compiled = nutpie.compile_pymc_model(pymc_model(law, runs))
        rows.append(["PyMC + nutpie", *timed(lambda seed: theirs(compiled, seed))])
    columns = ["", "CPU s", "wall s", "gradients a draw", "min ESS", "CPU s for ESS 1,000"]
    print(Table(columns, rows, f"{len(runs)} losses, {CHAINS} x {DRAWS} draws, warm"))


if __name__ == "__main__":
    main()
