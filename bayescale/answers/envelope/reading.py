"""A table of checkpoints as curves: which rows are one run, and which of them matter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.curves.names import RUN_NAMES, plain
from bayescale.data.curves.options import Curves
from bayescale.data.curves.thin import thinned
from bayescale.data.curves.which import Which, name_runs
from bayescale.errors import DataError
from bayescale.noise import CHECKPOINT
from bayescale.noise.memory import chain_columns
from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

LEAST = 3  # checkpoints of a run that has a curve
STEADY = 0.05  # compute per token may change by this along a run
RATES = frozenset(("lr", "learningrate", "rate"))
INSTEAD = "Runs that end at chosen budgets are what isoflop reads (bayescale isoflop)."


@dataclass(frozen=True)
class CurveData:
    """Checkpoints in order, run by run.

    Parameters
    ----------
    names : tuple of str
        Runs.
    code : integer array, shape (row,)
        Run of each checkpoint.
    log_d, loss, log_c : array, shape (row,)
        Log tokens, loss, log compute.
    previous, gap : array, shape (row,)
        The checkpoint before it in its run, and the distance on the scale of the noise's memory.
    log_n, log_cost : array, shape (run,)
        Log parameters, and log of compute per parameter and token.
    """

    names: tuple[str, ...]
    code: np.ndarray
    log_d: np.ndarray
    loss: np.ndarray
    log_c: np.ndarray
    previous: np.ndarray
    gap: np.ndarray
    log_n: np.ndarray
    log_cost: np.ndarray

    def spans(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest of some values along each run, shape (run,)."""
        starts = np.searchsorted(self.code, np.arange(len(self.names)))
        return np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)


def read_table(
    source: Any, run: str | tuple[str, ...] | None, reading: Mapping[str, Any]
) -> tuple["Runs", tuple[str, ...]]:
    """The table in order of runs and tokens, and the columns that name its runs.

    Raises
    ------
    DataError
        No column names the run, or N, D, C or loss is missing.
    """
    from bayescale.data.read import read_runs

    asked = dict(reading)
    curves = asked.pop("curves", None)
    if run is not None:
        curves = Curves(run) if curves is None else replace(curves, run=run)
    table = read_runs(source, **asked)
    table.require(["N", "D", "C", "loss"], by="an envelope of training curves")
    if curves is None:
        curves = Curves(_named(table))
    return read_runs(table, curves=curves), curves.columns


def _named(table: "Runs") -> str:
    """The column that names the run by its own name."""
    found = [str(c) for c in table.table.columns if plain(c) in RUN_NAMES]
    if found:
        return found[0]
    raise DataError(
        f"no column of {table.source} names the training run, and an envelope needs training "
        f"curves, several checkpoints of each: say which, run='its name' (shell: --run). {INSTEAD}"
    )


def read_curves(
    runs: "Runs", columns: Sequence[str], along: str, near: float | None, thin: int
) -> tuple[CurveData, list[str]]:
    """Curves of the runs that have one, and remarks.

    Parameters
    ----------
    runs : Runs
        In order of run and tokens, as `clean_curves` gives it.
    columns : sequence of str
        Columns that name the run.
    along : str
        Column along which scatter is remembered, or ``checkpoint``.
    near : float or None
        Keep checkpoints with a loss within this share of the lowest at their compute.
    thin : int
        At most so many checkpoints a run.

    Raises
    ------
    DataError
        Fewer than three sizes have curves, or compute isn't proportional to tokens in a run.
    """
    table, which = name_runs(runs, columns)
    runs = replace(runs, table=table)
    said = decaying(runs, which)
    keep = np.ones(len(runs), dtype=bool)
    if near is not None:
        keep = near_rows(runs, which, near)
        if not keep.all():
            said.append(
                f"{int((~keep).sum())} of {len(keep)} checkpoints lie more than {near:.0%} above "
                "the lowest loss at their compute and play no part."
            )
    few = np.bincount(which.code[keep], minlength=len(which.names)) < LEAST
    _enough(runs, which, few)
    if few.any():
        named = replace(which, names=tuple(_label(which, k) for k in range(len(few))))
        listed = named.listed(np.flatnonzero(few))
        said.append(f"{few.sum()} runs have fewer than {LEAST} checkpoints left: {listed}.")
    rows = np.flatnonzero(keep & ~few[which.code])
    rows = rows[np.argsort(which.code[rows], kind="stable")]
    kept, code = np.unique(which.code[rows], return_inverse=True)
    names = tuple(_label(which, k) for k in kept)
    fewer, _ = thinned(runs.column("D")[rows], Which(which.column, code, names), thin)
    return _data(runs, rows[fewer], code[fewer], names, along), said


