"""``fit_many``: one law fitted to many data sets."""

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import Any

from bayescale.drift import Drift
from bayescale.errors import FitError
from bayescale.fitted import Fit
from bayescale.fitting import check_seed, someone_looks
from bayescale.inference.engine import Settings
from bayescale.inference.model import make_model
from bayescale.law import Law
from bayescale.laws import get_law
from bayescale.many.devices import make_plan
from bayescale.many.result import Failure, ManyFits
from bayescale.many.spread import over_executor, over_threads
from bayescale.many.store import Store
from bayescale.many.task import Job, keyed
from bayescale.noise import Noise
from bayescale.pooling import Pool, Pooling
from bayescale.priors import Prior

EXTENSIONS = 7  # times that a fit with too low an ESS may draw again as many


def fit_many(
    law: Law | str,
    datasets: Iterable[Any] | Mapping[str, Any],
    *,
    noise: Noise | None = None,
    pooling: Mapping[str, Pool] | Pooling | None = None,
    priors: Mapping[str, Prior] | None = None,
    drift: Drift | bool | None = None,
    seed: int = 0,
    chains: int = 4,
    draws: int = 250,
    warmup: int = 100,
    min_ess: int = 400,
    target_accept: float = 0.8,
    max_tree_depth: int = 10,
    retry: bool = True,
    device: str = "auto",
    workers: int | None = None,
    lanes: int | None = None,
    executor: Any = None,
    folder: str | Path | None = None,
    progress: bool | None = None,
    **reading: Any,
) -> ManyFits:
    """Fit one law to many data sets, on all cores, on GPUs, or over a cluster.

    Parameters
    ----------
    law : Law or str
    datasets : mapping or iterable
        Name -> runs, or runs in order (a generator is read as it is needed); runs are what `fit`
        takes, of any sizes.
    noise, pooling, priors, drift, target_accept, max_tree_depth, retry
        See `fit`.
    seed : int
        With a data set's key it seeds that data set's fit: neither neighbours nor workers nor
        an interruption change its draws.
    chains, draws, warmup : int
        Chains, kept draws a chain, adapting iterations before them: few, since whitening leaves
        little to adapt. Fits that diverge start again with 300 and smaller steps.
    min_ess : int
        A fit where bulk or tail ESS of any quantity is lower, or R-hat not below 1.01, draws
        half as many again, up to eight times ``draws`` in all. Where even that would be too few,
        or was, it starts again (twice at most) with what its draws have taught.
    device : str
        ``auto``: a GPU from 100 data sets on, where there is one, else the CPU.
    workers : int, optional
        Threads; default: one a core, or one a GPU.
    lanes : int, optional
        Fits side by side in lock-step; default: 1 on a CPU, what the memory takes on a GPU.
    executor : concurrent.futures.Executor, optional
        Where to run instead of here: a process pool's, Dask's (``client.get_executor()``), Ray's,
        submitit's.
    folder : str or Path, optional
        Keep each finished fit there; what is found there is not fitted again, so a job that was
        interrupted goes on where it was.
    progress : bool, optional
        A progress bar with the time left; default: where someone looks.
    **reading
        Passed to `bayescale.read_runs`.

    Returns
    -------
    ManyFits
        Fits by key, failures apart: a data set that can't be fitted doesn't stop the others.

    Raises
    ------
    LawError
        Law, noise, pooling or priors are unknown or don't fit together.
    FitError
        A setting is out of range, a key appears twice, or the folder can't be written.
    """
    options = {k: v for k, v in locals().items() if k not in ("law", "datasets")}
    outcomes: dict[str, Fit | Failure] = {}
    order: list[str] = []

    def noted() -> Iterator[tuple[str, Any]]:
        for key, runs in keyed(datasets):
            order.append(key)
            yield key, runs

    count = len(datasets) if isinstance(datasets, Sized) else None
    for key, outcome in _stream(law, noted(), count, **options):
        outcomes[key] = outcome
    return ManyFits({key: outcomes[key] for key in order})


def stream_fits(
    law: Law | str, datasets: Iterable[Any] | Mapping[str, Any], **options: Any
) -> Iterator[tuple[str, Fit | Failure]]:
    """Fit like `fit_many`, and yield (key, fit or failure) in the order in which they finish.

    Nothing is kept but what the caller keeps, so the number of data sets has no limit. Options
    are those of `fit_many`, with the same defaults.
    """
    bound = signature(fit_many).bind(law, datasets, **options)
    bound.apply_defaults()
    given = {k: v for k, v in bound.arguments.items() if k not in ("law", "datasets")}
    count = len(datasets) if isinstance(datasets, Sized) else None
    return _stream(law, keyed(datasets), count, **given)


def _stream(
    law: Law | str,
    pairs: Iterator[tuple[str, Any]],
    count: int | None,
    *,
    reading: Mapping[str, Any],
    **o: Any,
) -> Iterator[tuple[str, Fit | Failure]]:
    """What `fit_many` and `stream_fits` share; ``o`` holds all options of `fit_many`."""
    check_seed(o["seed"])
    model = make_model(get_law(law), o["noise"], Pooling.of(o["pooling"]), o["priors"], o["drift"])
    settings = Settings(**{f.name: o[f.name] for f in fields(Settings)})
    if isinstance(o["min_ess"], bool) or not o["min_ess"] >= 0:
        raise FitError(f"min_ess is {o['min_ess']!r}; expected a number of at least 0.")
    job = Job(model, settings, int(o["min_ess"]), (1 + EXTENSIONS) * settings.draws, int(o["seed"]))
    store = None if o["folder"] is None else Store(o["folder"])
    pairs, device = _once(pairs), settings.device
    if device == "auto" and (o["executor"] is not None or model.columns or model.drift):
        device = "cpu"  # the centring of pooled parameters is chosen in Python, fit by fit
    if o["executor"] is not None:
        job = replace(job, settings=replace(settings, device=device))
        found = over_executor(job, pairs, reading, store, o["executor"], o["lanes"] or 1)
    else:
        plan = make_plan(device, count, o["workers"], o["lanes"])
        job = replace(job, settings=replace(settings, device=plan.device))
        found = over_threads(job, pairs, reading, store, plan)
    return _shown(found, count, o["progress"])


def _once(pairs: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Data sets whose keys differ."""
    seen: set[str] = set()
    for key, runs in pairs:
        if key in seen:
            raise FitError(f"two data sets have the key '{key}'; give each a key of its own.")
        seen.add(key)
        yield key, runs


def _shown(
    found: Iterator[tuple[str, Fit | Failure]], count: int | None, progress: bool | None
) -> Iterator[tuple[str, Fit | Failure]]:
    """Pass outcomes on with a progress bar that tells the time left and what went wrong."""
    if not (progress if progress is not None else someone_looks()):
        yield from found
        return
    from tqdm.auto import tqdm

    failed = doubtful = 0
    with tqdm(total=count, unit="fit", desc="fits", leave=False, dynamic_ncols=True) as bar:
        for key, outcome in found:
            failed += isinstance(outcome, Failure)
            doubtful += isinstance(outcome, Fit) and not outcome.converged
            bar.set_postfix(failed=failed, not_passing=doubtful, refresh=False)
            bar.update()
            yield key, outcome
