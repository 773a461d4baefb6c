"""The best mixture: of seven SlimPajama domains, and of the simulated text, vision, audio grid.

Run it: ``python -m benchmarks.answers.mixture [SEEDS] [SLIMPAJAMA_FIT.nc]`` (BAYESCALE_DATA names
the folder of data sets; a saved fit spares minutes of sampling).

On slimpajama_mixtures (61 mixtures of 224 runs, arXiv:2507.09404 by design) the optimum is held
against the best of the mixtures that were trained: its regret, what the optimum gains, and how much
of that lies within the posterior. On the simulated grid the true optimum is known: counted is how
often 90% intervals hold its shares, and how far the recommended mixture's true value is from it.
Worth of repeated epochs is held against the paper's: vision 2, 3, 5: .63, .23, .03; audio 3, 5:
.43, .14.
"""

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import bayescale as bs
from bayescale.answers.mix.problem import read_problem
from bayescale.answers.mix.program import Solution, solve
from bayescale.answers.mix.region import Region, make_region
from bayescale.answers.mix.result import Mixture
from bayescale.answers.objectives import Objectives, objectives_of
from bayescale.data.designs.mixture_grid import MODALITIES, simulate_mixture_grid, truth
from bayescale.fitted import Fit
from bayescale.laws.mixture import mixture
from bayescale.tables import Table
from benchmarks.laws.slimpajama_mixtures import last_checkpoints

EXPECTED = {("vision", 2): ".63", ("vision", 3): ".23", ("vision", 5): ".03",
            ("audio", 3): ".43", ("audio", 5): ".14"}  # fmt: skip
BUDGETS: tuple[dict[str, Any], ...] = ({"C": "6e20", "N": "1B"}, {"C": "1e22"})
ASKED: dict[str, dict[str, Any]] = {
    "100B at 8B": {"D": "100B", "N": "8B"},
    "vision 5B, audio 3B unique": {
        "D": "100B", "N": "8B", "unique": {"vision": "5B", "audio": "3B"}
    },
    "1e22 FLOP, vision 5B unique": {"C": "1e22", "unique": {"vision": "5B"}},
}  # fmt: skip


def slimpajama(path: str | None) -> None:
    """Print optima for the mean of eight targets and for one, beside the best tried."""
    if path:
        fit = bs.load(path)
    else:
        runs = last_checkpoints()
        targets = tuple(dict.fromkeys(runs.column("target")))
        law = mixture(targets[:7], targets, transfer="additive", repetition=False)
        fit = bs.fit(law, runs, seed=1, progress=False)
    rows = []
    for targets in (None, "github", "openhermes"):
        for budget in BUDGETS:
            found = bs.mix(fit, targets=targets, **budget)
            rows.append(
                [targets or "mean of 8", *_row(found), f"{_warm(fit, targets, budget):.1f}"]
            )
            if targets is None:
                print(found, flush=True)
    columns = ["targets", "budget", "regret of best single", "90%", "of best tried", "90%",
               "gain", "90%", "P(> 0)", "s"]  # fmt: skip
    title = "regret against each draw's own optimum, nats/token; warm seconds for 1,000 draws"
    print(Table(columns, rows, title, text=("targets", "budget")), flush=True)


def _warm(fit: Fit, targets: str | None, budget: Mapping[str, Any]) -> float:
    begin = time.perf_counter()
    bs.mix(fit, targets=targets, **budget)
    return time.perf_counter() - begin


def _row(found: Mixture) -> list[str]:
    cells = [found.budget]
    assert found.tried is not None
    assert found.gain is not None
    for draws in (found.recommended.regret, found.tried.regret, found.gain):
        low, high = np.quantile(draws, [0.05, 0.95])
        cells += [f"{draws.mean():.2g}", f"{low:.2g} to {high:.2g}"]
    return [*cells, f"{(found.gain > 0).mean():.2f}"]


def true_objectives(fit: Fit) -> Objectives:
    """The fit's losses with the truth in place of its draws."""
    of, known, params = objectives_of(fit), truth(), {}
    for p in fit.law.params:
        labels = fit.law.axes[p.by or p.dims[0]]
        values = np.array([known[f"{p.name}[{label}]"] for label in labels])
        params[p.name] = values[None] if p.by else values[None, None]
    return replace(of, params=params)


def true_optimum(fit: Fit, asked: Mapping[str, Any]) -> tuple[Region, Solution]:
    """The best mixture by the truth."""
    given = dict.fromkeys(
        ("C", "D", "N", "unique", "limits", "objective", "weights", "targets")
    ) | dict(asked)
    region = make_region(read_problem(true_objectives(fit), fit.runs.cost, **given))
    return region, solve(region, np.zeros(1, dtype=int))


def grid(seeds: int) -> None:
    """Print how optima of the simulated grid hold the true ones, and worths of epochs."""
    rows, worths = [], {key: [] for key in EXPECTED}
    for seed in range(seeds):
        fit = bs.fit("mixture", simulate_mixture_grid(seed), seed=1, progress=False)
        for name, asked in ASKED.items():
            found, (region, best) = bs.mix(fit, **asked), true_optimum(fit, asked)
            low, high = np.quantile(found.draws["share"], [0.05, 0.95], axis=0)
            held = int(((low <= best.shares[0]) & (best.shares[0] <= high)).sum())
            chosen, problem = found.recommended, region.problem
            tokens = np.array([chosen.tokens[m] for m in MODALITIES])
            cost = problem.value(0, problem.size(chosen.D), tokens) - best.value[0]
            middle = np.median(found.draws["share"], axis=0)
            rows.append([str(seed), name, _shares(best.shares[0]), _shares(middle), f"{held} of 3",
                         f"{cost:.1e}", f"{chosen.expected_regret:.1e}"])  # fmt: skip
        of_epochs = bs.worth(fit, epochs=(2, 3, 5))
        for source, epoch in worths:
            place = list(of_epochs.epochs).index(epoch)
            worths[source, epoch].append(of_epochs.repeated[source][:, place])
    columns = ["seed", "asked", "true shares", "median shares", "90% holds", "true regret",
               "expected regret"]  # fmt: skip
    title = "text, vision, audio: the true optimum and what 268 runs say of it"
    print(Table(columns, rows, title, text=("asked",)), flush=True)
    lines = []
    for (source, epoch), draws in worths.items():
        ends = [np.quantile(d, [0.5, 0.05, 0.95]) for d in draws]
        listed = "; ".join(f"{m:.3f} ({lo:.3f} to {hi:.3f})" for m, lo, hi in ends)
        lines.append([f"{source}, epoch {epoch}", EXPECTED[source, epoch], listed])
    print(Table(["", "paper", "median (90%), seed by seed"], lines, "worth of a repeated epoch"))


def _shares(values: np.ndarray) -> str:
    return " ".join(f"{v:.3f}" for v in values)


if __name__ == "__main__":
    grid(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    slimpajama(sys.argv[2] if len(sys.argv) > 2 else None)
