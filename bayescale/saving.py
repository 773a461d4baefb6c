"""Fits on disk: one netCDF file, written whole or not at all, with nothing executed on reading."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.choosing import rebuild
from bayescale.drift import Grid, drift_from_dict
from bayescale.errors import FitError
from bayescale.files import replace_atomic
from bayescale.fitted import Fit
from bayescale.inference.batch import Layout
from bayescale.inference.gate import gate_from_dict
from bayescale.inference.model import Model
from bayescale.inference.posterior import Variable
from bayescale.law import Law
from bayescale.laws import LAWS
from bayescale.noise import noise_from_dict
from bayescale.pooling import pooling_from_dict
from bayescale.priors import prior_from_dict

if TYPE_CHECKING:
    import xarray as xr

FORMAT = 1
_REREAD = "Fit again, or give a file that `bayescale fit … -o` or Fit.save wrote."


def metadata(fit: Fit) -> dict[str, Any]:
    """All of a fit that isn't draws or columns, as plain values."""
    layout = fit.layout
    summary = fit.summary.reset_index().to_dict(orient="list")
    return {
        "format": FORMAT,
        "law": {
            "name": fit.law.name,
            "equation": _equation(fit.law),
            "recipe": fit.law.recipe,
            "priors": {p.name: [p.site, p.prior.to_dict()] for p in fit.law.params},
        },
        "noise": fit.model.noise.to_dict(),
        "pooling": fit.model.pooling.to_dict(),
        "drift": fit.model.drift and fit.model.drift.to_dict(),
        "layout": {
            "labels": {k: list(v) for k, v in layout.labels.items()},
            "cells": list(layout.cells),
            "cell_index": {k: v.tolist() for k, v in layout.cell_index.items()},
            "refs": {k: np.asarray(v).tolist() for k, v in layout.refs.items()},
            "centre": layout.centre,
            "noise_ref": layout.noise_ref,
            "drift": layout.drift and asdict(layout.drift),
        },
        "runs": {
            "source": fit.runs.source,
            "sha256": fit.runs.sha256,
            "columns": dict(fit.runs.columns),
            "cost": fit.runs.cost.to_dict(),
            "derived": sorted(fit.runs.derived),
            "order": [str(c) for c in fit.runs.table.columns],
            "flags": [[f.kind, list(f.rows), f.message] for f in fit.runs.flags],
        },
        "gate": fit.gate.to_dict(),
        "record": dict(fit.record),
        "summary": summary,
    }


def save(fit: Fit, path: Path) -> None:
    """Write a fit to ``path`` (netCDF); an older file there survives any failure.

    Raises
    ------
    FitError
        The folder is missing or read-only, or the disk is full.
    """

    def write(temporary: Path) -> None:
        encoding = {
            f"/{group}": {name: {"dtype": "float32"} for name in fit.tree[group].data_vars}
            for group in ("log_likelihood", "posterior_predictive", "prior_predictive")
        }
        # in memory first: on a disk that runs full, the HDF5 library brings the process down
        temporary.write_bytes(fit.tree.to_netcdf(engine="h5netcdf", encoding=encoding))

    replace_atomic(path, write)


def load(path: str | Path, law: Law | None = None) -> Fit:
    """Read a fit back.

    Parameters
    ----------
    path : str or Path
        File that `Fit.save` wrote.
    law : Law, optional
        The law, where the fit was of a user's own; it must have the same name and parameters.

    Returns
    -------
    Fit

    Raises
    ------
    FitError
        The file is missing, truncated, not a bayescale fit, or of a law that isn't known here.
    """
    import xarray as xr

    path = Path(path)
    if not path.exists():
        raise FitError(f"there is no file {path}; `bayescale fit LAW RUNS -o {path}` makes one.")
    try:
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            record = json.loads(tree.attrs.get("bayescale", "null"))
            if not isinstance(record, dict):
                raise FitError(f"{path} is netCDF but holds no bayescale fit. {_REREAD}")
            return _restore(tree, record, path, law)
    except FitError:
        raise
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError) as problem:
        reason = str(problem).splitlines()[0][:120] if str(problem) else type(problem).__name__
        raise FitError(f"{path} can't be read as a bayescale fit ({reason}). {_REREAD}") from None


