"""Numbers no fit can use, named by row: the errors of a run table."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from bayescale.data.aliases import MEANING
from bayescale.data.messages import range_text, rows_text, short
from bayescale.errors import DataError

MAX_LOSS = 20.0  # nats per token; ln of the vocabulary, about 12, is what an untrained model has


def check_text(bad: Mapping[str, Sequence[tuple[int, str]]], rows: np.ndarray, source: str) -> None:
    """Raise where a cell of N, D, C or loss is no number.

    Parameters
    ----------
    bad
        Per role, position in `rows` and what is wrong with the cell.
    rows
        Row numbers in the file.
    source
        Name of the file, for messages.
    """
    for cells in bad.values():
        if not cells:
            continue
        place, problem = cells[0]
        more = f" ({len(cells)} such cells in this column)" if len(cells) > 1 else ""
        raise DataError(f"{source} row {rows[place]}: {problem}{more}")


def check_suffixes(
    values: np.ndarray, suffixed: np.ndarray, role: str, rows: np.ndarray, source: str
) -> None:
    """Raise where some cells of a column say "7B" and others just 13."""
    bare = ~suffixed & (np.abs(values) < 1e3) & (values != 0)
    if suffixed.any() and bare.any():
        raise DataError(
            f"{source}: {role} is {values[bare][0]:g} in {rows_text(rows[bare])}, without a "
            "suffix, while other cells have one (such as 7B): write all of them in one way."
        )


def check_missing(values: Mapping[str, np.ndarray], rows: np.ndarray, source: str) -> None:
    """Raise where a cell of N, D, C or loss is empty."""
    for role, column in values.items():
        empty = np.isnan(column)
        if empty.any():
            raise DataError(
                f"{source}: {role} ({MEANING[role]}) is missing in {rows_text(rows[empty])}. "
                "Leave such runs out with drop_missing=True (shell: --drop-missing)"
                + (f", or leave the column out: columns={{'{role}': ''}}." if role == "C" else ".")
            )


def check_range(values: Mapping[str, np.ndarray], rows: np.ndarray, source: str) -> None:
    """Raise where N, D, C or loss is infinite, zero, negative, or a loss is above 20."""
    for role, column in values.items():
        for wrong, name in (
            (np.isinf(column), "infinite"),
            (column == 0, "zero"),
            (column < 0, "negative"),
        ):
            if wrong.any():
                value = f" ({column[wrong][0]:g})" if name == "negative" else ""
                raise DataError(
                    f"{source}: {role} ({MEANING[role]}) is {name} in "
                    f"{rows_text(rows[wrong])}{value}; it must be a finite number above zero. "
                    f"Correct it, or leave such runs out, for instance {_filter(role, name)}."
                )
    high = values["loss"] > MAX_LOSS if "loss" in values else np.zeros(1, dtype=bool)
    if high.any():
        worst = float(values["loss"][high][0])
        raise DataError(
            f"{source}: loss is above {MAX_LOSS:g} in {rows_text(rows[high])} ({worst:.4g}): in "
            "nats per token an untrained model has about 12. Is it a perplexity (take its "
            "logarithm), a sum instead of a mean, or a diverged run "
            f'(where="loss <= {MAX_LOSS:g}")?'
        )


def check_units(
    values: Mapping[str, np.ndarray],
    stated: Collection[str],
    source: str,
    cost_ratio: np.ndarray | None = None,
) -> None:
    """Raise where N, D or C looks counted in millions or billions.

    The rules look at several columns together, since tiny models and tiny data sets do exist; a
    unit that the user states, even 1, switches them off for its column.

    Parameters
    ----------
    values
        Per role, the numbers.
    stated
        Roles whose unit is known.
    source
        Name of the file, for messages.
    cost_ratio
        C over the cost model's C where N, D and C are all given.
    """
    size, tokens, compute = (values.get(role) for role in ("N", "D", "C"))
    if size is not None and "N" not in stated and _size_in_other_unit(size, tokens, compute):
        raise _unit_error("N", size, _likely_unit(size, tokens, 1 / 20), source)
    if tokens is not None and "D" not in stated and _tokens_in_other_unit(tokens, size):
        raise _unit_error("D", tokens, _likely_unit(tokens, size, 20), source)
    if compute is not None and "C" not in stated:
        if np.max(compute) < 1e6:
            hint = (
                "they look like base-10 logarithms (pass 10**C)"
                if np.min(compute) > 10 and np.max(compute) < 40
                else "they look like multiples of 1e18 or 1e21 FLOP, or PF-days (8.64e19)"
            )
            raise _unit_error("C", compute, 1e18, source, hint)
        if cost_ratio is not None and not {"N", "D"} & set(stated):
            ratio = float(np.median(cost_ratio))
            if not 0.01 < ratio < 100:
                raise DataError(
                    f"{source}: C is {ratio:.3g} times what N and D cost: one of the three is "
                    "in another unit, or isn't what it was taken for. State the unit, for "
                    "instance units={'C': 1e18} (shell: --unit C=1e18), leave C out with "
                    "columns={'C': ''}, or say units={'C': 1} if all numbers are right."
                )


def _size_in_other_unit(
    size: np.ndarray, tokens: np.ndarray | None, compute: np.ndarray | None
) -> bool:
    if np.min(size) < 1:
        return True
    if np.max(size) < 1e3:
        small_data = tokens is not None and 1e4 < np.median(tokens) < 1e6
        small_budget = tokens is None and compute is not None and np.median(compute) < 1e12
        whole = bool(np.all(size == np.round(size)))
        return not (whole and (small_data or small_budget))
    return bool(np.max(size) < 1e5 and tokens is not None and np.median(tokens / size) > 1e6)


def _tokens_in_other_unit(tokens: np.ndarray, size: np.ndarray | None) -> bool:
    if np.min(tokens) < 1 or np.max(tokens) < 100:
        return True
    if np.max(tokens) >= 1e4:
        return False
    fractional = bool(np.any(tokens != np.round(tokens)))
    return fractional or (size is not None and float(np.median(size)) > 1e5)


def _likely_unit(values: np.ndarray, other: np.ndarray | None, ratio: float) -> float:
    """Return the unit that brings values nearest to `ratio` times the other column."""
    if other is None or np.max(other) < 1e5:
        return 1e9
    units = np.array([1e3, 1e6, 1e9, 1e12])
    gap = np.abs(np.log(units * np.median(values / other) / ratio))
    return float(units[np.argmin(gap)])


def _unit_error(
    role: str, values: np.ndarray, unit: float, source: str, hint: str = ""
) -> DataError:
    names = {1e3: "thousands", 1e6: "millions", 1e9: "billions", 1e12: "trillions"}
    looks = hint or f"they look counted in {names[unit]}"
    return DataError(
        f"{source}: {role} ({MEANING[role]}) is {range_text(values)}: {looks}. State the unit "
        f"with units={{'{role}': {short(unit)}}} (shell: --unit {role}={short(unit)}), or units="
        f"{{'{role}': 1}} if the numbers are right as they are."
    )


def _filter(role: str, name: str) -> str:
    limit = f"{role} < 1e30" if name == "infinite" else f"{role} > 0"
    return f'where="{limit}"'
