"""Intervals where the truth is known: laws that hold, and laws that don't.

``python -m benchmarks.extrapolation.simulated [--repeats 40] [--draws 250] [--truths NAME ...]``

Sweeps of `truths` are fitted by ``auto`` and by a plain law: the truth's own where it is a law,
Chinchilla's where it is none. Told are the share of runs at ten times the largest compute inside
90% intervals of a new run (with two Monte Carlo standard errors, sweeps being the independent
units), and how wide intervals are at the fitted runs themselves, in log loss: of a new run, and of
the law's mean, each as a ratio of ``auto``'s to the plain law's.

Aims: where the law is right, ``auto`` holds 90% less two standard errors, with intervals at most
1.5 times as wide inside the data; where it is wrong, ``auto`` holds 85% and Chinchilla's law
doesn't.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayescale.check.at_runs import at_runs
from bayescale.check.extrapolation import scores
from bayescale.data.read import read_runs
from bayescale.fitted import Fit
from bayescale.many.job import stream_fits
from benchmarks.extrapolation.kept import Kept
from benchmarks.extrapolation.table import line, rule, share
from benchmarks.extrapolation.truths import RIGHT, TRUTHS, sweep

AUTO, ENDS = "auto", (0.05, 0.95)


@dataclass(frozen=True)
class Row:
    """One law on one simulated sweep; widths and errors in log loss.

    Parameters
    ----------
    truth, law : str
    nth : int
        Which sweep.
    held : list of bool
        Whether each larger run lies inside its 90% interval.
    interval_score : float
        Of these, mean.
    width : float
        Of their intervals, median.
    new_run, mean : float
        Median width of 90% intervals at the fitted runs: of a new run, and of the law's mean.
    error : float
        Mean of observed less median at the larger runs.
    converged : bool
    """

    truth: str
    law: str
    nth: int
    held: list[bool]
    interval_score: float
    width: float
    new_run: float
    mean: float
    error: float
    converged: bool


def plain(truth: str) -> str:
    """The law to compare ``auto`` with."""
    return truth if truth in RIGHT else "chinchilla"


def run(
    truth: str, law: str, repeats: int, draws: int, seed: int = 0, **options: Any
) -> Iterator[Row]:
    """One law fitted to simulated sweeps of one truth, in the order in which they finish.

    Options are those of `bayescale.fit_many`.
    """
    tables = {str(n): read_runs(sweep(truth, n)) for n in range(repeats)}
    options |= {"draws": draws, "seed": seed, "progress": False}
    for key, found in stream_fits(law, tables, **options):
        if not isinstance(found, Fit):
            raise RuntimeError(f"{truth} {key}: {found.error}")
        yield score(found, truth, law, int(key))


def score(found: Fit, truth: str, law: str, nth: int) -> Row:
    """What one fit says of its own runs and of the larger ones."""
    here = at_runs(found, found.runs, seed=nth)
    there = at_runs(found, read_runs(sweep(truth, nth, beyond=True)), seed=nth)
    y, x = np.log(there.observed), np.log(there.replicate)
    low, middle, high = np.quantile(x, (ENDS[0], 0.5, ENDS[1]), axis=0)
    return Row(
        truth=truth,
        law=law,
        nth=nth,
        held=[bool(v) for v in (low <= y) & (y <= high)],
        interval_score=float(scores.interval_score(y, low, high, 0.9).mean()),
        width=float(np.median(high - low)),
        new_run=_width(here.replicate),
        mean=_width(here.mean),
        error=float((y - middle).mean()),
        converged=found.converged,
    )


def _width(draws: np.ndarray) -> float:
    low, high = np.quantile(np.log(draws), ENDS, axis=0)
    return float(np.median(high - low))


def coverage(rows: Iterable[Row]) -> tuple[float, float]:
    """Share of larger runs held, and its standard error over sweeps."""
    shares = np.array([np.mean(r.held) for r in rows])
    return float(shares.mean()), float(shares.std(ddof=1) / np.sqrt(len(shares)))


def ratios(rows: Sequence[Row], truth: str) -> tuple[float, float]:
    """Widths of ``auto`` over the plain law's inside the data: medians over sweeps."""
    by = {(r.law, r.nth): r for r in rows if r.truth == truth}
    pairs = [(by[AUTO, n], by[plain(truth), n]) for law, n in by if law == AUTO]
    found = [[a.new_run / p.new_run, a.mean / p.mean] for a, p in pairs]
    new_run, mean = np.median(found, axis=0)
    return float(new_run), float(mean)


def shown(rows: Sequence[Row]) -> str:
    """A row a truth and law."""
    head = ["truth", "law", "sweeps", "held at 90%", "+- 2 SE", "score", "width", "error"]
    head += ["width inside: new run", "mean", "gate failed"]
    lines = [line(head), rule(len(head))]
    for truth in dict.fromkeys(r.truth for r in rows):
        for law in (plain(truth), AUTO):
            own = [r for r in rows if r.truth == truth and r.law == law]
            held, error = coverage(own)
            means = np.mean([[r.interval_score, r.width, r.error] for r in own], axis=0)
            wider = [f"{x:.2f}" for x in ratios(rows, truth)] if law == AUTO else ["1", "1"]
            cells = [truth, law, str(len(own)), share(held), share(2 * error)]
            cells += [f"{means[0]:.3f}", f"{means[1]:.3f}", f"{means[2]:+.4f}", *wider]
            lines.append(line([*cells, str(sum(not r.converged for r in own))]))
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.extrapolation.simulated",
        description=(__doc__ or "").splitlines()[0],
    )
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--draws", type=int, default=250, help="kept draws a chain, of four")
    parser.add_argument("--truths", nargs="+", default=list(TRUTHS), choices=TRUTHS)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="results as they come; what is there is kept")
    args = parser.parse_args(argv)
    kept, rows = Kept(args.keep), list[Row]()
    for truth in args.truths:
        for law in (plain(truth), AUTO):
            key: dict[str, Any] = {"truth": truth, "law": law, "repeats": args.repeats}
            key |= {"draws": args.draws, "seed": args.seed}

            def make(truth: str = truth, law: str = law) -> Iterator[Row]:
                return run(truth, law, args.repeats, args.draws, args.seed, workers=args.workers)

            rows += kept.rows(key, Row, make)
    print(shown(rows))


if __name__ == "__main__":
    main()
