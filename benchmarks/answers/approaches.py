"""Parametric, IsoFLOP and envelope answers from the same runs, beside what their sources say.

python -m benchmarks.answers.approaches              # all
python -m benchmarks.answers.approaches designs      # one of designs, real
"""

import os
import sys
import time
from typing import Any

import numpy as np

import bayescale as bs
from bayescale.data.designs.text_multimodal import RATIOS, simulate_text_multimodal, truth
from bayescale.errors import BayescaleError
from bayescale.tables import Table, quantity, with_spread

PORIAN = (
    "dataset == 'refinedweb' and hparams == 'tuned' and warmup == 'short' and lr_decay == 'const' "
    "and param_count_convention == 'standard'"
)
COSINE = PORIAN.replace("tuned", "base").replace("'const'", "'chinchilla'")
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "gemstones, checkpoints at a constant rate": (
        "gemstones-curves",
        {},
        "Huber on 770 checkpoints: alpha .259, beta .597, so a = .70",
    ),
    "porian, refinedweb, tuned, constant rate": (
        "porian_isoflop/porian_isoflop.csv",
        {"where": f"{PORIAN} and 2 < D/N and D/N < 200", "run": "N"},
        "beta/(alpha + beta) .51 to .53",
    ),
    "porian, refinedweb, cosine to each run's end": (
        "porian_isoflop/porian_isoflop.csv",
        {"where": f"{COSINE} and 3 < D/N and D/N < 300", "run": "N"},
        "beta/(alpha + beta) .57 to .59; finished runs, one curve a size",
    ),
    "llama 3, digitised": (
        "llama3-isoflop",
        {},
        ".53 by the same source's fit; no envelope: IsoFLOP points",
    ),
    "marin, comma": ("marin-comma", {}, "alpha .666, beta .350: a = .34; no envelope"),
    "marin, dclm": ("marin-dclm", {}, "alpha .686, beta .405: a = .37; no envelope"),
    "marin, nemotron": ("marin-nemotron", {}, "alpha .639, beta .400: a = .38; no envelope"),
}
ENVELOPE = {("multimodal", 0.1): 0.665, ("multimodal", 0.3): 0.634}  # published, arXiv:2607.22043
TEXT = dict(zip(RATIOS, (0.697, 0.684, 0.667, 0.663), strict=True))


def real(C: str = "1e24") -> None:
    """One table a data set."""
    for name, (source, options, expected) in CASES.items():
        begin = time.perf_counter()
        path = f"{os.environ.get('BAYESCALE_DATA', '.')}/{source}" if "/" in source else source
        try:
            found = bs.approaches(path, C=C, progress=False, **options)
        except BayescaleError as problem:
            print(f"{name}: {problem}", flush=True)
            continue
        print(f"\n{name}; expected: {expected}; {time.perf_counter() - begin:.0f} s")
        print(found, flush=True)


def designs(seed: int = 1) -> None:
    """The envelope of the text/multimodal grid, one curve a size, for each ratio."""
    table, known, rows = simulate_text_multimodal(seed), truth(), []
    for objective in ("text", "multimodal"):
        for ratio in RATIOS[objective != "text" :]:
            own = table[(table["objective"] == objective) & (table["r"] == ratio)]
            part = own.assign(D=own[f"D_{objective}"])[["N", "D", "loss"]]
            a = bs.envelope(part, run="N").exponents["a"]
            name = f"a[{objective},{ratio:g}]" if objective != "text" else "a[text]"
            said = TEXT[ratio] if objective == "text" else ENVELOPE.get((objective, ratio))
            rows.append([objective, f"{ratio:g}", *_compared(a, known[name], said)])
    columns = ["objective", "r", "a", "90%", "simulated", "inside", "published envelope", "inside"]
    notes = ["text: the published values are of IsoFLOP; simulated with their mean"]
    print(Table(columns, rows, "Envelope of the simulated grid", notes=notes, text=("objective",)))


def _compared(a: np.ndarray, true: float, said: float | None) -> list[str]:
    low, middle, high = np.quantile(a, [0.05, 0.5, 0.95])
    sd = float(np.std(a))
    cells = [with_spread(middle, sd), f"{with_spread(low, sd)} to {with_spread(high, sd)}"]
    for value in (true, said):
        inside = "" if value is None else "yes" if low <= value <= high else "no"
        cells += ["" if value is None else quantity(float(value)), inside]
    return cells


PARTS = {"designs": designs, "real": real}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
