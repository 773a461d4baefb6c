"""Runs of backbones: their models, capability scores and families from a table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.cells import read_numbers
from bayescale.data.columns import listed
from bayescale.data.flags import Flag
from bayescale.data.messages import rows_text
from bayescale.data.scores import Scores, capability_scores
from bayescale.errors import DataError, nearest
from bayescale.laws.backbones import Backbones

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


USUAL = ("text_*", "score_*", "benchmark_*")  # columns taken as benchmark scores unasked


@dataclass(frozen=True)
class ScoreOptions:
    """Where capability scores come from.

    Parameters
    ----------
    scores : Scores, optional
        Made before, maybe from more models than have runs.
    benchmarks : tuple of str
        Columns of the run table, or patterns (``text_*``), of which scores are made; where the
        table has no S_1, S_2, … either, those of `USUAL` patterns are.
    components, explained
        As in `capability_scores`.
    model, family : str
        Columns that name the backbone and its family; no families where empty.
    """

    scores: Scores | None = None
    benchmarks: tuple[str, ...] = ()
    components: int | None = None
    explained: float = 0.95
    model: str = "model"
    family: str = ""


def responses(runs: "Runs", column: str, fraction: bool) -> "Runs":
    """Runs with a response as ``accuracy`` (or as it is), those without one left out and counted.

    Raises
    ------
    DataError
        The column is missing, or a cell is no accuracy.
    """
    runs.require([column], by="a capability law (response='...' says which column it is)")
    cells: Any = runs.table[column]
    read = read_numbers(cells, "loss")
    if read.bad:
        place, problem = read.bad[0]
        raise DataError(f"{runs.source} row {runs.row_numbers[place]}: {column}: {problem}")
    values, keep = read.values, ~np.isnan(read.values)
    if not keep.any():
        raise DataError(f"column '{column}' of {runs.source} has no number in any row.")
    flags = []
    if fraction:
        values, said = _fractions(values, column, runs)
        flags += [Flag("note", (), said)] if said else []
    if not keep.all():
        lost = runs.row_numbers[~keep]
        said = f"{len(lost)} checkpoints without {column} are masked: {rows_text(lost)}"
        flags.append(Flag("dropped", tuple(int(r) for r in lost), said))
    name = "accuracy" if fraction else column
    table: Any = runs.table.assign(**{name: values})[keep].reset_index(drop=True)
    kept = tuple(f for f in runs.flags if f.kind in ("note", "filtered", "dropped", "selected"))
    return replace(
        runs,
        table=table,
        row_numbers=runs.row_numbers[keep],
        flags=(*kept, *flags),
        columns={**runs.columns, **({name: column} if name != column else {})},
    )


def _fractions(values: np.ndarray, column: str, runs: "Runs") -> tuple[np.ndarray, str]:
    high, low = values > 1, (values > 0) & (values < 1)
    bad = (values < 0) | (values > 100)
    if bad.any():
        place = int(np.argmax(bad))
        raise DataError(
            f"column '{column}' is {values[place]:g} in row {runs.row_numbers[place]}; an accuracy "
            "lies between 0 and 1, or between 0 and 100 in percent."
        )
    if high.any() and low.any():
        raise DataError(
            f"column '{column}' mixes units: {values[low][0]:g} in row "
            f"{runs.row_numbers[low][0]} and {values[high][0]:g} in row "
            f"{runs.row_numbers[high][0]}; write all as fractions or all in percent."
        )
    if not high.any():
        return values, ""
    return values / 100, f"{column} is in percent and was divided by 100"


def find_backbones(runs: "Runs", options: ScoreOptions) -> "tuple[Backbones, Runs]":
    """The backbones of a table, and the table with their scores S_1 to S_K and family.

    Raises
    ------
    DataError
        A model without a name or without scores, or too few models.
    """
    names = _names(runs, options.model)
    table = runs.table.assign(model=names)
    scores = options.scores
    if scores is None and not options.benchmarks and "S_1" not in runs.table:
        options = replace(options, benchmarks=_usual_benchmarks(runs))
    if scores is None and not options.benchmarks:
        points = _columns_of_scores(runs, names)
    else:
        if scores is None:
            scores = _make_scores(runs, names, options)
        each = list(dict.fromkeys(names))
        points = dict(zip(each, scores.of(each), strict=True))
    models = tuple(points)
    if len(models) < 2:
        raise DataError(
            f"{runs.source} has runs of one model ('{names[0]}'); how accuracy follows "
            "capability needs two or more."
        )
    families, flags = _families(runs, names, options.family)
    rows = np.stack([points[name] for name in names])
    columns = {f"S_{k + 1}": rows[:, k] for k in range(rows.shape[1])}
    table = table.assign(**columns)
    if families:
        table = table.assign(family=[families[n] for n in names])
    said = [Flag("note", (), line) for line in (scores.describe() if scores else ())]
    made = replace(runs, table=table, flags=(*runs.flags, *said, *flags))
    found = Backbones(
        models,
        tuple(tuple(float(x) for x in points[m]) for m in models),
        tuple(families[m] for m in models) if families else (),
        scores,
    )
    return found, made


def _usual_benchmarks(runs: "Runs") -> tuple[str, ...]:
    """The pattern that two columns or more of a table have in common, if it is a usual one."""
    columns = [str(c) for c in runs.table.columns]
    for pattern in USUAL:
        if sum(fnmatchcase(c, pattern) for c in columns) > 1:
            return (pattern,)
    return ()


def _names(runs: "Runs", column: str) -> list[str]:
    runs.require([column], by="a capability law (model='...' says which column names the model)")
    cells = runs.table[column]
    empty = np.flatnonzero(cells.isna().to_numpy())
    if len(empty):
        raise DataError(f"column '{column}' names no model in row {runs.row_numbers[empty[0]]}.")
    return [str(v) for v in cells]


def _make_scores(runs: "Runs", names: Sequence[str], options: ScoreOptions) -> Scores:
    known = [str(c) for c in runs.table.columns]
    chosen: list[str] = []
    for pattern in options.benchmarks:
        own = {file: role for role, file in runs.columns.items() if role not in runs.derived}
        matching = [c for c in known if fnmatchcase(c, own.get(pattern, pattern))]
        if not matching:
            raise DataError(
                f"{runs.source} has no benchmark '{pattern}'; there are {listed(known)}."
                + nearest(pattern, known)
            )
        chosen += matching
    return capability_scores(
        runs.table[list(dict.fromkeys(chosen))].assign(model=names),
        options.explained,
        components=options.components,
        benchmarks=list(dict.fromkeys(chosen)),
    )


def _columns_of_scores(runs: "Runs", names: Sequence[str]) -> dict[str, np.ndarray]:
    """Scores that the table brings along: S_1, S_2, … alike in all rows of a model."""
    count = 0
    while f"S_{count + 1}" in runs.table:
        count += 1
    if not count:
        raise DataError(
            f"{runs.source} has no capability scores: give the benchmarks to make them of "
            "(benchmarks='text_*'), scores=capability_scores(...), or columns S_1, S_2, …."
        )
    cells: Any = runs.table
    columns = [read_numbers(cells[f"S_{k + 1}"], "D").values for k in range(count)]
    values, first = np.stack(columns, axis=1), {}
    for row, name in enumerate(names):
        if not np.isfinite(values[row]).all():
            raise DataError(
                f"model '{name}' has no capability score in row {runs.row_numbers[row]} "
                "(columns S_1 …): fill it in or leave the model out."
            )
        kept = first.setdefault(name, row)
        if not np.allclose(values[row], values[kept], rtol=1e-9, atol=1e-12):
            raise DataError(
                f"model '{name}' has other capability scores in row {runs.row_numbers[row]} than "
                f"in row {runs.row_numbers[kept]}; a model has one set of them."
            )
    return {name: values[row] for name, row in first.items()}


def _families(runs: "Runs", names: Sequence[str], column: str) -> tuple[dict[str, str], list[Flag]]:
    """Family of each model, and a remark on families with one model."""
    if not column:
        return {}, []
    runs.require([column], by="a capability law with families")
    found: dict[str, str] = {}
    for row, (name, cell) in enumerate(zip(names, runs.table[column], strict=True)):
        if cell != cell or cell is None:
            raise DataError(f"column '{column}' names no family in row {runs.row_numbers[row]}.")
        if found.setdefault(name, str(cell)) != str(cell):
            raise DataError(
                f"model '{name}' is of two families: '{found[name]}' and '{cell}'; correct one."
            )
    sizes = list(found.values())
    alone = [f for f in dict.fromkeys(sizes) if sizes.count(f) == 1]
    if not alone:
        return found, []
    said = (
        f"famil{'ies' if len(alone) > 1 else 'y'} with one model: {listed(alone)}; how accuracy "
        "follows capability there comes from the other families, through partial pooling"
    )
    return found, [Flag("note", (), said)]
