"""Draws as named variables: sampled sites, parameters in the field's terms, derived quantities."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.inference.batch import Layout
from bayescale.inference.density import Packing
from bayescale.inference.model import Model


@dataclass(frozen=True)
class Variable:
    """Draws of one quantity.

    Parameters
    ----------
    values : array, shape (chain, draw, ...) or (draw, ...)
    dims : tuple of str
        Named axes behind the axes of draws.
    kind : {"site", "param", "derived", "noise"}
        Sampled coordinate, parameter of the law, derived from it, or parameter of the noise.
    """

    values: np.ndarray
    dims: tuple[str, ...]
    kind: str


def variables(
    model: Model, layout: Layout, packing: Packing, sites: Mapping[str, np.ndarray]
) -> dict[str, Variable]:
    """All quantities of a posterior (or prior) from draws of its sites.

    Parameters
    ----------
    sites : mapping
        Site -> array of shape (..., *site dims); the leading axes are draws.

    Returns
    -------
    dict
        Parameters of the law first, then derived quantities, noise, and sampled sites.
    """
    coordinates = model.coordinates(sites)
    params = model.to_params(model.by_row(coordinates, layout.cell_index), layout.refs)
    cell_dims = (layout.cell_dim,) if layout.cells else ()

    def at_cells(value: Any, dims: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
        value = np.asarray(value)
        axis = value.ndim - len(dims) - 1
        if not cell_dims or value.shape[axis] == 1:
            return value.squeeze(axis), dims
        return value, cell_dims + dims

    found: dict[str, Variable] = {}
    for p in model.law.params:
        found[p.name] = Variable(*at_cells(params[p.name], p.dims), "param")
    for name, value in model.derived(params).items():
        found[name] = Variable(*at_cells(value, ()), "derived")
    for p in model.noise.params():
        pool = model.pool(p)
        dims = ((pool.column,) if pool else ()) + p.dims
        found[p.name] = Variable(np.asarray(coordinates[p.site]), dims, "noise")
    for p in model.law.params:
        pool = model.pool(p)
        if p.coordinate and pool and pool.kind == "partial":
            dims = (pool.column, *p.dims)
            found[p.site] = Variable(np.asarray(coordinates[p.site]), dims, "site")
    for site in packing.sites:
        if site.name not in found:
            found[site.name] = Variable(np.asarray(sites[site.name]), site.dims, "site")
    return found


def scalars(
    found: Mapping[str, Variable], labels: Mapping[str, tuple[str, ...]], lead: int = 2
) -> dict[str, np.ndarray]:
    """Each scalar of the variables with a name of its own: ``E[c4]`` -> (chain, draw).

    Parameters
    ----------
    lead : int
        Number of leading axes of draws.
    """
    listed: dict[str, np.ndarray] = {}
    for name, variable in found.items():
        shape = variable.values.shape[lead:]
        for position in np.ndindex(*shape):
            where = ",".join(labels[d][k] for d, k in zip(variable.dims, position, strict=True))
            listed[f"{name}[{where}]" if where else name] = variable.values[(..., *position)]
    return listed
