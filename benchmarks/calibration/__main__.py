"""Simulation-based calibration of every law with one seed, as a table in Markdown."""

import argparse
import os

import bayescale as bs
from bayescale.check.calibration.result import Calibration

COLUMNS = (
    "law", "ranks", "quantities", "worst p (Bonferroni)", "of", "50% holds", "90% holds",
    "not fitted", "not converged", "not identified", "seconds",
)  # fmt: skip


def main() -> None:
    """Check the laws, and print a row for each as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("laws", nargs="*", default=list(bs.LAWS))
    parser.add_argument("--fits", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"{given.fits} data sets a law, seed {given.seed}, {os.cpu_count()} cores\n")
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS), flush=True)
    for law in given.laws:
        found = bs.check.sbc(law, fits=given.fits, seed=given.seed, progress=False)
        print("| " + " | ".join(row(found)) + " |", flush=True)


def row(found: Calibration) -> list[str]:
    """One law's cells."""
    worst = min(found.records, key=lambda r: min(r["ecdf_p"], r["spread_p"]))
    return [
        found.law,
        "pass" if found.passes else "FAIL: " + ", ".join(found.failing),
        str(len(found.ranks)),
        f"{found.worst_p:.3f}",
        worst["quantity"],
        span([r["coverage"][0.5] for r in found.records]),
        span([r["coverage"][0.9] for r in found.records]),
        str(len(found.errors)),
        str(found.not_converged),
        str(found.not_identified),
        f"{found.seconds:.0f}",
    ]


def span(shares: list[float]) -> str:
    """Least and largest of some shares, in percent."""
    return f"{100 * min(shares):.1f} to {100 * max(shares):.1f}"


if __name__ == "__main__":
    main()
