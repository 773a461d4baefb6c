"""Fits on disk: one netCDF file, written whole or not at all, with nothing executed on reading."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescale.errors import FitError
from bayescale.files import replace_atomic
from bayescale.fitted import Fit
from bayescale.inference.gate import gate_from_dict
from bayescale.inference.posterior import Variable
from bayescale.law import Law
from bayescale.metadata import restore_layout, restore_model

if TYPE_CHECKING:
    import xarray as xr

_REREAD = "Fit again, or give a file that `bayescale fit … -o` or Fit.save wrote."


def save(fit: Fit, path: Path) -> None:
    """Write a fit to ``path`` (netCDF); an older file there survives any failure.

    Raises
    ------
    FitError
        The folder is missing or read-only, the disk is full, or the fit holds no runs.
    """
    _ = fit.runs  # a shipped fit has none, and says so

    def write(temporary: Path) -> None:
        encoding = {
            f"/{group}": {name: {"dtype": "float32"} for name in fit.tree[group].data_vars}
            for group in ("log_likelihood", "posterior_predictive", "prior_predictive")
        }
        # in memory first: on a disk that runs full, the HDF5 library brings the process down
        temporary.write_bytes(fit.tree.to_netcdf(engine="h5netcdf", encoding=encoding))

    replace_atomic(path, write)


def load(path: str | Path, law: Law | None = None) -> Fit:
    """Read a fit back, or one that comes with the package.

    Parameters
    ----------
    path : str or Path
        File that `Fit.save` wrote, or the name of a shipped fit (``bayescale models``).
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
    path = Path(path)
    if not path.exists():
        from bayescale.zoo.find import is_name
        from bayescale.zoo.store import load_shipped

        if is_name(path):
            return load_shipped(str(path))
        raise FitError(f"there is no file {path}; `bayescale fit LAW RUNS -o {path}` makes one.")
    import xarray as xr

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
    model = restore_model(record, path, law)
    posterior = tree["posterior"].dataset.load()
    variables = {
        str(k): Variable(v.to_numpy(), tuple(str(d) for d in v.dims[2:]), v.attrs["kind"])
        for k, v in posterior.data_vars.items()
    }
    stats = tree["sample_stats"].dataset.load()
    return Fit(
        model=model,
        data=_restore_runs(tree, record["runs"], model.law.response),
        layout=restore_layout(record["layout"]),
        variables=variables,
        stats={str(k): v.to_numpy() for k, v in stats.data_vars.items()},
        gate=gate_from_dict(record["gate"]),
        record=record["record"],
        scalars=record["summary"],
    )


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
