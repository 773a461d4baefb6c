"""IsoFLOP answers: the bias of each shape, the text/multimodal paper's exponents, real sweeps.

python -m benchmarks.answers.isoflop            # all
python -m benchmarks.answers.isoflop real       # one of bias, designs, real
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
SHORT: dict[str, Any] = {"draws": 400, "warmup": 300}
BUDGETS = np.geomspace(1e18, 1e21, 7)
FAR = 1e24
TRUTHS = {  # E, alpha, beta, size and data term at N = 4e8, D = 8e9
    "Chinchilla, refitted (alpha .35, beta .37)": (1.82, 0.3473, 0.3672, 0.49, 0.50),
    "as Marin's corpora (alpha .65, beta .38)": (2.50, 0.65, 0.38, 0.35, 0.35),
    "steep data side (alpha .25, beta .45)": (1.80, 0.25, 0.45, 0.35, 0.35),
}
WIDTHS = {  # factor either way of the optimum, drift of the slices' centres over all budgets
    "x2": (2.0, 0.0),
    "x4": (4.0, 0.0),
    "x8": (8.0, 0.0),
    "x16": (16.0, 0.0),
    "x8, centres drift by x4": (8.0, np.log(4.0)),
}
NOISE = 0.001


def chinchilla_slices(name: str, width: str, seed: int = 0) -> tuple[Any, float, float]:
    """Slices of a Chinchilla law, its exponent a, and ln N_opt at 1 FLOP over 6."""
    E, alpha, beta, size_term, data_term = TRUTHS[name]
    A, B = size_term * 4e8**alpha, data_term * 8e9**beta
    a, log_g = beta / (alpha + beta), np.log(alpha * A / (beta * B)) / (alpha + beta)
    factor, drift = WIDTHS[width]
    shift = drift * np.linspace(-0.5, 0.5, len(BUDGETS))
    best = np.exp(log_g + a * np.log(BUDGETS / 6) + shift)
    N = (best[:, None] * np.geomspace(1 / factor, factor, 9)).ravel()
    C = np.repeat(BUDGETS, 9)
    params = {"E": E, "A": A, "B": B, "alpha": alpha, "beta": beta, "sigma": NOISE}
    inputs = {"N": N, "D": C / 6 / N, "C": C}
    return (
        bs.simulate("chinchilla", params, inputs, noise=bs.log_normal(), seed=seed),
        a,
        float(log_g),
    )


def bias(only: str = "") -> None:
    """Errors of a and of N_opt, inside and far beyond the data, by shape and width."""
    rows = []
    for name in (n for n in TRUTHS if only in n):
        for width in WIDTHS:
            runs, a, log_g = chinchilla_slices(name, width)
            row = [name, width]
            for shape in MEANS:
                found = bs.isoflop(runs, shape=shape, **SAMPLING, **SHORT)
                row += _errors(found, a, log_g)
            rows.append(row)
            print(row, flush=True)
    columns = ["law", "slices", *(f"{s}: {what}" for s in MEANS for what in ("a", "N", "N(1e24)"))]
    notes = [
        f"7 budgets of 9 sizes, noise {NOISE:.1%}: error of the posterior median, * where the "
        "truth lies outside the 90% interval; N at the middle budget, and at 1e24 FLOP"
    ]
    print(Table(columns, rows, "Bias of IsoFLOP shapes", notes=notes, text=("law", "slices")))


def _errors(found: Any, a: float, log_g: float) -> list[str]:
    cells = []
    draws, middle = found.exponents["a"], float(BUDGETS[len(BUDGETS) // 2])
    cells.append(f"{np.median(draws) - a:+.3f}{_star(draws, a)}")
    for budget in (middle, FAR):
        truth = np.exp(log_g + a * np.log(budget / 6))
        sizes = found.n_opt(budget)[:, 0]
        cells.append(f"{np.median(sizes) / truth - 1:+.1%}{_star(sizes, truth)}")
    return cells


def _star(draws: np.ndarray, truth: float) -> str:
    low, high = np.quantile(draws, [0.05, 0.95])
    return "" if low <= truth <= high else "*"


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


PARTS = {"bias": bias, "designs": designs, "real": real}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        kind, _, word = part.partition(":")
        PARTS[kind](word)