def _restore(tree: "xr.DataTree", record: Mapping[str, Any], path: Path, law: Law | None) -> Fit:
    import pandas as pd

    if record.get("format") != FORMAT:
        raise FitError(
            f"{path} has fit format {record.get('format')}, this version reads {FORMAT}; "
            "use the version of bayescale that wrote it, or fit again."
        )
    model = Model(
        replace(_restore_law(record["law"], path, law), drift=drift_from_dict(record.get("drift"))),
        noise_from_dict(record["noise"]),
        pooling_from_dict(record["pooling"]),
    )
    kept = record["layout"]
    layout = Layout(
        labels={k: tuple(v) for k, v in kept["labels"].items()},
        cells=tuple(kept["cells"]),
        cell_index={k: np.array(v) for k, v in kept["cell_index"].items()},
        refs={k: np.array(v) if isinstance(v, list) else v for k, v in kept["refs"].items()},
        centre=kept["centre"],
        noise_ref=kept["noise_ref"],
        drift=Grid(**kept["drift"]) if kept.get("drift") else None,
    )
    posterior = tree["posterior"].dataset.load()
    variables = {
        str(k): Variable(v.to_numpy(), tuple(str(d) for d in v.dims[2:]), v.attrs["kind"])
        for k, v in posterior.data_vars.items()
    }
    stats = tree["sample_stats"].dataset.load()
    return Fit(
        model=model,
        runs=_restore_runs(tree, record["runs"], model.law.response),
        layout=layout,
        variables=variables,
        stats={str(k): v.to_numpy() for k, v in stats.data_vars.items()},
        gate=gate_from_dict(record["gate"]),
        record=record["record"],
        summary=pd.DataFrame(record["summary"]).set_index("parameter"),
    )


def _restore_law(kept: Mapping[str, Any], path: Path, law: Law | None) -> Law:
    name = kept["name"]
    recipe = kept.get("recipe")
    base = law or (rebuild((recipe[0], recipe[1])) if recipe else LAWS.get(name))
    if base is None:
        raise FitError(
            f"{path} is a fit of '{name}', a law of your own; pass it: load(path, law=…)."
        )
    names = [p.name for p in base.params]
    if base.name != name or names != list(kept["priors"]) or _equation(base) != kept["equation"]:
        raise FitError(
            f"{path} was fitted with law '{name}' of parameters {', '.join(kept['priors'])} "
            f"and equation {kept['equation'] or 'not recorded'}; the law at hand differs. "
            "Pass the law it was fitted with, or fit again."
        )
    changed = {}
    for param in base.params:
        site, prior = kept["priors"][param.name]
        if site != param.site or prior_from_dict(prior) != param.prior:
            changed[site] = prior_from_dict(prior)
    return base.with_priors(changed)


def _equation(law: Law) -> str:
    """The declared equation; a law without one is recognised by its parameters alone."""
    return law.equation


def _restore_runs(tree: "xr.DataTree", kept: Mapping[str, Any], response: str) -> Any:
    import pandas as pd

    from bayescale.data.cost import cost_from_dict
    from bayescale.data.flags import Flag
    from bayescale.data.runs import Runs

    constant = tree["constant_data"].dataset.load()
    columns = {v.attrs["column"]: v.to_numpy() for v in constant.data_vars.values()}
    observed = tree["observed_data"].dataset.load()
    columns[response] = observed[response].to_numpy()
    return Runs(
        table=pd.DataFrame({name: columns[name] for name in kept["order"]}),
        columns=kept["columns"],
        cost=cost_from_dict(kept["cost"]),
        row_numbers=observed["row"].to_numpy(),
        flags=tuple(Flag(kind, tuple(rows), message) for kind, rows, message in kept["flags"]),
        source=kept["source"],
        sha256=kept["sha256"],
        derived=frozenset(kept["derived"]),
    )
