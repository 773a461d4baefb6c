"""``fit``: a law and a table of runs in, a `Fit` out."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import DataError, FitError
from bayescale.fitted import Fit
from bayescale.inference.batch import Layout, make_batch, make_layout
from bayescale.inference.diagnostics import Diagnostics, diagnose
from bayescale.inference.gate import Problem, judge
from bayescale.inference.model import Model, make_model
from bayescale.inference.packing import Packing
from bayescale.inference.posterior import Variable, scalars, variables
from bayescale.inference.sample import Draws, Progress, Settings, sample
from bayescale.law import Law
from bayescale.laws import LAWS, get_law
from bayescale.noise import Noise
from bayescale.pooling import Pool, Pooling
from bayescale.priors import Prior

OPEN_SHARE = 0.5  # SD of the allocation exponent over its prior SD above which it counts as open

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.data.runs import Runs


def fit(
    law: Law | str,
    runs: Any,
    *,
    noise: Noise | None = None,
    pooling: Mapping[str, Pool] | Pooling | None = None,
    priors: Mapping[str, Prior] | None = None,
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
        A law's name (see ``bayescale laws``) or a `Law` of your own.
    runs : Runs, DataFrame, path or data set name
        One row a run: N (parameters), D (tokens), loss (nats/token), or what the law reads.
    noise : Noise, optional
        Default: Student-t on log loss with a learnt tail.
    pooling : mapping, optional
        Parameter -> ``partial("column")`` or ``independent("column")``; others are shared.
    priors : mapping, optional
        Replacements of priors, by name of a parameter or coordinate of the law, or of a
        parameter of the noise (sigma, nu, noise_slope, run_sd).
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
    model = make_model(get_law(law), noise or Noise(), Pooling.of(pooling), priors)
    table = read(runs, reading)
    layout = make_layout(model, table)
    check_rows(model, table)
    batch = make_batch(model, table, layout)
    packing = Packing.of(model, layout.labels)
    with _progress(progress) as report:
        drawn = sample(model, packing, batch, int(seed), settings, declaration(model), report)
    return assemble(model, table, layout, packing, drawn, settings, int(seed), begin)


def assemble(
    model: Model,
    runs: "Runs",
    layout: Layout,
    packing: Packing,
    drawn: Draws,
    settings: Settings,
    seed: int,
    begin: float,
) -> Fit:
    """Put draws, diagnostics, gate and record together."""
    found = variables(model, layout, packing, packing.constrain(drawn.vectors, drawn.centring))
    listed = scalars(found, {**layout.labels, layout.cell_dim: layout.cells})
    names, values = tuple(listed), np.stack(list(listed.values()))
    diagnostics = diagnose(names, values, drawn.stats)
    problems = design_problems(model, runs) or separation_problems(
        model, layout, packing, found, seed
    )
    gate = judge(diagnostics, _moments(model, packing, drawn, seed), problems)
    taken = {"target_accept": drawn.target_accept, "draws": drawn.stats["lp"].shape[1]}
    record = {
        "seed": seed,
        "settings": asdict(settings) | taken,
        "device": settings.device,
        "x64": True,
        "gradients_per_draw": drawn.gradients / drawn.stats["lp"].size,
        "timings": {k: round(v, 4) for k, v in drawn.timings.items()},
        "compiled": drawn.origins,
        "seconds": round(time.perf_counter() - begin, 3),
        "versions": versions(),
    }
    return Fit(
        model=model,
        runs=runs,
        layout=layout,
        variables=found,
        stats=drawn.stats,
        gate=gate,
        record=record,
        summary=summarise(diagnostics, values),
    )


def declaration(model: Model) -> str | None:
    """All that a shipped law's density depends on besides its source; None for other laws."""
    shipped = LAWS.get(model.law.name)
    if shipped is None or shipped.mean is not model.law.mean:
        return None
    own = {p.name: p.coordinate for p in shipped.params}
    if any(p.coordinate and p.coordinate != own.get(p.name) for p in model.law.params):
        return None
    # repr, since str rounds a prior's numbers
    params = [(p.name, p.site, repr(p.prior), repr(p.allowed), p.dims) for p in model.params]
    pools = {p.name: repr(q) for p in model.params if (q := model.pool(p))}
    noise = json.dumps(model.noise.to_dict(), sort_keys=True)
    return repr((model.law.name, params, pools, noise))


