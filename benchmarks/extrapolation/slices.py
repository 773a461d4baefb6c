"""How often intervals of N_opt hold the minima of larger IsoFLOP slices.

``python -m benchmarks.extrapolation.slices [--factor 10] [--sweeps NAME ...]``

A law is fitted to the runs with C <= C_max/factor, and its N_opt at the budgets of the larger
slices (`bayescale.allocate`, wander included) is held against each slice's own minimum.

The minimum of a slice is measured by a fit of the slices alone (`bayescale.isoflop`, those from
C_max/`LOCAL` up): each with a minimum of its own, all with one shape of valley. A 90% interval
covers where it holds the posterior median of the measured ln N_k, the interval being that of what
would be measured: N_opt's draws, plus the measurement's error (draws about their median).
``exact`` leaves the measurement's error out. Slices whose lowest loss lies at an end are left out.
This was written down before any interval was scored. A prototype had found a spread of ln N_opt of
.17 an e-fold beyond the data on sweeps among these; ``learnt`` takes the one of `SPREADS` with the
least mean interval score over the other families' slices (the grid began at .08, which every family
chose; what lies below was added then).
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayescale import fit, independent, isoflop
from bayescale.answers.allocation import optimum
from bayescale.answers.surface import surface
from bayescale.check.extrapolation import scores
from bayescale.check.extrapolation.splits import make_splits
from bayescale.data.isoflop import find_slices
from bayescale.data.runs import Runs
from bayescale.fitted import Fit
from bayescale.priors import Beta
from benchmarks.extrapolation import sweeps
from benchmarks.extrapolation.kept import Kept
from benchmarks.extrapolation.table import line, rule, share

SWEEPS = (
    "llama3-isoflop", "marin-comma", "marin-dclm", "marin-nemotron", "porian", "porian-owt2",
    "porian-const", "porian-owt2-const", "chinchilla-epoch",
)  # fmt: skip
LAWS = ("chinchilla", "coupled", "auto")
LOCAL = 30.0  # slices within this factor of the largest give the valley's shape
SPREADS = (0.0, 0.03, 0.05, 0.08, 0.12, 0.17, 0.24, 0.34)
OPEN = {"prior", "design"}  # of minima of their own: the power law's exponent is its prior
LEVELS = {"50": (0.25, 0.75), "80": (0.1, 0.9), "90": (0.05, 0.95)}


@dataclass(frozen=True)
class Row:
    """One law on one slice, in ln N.

    Parameters
    ----------
    sweep, law : str
    C : float
        Budget, FLOP.
    reach : float
        ln C over the largest fitted compute.
    measured, error : float
        The slice's minimum, and its standard deviation.
    median : float
        Of the law's ln N_opt.
    low, high : list of float
        Ends of the intervals of `LEVELS`, for what would be measured.
    exact : list of float
        Ends of the 90% interval without the measurement's error.
    spreads : list of pairs
        Ends of the 90% interval under each of `SPREADS`; empty without drift.
    converged : bool
        Whether fit and measurement passed their gates.
    """

    sweep: str
    law: str
    C: float
    reach: float
    measured: float
    error: float
    median: float
    low: list[float]
    high: list[float]
    exact: list[float]
    spreads: list[list[float]]
    converged: bool


def rows(sweep: str, runs: Runs, factor: float, draws: int, seed: int) -> Iterator[Row]:
    """All laws on all larger slices of a sweep."""
    (split,) = make_splits(runs, f"compute:{factor:g}")
    budgets, minima, verdict = measured(runs, draws, seed)
    beyond = budgets > runs.column("C")[split.train].max() * (1 + 1e-9)
    train = runs.select(split.train, split.why)
    for law in LAWS:
        found = fit(law, train, draws=draws, seed=seed, progress=False)
        rng = np.random.default_rng([seed, 47])
        for k in np.flatnonzero(beyond):
            yield _row(sweep, found, float(budgets[k]), minima[:, k], rng, verdict)


def measured(runs: Runs, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Budgets of the slices with an interior minimum, draws of ln N there, and the verdict."""
    slices = find_slices(runs, None, 4)
    near = [float(c) for c in slices.C if c >= slices.C.max() / LOCAL]
    # a power law under minima of their own is redundant: its exponent is held about .5
    own = {"pooling": {"G": independent("budget")}, "priors": {"a": Beta(200.0, 200.0)}}
    answer = isoflop(runs, budgets=near, draws=draws, seed=seed, progress=False, **own)
    kept = answer.interior
    sampled = not {p.check for p in answer.fit.gate.problems} - OPEN
    return answer.C[kept], np.log(answer.draws["N_opt"][:, kept]), sampled


def _row(
    sweep: str, found: Fit, budget: float, minimum: np.ndarray, rng: np.random.Generator, good: bool
) -> Row:
    """One slice."""
    C = found.runs.column("C").astype(float)
    known, at = (float(C.min()), float(C.max())), np.array([budget])
    laws, price = surface(found), found.runs.cost
    size = np.log(optimum(laws, price, at, known)["N_opt"][:, 0])
    size = size[np.isfinite(size)]
    own = minimum - np.median(minimum)
    error = own[rng.integers(len(own), size=len(size))]
    ends = [np.quantile(size + error, q) for q in LEVELS.values()]
    reach, spreads = float(np.log(budget / C.max())), []
    if found.model.drift is not None:
        plain = np.log(optimum(laws, price, at, None)["N_opt"][:, 0])  # without the wander
        plain = plain[np.isfinite(plain)]
        wander = reach * rng.standard_normal(len(plain))
        for s in SPREADS:
            moved = plain + s * wander + error[: len(plain)]
            spreads.append([float(x) for x in np.quantile(moved, LEVELS["90"])])
    return Row(
        sweep, found.law.name, budget, reach, float(np.median(minimum)), float(minimum.std()),
        float(np.median(size)), [float(e[0]) for e in ends], [float(e[1]) for e in ends],
        [float(x) for x in np.quantile(size, LEVELS["90"])], spreads, found.converged and good,
    )  # fmt: skip


