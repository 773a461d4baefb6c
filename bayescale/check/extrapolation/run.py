"""``holdout``: fit laws to some runs, predict the others, and score the predictions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescale.check.extrapolation.predict import (
    POINTS,
    STACK,
    Task,
    by_points,
    by_posterior,
    by_shift,
    by_stack,
)
from bayescale.check.extrapolation.result import Holdout, Missing, Outcome
from bayescale.check.extrapolation.shift import smaller
from bayescale.check.extrapolation.splits import Rule, Split, make_splits, parse_split, say_factor
from bayescale.choosing import choose_all, example, find_family
from bayescale.drift import Drift
from bayescale.errors import DataError, FitError, LawError, nearest
from bayescale.fitted import Fit
from bayescale.inference.model import Model, make_model
from bayescale.law import Law
from bayescale.laws import get_law
from bayescale.many.job import stream_fits
from bayescale.noise import Noise
from bayescale.pooling import Pool, Pooling
from bayescale.priors import Prior

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

Laws = Law | str | Iterable[Law | str] | Mapping[str, Law | str]


def holdout(
    laws: Laws,
    runs: Any,
    *,
    split: str = "compute:10",
    noise: Noise | None = None,
    pooling: Mapping[str, Pool] | Pooling | None = None,
    priors: Mapping[str, Prior] | None = None,
    drift: Drift | bool | None = None,
    points: Sequence[str] = (),
    bootstrap: int = 200,
    stack: bool = False,
    shift: bool = False,
    by: str | None = None,
    seed: int = 0,
    draws: int = 250,
    workers: int | None = None,
    executor: Any = None,
    folder: str | Path | None = None,
    progress: bool | None = None,
    **reading: Any,
) -> Holdout:
    """Fit laws to a part of the runs and see how well they predict the rest.

    Predictions are of a new run, noise included; groups that a fit has not seen are drawn around
    the common values.

    Parameters
    ----------
    laws : Law or str, or several of them
        A list, or a mapping of names to laws.
    runs : Runs, DataFrame, path or data set name
        As for `bayescale.fit`.
    split : str
        ``compute:10`` fits the runs with C <= C_max/10; ``size:largest`` (or ``size:2``) holds
        out the largest sizes, ``data:largest`` the largest token counts; ``group:family`` leaves
        each group out in turn; ``fraction:0.7`` fits the 70% of the runs with the least compute
        (of equal budgets the earlier rows); ``random:20x0.7`` is 20 random splits.
    noise, pooling, priors, drift
        As for `bayescale.fit`, the same for all laws; default: each law's own.
    points : sequence of str
        Point estimators to put beside: ``huber``, ``least_squares``; each with a bootstrap. They
        fit one law to all runs, without groups.
    bootstrap : int
        Replicates of these bootstraps.
    stack : bool
        Also predict by the mixture of the laws, weighted by leave-one-out stacking on the runs
        that were fitted.
    shift : bool
        Also predict by each law shifted: moved in log response by what the law, fitted to the runs
        below C_max/sqrt(10) of those that are fitted, missed of the others, in proportion to the
        reach ln C beyond the runs. One more fit a law and split.
    by : str, optional
        Column that names the run, whose rows are left out together when the stack is weighed;
        ``"row"`` for single rows. Default: decided as `bayescale.check.loo` does.
    seed : int
        Seed of random splits, fits, noise and bootstraps.
    draws : int
        Kept draws a chain, of four chains.
    workers, executor, folder, progress
        How the fits are spread and kept; see `bayescale.fit_many`. In ``folder`` each law has a
        folder of its own.
    **reading
        Passed to `bayescale.read_runs`.

    Returns
    -------
    Holdout

    Raises
    ------
    DataError
        The split is unknown or leaves too few runs on one side, or the table can't be read.
    LawError
        Law, noise, pooling or priors don't fit together.
    FitError
        An unknown estimator, a stack of one law, or no split of any law could be scored.
    """
    rule, named = parse_split(split), name_laws(laws)
    _check_asked(named, points, stack)
    found_laws, table = choose_all(named, runs, reading)
    pooling = Pooling.of(pooling)
    models = {
        name: make_model(law, noise, pooling, priors, drift) for name, law in found_laws.items()
    }
    splits = make_splits(table, rule, seed)
    _check_sizes(models, table, rule, splits)
    task = Task(table, {s.name: s for s in splits}, _logged(models), seed)
    spread = {"workers": workers, "executor": executor, "progress": progress}
    sampling = {"seed": seed, "draws": draws}
    found: list[Outcome | Missing] = []
    fits: dict[str, dict[str, Fit]] = {}
    for label, key, fitted in _fits(task, models, folder, sampling | spread):
        found.append(by_posterior(task, label, key, fitted))
        if (stack or shift) and isinstance(fitted, Fit):
            fits.setdefault(key, {})[label] = fitted
    if shift:
        found += _shifted(task, models, fits, sampling | spread)
    for point in points:
        for name, model in models.items():
            found += by_points(task, model.law, name, point, bootstrap, progress)
    stacked = list(by_stack(task, fits, list(models), by, spread)) if stack else []
    found += [outcome for outcome, _ in stacked]
    weights = {o.split: w for o, w in stacked if isinstance(o, Outcome)}
    return _result(task, split, found, weights, next(iter(models.values())).law.response)


def name_laws(laws: Laws) -> dict[str, Law | str]:
    """The laws by name.

    Raises
    ------
    LawError
        There is none, two have one name, or a name is taken.
    """
    if isinstance(laws, Mapping):
        found = {str(name): _known(law) for name, law in laws.items()}
    else:
        listed = [_known(law) for law in ([laws] if isinstance(laws, Law | str) else laws)]
        names = [law if isinstance(law, str) else law.name for law in listed]
        found = dict(zip(names, listed, strict=True))
        if len(found) < len(listed):
            raise LawError(
                f"two of the laws have one name ({', '.join(names)}); give a mapping of names to "
                "laws."
            )
    if not found:
        raise LawError("no law was given; see `bayescale laws`.")
    if STACK in found:
        raise LawError(f"a law can't be called '{STACK}' here; give it another name.")
    responses = {example(law).response for law in found.values()}
    if len(responses) > 1:
        raise LawError(
            f"the laws predict different responses ({', '.join(sorted(responses))}), so their "
            "scores can't be compared; hold out one response at a time."
        )
    return found


def _fits(
    task: Task, models: Mapping[str, Model], folder: str | Path | None, options: dict[str, Any]
) -> Iterator[tuple[str, str, Any]]:
    """Law, split, and its fit or failure, in the order in which they finish."""
    for name, model in models.items():
        parts = {split: task.train(split) for split in task.splits}
        own = None if folder is None else Path(folder) / name
        setting = {"noise": model.noise, "pooling": model.pooling, "folder": own}
        for key, fitted in stream_fits(model.law, parts, **setting, **options):
            yield name, key, fitted


def _shifted(
    task: Task,
    models: Mapping[str, Model],
    fits: Mapping[str, Mapping[str, Fit]],
    options: dict[str, Any],
) -> Iterator[Outcome | Missing]:
    """Each law in each split, shifted by a fit to the smaller of its runs."""
    parts = {split: smaller(task.train(split)) for split in task.splits}
    inside = {split: part for split, part in parts.items() if part is not None}
    for name, model in models.items():
        setting = {"noise": model.noise, "pooling": model.pooling}
        within = dict(stream_fits(model.law, inside, **setting, **options)) if inside else {}
        for split in task.splits:
            if name in fits.get(split, {}):
                yield by_shift(task, name, split, fits[split][name], within.get(split))


def _known(law: Law | str) -> Law | str:
    """The law, or the text that names a family, whose labels come from the table."""
    return law if find_family(law) else get_law(law)


def _check_asked(laws: Mapping[str, Any], points: Sequence[str], stack: bool) -> None:
    for point in points:
        if point not in POINTS:
            raise FitError(
                f"unknown point estimator '{point}'; known: {', '.join(POINTS)}."
                + nearest(str(point), list(POINTS))
            )
    if stack and len(laws) < 2:
        raise FitError(f"a stack mixes two laws or more, and only '{next(iter(laws))}' was given.")


def _check_sizes(
    models: Mapping[str, Model], runs: "Runs", rule: Rule, splits: Sequence[Split]
) -> None:
    """Refuse splits of which none leaves a law as many runs as it has shared parameters.

    Where only some are too small, their fits fail one by one and are listed.
    """
    most = max(splits, key=lambda s: int(s.train.sum()))
    rows = int(most.train.sum())
    for name, model in models.items():
        shared = sum(1 for p in model.law.params if not model.pool(p))
        if rows < max(3, shared):
            hint = say_factor(runs, max(3, shared)) if rule.kind == "compute" else (
                "Hold out fewer runs, or take a simpler law (see `bayescale laws`)."
            )  # fmt: skip
            raise DataError(
                f"split '{rule.text}' leaves {rows} run{'s' if rows != 1 else ''} to fit, fewer "
                f"than law '{name}' needs for its {shared} parameters. {hint}"
            )


def _logged(models: Mapping[str, Model]) -> bool:
    """Whether errors are of log responses: where all models scatter on the logarithm."""
    return all(model.noise.on == "log" for model in models.values())


def _result(
    task: Task,
    rule: str,
    found: Sequence[Outcome | Missing],
    weights: Mapping[str, Mapping[str, float]],
    response: str,
) -> Holdout:
    """All that was found, by label and then in the order of the splits."""
    outcomes = [o for o in found if isinstance(o, Outcome)]
    failures = tuple(m for m in found if isinstance(m, Missing))
    if not outcomes:
        raise FitError(f"{failures[0].label}, split '{failures[0].split}': {failures[0].error}")
    labels, order = list(dict.fromkeys(o.label for o in outcomes)), list(task.splits)
    outcomes.sort(key=lambda o: (labels.index(o.label), order.index(o.split)))
    return Holdout(
        source=task.runs.source,
        rule=rule,
        splits=tuple(task.splits.values()),
        outcomes=tuple(outcomes),
        failures=failures,
        weights=weights,
        response=response,
        log=task.log,
    )
