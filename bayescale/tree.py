"""A fit as an ArviZ DataTree, and its parts as NumPy arrays."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.inference.batch import make_batch
from bayescale.inference.posterior import Variable, variables
from bayescale.inference.rows import at_rows

if TYPE_CHECKING:
    import xarray as xr

    from bayescale.fitted import Fit

MAX_ELEMENTS = 20_000_000  # of log_likelihood and posterior_predictive; draws are thinned beyond
PRIOR_DRAWS = 1000


def build_tree(fit: "Fit") -> "xr.DataTree":
    """Build the DataTree that ArviZ reads.

    Groups are posterior, sample_stats, log_prior, log_likelihood, posterior_predictive, prior,
    prior_predictive, observed_data and constant_data. Where rows x draws would pass 20 million,
    log_likelihood and posterior_predictive keep every k-th draw (attribute ``thinned_by``), and
    prior_predictive fewer draws too. Of a fit that was shipped without its runs only the first
    three are there.

    Returns
    -------
    xarray.DataTree
        Dims chain, draw, row, and the fit's own named axes.
    """
    import xarray as xr

    chains, draws = fit.stats["lp"].shape
    sampled = {"chain": np.arange(chains), "draw": np.arange(draws)}
    groups = {
        "posterior": _dataset(fit, fit.variables, sampled),
        "sample_stats": xr.Dataset(
            {k: (("chain", "draw"), v) for k, v in fit.stats.items()}, sampled
        ),
        "log_prior": _log_prior(fit, sampled),
    }
    if fit.has_runs:
        groups |= _with_rows(fit, sampled)
    tree = xr.DataTree.from_dict({f"/{k}": v for k, v in groups.items()})
    tree.attrs.update(_attributes(fit))
    return tree


def _with_rows(fit: "Fit", sampled: Mapping[str, Any]) -> "dict[str, xr.Dataset]":
    """Groups that have an axis of runs, and the prior that goes with its replicates."""
    import xarray as xr

    response = fit.law.response
    chains, draws = fit.stats["lp"].shape
    thin = max(1, -(-chains * draws * len(fit.runs) // MAX_ELEMENTS))
    likelihood, predictive = pointwise(fit, _chained(fit, thin), fit.seed)
    keep = max(1, -(-PRIOR_DRAWS * len(fit.runs) // MAX_ELEMENTS))
    prior, prior_predictive = _prior(fit, keep)
    rows = {"row": fit.runs.row_numbers}
    thinned = {"chain": sampled["chain"], "draw": sampled["draw"][::thin]}
    by_row = ("chain", "draw", "row")
    one = {"chain": [0], "draw": np.arange(PRIOR_DRAWS)}
    few = one | {"draw": one["draw"][::keep]}
    groups = {
        "log_likelihood": xr.Dataset({response: (by_row, likelihood)}, thinned | rows),
        "posterior_predictive": xr.Dataset({response: (by_row, predictive)}, thinned | rows),
        "prior": _dataset(fit, prior, one),
        "prior_predictive": xr.Dataset({response: (by_row, prior_predictive)}, few | rows),
        "observed_data": xr.Dataset({response: ("row", fit.runs.column(response))}, rows),
        "constant_data": _columns(fit, rows),
    }
    if thin > 1:
        for name in ("log_likelihood", "posterior_predictive"):
            groups[name].attrs["thinned_by"] = thin
    return groups


def pointwise(
    fit: "Fit", sites: Mapping[str, np.ndarray], seed: int, likelihood: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Log likelihood of each run and a replicate of it, for draws of the sites.

    Parameters
    ----------
    sites : mapping
        Site -> array of shape (chain, draw, ...).
    seed : int
        Seed of the replicates' noise.
    likelihood : bool
        Whether the log likelihood is wanted; else it comes empty.

    Returns
    -------
    log_likelihood, replicates : array, shape (chain, draw, row)
    """
    model, batch = fit.model, make_batch(fit.model, fit.runs, fit.layout)
    rng = np.random.default_rng([seed, 11])
    chains = len(next(iter(sites.values())))
    densities, replicates = [], []
    for chain in range(chains):
        mean, params = at_rows(model, batch, {k: v[chain] for k, v in sites.items()})
        if likelihood:
            y = batch["response"]
            densities.append(model.noise.log_density(y, mean, params, batch["noise"]))
        replicates.append(model.noise.draw(rng, mean, params, batch["noise"]))
    return np.stack(densities) if likelihood else np.empty((0,)), np.stack(replicates)


