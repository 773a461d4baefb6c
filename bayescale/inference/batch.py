"""A table of runs as the arrays that a model reads, padded so that compiled code is reused."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.curves.chains import chains
from bayescale.drift import KNOT, Grid
from bayescale.errors import DataError
from bayescale.inference.model import Model
from bayescale.inference.numbers import Bounds, read_numbers
from bayescale.law import Law, call_with
from bayescale.noise import CHECKPOINT
from bayescale.noise.memory import take_chain
from bayescale.param import Input
from bayescale.scatter import SCALES

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


@dataclass(frozen=True)
class Layout:
    """Named axes of a data set: groups by column, and the law's own dims.

    Parameters
    ----------
    labels : mapping
        Axis name -> labels.
    cells : tuple of str
        Names of the combinations of groups that have a law of their own; empty without pooling.
    cell_index : mapping
        Grouping column -> position of each cell's group.
    refs : mapping
        Input references (``N_ref``: geometric mean of N), and the law's centres, whose first
        axis is that of their column's labels.
    centre : float
        Mean log response: where noise that changes with loss is centred.
    noise_ref : float
        Mean log of the column with which the noise changes.
    drift : Grid, optional
        Knots of the model's drift.
    """

    labels: Mapping[str, tuple[str, ...]]
    cells: tuple[str, ...]
    cell_index: Mapping[str, np.ndarray]
    refs: Mapping[str, Any]
    centre: float
    noise_ref: float = 0.0
    drift: Grid | None = None

    @property
    def cell_dim(self) -> str:
        """Name of the axis of cells."""
        if len(self.cell_index) == 1:
            return next(iter(self.cell_index))
        return "group" if "group" not in self.labels else "cell"


def make_layout(model: Model, runs: "Runs") -> Layout:
    """Work out groups, cells and references of a data set.

    Raises
    ------
    DataError
        A column that the model reads is missing or holds what its law or noise can't take.
    """
    runs.require(needed_columns(model), by=f"law '{model.law.name}' as set up here")
    _check_axis_names(model)
    labels = dict(model.law.axes)
    _check_all_there(model, runs)
    for c in model.columns:
        if c not in labels:
            labels[c] = tuple(dict.fromkeys(_group_names(runs, c)))
    index = {c: _positions(_group_names(runs, c), labels[c], c) for c in model.cell_columns}
    cells: tuple[str, ...] = ()
    cell_index: dict[str, np.ndarray] = {}
    if model.cell_columns:
        combos = np.unique(np.stack(list(index.values()), axis=1), axis=0)
        cell_index = {c: combos[:, k] for k, c in enumerate(model.cell_columns)}
        cells = tuple(
            "/".join(labels[c][i] for c, i in zip(model.cell_columns, combo, strict=True))
            for combo in combos
        )
    columns = read_columns(model, runs)
    if model.law.check:
        model.law.check(columns, runs.row_numbers)
    numbers = [i for i in model.law.inputs if i.kind == "number"]
    refs = {f"{i.name}_ref": _reference(columns[i.name], i) for i in numbers}
    refs |= {c.name: np.asarray(call_with(c.function, columns)) for c in model.law.centres}
    response = columns[model.law.response]
    centre = float(np.mean(np.log(response))) if model.noise.on == "log" else 0.0
    noise_ref = 0.0
    if model.noise.varies_with not in (None, "loss"):
        noise_ref = float(np.mean(np.log(columns[str(model.noise.varies_with)])))
    drift = None
    if model.drift:
        drift = model.drift.grid(model.drift.place(model.law, columns))
        labels[KNOT] = drift.labels
    return Layout(labels, cells, cell_index, refs, centre, noise_ref, drift)


def _check_axis_names(model: Model) -> None:
    """A grouping column names an axis of the DataTree, beside its variables and other axes."""
    taken = {"chain", "draw", "row", *(s.name for s in model.sites)}
    taken |= {p.name for p in model.params} | {d.name for d in model.law.derived}
    for column in model.columns:
        if column in taken or "/" in column:
            why = "holds a slash" if "/" in column else "is the name of an axis or a parameter"
            raise DataError(f"the grouping column '{column}' {why}; rename the column.")


def _check_all_there(model: Model, runs: "Runs") -> None:
    """Each label that the law declares for a column of the table has rows there."""
    law = model.law
    columns = {i.name for i in law.inputs if i.kind == "label"} | set(model.columns)
    for column in columns & set(law.axes):
        known = set(_group_names(runs, column))
        for label in law.axes[column]:
            if label not in known:
                raise DataError(
                    f"no row of {runs.source} has {column} '{label}', which law '{law.name}' is "
                    f"set up for; add such rows, or set the law up without it (there are: "
                    f"{', '.join(sorted(known)[:10])})."
                )


def needed_columns(model: Model) -> list[str]:
    """Columns of the run table that a model reads."""
    noise = model.noise
    extra = [noise.varies_with if noise.varies_with != "loss" else None, noise.known_sd]
    extra += [noise.runs, noise.along if noise.along != CHECKPOINT else None]
    names = [*model.law.columns, model.law.response]
    return list(dict.fromkeys(names + [e for e in extra if e] + list(model.columns)))


def make_batch(model: Model, runs: "Runs", layout: Layout, beyond: bool = False) -> dict[str, Any]:
    """Arrays of a data set: response, inputs, group positions, noise columns, references.

    Returns
    -------
    dict
        ``response`` (row,), ``inputs`` name -> (row, ...), ``index`` column -> (row,) integers,
        ``noise`` name -> (row,), ``refs`` name -> scalar, or (row, ...) for a law's centres,
        ``mask`` (row,) all True, and of a model with drift ``drift`` (row, knot): its hinges,
        with ``beyond`` those past the runs of the layout too.
    """
    columns = read_columns(model, runs)
    index = {c: _positions(_group_names(runs, c), layout.labels[c], c) for c in model.columns}
    batch = {
        "response": columns[model.law.response],
        "inputs": {i.name: columns[i.name] for i in model.law.inputs},
        "index": index,
        "noise": noise_columns(model, {c: columns[c] for c in _noise_names(model)}, layout)
        | chains(model.noise, runs.table, model.law.label_columns, runs.row_numbers, runs.source),
        "refs": model.references(layout.refs, index),
        "mask": np.ones(len(runs), dtype=bool),
    }
    if model.drift and layout.drift:
        batch["drift"] = layout.drift.hinges(model.drift.place(model.law, columns), beyond)
    return batch


def noise_columns(model: Model, columns: Mapping[str, np.ndarray], layout: Layout) -> dict:
    """Columns that the noise reads, centred as in the fit."""
    noise, found = model.noise, {"centre": np.asarray(layout.centre)}
    if noise.known_sd and noise.known_sd in columns:
        found["known_sd"] = np.asarray(columns[noise.known_sd], dtype=float)
    if noise.varies_with not in (None, "loss"):
        found["noise_x"] = np.log(columns[str(noise.varies_with)]) - layout.noise_ref
    return found


def _noise_names(model: Model) -> list[str]:
    varies = model.noise.varies_with
    return [c for c in (model.noise.known_sd, varies if varies != "loss" else None) if c]


def read_columns(model: Model, runs: "Runs") -> dict[str, np.ndarray]:
    """Inputs, response and columns of the noise as arrays, checked for what is done with them.

    Returns
    -------
    dict
        Name -> array, shape (row,), or (row, label) for inputs with an axis.
    """
    law, noise = model.law, model.noise
    found = {i.name: _read_input(law, i, runs) for i in law.inputs}
    at = SCALES[noise.on]
    of_response = Bounds(at.lower, at.upper, open=True)
    found[law.response] = read_numbers(runs, law.response, of_response)
    for name in _noise_names(model):
        above = name == noise.varies_with or noise.sigma is None
        found[name] = read_numbers(runs, name, Bounds(0.0, open=above))
    return found


def _read_input(law: Law, item: Input, runs: "Runs") -> np.ndarray:
    if item.kind == "label":
        names = _group_names(runs, item.name)
        at = _positions(names, law.axes[item.dims[0]], item.name)
        return np.eye(len(law.axes[item.dims[0]]))[at]
    low = 0.0 if item.positive else item.at_least
    high = float("inf") if item.at_most is None else item.at_most
    bounds = Bounds(float("-inf") if low is None else low, high, open=item.positive)
    read = [read_numbers(runs, c, bounds) for c in law.columns_of(item)]
    return np.stack(read, axis=-1) if item.dims else read[0]


def pad(batch: dict[str, Any], size: int) -> dict[str, Any]:
    """Fill a batch up to ``size`` rows with copies of the first row, masked out."""
    rows = len(batch["response"])
    extra = size - rows
    if extra <= 0:
        return batch

    def fill(array: np.ndarray) -> np.ndarray:
        if np.ndim(array) == 0:
            return array
        return np.concatenate([array, np.repeat(array[:1], extra, axis=0)])

    padded = {
        key: {k: fill(v) for k, v in part.items()} if isinstance(part, dict) else fill(part)
        for key, part in batch.items()
    }
    padded["mask"] = np.concatenate([batch["mask"], np.zeros(extra, dtype=bool)])
    return padded


def take_rows(batch: Mapping[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """Some rows of a batch; single numbers stay."""

    def pick(value: Any) -> Any:
        if isinstance(value, Mapping):
            found = {k: pick(v) for k, v in value.items()}
            return found | take_chain(value, rows) if "previous" in value else found
        return value[rows] if np.ndim(value) else value

    return pick(batch)


def padded_size(rows: int) -> int:
    """Size to which a data set is padded: few sizes, at most a quarter of waste above 64."""
    size = 64
    while size < rows:
        size *= 2
    quarter = size // 8
    return next(s for s in range(size // 2, size + 1, quarter) if s >= rows) if size > 64 else size


def _group_names(runs: "Runs", column: str) -> list[str]:
    values = runs.table[column]
    missing = np.flatnonzero(values.isna().to_numpy())
    if len(missing):
        row = int(runs.row_numbers[missing[0]])
        raise DataError(f"column '{column}' names no group in row {row}; fill it or drop the row.")
    return [str(v) for v in values]


def _positions(names: list[str], labels: tuple[str, ...], column: str) -> np.ndarray:
    lookup = {label: k for k, label in enumerate(labels)}
    unknown = [n for n in names if n not in lookup]
    if unknown:
        raise DataError(
            f"column '{column}' has the group '{unknown[0]}', which the fit has not seen; "
            f"known: {', '.join(labels[:10])}."
        )
    return np.array([lookup[n] for n in names], dtype=np.int64)


def _reference(values: np.ndarray, item: Input) -> float:
    """The centre of an input's values, in whose terms coordinates are written."""
    if not (item.positive or item.dims):
        return float(np.mean(values))
    positive = values[values > 0]
    return float(np.exp(np.mean(np.log(positive)))) if positive.size else 1.0
