"""Which columns of a table are shares, tokens, unique tokens and losses of a data mixture."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayescale.data.columns import listed
from bayescale.errors import DataError, nearest

# What stands around the name of a source or a target. "the_pile_" names the corpus of them all.
_NAME = r"(?:the_pile_)?(?P<name>.+?)"
_PATTERNS = {
    "unique": [rf"(?:U|unique_tokens|unique)_{_NAME}", rf"{_NAME}_(?:unique_tokens|unique)"],
    "tokens": [rf"(?:D|tokens)_{_NAME}", rf"{_NAME}_tokens"],
    "shares": [
        rf"(?:share|weight|fraction|frac|proportion)_{_NAME}",
        rf"{_NAME}_(?:share|weight|fraction|frac|proportion)",
        r"train_the_pile_(?P<name>.+)",
    ],
    "losses": [
        rf"(?:metric/)?{_NAME}_(?:val_|valid_|validation_|eval_|test_)?loss",
        rf"(?:val_|valid_|validation_|eval_|test_)?loss_{_NAME}",
    ],
}
# Words that name no source: all tokens, a kind of loss, a statistic of one.
_NO_SOURCE = {
    *("n", "num", "number", "train", "training", "trained", "total", "all", "unique", "seen"),
    *("per", "data", "epoch", "val", "valid", "validation", "eval", "test", "final", "mean"),
    *("avg", "average", "median", "min", "max", "std", "sd", "se", "stderr", "smooth"),
    *("smoothed", "weighted", "raw", "last", "best", "decay", "weight"),
}
WHAT = {
    "shares": "share_* or *_share, weight_*, train_the_pile_*",
    "tokens": "D_* or tokens_*, *_tokens",
    "unique": "U_* or unique_tokens_*",
    "losses": "loss_* or *_loss",
}


@dataclass(frozen=True)
class MixtureColumns:
    """What was taken for what: names of sources or targets to columns of the table."""

    shares: Mapping[str, str] = field(default_factory=dict)
    tokens: Mapping[str, str] = field(default_factory=dict)
    unique: Mapping[str, str] = field(default_factory=dict)
    losses: Mapping[str, str] = field(default_factory=dict)

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources in the order of the columns that give their tokens."""
        return tuple(self.tokens or self.shares)

    @property
    def used(self) -> set[str]:
        """All columns that were taken for something."""
        parts = (self.shares, self.tokens, self.unique, self.losses)
        return {column for part in parts for column in part.values()}


def find_columns(
    headers: Sequence[str],
    given: Mapping[str, Mapping[str, str] | None],
    sources: Sequence[str] | None,
    targets: Sequence[str] | None,
    table: str,
) -> MixtureColumns:
    """Find the columns of a mixture by their names; what is given explicitly comes first.

    Parameters
    ----------
    headers : sequence of str
        Columns of the table.
    given : mapping
        ``shares``, ``tokens``, ``unique``, ``losses`` -> name to column, or None to look.
    sources, targets : sequence of str, optional
        Keep these only, in this order.
    table : str
        Name of the table, for messages.

    Raises
    ------
    DataError
        An explicit column isn't there, two columns stand for one source, or a source or target
        that is asked for has no column.
    """
    found: dict[str, dict[str, str]] = {}
    taken: set[str] = set()
    for part in _PATTERNS:  # unique before tokens: "text_unique_tokens" ends in "_tokens" too
        explicit = given.get(part)
        found[part] = (
            _named(headers, part, taken, table)
            if explicit is None
            else _checked(explicit, headers, part, table)
        )
        taken |= set(found[part].values())
    if not (found["tokens"] or found["shares"]):
        raise DataError(
            f"{table} has no column of shares ({WHAT['shares']}) or tokens ({WHAT['tokens']}) of "
            f"the sources; it has {listed(headers)}. Name them: shares={{'text': 'its column'}}."
        )
    _drop_other_names(found, explicit_tokens=given.get("tokens") is not None)
    for part in ("tokens", "shares"):
        if found[part] and sources is not None:
            found[part] = _kept(found[part], sources, "source", table)
    known = found["tokens"] or found["shares"]
    found["unique"] = {s: c for s, c in found["unique"].items() if s in known}
    if targets is not None and found["losses"]:
        found["losses"] = _kept(found["losses"], targets, "target", table)
    return MixtureColumns(**found)


def _named(headers: Iterable[str], part: str, taken: set[str], table: str) -> dict[str, str]:
    """Columns whose names say that they belong to this part."""
    found: dict[str, str] = {}
    for header in headers:
        name = _name(header, part)
        if header in taken or name is None:
            continue
        if name in found:
            raise DataError(
                f"{table}: '{found[name]}' and '{header}' could both be the {part} of '{name}'; "
                f"say which: {part}={{'{name}': '{found[name]}', …}}."
            )
        found[name] = header
    return found


def _name(header: str, part: str) -> str | None:
    """The source or target that a header names as this part, or None."""
    for pattern in _PATTERNS[part]:
        match = re.fullmatch(pattern, header.strip())
        if match and match["name"].lower() not in _NO_SOURCE:
            return match["name"]
    return None


def _drop_other_names(found: dict[str, dict[str, str]], explicit_tokens: bool) -> None:
    """Of tokens found by name beside shares, those of the shares' sources, or none.

    A table may have ``text_share``, ``code_share`` and tokens of only some sources, or of
    something else (``epoch_tokens``): shares times all tokens say it all then.
    """
    if not found["tokens"] or not found["shares"] or explicit_tokens:
        return
    tokens = {s: c for s, c in found["tokens"].items() if s in found["shares"]}
    found["tokens"] = tokens if len(tokens) == len(found["shares"]) else {}


def _checked(
    explicit: Mapping[str, str], headers: Sequence[str], part: str, table: str
) -> dict[str, str]:
    if not isinstance(explicit, Mapping):
        raise DataError(
            f"{part} is {explicit!r}; expected a mapping such as {{'text': 'its column'}}."
        )
    for name, column in explicit.items():
        if column not in headers:
            raise DataError(
                f"{table} has no column '{column}' to take as {part} of '{name}'; it has "
                f"{listed(headers)}." + nearest(str(column), list(headers))
            )
    double = sorted({c for c in explicit.values() if list(explicit.values()).count(c) > 1})
    if double:
        raise DataError(f"{part}: '{double[0]}' is named twice; give each its own column.")
    return dict(explicit)


def _kept(found: Mapping[str, str], names: Any, kind: str, table: str) -> dict[str, str]:
    if isinstance(names, str):
        names = (names,)
    missing = [n for n in names if n not in found]
    if missing:
        raise DataError(
            f"{table} has no {kind} '{missing[0]}'; it has {listed(list(found))}."
            + nearest(str(missing[0]), list(found))
        )
    return {n: found[n] for n in names}
