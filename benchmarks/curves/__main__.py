"""Print how well each way of treating checkpoints holds what it says, in Markdown."""

import argparse
import os
from collections.abc import Iterable, Sequence

import bayescale as bs
from benchmarks.curves.coverage import Coverage, measure
from benchmarks.curves.real import CASES, Found, look
from benchmarks.curves.ways import WAYS

SIMULATED = (
    "way", "quantity", "50% holds", "90% holds", "90% width", "RMSE", "fits", "not converged",
    "gradients a draw", "seconds",
)  # fmt: skip
REAL = (
    "data, law", "way", "rows", "E", "a", "sigma", "run sd", "memory", "larger runs: 90% holds",
    "RMSE of log loss", "90% width", "runs", "gradients a draw", "seconds",
)  # fmt: skip


def main() -> None:
    """Simulated curves first, then real ones where they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=120, help="simulated tables a way")
    parser.add_argument("--checkpoints", type=int, default=16, help="of each of 24 runs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("simulated", "real"))
    parser.add_argument("--ways", nargs="*", type=int, default=range(len(WAYS)))
    given = parser.parse_args()
    ways = [WAYS[k] for k in given.ways]
    if given.only != "real":
        head(SIMULATED)
        for way in ways:
            for one in measure(way, given.sets, given.checkpoints, given.seed):
                line(simulated(one))
    folder = os.environ.get("BAYESCALE_DATA")
    if given.only != "simulated" and folder:
        print()
        head(REAL)
        for case in CASES:
            for way in ways:
                line(real(look(case, way, folder)))


def head(columns: Sequence[str]) -> None:
    """Heading of a table."""
    line(columns)
    print("|" + "---|" * len(columns), flush=True)


def line(cells: Iterable[str]) -> None:
    """One row."""
    print("| " + " | ".join(cells) + " |", flush=True)


def simulated(one: Coverage) -> list[str]:
    """Cells of one way and quantity."""
    return [
        one.way,
        one.quantity,
        *(f"{100 * share:.0f}%" for share in one.held),
        f"{one.width:.4f}",
        f"{one.error:.4f}",
        str(one.fits),
        str(one.unconverged),
        f"{one.gradients:.0f}",
        f"{one.seconds:.0f}",
    ]


def real(one: Found) -> list[str]:
    """Cells of one way and table."""
    verdict = "" if one.fit.converged else " (not converged)"
    return [
        one.case,
        one.way + verdict,
        str(one.rows),
        *(interval(one.fit, name) for name in ("E", "a", "sigma", "run_sd", "memory")),
        f"{100 * one.held:.0f}%",
        f"{one.error:.4f}",
        f"{one.width:.4f}",
        str(one.runs_held),
        f"{one.fit.record['gradients_per_draw']:.0f}",
        f"{one.seconds:.0f}",
    ]


def interval(fit: bs.Fit, name: str) -> str:
    """Posterior median and 90% interval, or a dash."""
    if name not in fit.summary.index:
        return "–"
    row = fit.summary.loc[name]
    return f"{row['median']:.3g} ({row['q05']:.3g} to {row['q95']:.3g})"


if __name__ == "__main__":
    main()