def _chained(fit: "Fit", thin: int) -> dict[str, np.ndarray]:
    return {s.name: fit.variables[s.name].values[:, ::thin] for s in fit.packing.sites}


def _prior(fit: "Fit", keep: int) -> tuple[dict[str, Variable], np.ndarray]:
    """Prior draws of all quantities, and prior replicates of the runs for every k-th of them."""
    rng = np.random.default_rng([fit.seed, 13])
    sites = {k: v[None] for k, v in fit.packing.sample_prior(rng, PRIOR_DRAWS).items()}
    found = variables(fit.model, fit.layout, fit.packing, sites)
    with np.errstate(all="ignore"):  # wild prior draws may overflow; they are draws all the same
        some = {k: v[:, ::keep] for k, v in sites.items()}
        _, replicates = pointwise(fit, some, fit.seed + 1, likelihood=False)
    return found, replicates


def _dataset(fit: "Fit", found: Mapping[str, Variable], coords: Mapping[str, Any]) -> "xr.Dataset":
    import xarray as xr

    used = {d for v in found.values() for d in v.dims}
    labels = {**fit.layout.labels, fit.layout.cell_dim: fit.layout.cells}
    arrays = {
        k: (("chain", "draw", *v.dims), v.values, {"kind": v.kind, **describe(fit, k)})
        for k, v in found.items()
    }
    return xr.Dataset(arrays, {**coords, **{d: list(labels[d]) for d in used}})


def describe(fit: "Fit", name: str) -> dict[str, str]:
    """Meaning and unit of a variable of a fit."""
    for p in fit.model.params:
        if p.name == name:
            return {"meaning": p.meaning, "unit": p.unit}
        if p.coordinate and p.site == name:
            return {"meaning": p.coordinate.meaning, "unit": p.coordinate.unit}
    for d in fit.law.derived:
        if d.name == name:
            return {"meaning": d.meaning, "unit": d.unit}
    return {"meaning": "", "unit": ""}


def _log_prior(fit: "Fit", coords: Mapping[str, Any]) -> "xr.Dataset":
    """Log prior density of the law's and the noise's sites, for power-scaling."""
    import xarray as xr

    arrays = {}
    for site in fit.packing.sites:
        density = site.prior.log_density(fit.variables[site.name].values)
        arrays[site.name] = (("chain", "draw", *site.dims), density)
    used = {d for s in fit.packing.sites for d in s.dims}
    return xr.Dataset(arrays, {**coords, **{d: list(fit.layout.labels[d]) for d in used}})


def _columns(fit: "Fit", rows: Mapping[str, Any]) -> "xr.Dataset":
    """Every other column of the run table, numbers as they are and the rest as text."""
    import xarray as xr

    arrays = {}
    for name in fit.runs.table.columns:
        if name == fit.law.response:
            continue
        # a slash would make a group of a netCDF variable; "row" is the axis
        label = str(name).replace("/", "∕")
        while label in arrays or label in rows:
            label += "_"
        arrays[label] = ("row", _stored(fit.runs.table[name]), {"column": str(name)})
    return xr.Dataset(arrays, rows)


def _stored(values: Any) -> np.ndarray:
    """A column as netCDF takes it, such that groups keep their names: 1 stays 1, not 1.0."""
    if values.dtype.kind not in "fiub":
        return values.astype(str).to_numpy(object)
    if isinstance(values.dtype, np.dtype):
        return values.to_numpy()
    if values.isna().any():  # pandas' whole numbers that may be missing
        return values.to_numpy(float, na_value=np.nan)
    return np.asarray(values.to_list())


def _attributes(fit: "Fit") -> dict[str, Any]:
    from bayescale.metadata import metadata

    return {
        "bayescale": json.dumps(metadata(fit)),
        "inference_library": "bayescale (NumPyro NUTS)",
        "created_by": f"bayescale {fit.record['versions']['bayescale']}",
        "sample_dims": ["chain", "draw"],
        "x64": str(fit.record["x64"]),
        "device": str(fit.record["device"]),
        "law": fit.law.name,
        "converged": str(fit.converged),
    }
