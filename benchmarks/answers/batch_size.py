"""Does the best batch size follow data as published, and do its intervals hold?

Run it: ``python -m benchmarks.answers.batch_size``.

The capability paper prints no numbers for its best batch sizes. Real: the step-law sweeps
(arXiv:2503.04715), 17 pairs of N and D with about ten batch sizes each; the paper's own law is
B = .58 D^.571 in tokens, so that with Z = log2 D the slope c1 is .571 doublings a doubling.
Simulated: the law's own intervals by rank statistics, and how often the most probable size is the
one that a new study finds.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.laws.batch_size import GRID, batch_size_law
from bayescale.tables import Table
from benchmarks.laws.reporting import say

REPEATS = 20


def step_law() -> None:
    """Print how the best batch size of the step-law sweeps follows tokens, and size."""
    file = Path(os.environ["BAYESCALE_DATA"]) / "step_law" / "dense_lr_bs_loss.csv"
    table = pd.read_csv(file).drop(columns="loss").rename(columns={"smooth loss": "loss"})
    cells = [f"{n:.4g}-{d:.4g}" for n, d in zip(table["N"], table["D"], strict=True)]
    kept: Any = table[["N", "D", "bs", "loss"]].assign(cell=cells)
    # the paper's grid; a few other sizes were tried in single cells
    share: Any = kept.drop_duplicates(["cell", "bs"]).groupby("bs").size() / len(set(cells))
    kept = kept[kept["bs"].isin(share[share >= 0.5].index)]
    sizes = np.unique(kept["bs"])
    print(f"{len(kept)} trials of {len(table)}; sizes {', '.join(f'{b:g}' for b in sizes)}")
    for name, score in (("D", np.log2(kept["D"])), ("N", np.log2(kept["N"]))):
        frame = kept.assign(Z=np.asarray(score, dtype=float))
        fit = bs.fit("batch-size:response=bs:by=cell", frame, seed=1, progress=False)
        expected = {"c1": ".571" if name == "D" else "0: it follows D, not N", "sigma": ""}
        print(f"best of {len(sizes)} sizes against log2 {name}")
        say(fit, expected)
        if name == "D":
            at = np.log2([2e9, 2e10, 1e11])
            print(bs.batch_size(fit, Z=at))
            published = 0.58 * 2 ** (0.571 * at) / 2048  # sequences of 2048 tokens
            print("published:", ", ".join(f"{b:.0f}" for b in published))


def simulated() -> None:
    """Print how often intervals hold the truth, and how probable sizes are the real ones."""
    law, rng, inside, asked = batch_size_law(GRID, 0.08), np.random.default_rng(2), [], []
    for seed in range(REPEATS):
        truth = {
            "c0": float(rng.normal(9, 1)), "c1": float(rng.normal(0, 12)),
            "sigma": float(np.exp(rng.normal(np.log(0.35), 0.4))),
        }  # fmt: skip
        truth["c0"] -= truth["c1"] * 0.18
        Z = rng.uniform(0.04, 0.32, 35)
        made: Any = bs.simulate(law, truth, {"Z": Z}, seed=seed)
        if made["batch_size"].nunique() < 2:
            continue
        fit = bs.fit(law, made, draws=400, seed=seed, progress=False)
        low, high = fit.summary.loc[list(truth), ["q05", "q95"]].to_numpy().T
        inside.append([lo <= v <= hi for lo, v, hi in zip(low, truth.values(), high, strict=True)])
        new = rng.uniform(0.04, 0.32, 40)
        actual = bs.simulate(law, truth, {"Z": new}, seed=1000 + seed)["batch_size"].to_numpy()
        found = bs.batch_size(fit, Z=new)
        for k, size in enumerate(actual):
            asked += [(p, size == g) for g, p in zip(found.grid, found.chance[k], strict=True)]
    held = np.array(inside).mean(axis=0)
    print(f"{len(inside)} truths: 90% intervals hold c0, c1, sigma in {held.round(2).tolist()}")
    _calibration(pd.DataFrame(asked, columns=["p", "hit"]))


def _calibration(asked: pd.DataFrame) -> None:
    rows = []
    for low, high in ((0, 0.05), (0.05, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)):
        part = asked[(asked["p"] >= low) & (asked["p"] < high)]
        if len(part):
            rows.append([f"{low:g} to {min(high, 1):g}", str(len(part)), f"{part['p'].mean():.3f}",
                         f"{part['hit'].mean():.3f}"])  # fmt: skip
    columns = ["P(best size)", "sizes", "mean P", "really best"]
    print(Table(columns, rows, "sizes of the grid in new studies"))


if __name__ == "__main__":
    step_law()
    simulated()
