"""Draws as named variables: sampled sites, parameters in the field's terms, derived quantities."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.inference.batch import Layout
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.law import Param


@dataclass(frozen=True)
class Variable:
    """Draws of one quantity.

    Parameters
    ----------
    values : array, shape (chain, draw, ...) or (draw, ...)
    dims : tuple of str
        Named axes behind the axes of draws.
    kind : {"site", "param", "derived", "noise", "drift"}
        Sampled coordinate, parameter of the law, derived from it, or parameter of noise or drift.
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
    refs = model.references(layout.refs, layout.cell_index)
    params = model.to_params(model.by_row(coordinates, layout.cell_index), refs)

    def own(p: Param, kind: str) -> Variable:
        """What is sampled of a parameter, on the axis of its own grouping column."""
        pool = model.pool(p)
        dims = ((pool.column,) if pool else ()) + p.dims
        return Variable(np.asarray(coordinates[p.site]), dims, kind)

    found: dict[str, Variable] = {}
    for p in model.law.params:
        pooled = model.pool(p) is not None
        cells = layout.cells if pooled or len(layout.cells) > 1 else ()
        there = _at_cells(params[p.name], p.dims, layout, "param", cells) if p.coordinate else None
        found[p.name] = there or own(p, "param")
    dims = {d.name: (*([d.by] if d.by else []), *d.dims) for d in model.law.derived}
    for name, value in model.derived(params).items():
        found[name] = _at_cells(value, dims[name], layout, "derived", layout.cells)
    for name, value in model.derived_by_label(coordinates, layout.refs, layout.labels).items():
        found[name] = Variable(value, dims[name], "derived")
    found |= {p.name: own(p, "noise") for p in model.noise.params()}
    found |= {p.name: own(p, "drift") for p in (model.drift.params() if model.drift else ())}
    found |= {p.site: own(p, "site") for p in model.law.params if p.coordinate and model.pool(p)}
    for site in packing.sites:
        if site.name not in found:
            found[site.name] = Variable(np.asarray(sites[site.name]), site.dims, "site")
    return found


def _at_cells(
    value: Any, dims: tuple[str, ...], layout: Layout, kind: str, cells: tuple[str, ...]
) -> Variable:
    """Draws with an axis of cells, or without one where all cells share the value."""
    value = np.asarray(value)
    axis = value.ndim - len(dims) - 1
    if not cells or value.shape[axis] != len(cells):
        return Variable(value.squeeze(axis), dims, kind)
    return Variable(value, (layout.cell_dim, *dims), kind)


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
