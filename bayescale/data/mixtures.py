"""Tables of runs on mixtures of sources: wide or long in, one row a run and target out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayescale.data.columns import candidates, listed
from bayescale.data.flags import Flag
from bayescale.data.frames import content_hash
from bayescale.data.headers import read_header
from bayescale.data.messages import range_text, rows_text
from bayescale.data.mixture_columns import MixtureColumns, find_columns
from bayescale.data.mixture_rows import number_cells, responses
from bayescale.data.runs import FILE_FLAGS, Runs
from bayescale.errors import DataError

SUM_TOLERANCE = 0.005  # shares rounded to three digits sum to one within it
SAME_TOKENS = 1e-3  # unique tokens may exceed sampled ones by so much: rounding
MIXTURE_READING: Mapping[str, Any] = {"columns": {"loss": "", "D": ""}}


def read_mixtures(
    source: Any,
    *,
    sources: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    shares: Mapping[str, str] | None = None,
    tokens: Mapping[str, str] | None = None,
    unique: Mapping[str, str] | None = None,
    losses: Mapping[str, str] | None = None,
    total: str | None = None,
    normalise: bool = False,
    **reading: Any,
) -> Runs:
    """Read runs on mixtures of data sources: one row for each run and target loss.

    Columns are found by their names; an argument that names them comes first.

    Parameters
    ----------
    source : path, table, Runs or data set name
        Wide (a loss column for each target) or long (columns ``target`` and ``loss``).
    sources, targets : sequence of str, optional
        Keep these only, in this order; default: all that the columns name.
    shares, tokens, unique : mapping, optional
        Source -> column of its share of the run's tokens, its sampled tokens, its unique tokens.
    losses : mapping, optional
        Target -> column of its loss.
    total : str, optional
        Column of all tokens of a run, with which shares are multiplied. Where a table has none,
        tokens are counted in units of a run.
    normalise : bool
        Divide shares by their sum whatever it is. Without it a sum further than 0.005 from one is
        an error; nearer ones (rounding) are divided all the same.
    **reading
        Passed to `read_runs` (``where=``, ``units=``, ``columns={"N": …}``, …).

    Returns
    -------
    Runs
        Columns N (where known), D (all tokens), ``D_<source>`` sampled and ``U_<source>`` unique
        tokens (where given; empty cells there mean no repetition), ``target``, ``loss``, ``run``,
        and the table's other columns. What was taken for what stands in its flags.

    Raises
    ------
    DataError
        Shares that don't sum to one, are negative or empty; a source without tokens in any run;
        more unique than sampled tokens; a target that no row has; columns that can't be found.
    """
    from bayescale.data.read import read_runs

    told = dict(reading)
    told["columns"] = {**MIXTURE_READING["columns"], **(told.get("columns") or {})}
    runs = read_runs(source, **told)
    given = {"shares": shares, "tokens": tokens, "unique": unique, "losses": losses}
    return melt(runs, given, sources, targets, total, normalise)


def melt(
    runs: Runs,
    given: Mapping[str, Mapping[str, str] | None] | None = None,
    sources: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    total: str | None = None,
    normalise: bool = False,
) -> Runs:
    """One row a run and target, from runs that were read without their loss (see `read_mixtures`).

    Parameters
    ----------
    runs : Runs
    given : mapping, optional
        ``shares``, ``tokens``, ``unique``, ``losses`` -> name to column.
    sources, targets, total, normalise
        As in `read_mixtures`.
    """
    table: Any = runs.table
    headers = [str(c) for c in table.columns]
    found = find_columns(headers, given or {}, sources, targets, runs.source)
    flags: list[Flag] = []
    all_tokens, said = _total(runs, found, total)
    sampled = _sampled(runs, found, all_tokens, normalise, flags)
    _check_sources(runs, found.sources, sampled)
    unique = _unique(runs, found, sampled, flags)
    flags.insert(0, Flag("note", (), f"sources {listed(found.sources)}: {_origin(found, said)}"))
    wide = {f"D_{s}": sampled[:, k] for k, s in enumerate(found.sources)}
    wide |= {f"U_{s}": unique[:, k] for k, s in enumerate(found.sources) if s in found.unique}
    rest = [c for c in headers if c not in found.used and c not in ("D", "C", "loss", "target")]
    base = table[rest].assign(D=sampled.sum(axis=1), **wide)
    long, rows, loss_flags, names = responses(runs, found, targets, base)
    return _finished(runs, long, rows, [*flags, *loss_flags], names)


def _total(runs: Runs, found: MixtureColumns, total: str | None) -> tuple[np.ndarray | None, str]:
    """All tokens of each run, and where they were read; None where tokens are given by source."""
    if found.tokens:
        return None, ""
    if total is not None:
        return number_cells(runs, total, "all tokens"), f"'{total}'"
    if "D" in runs.table:
        return runs.column("D"), f"'{runs.columns.get('D', 'D')}'"
    options = candidates([str(c) for c in runs.table.columns])["D"]
    options = [c for c in options if c.column not in found.used]
    if not options:
        return None, ""
    best = options[0]
    return best.scale * number_cells(runs, best.column, "all tokens"), f"'{best.column}'"


def _origin(found: MixtureColumns, total: str) -> str:
    if found.tokens:
        return f"tokens from {listed(list(found.tokens.values()), 4)}"
    shares = listed(list(found.shares.values()), 4)
    return f"shares from {shares} times {total or 'one: tokens in units of a run'}"


def _sampled(
    runs: Runs,
    found: MixtureColumns,
    total: np.ndarray | None,
    normalise: bool,
    flags: list[Flag],
) -> np.ndarray:
    """Sampled tokens, shape (run, source)."""
    shares = None
    if found.shares:
        shares = _stack(runs, found.shares, "the share of")
        shares = _whole(runs, shares, normalise, flags)
    if found.tokens:
        return _stack(runs, found.tokens, "tokens of")
    assert shares is not None
    return shares if total is None else shares * total[:, None]


def _whole(runs: Runs, shares: np.ndarray, normalise: bool, flags: list[Flag]) -> np.ndarray:
    """Shares divided by their sum, which must be near one unless told otherwise."""
    sums = shares.sum(axis=1)
    off = np.abs(sums - 1)
    worst = int(np.argmax(off))
    if off[worst] > SUM_TOLERANCE and (not normalise or sums[worst] <= 0):
        raise DataError(
            f"{runs.source} row {runs.row_numbers[worst]}: the shares sum to {sums[worst]:.5g}, "
            f"not to 1 (tolerance {SUM_TOLERANCE:g}); correct the row, leave it out with where, "
            "or divide all by their sum with normalise=True."
        )
    if off[worst] > 1e-6:
        far = off > SUM_TOLERANCE
        which = f", {rows_text(runs.row_numbers[far])} far from 1" if far.any() else ": rounding"
        message = f"shares sum to {range_text(sums)}{which}; divided by their sum."
        flags.append(Flag("note", (), message))
    return shares / sums[:, None]


def _stack(runs: Runs, columns: Mapping[str, str], what: str) -> np.ndarray:
    """Columns of numbers of at least 0, shape (run, source)."""
    parts = []
    for name, column in columns.items():
        values = number_cells(runs, column, f"{what} '{name}'") * read_header(column).scale
        if (bad := ~(values >= 0)).any():
            at = int(np.argmax(bad))
            said = "empty" if np.isnan(values[at]) else f"{values[at]:g}"
            raise DataError(
                f"{runs.source} row {runs.row_numbers[at]}: {column}, {what} '{name}', is {said}; "
                "a number of at least 0 was expected: correct the cell or leave the row out with "
                "where."
            )
        parts.append(values)
    return np.stack(parts, axis=1)


def _check_sources(runs: Runs, sources: Sequence[str], sampled: np.ndarray) -> None:
    for k, name in enumerate(sources):
        if not (sampled[:, k] > 0).any():
            kept = tuple(s for s in sources if s != name)
            raise DataError(
                f"{runs.source}: no run has any tokens of '{name}', so nothing is known about it; "
                f"leave it out: sources={kept[:6]!r}."
            )
    empty = sampled.sum(axis=1) <= 0
    if empty.any():
        raise DataError(
            f"{runs.source}: no tokens of any source in {rows_text(runs.row_numbers[empty])}; "
            "leave such rows out with where."
        )


def _unique(
    runs: Runs, found: MixtureColumns, sampled: np.ndarray, flags: list[Flag]
) -> np.ndarray:
    """Unique tokens, shape (run, source): the sampled ones where nothing else is said."""
    unique = sampled.copy()
    for k, name in enumerate(found.sources):
        if name not in found.unique:
            continue
        column = found.unique[name]
        values = (
            number_cells(runs, column, f"unique tokens of '{name}'") * read_header(column).scale
        )
        empty, there = np.isnan(values), sampled[:, k] > 0
        _check_unique(runs, column, name, values, sampled[:, k])
        if (empty & there).any():
            count = int((empty & there).sum())
            message = f"{column} is empty in {count} runs with '{name}': no repetition there."
            flags.append(Flag("note", (), message))
        unique[:, k] = np.where(empty | ~there, sampled[:, k], np.minimum(values, sampled[:, k]))
    return unique


def _check_unique(
    runs: Runs, column: str, name: str, unique: np.ndarray, sampled: np.ndarray
) -> None:
    there = sampled > 0
    with np.errstate(invalid="ignore"):
        above = there & (unique > sampled * (1 + SAME_TOKENS))
        none = there & (unique <= 0)
    for bad, said in ((above, "above"), (none, "not above zero, beside")):
        if bad.any():
            at = int(np.argmax(bad))
            raise DataError(
                f"{runs.source} row {runs.row_numbers[at]}: {column} is {unique[at]:.4g}, {said} "
                f"the {sampled[at]:.4g} sampled tokens of '{name}'; unique tokens are those that "
                "the run has seen, so epochs (sampled over unique) are at least one."
            )


def _finished(runs: Runs, long: Any, rows: np.ndarray, flags: list[Flag], losses: str) -> Runs:
    """Canonical columns first, compute where size is known, and what was taken for what."""
    columns = {k: v for k, v in runs.columns.items() if k == "N"}
    derived = {"D"}
    columns["D"] = "sum of the sources' tokens"
    if "N" in long:
        long = long.assign(C=runs.cost.flops(long["N"], long["D"], long))
        columns["C"] = runs.cost.describe().removeprefix("C = ")
        derived |= {"C"}
    columns["loss"] = losses
    first = [c for c in ("N", "D", "C", "loss", "target", "run") if c in long]
    first += [str(c) for c in long if str(c).startswith(("D_", "U_"))]
    table: Any = long[first + [c for c in long if c not in first]]
    kept = [f for f in runs.flags if f.kind in FILE_FLAGS and f.kind != "other-columns"]
    targets = listed(list(dict.fromkeys(table["target"])), 8)
    count = f"{len(table)} rows of {table['run'].nunique()} runs for targets {targets}"
    return replace(
        runs,
        table=table,
        columns=columns,
        row_numbers=rows,
        flags=(*kept, *flags, Flag("note", (), count)),
        sha256=content_hash(table),
        derived=frozenset(derived),
    )
