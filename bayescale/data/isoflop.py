"""Which runs of a table lie on which IsoFLOP slice, and why others don't."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.flags import Flag
from bayescale.data.messages import range_text, rows_text, short
from bayescale.data.quantity import parse_quantity
from bayescale.data.slices import NEAR, find_budgets
from bayescale.errors import DataError, nearest

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

SAME = 0.05  # sizes within 5% of each other count as one
UNEVEN = 0.02  # spread of compute in a slice from which it is said
FEW_LABELS = 30  # distinct values up to which a column names experiments, not runs


@dataclass(frozen=True)
class Slices:
    """Runs by budget.

    Parameters
    ----------
    C : array, shape (budget,)
        FLOP, ascending.
    labels : tuple of str
        A name for each, such as ``6e18``.
    place : integer array, shape (run,)
        Budget of each run; -1 for runs on no slice.
    said : str
        Which runs were kept.
    flags : tuple of Flag
    """

    C: np.ndarray
    labels: tuple[str, ...]
    place: np.ndarray
    said: str
    flags: tuple[Flag, ...]


def find_slices(runs: "Runs", budgets: Any, least: int) -> Slices:
    """The slices of a table.

    Parameters
    ----------
    runs : Runs
    budgets : number, str, several of them, or None
        Budgets in FLOP, the name of a column that says them, or None to look for clusters.
    least : int
        Sizes that a slice needs.

    Raises
    ------
    DataError
        See `bayescale.families.isoflop.arrange`.
    """
    runs.require(["N", "C", "loss"], by="an IsoFLOP fit")
    N, C = runs.column("N"), runs.column("C")
    if len(_sizes(N)) < 2:
        raise DataError(
            f"N is {range_text(N)} in all runs of {runs.source}; an IsoFLOP fit needs several "
            "sizes at each budget."
        )
    centres, place = _assign(runs, budgets)
    kept = [k for k in range(len(centres)) if len(_sizes(N[place == k])) >= least]
    dropped = [k for k in range(len(centres)) if k not in kept and (place == k).any()]
    _check_enough(runs, centres, kept, least, budgets)
    number = np.full(len(centres) + 1, -1)
    number[kept] = np.arange(len(kept))
    at = number[place]
    _check_one_experiment(runs, at)
    flags = [
        Flag("dropped", (), f"budget {short3(centres[k])} has {len(_sizes(N[place == k]))} "
             f"sizes, {least} are needed: left out")
        for k in dropped
    ]  # fmt: skip
    compute = np.array([_centre(C[at == k]) for k in range(len(kept))])
    flags += _remarks(runs, at, compute)
    said = f"on {len(kept)} budgets with at least {least} sizes each"
    return Slices(compute, _labels(compute), at, said, tuple(flags))


def interior(n_params: np.ndarray, loss: np.ndarray) -> bool:
    """Whether the lowest loss of a slice lies at neither its smallest nor its largest size."""
    best = np.log(n_params[np.argmin(loss)])
    ends = np.log([n_params.min(), n_params.max()])
    return bool((np.abs(best - ends) > SAME / 2).all())


def short3(value: float) -> str:
    """A budget in three digits: 6e18."""
    return short(float(f"{value:.3g}"))


def _sizes(N: np.ndarray) -> np.ndarray:
    return np.unique(np.round(np.log(N) / SAME))


def _centre(C: np.ndarray) -> float:
    """Geometric mean; the very value where all are one."""
    return float(C[0]) if np.ptp(C) == 0 else float(np.exp(np.mean(np.log(C))))


def _labels(C: np.ndarray) -> tuple[str, ...]:
    """Names in as few digits as tell budgets apart."""
    for digits in range(3, 18):
        names = tuple(short(float(f"{c:.{digits}g}")) for c in C)
        if digits > 3:
            names = tuple(f"{c:.{digits}g}" for c in C)
        if len(set(names)) == len(names):
            return names
    return tuple(f"{k + 1}" for k in range(len(C)))


def _assign(runs: "Runs", budgets: Any) -> tuple[np.ndarray, np.ndarray]:
    """Budgets, and the one of each run (-1: none)."""
    N, C = runs.column("N"), runs.column("C")
    if isinstance(budgets, str) and budgets in (*runs.table.columns, *runs.columns.values()):
        return _by_column(runs, budgets)
    centres = find_budgets(C, N) if budgets is None else _read(runs, budgets)
    if not len(centres):
        return centres, np.full(len(C), -1)
    far = np.abs(np.log(C[:, None] / centres))
    place = np.where(far.min(axis=1) <= NEAR, far.argmin(axis=1), -1)
    if budgets is not None:
        _check_all_met(runs, centres, place)
    return centres, place


def _by_column(runs: "Runs", column: str) -> tuple[np.ndarray, np.ndarray]:
    names = runs.column(column).astype(str)
    C = runs.column("C")
    listed = sorted(set(names), key=lambda n: _centre(C[names == n]))
    centres = np.array([_centre(C[names == n]) for n in listed])
    return centres, np.array([listed.index(n) for n in names])


def _read(runs: "Runs", budgets: Any) -> np.ndarray:
    """Budgets as numbers, ascending and apart."""
    if isinstance(budgets, str):
        parts: list[Any] = [
            p.lstrip("+").strip() for p in _joined(budgets.replace("+", ",+").split(","))
        ]
    else:
        parts = list(np.atleast_1d(budgets))
    read = []
    for part in parts:
        try:
            read.append(parse_quantity(str(part), "budget"))
        except DataError as problem:
            columns = [str(c) for c in runs.table.columns]
            raise DataError(
                f"{problem} Give budgets in FLOP, or a column of {runs.source}: "
                f"{', '.join(columns[:12])}." + nearest(str(part), columns)
            ) from None
    found = np.unique(read)
    close = np.flatnonzero(np.diff(np.log(found)) <= NEAR)
    if len(close):
        one, other = (float(x) for x in found[close[0] : close[0] + 2])
        raise DataError(
            f"the budgets {short3(one)} and {short3(other)} lie within 10% of each other, so a run "
            "could lie on both slices; give one of them."
        )
    return found


def _joined(parts: list[str]) -> list[str]:
    """Exponents written 1e+18 put together again after a split at plus signs."""
    found: list[str] = []
    for part in parts:
        if found and found[-1].lower().endswith("e") and part.startswith("+"):
            found[-1] += part
        else:
            found.append(part)
    return [p for p in found if p]


def _check_all_met(runs: "Runs", centres: np.ndarray, place: np.ndarray) -> None:
    C = runs.column("C")
    for k, budget in enumerate(centres):
        if not (place == k).any():
            closest = C[np.argmin(np.abs(np.log(C / budget)))]
            raise DataError(
                f"no run of {runs.source} lies within 10% of the budget {short3(budget)} FLOP (the "
                f"nearest has C = {short3(closest)}); leave it out, or leave budgets to be found."
            )


def _check_enough(
    runs: "Runs", centres: np.ndarray, kept: list[int], least: int, budgets: Any
) -> None:
    if len(kept) > 1:
        return
    given = "" if budgets is None else " given"
    if not kept:
        raise DataError(
            f"{runs.source} has no IsoFLOP slice: none of the {len(centres)} budgets{given} has "
            f"{least} sizes within 10% of its compute. Say which budgets the runs were meant for "
            "(budgets=…, --budgets, or a column of them), or fit chinchilla."
        )
    raise DataError(
        f"{runs.source} has {least} sizes at one budget{given} only ({short3(centres[kept[0]])} "
        "FLOP), so the exponent a can't be told: runs at a second budget are needed."
    )


def _check_one_experiment(runs: "Runs", place: np.ndarray) -> None:
    """Raise where a column of names says that the same slice was run several times over."""
    table: Any = runs.table
    sizes = np.round(np.log(runs.column("N")) / 1e-6).astype(np.int64)
    on = place >= 0
    cells = list(zip(place[on], sizes[on], strict=True))
    several = len(cells) - len(set(cells))
    if several < 0.2 * len(cells):
        return  # seeds, here and there
    for column in table:
        if str(column) in ("N", "D", "C", "loss"):
            continue
        names = table[column].astype(str).to_numpy()[on]
        if not 1 < len(set(names)) <= FEW_LABELS:
            continue
        parts = [[c for c, n in zip(cells, names, strict=True) if n == name] for name in set(names)]
        left = sum(len(p) - len(set(p)) for p in parts)
        if left < 0.05 * several:
            some = sorted(set(names))[0]
            raise DataError(
                f"{runs.source} has {several} runs at the budget and size of another, told apart "
                f"by '{column}': read one at a time (where=\"{column} == '{some}'\") or each by "
                f"itself (isoflop(…, by='{column}'), --by {column})."
            )


def _remarks(runs: "Runs", place: np.ndarray, compute: np.ndarray) -> Iterator[Flag]:
    """Slices of uneven compute, sizes run twice, minima at an end."""
    N, C, loss = (runs.column(c) for c in ("N", "C", "loss"))
    off = place < 0
    if off.any():
        yield Flag("note", (), f"{int(off.sum())} runs lie on no IsoFLOP slice and are left out")
    wide = [float(np.ptp(np.log(C[place == k]))) for k in range(len(compute))]
    if max(wide) > UNEVEN:
        worst = int(np.argmax(wide))
        yield Flag(
            "note",
            (),
            f"compute differs by up to {np.expm1(wide[worst]):.0%} within a slice "
            f"({short3(compute[worst])}); all its runs are taken at its geometric mean",
        )
    twice = [
        int(r)
        for k in range(len(compute))
        for r in _repeated(N[place == k], runs.row_numbers[place == k])
    ]
    if twice:
        yield Flag("note", tuple(twice), f"{rows_text(twice)}: a budget and size run before")
    ends = [k for k in range(len(compute)) if not interior(N[place == k], loss[place == k])]
    if ends:
        listed = ", ".join(short3(compute[k]) for k in ends)
        yield Flag("note", (), f"lowest loss at an end of the slice, no interior minimum: {listed}")


def _repeated(N: np.ndarray, rows: np.ndarray) -> np.ndarray:
    _, first = np.unique(N, return_index=True)
    return np.delete(rows, first)
