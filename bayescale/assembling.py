"""From draws to a `Fit`: variables, diagnostics, gate, record."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.choosing import shipped as shipped_law
from bayescale.fitted import Fit
from bayescale.inference.batch import Layout
from bayescale.inference.diagnostics import Diagnostics, diagnose
from bayescale.inference.gate import Problem, judge
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.inference.posterior import Variable, scalars, variables
from bayescale.inference.sample import Draws, Settings
from bayescale.inference.tied import tied_problems

Look = tuple[dict[str, Variable], np.ndarray, Diagnostics]
OPEN_SHARE = 0.5  # SD of the allocation exponent over its prior SD above which it counts as open

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


def assemble(
    model: Model,
    runs: "Runs",
    layout: Layout,
    packing: Packing,
    drawn: Draws,
    settings: Settings,
    seed: int,
    begin: float,
    looked: Look | None = None,
) -> Fit:
    """Put draws, diagnostics, gate and record together."""
    found, values, diagnostics = looked or look(model, layout, packing, drawn)
    problems = design_problems(model, runs) or separation_problems(
        model, layout, packing, found, seed
    )
    moments = _moments(model, packing, layout.labels, drawn, seed)
    axes = {**layout.labels, layout.cell_dim: layout.cells}
    problems = [
        *problems,
        *repetition_problems(model, runs, found),
        *tied_problems(model, found, axes, moments),
    ]
    gate = judge(diagnostics, moments, problems)
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
        data=runs,
        layout=layout,
        variables=found,
        stats=drawn.stats,
        gate=gate,
        record=record,
        scalars=summarise(diagnostics, values),
    )


def look(model: Model, layout: Layout, packing: Packing, drawn: Draws) -> Look:
    """Draws by name, draws of each scalar (name, chain, draw), and their diagnostics."""
    found = variables(model, layout, packing, packing.constrain(drawn.vectors, drawn.centring))
    listed = scalars(found, {**layout.labels, layout.cell_dim: layout.cells})
    values = np.stack(list(listed.values()))
    return found, values, diagnose(tuple(listed), values, drawn.stats)


def declaration(model: Model) -> str | None:
    """All that a shipped law's density depends on besides its source; None for other laws."""
    shipped = shipped_law(model.law)
    if shipped is None or shipped.mean is not model.law.mean:
        return None
    own = {p.name: p.coordinate for p in shipped.params}
    if any(p.coordinate and p.coordinate != own.get(p.name) for p in model.law.params):
        return None
    # repr, since str rounds a prior's numbers
    params = [(p.name, p.site, repr(p.prior), repr(p.allowed), p.dims) for p in model.params]
    pools = {p.name: repr(q) for p in model.params if (q := model.pool(p))}
    noise = json.dumps(model.noise.to_dict(), sort_keys=True)
    drift = model.drift and model.drift.to_dict()
    return repr((model.law.name, model.law.recipe, model.law.labels, params, pools, noise, drift))


def design_problems(model: Model, runs: "Runs") -> list[Problem]:
    """What the design of the runs can't separate, for laws of N and D."""
    from bayescale.data.design import design_report

    names = {i.name for i in model.law.inputs if not i.dims}
    if not {"N", "D"} <= names:
        return []
    flags = design_report(runs.column("N"), runs.column("D"))
    return [Problem("design", f.message, f.remedy) for f in flags]


