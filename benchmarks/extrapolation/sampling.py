"""How a fit with drift samples each real sweep, beside the plain law.

``python -m benchmarks.extrapolation.sampling [SWEEP ...] [--draws 1000] [--json FILE]`` fits
``chinchilla`` and ``auto`` to the runs with C <= C_max/10 of each sweep, warm (a first short fit
compiles), and prints R-hat, the least ESS, divergences, gradients a draw, and the time of the
mode's search and of sampling as a ratio to the plain law's.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from bayescale import fit
from bayescale.check.extrapolation.splits import make_splits
from bayescale.data.runs import Runs
from bayescale.errors import BayescaleError
from benchmarks.extrapolation.sweeps import load, sweeps

LAWS = ("chinchilla", "auto")
PHASES = ("mode", "sample")  # of a warm fit; the rest is import, tracing and compiling


def measure(runs: Runs, law: str, draws: int) -> dict[str, Any]:
    """Diagnostics and warm seconds of one fit."""
    fit(law, runs, draws=50, progress=False)
    found = fit(law, runs, draws=draws, progress=False)
    gate, seconds = found.gate, found.record["timings"]
    return {
        "rhat": gate.max_rhat,
        "ess": min(gate.min_ess_bulk, gate.min_ess_tail),
        "divergences": gate.divergences,
        "gradients": found.record["gradients_per_draw"],
        "seconds": sum(seconds.get(p, 0.0) for p in PHASES),
        "verdict": gate.headline(),
    }


def train_part(runs: Runs, factor: float) -> Runs:
    """The runs up to C_max / factor."""
    (split,) = make_splits(runs, f"compute:{factor:g}")
    return runs.select(split.train, split.why)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="SWEEP")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--factor", type=float, default=10)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    print("| sweep | runs | R-hat | min ESS | divergences | gradients | plain | time / plain |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    for name in asked.names or sweeps():
        part = train_part(load([name])[name], asked.factor)
        try:
            plain, drift = (measure(part, law, asked.draws) for law in LAWS)
        except BayescaleError as error:
            print(f"| {name} | {len(part)} | {error} |", flush=True)
            continue
        rows.append({"sweep": name, "runs": len(part), "plain": plain, "auto": drift})
        print(
            f"| {name} | {len(part)} | {drift['rhat']:.3f} | {drift['ess']:.0f} | "
            f"{drift['divergences']} | {drift['gradients']:.1f} | {plain['gradients']:.1f} | "
            f"{drift['seconds'] / plain['seconds']:.1f} |",
            flush=True,
        )
        if asked.json:
            asked.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