def design_problems(model: Model, runs: "Runs") -> list[Problem]:
    """What the design of the runs can't separate, for laws of N and D."""
    from bayescale.data.design import design_report

    names = {i.name for i in model.law.inputs}
    if not {"N", "D"} <= names:
        return []
    flags = design_report(runs.column("N"), runs.column("D"))
    return [Problem("design", f.message, f.remedy) for f in flags]


def separation_problems(
    model: Model,
    layout: Layout,
    packing: Packing,
    found: Mapping[str, Variable],
    seed: int,
) -> list[Problem]:
    """Whether the allocation exponent is still nearly as open as a priori.

    A design can look sound and yet leave the exponents of size and data tied, by noise or by few
    runs; the posterior of a = beta/(alpha + beta) shows it.
    """
    if "a" not in found:
        return []
    rng = np.random.default_rng([seed, 5])
    prior = variables(model, layout, packing, packing.sample_prior(rng, 2000))["a"].values
    before = prior.reshape(len(prior), -1).std(axis=0)
    after = found["a"].values.reshape(*found["a"].values.shape[:2], -1)
    share = float((after.std(axis=(0, 1)) / before).max())
    if share <= OPEN_SHARE:
        return []
    low, high = np.quantile(after, [0.05, 0.95])
    return [
        Problem(
            "design",
            f"The exponents of size and data are hardly separated: the allocation exponent a is "
            f"{low:.2f} to {high:.2f} (90%), {share:.0%} as wide as its prior.",
            "more sizes at one budget, and more budgets; or a prior on alpha and beta from "
            "earlier sweeps",
        )
    ]


def summarise(d: Diagnostics, values: np.ndarray) -> "pd.DataFrame":
    """Summary table of scalars, one row each, from draws of shape (name, chain, draw)."""
    import pandas as pd

    from bayescale.tables import LEVELS

    quantiles = np.quantile(values, list(LEVELS.values()), axis=(1, 2))
    columns = {"mean": d.mean, "sd": d.sd} | dict(zip(LEVELS, quantiles, strict=True))
    columns |= {"mcse": d.mcse, "rhat": d.rhat, "ess_bulk": d.ess_bulk, "ess_tail": d.ess_tail}
    return pd.DataFrame(columns, index=pd.Index(d.names, name="parameter"))


@cache  # each version costs a millisecond, and many fits ask
def _versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    names = ("bayescale", "numpyro", "jax", "jaxlib", "numpy", "arviz-stats")
    return {"python": platform.python_version()} | {n: version(n) for n in names}


def versions() -> dict[str, str]:
    """Versions of what a fit's numbers depend on."""
    return dict(_versions())


def read(runs: Any, reading: Mapping[str, Any]) -> "Runs":
    """A table of runs from whatever `fit` takes."""
    from bayescale.data.public import load_runs

    return load_runs(runs, **reading)


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


def _moments(
    model: Model, packing: Packing, drawn: Draws, seed: int
) -> dict[str, tuple[float, float, float, float]]:
    """Prior and posterior mean and SD of the law's scalar parameters on the real line."""
    rng = np.random.default_rng([seed, 7])
    prior = packing.split(packing.join(packing.sample_prior(rng, 2000)))
    posterior = packing.split(drawn.vectors, drawn.centring)
    law_sites = {p.site: p.name for p in model.law.params}
    found = {}
    for site, shape in zip(packing.sites, packing.shapes, strict=True):
        name = law_sites.get(site.name.removesuffix("_pop"))
        if name is None or shape:
            continue
        before, after = prior[site.name], posterior[site.name]
        found[name] = tuple(
            float(x) for x in (before.mean(), before.std(), after.mean(), after.std())
        )
    return found


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
