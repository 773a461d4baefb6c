"""Predictions of held-out runs by a posterior, a point estimate with bootstrap, or a stack."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.at_runs import AtRuns, at_runs
from bayescale.check.extrapolation.held import Held, held_from_draws, joined
from bayescale.check.extrapolation.result import Missing, Outcome
from bayescale.check.extrapolation.shift import LEAST, find_shift, shifted_at_runs
from bayescale.check.extrapolation.splits import Split
from bayescale.errors import BayescaleError
from bayescale.fitted import Fit

if TYPE_CHECKING:
    from bayescale.check.comparison.stacked import Stack
    from bayescale.data.runs import Runs
    from bayescale.inference.point_fit import PointFit

CHUNK = 2000  # runs predicted at once: draws x runs have to lie in memory
POINTS = {"huber": 1e-3, "least_squares": float("inf")}  # estimator -> delta of its Huber loss
STACK = "stack"
SHIFTED = "{} shifted"
TOO_FEW = f"Not shifted: fewer than {LEAST} runs lie below C_max/sqrt(10) of those that are fitted."


@dataclass(frozen=True)
class Task:
    """What is split how, and on which scale it is scored.

    Parameters
    ----------
    runs : Runs
    splits : mapping
        Name -> `Split`.
    log : bool
        Whether to score the log response.
    seed : int
    """

    runs: "Runs"
    splits: Mapping[str, Split]
    log: bool
    seed: int

    def train(self, split: str) -> "Runs":
        """The runs to fit."""
        return self.runs.select(self.splits[split].train, self.splits[split].why)

    def score(
        self, label: str, split: str, predict: Callable[["Runs"], tuple[Any, ...]]
    ) -> Outcome | Missing:
        """Predict a split's held-out runs; what can't be predicted is a failure with its reason.

        Parameters
        ----------
        label, split : str
        predict : callable
            Takes the held-out runs, returns `Held`, the fit's gate or None, and its warnings.
        """
        test = self.runs.select(self.splits[split].test, f"held out by {split}")
        try:
            held, gate, warnings = predict(test)
        except BayescaleError as problem:
            return Missing(label, split, str(problem))
        return Outcome(label, split, len(self.runs) - len(test), held, gate, warnings)


def by_posterior(task: Task, label: str, split: str, found: Any) -> Outcome | Missing:
    """Score one fit, or say why there is none (``found`` is a `Fit` or a `Failure`)."""
    if not isinstance(found, Fit):
        return Missing(label, split, found.error)

    def predict(test: "Runs") -> tuple[Any, ...]:
        held = _held(task, test, lambda runs: at_runs(found, runs, task.seed))
        return held, found.gate, found.warnings

    return task.score(label, split, predict)


def by_shift(task: Task, label: str, split: str, fit: Fit, within: Any) -> Outcome | Missing:
    """Score a fit shifted by what its law, fitted to the smaller of the runs, missed inside.

    ``within`` is that fit, a `Failure`, or None where there were too few runs.
    """
    name = SHIFTED.format(label)
    if within is not None and not isinstance(within, Fit):
        return Missing(name, split, f"inside: {within.error}")

    def predict(test: "Runs") -> tuple[Any, ...]:
        shift = find_shift(within, task.train(split), task.seed)
        held = _held(task, test, lambda runs: shifted_at_runs(fit, runs, shift, task.seed))
        warnings = fit.warnings if within is not None else (*fit.warnings, TOO_FEW)
        return held, fit.gate, warnings

    return task.score(name, split, predict)


def by_points(
    task: Task, law: Any, name: str, point: str, bootstrap: int, progress: bool | None
) -> Iterator[Outcome | Missing]:
    """Fit and score one point estimator of a law in every split."""
    from bayescale.inference.point import fit_point

    def predict(test: "Runs") -> tuple[Any, ...]:
        setting: dict[str, Any] = {"delta": POINTS[point], "bootstrap": bootstrap}
        fitted = fit_point(law, train, seed=task.seed, progress=progress, **setting)
        return _from_point(task, fitted, test), None, fitted.warnings

    for split in task.splits:
        train = task.train(split)
        yield task.score(f"{name} {point.replace('_', ' ')} bootstrap", split, predict)


def by_stack(
    task: Task,
    fits: Mapping[str, Mapping[str, Fit]],
    laws: list[str],
    by: str | None,
    spread: dict[str, Any],
) -> Iterator[tuple[Outcome | Missing, dict[str, float]]]:
    """Score the mixture of the laws in every split, with its weights.

    Weights maximise the leave-one-out log score of the runs that were fitted (Yao et al. 2018,
    arXiv:1704.02030).

    Parameters
    ----------
    fits : mapping
        Split -> law -> fit.
    by : str, optional
        Column whose rows are left out together; see `bayescale.check.loo`.
    spread : dict
        How its refits are spread.
    """
    for split in task.splits:
        weights: dict[str, float] = {}
        known = fits.get(split, {})
        if missing := [law for law in laws if law not in known]:
            yield Missing(STACK, split, f"{missing[0]} was not fitted to this split's runs."), {}
            continue

        def predict(test: "Runs", known: Any = known, weights: Any = weights) -> tuple[Any, ...]:
            mixture, warnings = _mixture({law: known[law] for law in laws}, by, spread)
            weights |= mixture.weights
            held = _held(task, test, lambda runs: mixture.at_runs(runs, task.seed))
            return held, None, warnings

        yield task.score(STACK, split, predict), weights


def _mixture(
    fits: dict[str, Fit], by: str | None, spread: dict[str, Any]
) -> tuple["Stack", tuple[str, ...]]:
    """The stack of fits, and what the weighing warned of beyond the fits' own warnings."""
    from bayescale.check.comparison.loo import MAX_REFITS, loo_of
    from bayescale.check.comparison.stacked import Stack
    from bayescale.check.comparison.units import find_units
    from bayescale.check.comparison.weights import stacking_weights

    units = find_units(fits, by)  # the same for all laws
    left_out = {n: loo_of(f, n, units, "exact", MAX_REFITS, spread) for n, f in fits.items()}
    weights = stacking_weights(np.stack([one.elpd_i for one in left_out.values()], axis=1))
    mixture = Stack(fits, {law: float(w) for law, w in zip(fits, weights, strict=True)})
    said = [
        f"{law}: {line}"
        for law, one in left_out.items()
        for line in one.warnings
        if line not in fits[law].warnings
    ]
    return mixture, (*said, *mixture.warnings)


def _held(task: Task, test: "Runs", at: Callable[["Runs"], AtRuns]) -> Held:
    """Predictions of runs by draws, some runs at a time."""
    parts = []
    for chunk in _chunks(test):
        found = at(chunk)
        rows, density = chunk.row_numbers, found.log_density
        parts.append(held_from_draws(found.replicate, found.observed, rows, task.log, density))
    return joined(parts)


def _from_point(task: Task, fitted: "PointFit", test: "Runs") -> Held:
    from bayescale.answers.point_prediction import replicates_at

    law, parts = fitted.law, []
    test.require(law.columns, by=f"law '{law.name}'")
    for chunk in _chunks(test):
        draws = replicates_at(fitted, chunk, task.seed)
        observed = chunk.column(law.response).astype(float)
        parts.append(held_from_draws(draws, observed, chunk.row_numbers, task.log))
    return joined(parts)


def _chunks(runs: "Runs") -> Iterator["Runs"]:
    if len(runs) <= CHUNK:
        yield runs
        return
    place = np.arange(len(runs)) // CHUNK
    for k in range(int(place[-1]) + 1):
        yield runs.select(place == k, f"part {k + 1}")
