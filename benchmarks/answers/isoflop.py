"""IsoFLOP answers: the text/multimodal paper's exponents recovered, and real sweeps.

python -m benchmarks.answers.isoflop            # all
python -m benchmarks.answers.isoflop real       # or designs
"""

import os
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

import bayescale as bs
from bayescale.answers.isoflop.result import IsoFLOP
from bayescale.data.designs.isoflop_slices import (
    JOINT,
    PUBLISHED,
    joint_exponent,
    simulate_joint,
    simulate_slices,
)
from bayescale.laws.isoflop import MEANS
from bayescale.tables import Table, quantity

SAMPLING: dict[str, Any] = {"progress": False, "seed": 1}


def designs(only: str = "") -> None:
    """Exponents of the text/multimodal paper from slices simulated with them."""
    rows, draws = [], {}
    for objective, ratios in ((o, r) for o, r in PUBLISHED.items() if only in o):
        for ratio, published in ratios.items():
            found = bs.isoflop(simulate_slices(objective, ratio), **SAMPLING)
            draws[objective, ratio] = found.exponents["a"]
            rows.append(_row(f"{objective}, r = {ratio:g}", found, "a", published))
    for ratio, published in () if only else JOINT.items():
        text, other = draws["text", ratio], draws["multimodal", ratio]
        mean = (text + ratio * np.random.default_rng(3).permutation(other)) / (1 + ratio)
        rows.append(_told(f"joint by shares, r = {ratio:g}", mean, published))
        found = bs.isoflop(simulate_joint(ratio), **SAMPLING)
        label = f"joint, slices of mean loss, r = {ratio:g}"
        rows.append(_row(label, found, "a", published))
    columns = ["", "a", "90%", "published", "inside", "verdict"]
    own = ", ".join(f"{joint_exponent(r):.3f} at r = {r:g}" for r in JOINT)
    notes = [f"mean loss weighted by tokens; without noise its minima have {own}"]
    title = "Text/multimodal exponents by IsoFLOP"
    print(Table(columns, rows, title, notes=notes, text=("", "verdict")), flush=True)


def _row(label: str, found: Any, exponent: str, published: float) -> list[str]:
    verdict = f"{found.fit.record['gradients_per_draw']:.0f} gradients a draw"
    verdict += "" if found.converged else f"; {found.fit.gate.headline()}"
    return [*_told(label, found.exponents[exponent], published)[:-1], verdict]


def _told(label: str, draws: np.ndarray, published: float) -> list[str]:
    low, middle, high = np.quantile(draws, [0.05, 0.5, 0.95])
    inside = "yes" if low <= published <= high else "NO"
    return [label, f"{middle:.3f}", f"{low:.3f} to {high:.3f}", f"{published:g}", inside, ""]


PORIAN_FILE = f"{os.environ.get('BAYESCALE_DATA', '.')}/porian_isoflop/porian_isoflop.csv"
TUNED = (
    "hparams == 'tuned' and warmup == 'short' and lr_decay == 'const' and "
    "param_count_convention == 'standard' and 2 <= D/N and D/N <= 200 and dataset == '{}'"
)
KAPLAN = (
    "hparams == 'base' and warmup == 'long' and lr_decay == 'kaplan' and "
    "param_count_convention == 'kaplan' and loss_split == 'train' and dataset == '{}'"
)
REAL: Mapping[str, tuple[str, dict[str, Any], str, str]] = {
    "llama3": ("llama3-isoflop", {}, "3.8e25",
               "paper: b .53, 402B on 16.55T at 3.8e25; Chinchilla fit to the points: a .53"),
    "marin comma": ("marin-comma", {}, "1e22", "Chinchilla fit: a .34 (.350/(.666 + .350))"),
    "marin dclm": ("marin-dclm", {}, "1e22", "Chinchilla fit: a .37"),
    "marin nemotron": ("marin-nemotron", {}, "1e22", "Chinchilla fit: a .39"),
    "porian refinedweb": ("porian", {}, "1e20", "Chinchilla fit: a .57 to .59"),
    "porian openwebtext2": ("porian-owt2", {}, "1e20", "Chinchilla fit: a .57 to .59"),
    "porian tuned": (PORIAN_FILE, {"where": TUNED.format("refinedweb")}, "1e20",
                     "Chinchilla fit: a .51 to .53"),
    "porian as Kaplan": (PORIAN_FILE, {"where": KAPLAN.format("refinedweb")}, "1e20",
                         "Kaplan: a .73"),
}  # fmt: skip


def real(only: str = "") -> None:
    """Exponents of real sweeps by each shape, beside those of a Chinchilla fit to the same runs."""
    rows = []
    for label, (runs, reading, budget, expected) in REAL.items():
        if only not in label:
            continue
        for shape in MEANS:
            found = bs.isoflop(runs, shape=shape, C=budget, **SAMPLING, **reading)
            rows.append(_real_row(label, shape, found, expected))
            print(rows[-1], *found.warnings, sep="\n    ", flush=True)
            label, expected = "", ""
    columns = ["sweep", "shape", "budgets", "a", "90%", "b", "90%", "N_opt", "90%", "at C",
               "gradients", "expected"]  # fmt: skip
    print(Table(columns, rows, "Real sweeps by IsoFLOP", text=("sweep", "expected")), flush=True)


def _real_row(label: str, shape: str, found: IsoFLOP, expected: str) -> list[str]:
    verdict = "" if found.converged else " (not converged)"
    cells = [label, shape + verdict, f"{len(found.C)}, {int(found.interior.sum())} interior"]
    for name in ("a", "b"):
        low, middle, high = np.quantile(found.exponents[name], [0.05, 0.5, 0.95])
        cells += [f"{middle:.3f}", f"{low:.3f} to {high:.3f}"]
    low, middle, high = np.quantile(found.n_opt(found.asked)[:, 0], [0.05, 0.5, 0.95])
    cells += [quantity(middle), f"{quantity(low)} to {quantity(high)}"]
    cells += [quantity(float(found.asked[0])), f"{found.fit.record['gradients_per_draw']:.0f}"]
    return [*cells, expected]


PARTS = {"designs": designs, "real": real}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        kind, _, word = part.partition(":")
        PARTS[kind](word)
