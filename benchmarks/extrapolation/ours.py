"""bayescale's laws on the splits, and what can be made of their fits without fitting again."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayescale.check.extrapolation.predict import Task, by_points, by_posterior, by_stack
from bayescale.check.extrapolation.result import Missing, Outcome
from bayescale.check.extrapolation.shift import smaller
from bayescale.check.extrapolation.splits import make_splits
from bayescale.fitted import Fit
from bayescale.many.job import stream_fits
from benchmarks.extrapolation import inside, scales
from benchmarks.extrapolation.record import Record, from_held

LAWS = ("chinchilla", "coupled", "auto")
POINTED = "chinchilla"  # the law that point estimators fit
BOOTSTRAPS = 200


@dataclass(frozen=True)
class Asked:
    """What is to be told of a sweep.

    Parameters
    ----------
    laws : tuple of str
    points : tuple of str
        Point estimators of Chinchilla's law.
    stack : bool
        The mixture weighted by leave-one-out, which refits: most of the time of a sweep.
    inside : bool
        Mixture and shifts by pseudo-extrapolation; see `inside`.
    scales : bool
        Other priors of the drift's scale; see `scales`.
    seed, draws : int
        Of kept draws a chain, of four.
    """

    laws: tuple[str, ...] = LAWS
    points: tuple[str, ...] = ()
    stack: bool = False
    inside: bool = False
    scales: bool = False
    seed: int = 0
    draws: int = 500


def run(
    sweep: str,
    runs: Any,
    factor: float,
    asked: Asked,
    by: str | None = None,
    workers: int | None = None,
) -> Iterator[Record]:
    """Scores of the laws fitted to the smaller runs of a sweep, and of what is asked for beside.

    Parameters
    ----------
    sweep : str
    runs : Runs
    factor : float
        The runs with C <= C_max/factor are fitted.
    asked : Asked
    by : str, optional
        Column whose rows are left out together when the stack is weighed.
    workers : int, optional
    """
    (split,) = make_splits(runs, f"compute:{factor:g}")
    task = Task(runs, {split.name: split}, log=True, seed=asked.seed)
    train, test = task.train(split.name), runs.select(split.test, "held out")
    about = {"sweep": sweep, "factor": factor, "n_train": len(train)}
    spread = {"workers": workers, "progress": False}
    sampling = {"seed": asked.seed, "draws": asked.draws, **spread}
    parts = {"all": train}
    if asked.inside and (part := smaller(train)) is not None:
        parts["inside"] = part
    found = {law: dict(stream_fits(law, parts, **sampling)) for law in asked.laws}
    outcomes = [by_posterior(task, law, split.name, found[law]["all"]) for law in asked.laws]
    for point in asked.points:
        outcomes += by_points(task, POINTED, POINTED, point, BOOTSTRAPS, False)
    fits = {law: f["all"] for law, f in found.items() if isinstance(f["all"], Fit)}
    if asked.stack:
        stacked = by_stack(task, {split.name: fits}, list(asked.laws), by, spread)
        outcomes += [outcome for outcome, _ in stacked]
    yield from _records(outcomes, about)
    if asked.inside:
        parted = {law: f.get("inside") for law, f in found.items()}
        within = {law: part for law, part in parted.items() if isinstance(part, Fit)}
        yield from inside.records(fits, within, train, test, asked.seed, about)
    if asked.scales and "auto" in fits:
        yield from scales.records(fits["auto"], test, asked.seed, about)


def _records(outcomes: Sequence[Outcome | Missing], about: Mapping[str, Any]) -> Iterator[Record]:
    for o in outcomes:
        if isinstance(o, Missing):
            print(f"{about['sweep']}, {o.label}: {o.error}", file=sys.stderr, flush=True)
            continue
        verdict = None if o.gate is None else o.gate.converged
        said = "" if o.gate is None else o.gate.headline()
        yield from_held(o.held, model=o.label, converged=verdict, note=said, **about)
