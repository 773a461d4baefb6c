"""Compute multipliers between corpora, from one pooled posterior: Marin's and Gadre's sweeps.

Run it: ``python -m benchmarks.answers.multiplier [marin] [gadre]`` (BAYESCALE_DATA names the folder
of data sets); both by default.

Marin's three corpora have one architecture and one evaluation (SOURCE.md: point fits give E 2.70
comma, 2.59 dclm, 2.52 nemotron, so that nemotron is the best and comma the worst). Gadre's three
have their loss on C4, which training on C4 should reach with the least compute. Pairing draws of
one posterior is set beside two fits apart, whose draws are independent.
"""

import sys
from collections.abc import Mapping

import numpy as np
import pandas as pd

import bayescale as bs
from bayescale.answers.multiplier import Multiplier
from bayescale.data.public import load_dataset
from bayescale.fitted import Fit

POOLED = ("E", "A", "B", "alpha", "beta")
MARIN = {"comma": "marin-comma", "dclm": "marin-dclm", "nemotron": "marin-nemotron"}
GADRE = {"c4": "gadre-c4", "rpj": "gadre-rpj", "rw": "gadre-rw"}
FEW = {"seed": 1, "progress": False}


def together(names: Mapping[str, str]) -> pd.DataFrame:
    """Runs of several corpora in one table."""
    columns = ["N", "D", "C", "loss"]
    parts = [load_dataset(d).table[columns].assign(corpus=c) for c, d in names.items()]
    return pd.concat(parts, ignore_index=True)


def show(title: str, found: Multiplier) -> None:
    """Print multipliers, and the spread of their logarithm."""
    print(f"\n{title}")
    print(found)
    finite = np.where(np.isfinite(found.draws), found.draws, np.nan)
    spread = np.nanstd(np.log(finite), axis=0)
    for name, row in zip(found.recipes, spread, strict=True):
        print(f"SD of ln multiplier, {name}: " + ", ".join(f"{x:.3f}" for x in row), flush=True)


def compare(names: Mapping[str, str], reference: str, budgets: list[float]) -> None:
    """One pooled fit, then single fits, against one corpus."""
    runs = together(names)
    pooling = {p: bs.partial("corpus") for p in POOLED}
    pooled = bs.fit("chinchilla", runs, pooling=pooling, **FEW)
    print(f"\n{len(runs)} runs, all parameters partially pooled: {pooled.gate.headline()}")
    found = bs.compute_multiplier(pooled, reference, budgets)
    show(f"against {reference}, one posterior", found)
    single: dict[str, Fit] = {
        c: bs.fit("chinchilla", load_dataset(d), **FEW) for c, d in names.items()
    }
    other = single.pop(reference)
    show(f"against {reference}, fits apart", bs.compute_multiplier(single, other, budgets))


def main(asked: list[str]) -> None:
    """Print multipliers inside the sweeps and ten times above."""
    if "marin" in asked or not asked:
        compare(MARIN, "comma", [1e18, 1e19, 1e20, 1e21])
    if "gadre" in asked or not asked:
        compare(GADRE, "rpj", [1e19, 1e20, 1e21, 1e22])


if __name__ == "__main__":
    main(sys.argv[1:])
