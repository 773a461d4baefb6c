"""Learning rate and batch size of 1,911 dense runs (arXiv:2503.04715).

Run it: ``python -m benchmarks.laws.step_law`` (BAYESCALE_DATA names the folder of data sets).

Runs above 3.5 nats (181) diverged and are left out. The published law of the best learning rate
is 1.79 N^-.713 D^.307, of the best batch .58 D^.571 tokens (a sequence has 2,048). The 1,730 runs
lie in 17 cells of N and D and are taken as independent; what the law misses is shared by a cell,
so that intervals of E, alpha and beta are too narrow (the cells' mean residuals are printed).
"""

import os
from pathlib import Path

import numpy as np

import bayescale as bs
from bayescale.check.at_runs import at_runs
from bayescale.priors import LogNormal, Normal
from benchmarks.laws.reporting import errors, parts, say, say_errors

FILE = Path(os.environ["BAYESCALE_DATA"]) / "step_law" / "dense_lr_bs_loss.csv"
SEQUENCE = 2048
LARGEST = 1e9  # held out: the 1.07B runs

STILL = {name: Normal(0.0, 1e-3) for name in ("lr_N", "lr_D", "bs_N", "bs_D")}
SIMPLER = {
    "as declared": {},
    "a parabola (s = 0.01)": {"s": LogNormal(0.01, 0.01)},
    "lr and bs apart (k = 0)": {"k": Normal(0.0, 1e-3)},
    "best bs by D alone": {"bs_N": Normal(0.0, 1e-3)},
    "one optimum for all": STILL,
}


def sweep() -> bs.Runs:
    """All runs that trained, with the cell of N and D that each belongs to."""
    runs = bs.read_runs(FILE, columns={"loss": "smooth loss"}, where="`smooth loss` < 3.5")
    cell = [f"{n / 1e6:.0f}M, {d / 1e9:.1f}B" for n, d in zip(*map(runs.column, "ND"), strict=True)]
    return bs.read_runs(runs.table.assign(cell=cell), columns={"loss": "loss"})


def published(N: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Best learning rate, and best batch in sequences, by the paper."""
    return 1.79 * N**-0.713 * D**0.307, 0.58 * D**0.571 / SEQUENCE


def recommended(fit: bs.Fit, N: float, D: float) -> tuple[float, float]:
    """Posterior medians of the best learning rate and batch size."""
    draws = {k: fit.tree.posterior[k].to_numpy().ravel() for k in fit.summary.index[:15]}
    best = [draws[f"{x}_1"] * N ** draws[f"{x}_N"] * D ** draws[f"{x}_D"] for x in ("lr", "bs")]
    return float(np.median(best[0])), float(np.median(best[1]))


def regrets(fit: bs.Fit, runs: bs.Runs) -> None:
    """What the recommended setting costs in cells: the nearest run of the grid over the best."""
    table = runs.table
    for cell, rows in table.groupby("cell"):
        N, D = float(rows["N"].iloc[0]), float(rows["D"].iloc[0])
        said = []
        for name, (lr, batch) in {
            "this law": recommended(fit, N, D),
            "published": published(np.array(N), np.array(D)),
        }.items():
            away = np.log(rows["lr"] / lr) ** 2 + np.log(rows["bs"] / batch) ** 2
            cost = np.log(rows["loss"].loc[away.idxmin()] / rows["loss"].min())
            said.append(f"{name} lr {lr:.2e}, bs {batch:.0f}: {cost:.2%} above the best run")
        print(f"{cell}: {'; '.join(said)}", flush=True)


def missed(fit: bs.Fit, runs: bs.Runs) -> None:
    """How much of what the law misses is shared by a cell of N and D."""
    residual = np.log(runs.column("loss") / np.median(at_runs(fit, runs).mean, axis=0))
    means = runs.table.assign(residual=residual).groupby("cell")["residual"].median()
    print(
        f"median log residual of a cell: SD {means.std():.4f}, {means.min():.4f} to "
        f"{means.max():.4f}; sigma {fit.summary.loc['sigma', 'median']:.4f}",
        flush=True,
    )


def main() -> None:
    """Posterior, the largest size held out, simpler laws, what recommendations cost."""
    runs = sweep()
    N, D = (np.exp(np.log(runs.column(c)).mean()) for c in "ND")
    lr, batch = published(N, D)
    expected = {"E": "0.9 to 1.7 (best of each cell)", "alpha": "", "beta": "", "s": "", "k": ""}
    expected |= {"lr_N": "-0.713", "lr_D": "0.307", "bs_N": "0", "bs_D": "0.571"}
    expected |= {"lr_opt": f"{lr:.2e}", "bs_opt": f"{batch:.0f}", "lr_C": "", "bs_C": ""}
    fit = bs.fit("step-law", runs)
    say(fit, expected | {"sigma": ""})
    missed(fit, runs)

    train, test = parts(runs, runs.column("N") > LARGEST, "1.07B parameters")
    fits = {name: bs.fit("step-law", train, priors=priors) for name, priors in SIMPLER.items()}
    for name, fit in fits.items():
        print(f"{name}: {fit.gate.headline()}")
    say_errors("1.07B held out", {name: errors(fit, test) for name, fit in fits.items()})
    best = bs.read_runs(train.table.loc[train.table.groupby("cell")["loss"].idxmin()])
    top = bs.read_runs(test.table.loc[test.table.groupby("cell")["loss"].idxmin()])
    found = {"step-law, all runs": errors(fits["as declared"], top)}
    found["chinchilla, best run of each cell"] = errors(bs.fit("chinchilla", best), top)
    say_errors("best runs of 1.07B held out", found)
    regrets(fits["as declared"], test)


if __name__ == "__main__":
    main()
