"""Splits of a table of runs into those that are fitted and those that are held out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayescale.check.extrapolation.larger import SAME, check_larger
from bayescale.errors import DataError, nearest

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

FORMS = {
    "compute": "compute:10 (fit C <= C_max/10)",
    "size": "size:largest or size:2 (hold out the largest sizes)",
    "data": "data:largest or data:2 (hold out the largest token counts)",
    "group": "group:COLUMN (leave each group out in turn)",
    "fraction": "fraction:0.7 (fit the 70% with the least compute)",
    "random": "random:20x0.7 (20 random splits, 70% fitted)",
}
BY_COMPUTE = ("compute", "fraction")  # splits that say their held-out runs have more of it


@dataclass(frozen=True)
class Rule:
    """What a split's text asks for.

    Parameters
    ----------
    text : str
    kind : str
        A key of `FORMS`.
    number : float
        Factor of compute, number of sizes, or share of the runs that is fitted.
    times : int
        Number of random splits.
    column : str
        Grouping column, of "group".
    """

    text: str
    kind: str
    number: float = 0.0
    times: int = 1
    column: str = ""


@dataclass(frozen=True)
class Split:
    """One division of the runs.

    Parameters
    ----------
    name : str
    train, test : boolean array, shape (run,)
        Runs to fit, and runs to predict.
    why : str
        Which runs are fitted, in words.
    """

    name: str
    train: np.ndarray
    test: np.ndarray
    why: str


def parse_split(text: str) -> Rule:
    """Read a split such as ``compute:10``.

    Raises
    ------
    DataError
        The text is of no known form; the message lists the forms.
    """
    kind, sign, rest = str(text).strip().partition(":")
    kind, rest = kind.strip(), rest.strip()
    if kind not in FORMS:
        known = "; ".join(FORMS.values())
        raise DataError(f"unknown split '{text}'.{nearest(kind, list(FORMS))} Known: {known}.")
    if not sign or not rest:
        raise _wrong(text, kind)
    if kind == "group":
        return Rule(text, kind, column=rest)
    if kind in ("size", "data"):
        return Rule(text, kind, 1 if rest == "largest" else _number(text, kind, rest, whole=True))
    if kind == "random":
        times, _, share = rest.partition("x")
        count = int(_number(text, kind, times, whole=True))
        return Rule(text, kind, _share(text, kind, share), count)
    if kind == "fraction":
        return Rule(text, kind, _share(text, kind, rest))
    factor = _number(text, kind, rest)
    if factor <= 1:
        raise _wrong(text, kind, "; the factor must be above 1")
    return Rule(text, kind, factor)


def make_splits(runs: "Runs", text: str | Rule, seed: int = 0) -> tuple[Split, ...]:
    """Divide runs as a text says.

    Parameters
    ----------
    runs : Runs
    text : str
        See `FORMS`.
    seed : int
        Seed of random splits.

    Raises
    ------
    DataError
        An unknown text, a missing column, a split without runs on one side, or one by compute
        whose held-out runs aren't larger than those that are fitted.
    """
    rule = text if isinstance(text, Rule) else parse_split(text)
    makers: dict[str, Callable[[Runs, Rule, int], list[Split]]] = {
        "compute": _by_compute,
        "size": _by_largest,
        "data": _by_largest,
        "group": _by_group,
        "fraction": _by_fraction,
        "random": _at_random,
    }
    splits = makers[rule.kind](runs, rule, seed)
    for split in splits:
        for mask, what in ((split.train, "fit"), (split.test, "predict")):
            if not mask.any():
                raise DataError(
                    f"split '{rule.text}' leaves no run of {runs.source} to {what} "
                    f"({split.why}; {len(runs)} runs in all)."
                )
        if rule.kind in BY_COMPUTE:
            check_larger(runs, split.test, rule.text)
    return tuple(splits)


def largest_factor(runs: "Runs", rows: int) -> float:
    """The largest factor of ``compute:`` that leaves ``rows`` runs or more to fit."""
    C = np.sort(_compute(runs))
    return float(C[-1] / C[rows - 1]) if rows <= len(C) else 1.0


def say_factor(runs: "Runs", rows: int) -> str:
    """Which factor of ``compute:`` would leave ``rows`` runs to fit, in a sentence."""
    factor, what = largest_factor(runs, rows), "a run" if rows == 1 else f"{rows} runs"
    if factor <= 1 + SAME:
        return f"No factor leaves {what} to fit and one to predict."
    return f"The largest factor that leaves {what} is {_rounded_down(factor)}."


def _by_compute(runs: "Runs", rule: Rule, seed: int) -> list[Split]:
    C = _compute(runs)
    limit = C.max() / rule.number
    train = limit * (1 + SAME) >= C
    if not train.any():
        raise DataError(
            f"split '{rule.text}' leaves no run of {runs.source} to fit: C goes from {C.min():.3g} "
            f"to {C.max():.3g} FLOP. {say_factor(runs, 1)}"
        )
    why = f"C <= C_max/{rule.number:g} = {limit:.3g} FLOP"
    return [Split(rule.text, train, ~train, why)]


def _by_largest(runs: "Runs", rule: Rule, seed: int) -> list[Split]:
    column, what = ("N", "sizes") if rule.kind == "size" else ("D", "token counts")
    runs.require([column], by=f"split '{rule.text}'")
    values = runs.column(column).astype(float)
    known, count = _distinct(values), int(rule.number)
    if count >= len(known):
        raise DataError(
            f"split '{rule.text}' holds out {count} of the {len(known)} {what} of {runs.source} "
            f"and leaves none to fit; at most {len(known) - 1} can be held out."
        )
    test = values >= known[-count] * (1 - SAME)
    why = f"{column} <= {known[-count - 1]:.3g}"
    return [Split(rule.text, ~test, test, why)]


def _distinct(values: np.ndarray) -> np.ndarray:
    """Sorted values; those that differ by rounding alone, as C/(6 D) does, count once."""
    known = np.unique(values)
    return known[np.append(True, np.diff(known) > SAME * known[1:])]


def _by_group(runs: "Runs", rule: Rule, seed: int) -> list[Split]:
    column = rule.column
    raw = runs.column(column)  # refuses a column that isn't there, and names the nearest
    missing = np.flatnonzero([v is None or v != v for v in raw])
    if len(missing):
        row = int(runs.row_numbers[missing[0]])
        raise DataError(f"column '{column}' names no group in row {row}; fill it or drop the row.")
    names = np.array([str(v) for v in raw])
    groups = list(dict.fromkeys(names.tolist()))
    if len(groups) == 1:
        raise DataError(
            f"split '{rule.text}': all {len(runs)} runs of {runs.source} are of one {column} "
            f"('{groups[0]}'), so leaving it out leaves none to fit."
        )
    return [
        Split(f"{column}={g}", names != g, names == g, f"without {column} '{g}'") for g in groups
    ]


def _by_fraction(runs: "Runs", rule: Rule, seed: int) -> list[Split]:
    order = np.argsort(_compute(runs), kind="stable")  # of equal budgets the earlier rows first
    train = np.zeros(len(runs), dtype=bool)
    train[order[: _count(runs, rule)]] = True
    return [Split(rule.text, train, ~train, f"the {rule.number:.0%} with the least compute")]


def _at_random(runs: "Runs", rule: Rule, seed: int) -> list[Split]:
    rng = np.random.default_rng([seed, 41])
    splits = []
    for k in range(rule.times):
        train = np.zeros(len(runs), dtype=bool)
        train[rng.permutation(len(runs))[: _count(runs, rule)]] = True
        why = f"a random {rule.number:.0%} of the runs"
        splits.append(Split(f"random {k + 1}", train, ~train, why))
    return splits


def _count(runs: "Runs", rule: Rule) -> int:
    """Runs to fit: a share of them, at least one, and at least one is held out."""
    return max(1, min(len(runs) - 1, round(rule.number * len(runs))))


def _compute(runs: "Runs") -> np.ndarray:
    """Compute of each run as float64: whole-number columns would overflow as products do."""
    if "C" not in runs.table:
        raise DataError(
            f"{runs.source} has no compute column, by which this split divides the runs: map C "
            '(columns={"C": …}, --map C=…), or give N and D, or split by group: or random:.'
        )
    C = runs.column("C").astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(C) & (C > 0)))
    if len(bad):
        raise DataError(
            f"column 'C' is {C[bad[0]]:g} in row {int(runs.row_numbers[bad[0]])}; a split by "
            "compute needs a positive number in every row."
        )
    return C


def _number(text: str, kind: str, word: str, whole: bool = False) -> float:
    try:
        value = float(word)
    except ValueError:
        raise _wrong(text, kind) from None
    if not np.isfinite(value) or value <= 0 or (whole and value != int(value)):
        raise _wrong(text, kind)
    return value


def _share(text: str, kind: str, word: str) -> float:
    value = _number(text, kind, word)
    if value >= 1:
        raise _wrong(text, kind, "; the share must be between 0 and 1")
    return value


def _wrong(text: str, kind: str, more: str = "") -> DataError:
    return DataError(f"split '{text}' can't be read; expected {FORMS[kind]}{more}.")


def _rounded_down(factor: float) -> str:
    """Three digits, never above the factor itself."""
    step = 10.0 ** (np.floor(np.log10(factor)) - 2)
    return f"{np.floor(factor / step * (1 + SAME)) * step:.6g}"
