"""Optimum under 25B unique tokens, and what repeated epochs cost: real runs on C4.

Run it: ``python -m benchmarks.answers.data_limit`` (BAYESCALE_DATA names the folder of data sets).

arXiv:2305.16264 finds repeating data up to 4 epochs nearly as good as fresh data, and worth little
beyond 16 to 40. Its published coefficients stand in the last columns, as the same law at one point.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

import bayescale as bs
from bayescale.answers.limited import Limited
from bayescale.answers.surface import best_size, surface
from bayescale.data.cost import SIX_ND
from bayescale.data.overrepetition import harmed
from bayescale.data.public import load_dataset
from bayescale.fitted import Fit
from bayescale.laws.repetition import repetition
from bayescale.tables import Table, quantity

UNIQUE = 25e9
BUDGETS = (1e20, 1e21, 3e21, 1e22, 3e22, 1e23, 1e24)
EPOCHS = (2, 4, 8, 16, 40)
PER_PARAM = 20.0
PAPER = {
    "E": np.exp(0.6254804), "A": np.exp(6.255414), "B": np.exp(7.3049974), "alpha": 0.3526596,
    "beta": 0.3526596, "R_D_star": 15.387756, "R_N_star": 5.309743,
}  # fmt: skip


@dataclass(frozen=True)
class Published:
    """The paper's coefficients as laws of one draw."""

    size: int = 1
    wander: float = 0.0

    def mean(self, draw: Any, **inputs: Any) -> np.ndarray:
        """Loss at N, D, U."""
        del draw
        return np.asarray(repetition().mean(**PAPER, **inputs))

    ranked = mean

    def held(self, N: np.ndarray, D: np.ndarray) -> "Published":
        """The same: it has no drift."""
        del N, D
        return self


def spread(draws: np.ndarray, digits: int = 3) -> list[str]:
    """Median and 90% interval."""
    low, middle, high = np.quantile(draws, [0.05, 0.5, 0.95])
    return [f"{middle:.{digits}g}", f"{low:.{digits}g} to {high:.{digits}g}"]


def optimum_table(fit: Fit) -> Table:
    """Epochs and loss of the optimum by budget, with 25B unique tokens."""
    found = bs.allocate_limited(fit, list(BUDGETS), UNIQUE)
    paper = Limited(Published(), UNIQUE)
    sizes, _ = best_size(paper, SIX_ND, np.array(BUDGETS), np.zeros(len(BUDGETS), int))
    rows = []
    for k, record in enumerate(found.records()):
        row = [quantity(record["C"])]
        for name in ("N_opt", "epochs", "excess"):
            q = record[name]
            row += [quantity(q["median"]), f"{quantity(q['q05'])} to {quantity(q['q95'])}"]
        row.append(f"{record['probability_above_4_epochs']:.2f}")
        epochs = max(BUDGETS[k] / 6 / sizes[k] / UNIQUE, 1.0)
        rows.append([*row, quantity(float(sizes[k])), f"{epochs:.3g}"])
    columns = ["C", "N_opt", "90%", "epochs", "90%", "excess", "90%", "P(> 4)", "paper N", "epochs"]
    notes = ["excess: nats above the optimum with fresh tokens at the same budget"]
    return Table(columns, rows, "Optimum under 25B unique tokens", found.warnings, notes)


def epochs_table(fit: Fit) -> Table:
    """What repeating 25B tokens costs over as many fresh ones, at 20 tokens a parameter."""
    laws, paper, rows = surface(fit), Published(), []
    each = np.arange(laws.size)
    for e in EPOCHS:
        D, N = e * UNIQUE, e * UNIQUE / PER_PARAM
        costs = []
        for law, draw in ((laws, each), (paper, 0)):
            repeated = law.mean(draw, N=N, D=D, U=UNIQUE)
            fresh, once = law.mean(draw, N=N, D=D, U=D), law.mean(draw, N=N, D=UNIQUE, U=UNIQUE)
            costs.append((repeated - fresh, 100 * (once - repeated) / (once - fresh)))
        (cost, kept), (paper_cost, paper_kept) = costs
        row = [str(e), quantity(N), *spread(cost), *spread(kept)]
        rows.append([*row, f"{float(paper_cost):.3g}", f"{float(paper_kept):.3g}"])
    columns = ["epochs", "N", "cost", "90%", "% kept", "90%", "paper cost", "% kept"]
    notes = [
        "cost: nats above fresh data; % kept: gain over one epoch, of that with fresh data. The "
        "paper's advice: up to 4 epochs are nearly free"
    ]
    return Table(columns, rows, "Repeating 25B tokens", notes=notes)


def main() -> None:
    """Fit the runs that repetition doesn't harm, and print both tables."""
    runs = load_dataset("datablations-repetition")
    sound = runs.select(~harmed(runs), "not harmed by repetition")
    kept = bs.read_runs(sound, where="D <= 40 * U")
    for name, draws in (("repetition", 4000), ("repetition-tokens", 1000)):
        fit = bs.fit(name, kept, draws=draws, target_accept=0.9, seed=1, progress=False)
        print(f"\n{name}, {len(fit.runs)} runs of at most 40 epochs: {fit.gate.headline()}")
        print(optimum_table(fit))
        print(epochs_table(fit), flush=True)


if __name__ == "__main__":
    main()
