"""Reading runs: a file or table in, a checked `Runs` out."""

import hashlib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.aliases import FURTHER_NAMES, ROLES
from bayescale.data.cost import SIX_ND, CostModel
from bayescale.data.frames import content_hash, tidy, to_pandas
from bayescale.data.reader import Kept, TableReader
from bayescale.data.runs import FILE_FLAGS, Runs
from bayescale.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.data.curves import Curves


def read_runs(
    source: Any,
    *,
    columns: Mapping[str, str | None] | None = None,
    cost: CostModel | None = None,
    where: str | None = None,
    loss: str | None = None,
    drop_missing: bool = False,
    units: Mapping[str, float] | None = None,
    curves: "Curves | None" = None,
) -> Runs:
    """Read a table of training runs and check it.

    Parameters
    ----------
    source
        Path of a CSV (also .csv.gz), Parquet or JSON lines file; name of a public data set (see
        ``bayescale datasets``); a pandas, polars or pyarrow table; or `Runs`, which come back as
        they are unless another argument is given.
    columns
        Which column is what, for instance ``{"N": "my_size", "loss": "val_loss"}``, inputs of a
        law beyond N, D and C included (``{"U": "my_unique_tokens"}``); where left out, usual
        names are recognised. ``{"C": ""}`` leaves a column out.
    cost
        How N, D and C are tied; ``C = 6 N D`` by default.
    where
        Keep the rows for which this holds: ``"family == 'llama' and N > 1e9"``.
    loss
        Short for ``columns={"loss": ...}``.
    drop_missing
        Leave out runs with an empty cell in N, D, C or loss, in place of an error.
    units
        What the numbers are multiplied with: ``{"N": 1e9}`` for parameters in billions.
    curves
        How checkpoints of training runs are cleaned (`bayescale.Curves`).

    Returns
    -------
    Runs
        The checked table; ``print(runs.describe())`` says what was taken for what.

    Raises
    ------
    DataError
        One line naming the row or column, what was expected and what to do.
    """
    mapping = _mapping(columns, loss)
    units = _checked_units(units, mapping)
    keep = Kept(where, drop_missing, _checked_curves(curves))
    source = _resolved(source)
    if isinstance(source, Runs):
        if not (mapping or cost or units or keep):
            return source
        read = _reread(source, mapping, units, cost, keep)
    else:
        frame, name, sha256 = _open(source)
        frame, rows = tidy(frame, name)
        reader = TableReader(frame, rows, name, cost or SIX_ND, units)
        read = reader.read(mapping, keep, sha256)
    if curves is None:
        return read
    from bayescale.data.curves import clean_curves

    return clean_curves(read, curves)


def _resolved(source: Any) -> Any:
    from bayescale.data.public import resolve  # which reads the data sets' own tables by this

    return resolve(source)


def _checked_curves(curves: Any) -> "Curves | None":
    from bayescale.data.curves.options import Curves

    if curves is not None and not isinstance(curves, Curves):
        raise DataError(f"curves is {curves!r}; expected a value such as Curves(run='run_id').")
    return curves


def _mapping(columns: Mapping[str, str | None] | None, loss: str | None) -> dict[str, str | None]:
    mapping = dict(columns or {})
    if loss is not None:
        if mapping.get("loss", loss) != loss:
            raise DataError(
                f"loss='{loss}' and columns={{'loss': '{mapping['loss']}'}} differ; give one."
            )
        mapping["loss"] = loss
    return mapping


def _checked_units(
    units: Mapping[str, float] | None, mapping: Mapping[str, str | None]
) -> dict[str, float]:
    known = {"N", "D", "C", *FURTHER_NAMES, *mapping} - {"loss"}
    checked = {}
    for role, unit in (units or {}).items():
        if role not in known:
            raise DataError(f"units: '{role}' is none of N, D, C; write units={{'N': 1e9}}.")
        if not np.isfinite(unit) or unit <= 0:
            raise DataError(f"units: {role} = {unit} must be a number above zero, such as 1e9.")
        checked[role] = float(unit)
    return checked


def _open(source: Any) -> tuple["pd.DataFrame", str, str]:
    """Return the raw table, its name and its hash."""
    if isinstance(source, str | PathLike):
        from bayescale.data.files import read_bytes, read_file

        path = Path(source)
        content = read_bytes(path)
        return read_file(path, content), path.name, hashlib.sha256(content).hexdigest()
    frame = to_pandas(source)
    return frame, "DataFrame", content_hash(frame)


def _reread(
    runs: Runs,
    mapping: dict[str, str | None],
    units: dict[str, float],
    cost: CostModel | None,
    keep: Kept,
) -> Runs:
    """Read `Runs` again with other settings, keeping what was taken for what before."""
    own_names = {role: runs.columns[role] for role in runs.columns if role not in runs.derived}
    roles = {name: role for role, name in own_names.items()}
    new = {role: roles.get(name or "", name) for role, name in mapping.items()}
    for role in (*ROLES, *(name for name in own_names if name not in ROLES)):
        if role not in new:
            free = role in own_names and role not in new.values()
            new[role] = role if free else ""
    reader = TableReader(
        runs.table.drop(columns=list(runs.derived)),
        runs.row_numbers,
        runs.source,
        cost or runs.cost,
        units,
        [flag for flag in runs.flags if flag.kind in FILE_FLAGS],
        own_names,
    )
    return reader.read(new, keep, runs.sha256)