def inside(row: Row, ends: Sequence[float]) -> bool:
    """Whether an interval holds the measured minimum."""
    return ends[0] <= row.measured <= ends[1]


def by_sweep(found: Sequence[Row]) -> str:
    """Slices held at 90% of all, a row a sweep, a column a law."""
    lines = [line(["sweep", "slices", *LAWS]), rule(2 + len(LAWS))]
    for sweep in dict.fromkeys(r.sweep for r in found):
        cells, own = [], list[Row]()
        for law in LAWS:
            own = [r for r in found if r.sweep == sweep and r.law == law]
            held = sum(inside(r, (r.low[-1], r.high[-1])) for r in own)
            off = float(np.mean([r.measured - r.median for r in own]))
            width = float(np.median([r.high[-1] - r.low[-1] for r in own]))
            mark = "" if all(r.converged for r in own) else "*"
            cells.append(f"{held} / {off:+.2f} / {width:.2f}{mark}")
        lines.append(line([sweep, str(len(own)), *cells]))
    return "\n".join(lines)


def overall(found: Sequence[Row]) -> str:
    """Shares of all slices, mean interval score, width, RMSE."""
    head = ["law", "slices", "covered at 50/80/90", "exact, 90", "interval score", "width", "RMSE"]
    lines = [line(head), rule(len(head))]
    for law in LAWS:
        own = [r for r in found if r.law == law]
        held = [
            share(float(np.mean([inside(r, (r.low[k], r.high[k])) for r in own])))
            for k in range(len(LEVELS))
        ]
        exact = share(float(np.mean([inside(r, r.exact) for r in own])))
        ends = [[r.low[-1], r.high[-1]] for r in own]
        lines.append(line([law, str(len(own)), " / ".join(held), exact, *_scores(own, ends)]))
    own = [r for r in found if r.spreads]
    for k, s in enumerate(SPREADS if own else ()):
        lines.append(_spread(f"auto, {s:g} an e-fold", own, [r.spreads[k] for r in own]))
    if own:
        chosen = learnt(own)
        ends = [r.spreads[SPREADS.index(chosen[sweeps.family(r.sweep)])] for r in own]
        told = ", ".join(f"{name} {s:g}" for name, s in chosen.items())
        lines.append(_spread("auto, learnt", own, ends) + f"\n\nlearnt: {told}")
    return "\n".join(lines)


def learnt(own: Sequence[Row]) -> dict[str, float]:
    """Family -> the spread with the least mean interval score over the others' slices."""
    families = list(dict.fromkeys(sweeps.family(r.sweep) for r in own))

    def score(k: int, left_out: str) -> float:
        others = [r for r in own if sweeps.family(r.sweep) != left_out]
        return float(np.mean([_interval_score(r, r.spreads[k]) for r in others]))

    if len(families) < 2:  # nothing to learn from
        return dict.fromkeys(families, SPREADS[0])
    return {
        name: SPREADS[int(np.argmin([score(k, name) for k in range(len(SPREADS))]))]
        for name in families
    }


def _spread(label: str, own: Sequence[Row], ends: Sequence[Sequence[float]]) -> str:
    held = share(float(np.mean([inside(r, e) for r, e in zip(own, ends, strict=True)])))
    return line([label, str(len(own)), held, "–", *_scores(own, ends)])


def _scores(own: Sequence[Row], ends: Sequence[Sequence[float]]) -> list[str]:
    score = np.mean([_interval_score(r, e) for r, e in zip(own, ends, strict=True)])
    width = np.median([e[1] - e[0] for e in ends])
    error = scores.rmse([r.measured for r in own], [r.median for r in own])
    return [f"{score:.2f}", f"{width:.2f}", f"{error:.2f}"]


def _interval_score(row: Row, ends: Sequence[float]) -> float:
    return float(scores.interval_score(row.measured, ends[0], ends[1], 0.9))


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.extrapolation.slices",
        description=(__doc__ or "").splitlines()[0],
    )
    parser.add_argument("--factor", type=float, default=10.0)
    parser.add_argument("--sweeps", nargs="+", default=SWEEPS, metavar="NAME")
    parser.add_argument("--draws", type=int, default=500, help="kept draws a chain, of four")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="results as they come; what is there is kept")
    args = parser.parse_args(argv)
    kept, found = Kept(args.keep), list[Row]()
    for name, runs in sweeps.load(args.sweeps).items():
        print(name, file=sys.stderr, flush=True)
        key = {"sweep": name, "factor": args.factor, "draws": args.draws, "seed": args.seed}

        def make(name: str = name, runs: Any = runs) -> Iterator[Row]:
            return rows(name, runs, args.factor, args.draws, args.seed)

        found += kept.rows(key, Row, make)
    print(
        f"\nFitted to C <= C_max/{args.factor:g}. Each cell: slices whose minimum the 90% interval"
    )
    print("of N_opt holds / mean of ln N measured less predicted / median width in ln N.\n")
    print(by_sweep(found), "\n")
    print(overall(found))


if __name__ == "__main__":
    main()