def _label(which: Which, run: int) -> str:
    """The run's name; a size as people write it."""
    return quantity(float(which.names[run])) if which.column == "N" else which.names[run]


def _enough(runs: "Runs", which: Which, few: np.ndarray) -> None:
    sizes = np.unique(runs.column("N")[~few[which.code]])
    if len(sizes) >= LEAST:
        return
    if (which.sizes() == 1).all():
        raise DataError(
            f"each run of {runs.source} (by {which.column}) has one checkpoint, and an envelope "
            f"needs training curves, at least {LEAST} checkpoints of each run. {INSTEAD}"
        )
    raise DataError(
        f"{len(sizes)} size{'s' if len(sizes) != 1 else ''} of {runs.source} ha"
        f"{'ve' if len(sizes) != 1 else 's'} a curve of at least {LEAST} checkpoints; an envelope "
        f"needs 3 sizes or more, whose curves cross twice. Add sizes. {INSTEAD}"
    )


def near_rows(runs: "Runs", which: Which, near: float) -> np.ndarray:
    """Checkpoints whose loss is within a share of the lowest one at their compute."""
    log_c, loss = np.log(runs.column("C")), runs.column("loss")
    lowest = loss.copy()
    for k in range(len(which.names)):
        rows = np.flatnonzero(which.code == k)
        at = np.interp(log_c, log_c[rows], loss[rows], left=np.inf, right=np.inf)
        lowest = np.minimum(lowest, at)
    return loss <= lowest * (1 + near)


def _data(
    runs: "Runs", rows: np.ndarray, code: np.ndarray, names: tuple[str, ...], along: str
) -> CurveData:
    log_n, log_d, log_c = (np.log(runs.column(c)[rows]) for c in "NDC")
    count = np.bincount(code)
    cost = log_c - log_n - log_d
    centre = np.bincount(code, cost) / count
    off = np.abs(cost - centre[code])
    if off.max() > STEADY:
        k = int(np.argmax(off))
        raise DataError(
            f"compute per token of run '{names[code[k]]}' changes along the run (row "
            f"{runs.row_numbers[rows[k]]}: {np.expm1(off[k]):.0%} off its mean); an envelope needs "
            "compute in proportion to tokens: leave C out (columns={'C': ''}) to take 6 N D."
        )
    ordinal = along == CHECKPOINT
    place = _place(runs, along)[rows] if not ordinal else np.exp(log_d)
    chain = chain_columns(code, place, ordinal)
    size = np.bincount(code, log_n) / count
    loss = runs.column("loss")[rows]
    return CurveData(names, code, log_d, loss, log_c, chain["previous"], chain["gap"], size, centre)


def _place(runs: "Runs", along: str) -> np.ndarray:
    """The column along which scatter is remembered, checked."""
    values: Any = runs.column(along)
    if values.dtype.kind not in "fiu" or not (np.isfinite(values) & (values > 0)).all():
        raise DataError(
            f"along: column '{along}' doesn't hold a positive number in every row; name the "
            "column that counts tokens or steps, or 'checkpoint'."
        )
    return values.astype(float)


def decaying(runs: "Runs", which: Which) -> list[str]:
    """A remark where a column of learning rates falls along a run."""
    for column in runs.table.columns:
        if plain(column) not in RATES or runs.table[column].dtype.kind not in "fiu":
            continue
        rate = runs.column(str(column)).astype(float)
        falls = [
            k
            for k in range(len(which.names))
            if _last(rate[which.code == k]) < 0.5 * np.nanmax(rate[which.code == k])
        ]
        if falls:
            return [
                f"the learning rate ('{column}') falls along {len(falls)} runs "
                f"({which.listed(np.array(falls))}): a checkpoint before its end lies above what "
                "a run that ended there would reach, so the envelope is biased. Take finished "
                "runs only, one curve a size: Curves(run=…, last=True), then run='N'."
            ]
    return []


def _last(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite[-1]) if len(finite) else np.inf