def repetition_problems(model: Model, runs: "Runs", found: Mapping[str, Variable]) -> list[Problem]:
    """Runs harmed by repetition, in a law whose loss can't rise with epochs."""
    from bayescale.data.overrepetition import MARGIN, harm, safe_epochs

    names = ("N", "D", "U")
    alone = {i.name for i in model.law.inputs if not i.dims}
    if not set(names) <= alone or model.law.response != "loss":
        return []
    N, D, U, loss = (np.asarray(runs.column(c), dtype=float) for c in (*names, "loss"))
    # five SDs of noise, twice: more than some run lies above the best of others by chance
    noise = float(np.median(found["sigma"].values)) if "sigma" in found else 0.0
    above = harm(N, D, U, loss)
    worse = above > max(MARGIN, 5 * noise)
    if worse.sum() < 2:
        return []
    count = int(worse.sum())
    limit = f"D < {safe_epochs(D, U, worse):g} * U"
    return [
        Problem(
            "outside",
            f"{count} runs of {len(runs)} did worse than a run with "
            f"fewer epochs over the same tokens (by up to {np.expm1(above.max()):.0%}): repetition "
            "harmed them, and this law, whose loss never rises with epochs, bends to follow.",
            f'where="{limit}" leaves them out, with all others of as many epochs; '
            "runs.select(~harmed(runs), …) only them (bayescale.data.overrepetition)",
        )
    ]


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
    shares = after.std(axis=(0, 1)) / before
    worst, share = int(np.argmax(shares)), float(shares.max())
    if share <= OPEN_SHARE:
        return []
    low, high = np.quantile(after[..., worst], [0.05, 0.95])
    name = list(scalars({"a": found["a"]}, {**layout.labels, layout.cell_dim: layout.cells}))[worst]
    return [
        Problem(
            "design",
            "The exponents of size and data are hardly separated: the allocation exponent "
            f"{name} is {low:.2f} to {high:.2f} (90%), {share:.0%} as wide as its prior.",
            "more sizes at one budget, and more budgets; or a prior on alpha and beta from "
            "earlier sweeps",
        )
    ]


def summarise(d: Diagnostics, values: np.ndarray) -> dict[str, list[Any]]:
    """Columns of the summary of scalars, from draws of shape (name, chain, draw)."""
    from bayescale.tables import LEVELS

    quantiles = np.quantile(values, list(LEVELS.values()), axis=(1, 2))
    columns: dict[str, Any] = {"parameter": np.array(d.names, dtype=object)}
    columns |= {"mean": d.mean, "sd": d.sd} | dict(zip(LEVELS, quantiles, strict=True))
    columns |= {"p_negative": np.where(d.sd > 0, (values < 0).mean(axis=(1, 2)), np.nan)}
    columns |= {"mcse": d.mcse, "rhat": d.rhat, "ess_bulk": d.ess_bulk, "ess_tail": d.ess_tail}
    return {name: values.tolist() for name, values in columns.items()}


@cache  # each version costs a millisecond, and many fits ask
def _versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    names = ("bayescale", "numpyro", "jax", "jaxlib", "numpy", "arviz-stats")
    return {"python": platform.python_version()} | {n: version(n) for n in names}


def versions() -> dict[str, str]:
    """Versions of what a fit's numbers depend on."""
    return dict(_versions())


def _moments(
    model: Model,
    packing: Packing,
    labels: Mapping[str, tuple[str, ...]],
    drawn: Draws,
    seed: int,
) -> dict[str, tuple[float, float, float, float]]:
    """Prior and posterior mean and SD of each of the law's parameters on the real line.

    One in units of a scale is taken itself: of a transfer that is shrunk to nothing the data tell
    that, whatever its coordinate is.
    """
    rng = np.random.default_rng([seed, 7])
    prior = packing.split(packing.join(packing.sample_prior(rng, 2000)))
    posterior = packing.split(drawn.vectors, drawn.centring)
    whole = {z: 1.0 for z, _ in packing.scales}
    prior, posterior = (of | packing.scaled(of, whole) for of in (prior, posterior))
    asked = [p for p in model.law.params if p.name not in model.law.nuisance]
    law_sites = {p.site: p.name for p in asked}
    found = {}
    for site, shape in zip(packing.sites, packing.shapes, strict=True):
        name = law_sites.get(site.name.removesuffix("_pop"))
        if name is None:
            continue
        before, after = prior[site.name], posterior[site.name]
        for place in np.ndindex(*shape):
            where = ",".join(labels[d][k] for d, k in zip(site.dims, place, strict=True))
            one, other = before[(..., *place)], after[(..., *place)]
            found[f"{name}[{where}]" if where else name] = tuple(
                float(x) for x in (one.mean(), one.std(), other.mean(), other.std())
            )
    return found
