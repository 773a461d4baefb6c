"""``fit``: a law and a table of runs in, a `Fit` out."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.assembling import assemble, declaration
from bayescale.choosing import choose
from bayescale.drift import Drift
from bayescale.errors import DataError, FitError
from bayescale.fitted import Fit
from bayescale.inference.batch import make_batch, make_layout
from bayescale.inference.model import Model, make_model
from bayescale.inference.packing import Packing
from bayescale.inference.sample import Progress, Settings, sample
from bayescale.law import Law
from bayescale.noise import Noise
from bayescale.pooling import Pool, Pooling
from bayescale.priors import Prior

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


def fit(
    law: Law | str,
    runs: Any,
    *,
    noise: Noise | None = None,
    pooling: Mapping[str, Pool] | Pooling | None = None,
    priors: Mapping[str, Prior] | None = None,
    drift: Drift | bool | None = None,
    seed: int = 0,
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 300,
    target_accept: float = 0.8,
    max_tree_depth: int = 10,
    retry: bool = True,
    device: str = "cpu",
    progress: bool | Progress | None = None,
    **reading: Any,
) -> Fit:
    """Fit a scaling law to runs and return its posterior.

    Parameters
    ----------
    law : Law or str
        A law's name (see ``bayescale laws``), a family's with options
        (``"mixture:transfer=additive"``), or a `Law` of your own.
    runs : Runs, DataFrame, path or data set name
        One row a run: N (parameters), D (tokens), loss (nats/token), or what the law reads.
    noise : Noise, optional
        Default: Student-t on log loss with a learnt tail.
    pooling : mapping, optional
        Parameter -> ``partial("column")`` or ``independent("column")``; others are shared.
    priors : mapping, optional
        Replacements of priors, by name of a parameter or coordinate of the law, or of a
        parameter of the noise (sigma, nu, noise_slope, run_sd, memory) or of the drift
        (drift_scale).
    drift : Drift or bool, optional
        How far the truth may wander from the law, the more the larger the reach (True:
        ``Drift()``); False: the law is exact. Default: the law's own; of `auto` a drift, of
        others none.
    seed : int
        The same seed gives the same draws on the same machine.
    chains, draws, warmup, target_accept, max_tree_depth, retry, device
        See `bayescale.inference.sample.Settings`.
    progress : bool or callable, optional
        A progress bar; default: shown where standard error is a terminal, or in a notebook.
    **reading
        Passed to `bayescale.read_runs` (``columns=``, ``where=``, ``cost=``, …).

    Returns
    -------
    Fit

    Raises
    ------
    DataError
        The table can't be read, lacks a column, or has too few rows.
    LawError
        Law, noise, pooling or priors are unknown or don't fit together.
    FitError
        A setting is out of range, or the density is not finite anywhere.
    """
    begin = time.perf_counter()
    check_seed(seed)
    settings = Settings(chains, draws, warmup, target_accept, max_tree_depth, retry, device)
    law, table = choose(law, runs, reading)
    model = make_model(law, noise, Pooling.of(pooling), priors, drift)
    layout = make_layout(model, table)
    check_rows(model, table)
    batch = make_batch(model, table, layout)
    packing = Packing.of(model, layout.labels)
    with _progress(progress) as report:
        drawn = sample(model, packing, batch, int(seed), settings, declaration(model), report)
    return assemble(model, table, layout, packing, drawn, settings, int(seed), begin)


def read(runs: Any, reading: Mapping[str, Any]) -> "Runs":
    """A table of runs from whatever `fit` takes."""
    from bayescale.data.read import read_runs

    return read_runs(runs, **reading)


def check_seed(seed: Any) -> None:
    """Raise where a seed is no whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise FitError(f"seed is {seed!r}; expected a whole number of at least 0.")


def check_rows(model: Model, runs: "Runs") -> None:
    """Raise where there are fewer runs than shared parameters."""
    shared = sum(1 for p in model.law.params if not model.pool(p))
    least = max(3, shared)
    if len(runs) < least:
        raise DataError(
            f"{runs.source} has {len(runs)} run{'s' if len(runs) != 1 else ''}; law "
            f"'{model.law.name}' has {shared} shared parameters and needs at least {least} runs. "
            "Add runs or take a simpler law (see `bayescale laws`)."
        )


class _progress:
    """A tqdm bar where someone is looking: a terminal or a notebook."""

    def __init__(self, progress: bool | Callable[..., Any] | None) -> None:
        self.wanted, self.bar = progress, None

    def __enter__(self) -> Progress | None:
        if callable(self.wanted):
            return self.wanted
        if not (self.wanted if self.wanted is not None else someone_looks()):
            return None
        from tqdm.auto import tqdm

        first = "compiling, unless this model and size of table were seen before"
        self.bar = tqdm(desc=first, bar_format="{desc}", leave=False, dynamic_ncols=True)
        return self._report

    def _report(self, done: int, total: int, divergences: int) -> None:
        bar = self.bar
        assert bar is not None
        if bar.total is None:  # the clock starts here: compiling tells nothing about sampling
            bar.bar_format = None
            bar.reset(total)
        bar.set_description("sampling" if not divergences else f"sampling, {divergences} divergent")
        bar.update(done - bar.n)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


def someone_looks() -> bool:
    """Whether standard error is a terminal, or this is a notebook."""
    import sys

    return sys.stderr.isatty() or "ipykernel" in sys.modules
