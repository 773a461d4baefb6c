"""Which column of a file is N, D, C or the loss: aliases, and the rule when several fit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayescale.data.aliases import (
    FURTHER_NAMES,
    LETTER_QUALIFIERS,
    LOOSE_NAMES,
    MEANING,
    NOT_TRAINING,
    OTHER_MEANING,
    PLAIN_NAMES,
    ROLE_WORDS,
    ROLES,
)
from bayescale.data.headers import Header, read_header
from bayescale.errors import DataError, nearest

if TYPE_CHECKING:
    import numpy as np

PLAIN, LOOSE = 1, 2


@dataclass(frozen=True)
class Candidate:
    """A column that may stand for a role.

    Parameters
    ----------
    column
        Its name in the file.
    tier
        0 for the canonical name itself, 1 for a plain alias, 2 for a looser one.
    scale
        The factor of the unit in its header.
    """

    column: str
    tier: int
    scale: float


def candidates(headers: Sequence[str]) -> dict[str, list[Candidate]]:
    """List, for each role, the columns whose name may stand for it, plainest first.

    Parameters
    ----------
    headers
        Column names of the file.

    Returns
    -------
    dict
        Role ("N", "D", "C", "loss") to candidates ordered by tier, then name, so that the order
        of columns in the file doesn't matter.
    """
    found: dict[str, list[Candidate]] = {role: [] for role in ROLES}
    for text in headers:
        header = read_header(text)
        for role in ROLES:
            tier = _tier(header, role)
            if tier is not None and (role != "loss" or header.scale == 1.0):
                found[role].append(Candidate(text, tier, header.scale))
    for options in found.values():
        options.sort(key=lambda c: (c.tier, c.scale != 1.0, c.column))
    return found


def _tier(header: Header, role: str) -> int | None:
    """Return how plainly a header names a role, or None."""
    if len(header.words) == 1 and (header.letter == role or header.joined == role == "loss"):
        return 0
    if "/" in header.text and header.letter:
        return None  # "D/N", "Na/N": a ratio
    if header.joined in PLAIN_NAMES[role]:
        return PLAIN
    if header.joined in LOOSE_NAMES[role]:
        return LOOSE
    words = set(header.words)
    if words & NOT_TRAINING.get(role, set()):
        return None
    if header.letter == role and set(header.words[1:]) <= LETTER_QUALIFIERS:
        return LOOSE
    named = [r for r in ROLES if words & ROLE_WORDS[r]]
    size_of_model = role == "N" and {"model", "size"} <= words and not named
    size_of_data = role == "D" and "size" in words and words & {"data", "dataset"} and not named
    if (named == [role] or size_of_model or size_of_data) and not words & OTHER_MEANING:
        return LOOSE
    return None


def choose(
    headers: Sequence[str],
    columns: Mapping[str, str | None] | None,
    values: Callable[[Candidate], "np.ndarray | None"],
    source: str,
) -> tuple[dict[str, Candidate], dict[str, list[str]]]:
    """Decide which column stands for each role.

    The plainest names win: the canonical name and plain aliases are weighed together, and looser
    names only count where there is no plain one. Several candidates on a level are accepted only
    if they hold the same numbers.

    Parameters
    ----------
    headers
        Column names of the file.
    columns
        Explicit map from role (or another input of a law) to column; "" or None leaves it out.
    values
        Gives the numbers below a candidate (unit applied), or None if it holds no numbers.
    source
        Name of the file, for messages.

    Returns
    -------
    tuple
        Role or further input to chosen candidate, and role to the names of other columns that
        could be meant.

    Raises
    ------
    DataError
        Where an explicit column isn't there, or two columns are equally good and differ.
    """
    explicit = check_mapping(columns or {}, headers, source)
    chosen: dict[str, Candidate] = {}
    others: dict[str, list[str]] = {}
    for role, options in candidates(headers).items():
        if role in explicit:
            name = explicit[role]
            if name:
                chosen[role] = Candidate(name, 0, _explicit_scale(name, role))
            continue
        free = [c for c in options if c.column not in explicit.values()]
        usable = [c for c in free if c.tier < LOOSE or values(c) is not None]
        if not usable:
            continue
        plain = [c for c in usable if c.tier < LOOSE] or usable
        chosen[role] = _one_of(role, plain, values, source)
        left = [c for c in usable if c != chosen[role] and not _same(chosen[role], c, role, values)]
        if left:
            others[role] = [c.column for c in left]
    return chosen | _further(headers, explicit, values), others


def _further(
    headers: Sequence[str],
    explicit: Mapping[str, str],
    values: Callable[[Candidate], "np.ndarray | None"],
) -> dict[str, Candidate]:
    """Columns of inputs beyond the roles: those that the user names, and known aliases.

    An alias is taken where one column of numbers has it and none has the input's own name.
    """
    found = {
        name: Candidate(column, 0, _explicit_scale(column, name))
        for name, column in explicit.items()
        if name not in ROLES and column
    }
    for name, aliases in FURTHER_NAMES.items():
        if name in explicit:
            continue
        read = [read_header(text) for text in headers]
        options = [Candidate(h.text, PLAIN, h.scale) for h in read if h.joined in aliases]
        options = [Candidate(name, 0, 1.0)] if name in headers else options
        if len(options) == 1 and values(options[0]) is not None:
            found[name] = options[0]
    return found


def check_mapping(
    columns: Mapping[str, str | None], headers: Sequence[str], source: str
) -> dict[str, str]:
    """Check an explicit map of roles to columns and return it with the file's own spelling."""
    checked: dict[str, str] = {}
    for role, name in columns.items():
        _check_role(role)
        if not name:
            checked[role] = ""
            continue
        same = [h for h in headers if h == name] or [
            h for h in headers if h.strip().lower() == str(name).strip().lower()
        ]
        if len(same) != 1:
            raise DataError(
                f"{source} has no column '{name}' to take as {role}; "
                f"it has {listed(headers)}." + nearest(str(name), list(headers))
            )
        if same[0] in checked.values():
            raise DataError(f"columns: '{same[0]}' is mapped to two roles; give each its own.")
        checked[role] = same[0]
    return checked


def _check_role(role: str) -> None:
    """Raise where a map gives a column to what no law reads, or to another name of a role."""
    joined = read_header(role).joined
    meant = next((r for r in ROLES if joined in PLAIN_NAMES[r] | LOOSE_NAMES[r]), "")
    if role not in ROLES and (meant or joined == "loss" or not role.isidentifier()):
        raise DataError(
            f"columns: '{role}' is no role; map one of N, D, C, loss, or another input of a law, "
            "to a column, for instance columns={'N': 'my_size'}."
            + (f" Did you mean '{meant}'?" if meant else nearest(role, list(ROLES)))
        )


def _explicit_scale(name: str, role: str) -> float:
    """Return the unit in the header of an explicitly named column."""
    return 1.0 if role == "loss" else read_header(name).scale


def _one_of(
    role: str,
    options: list[Candidate],
    values: Callable[[Candidate], "np.ndarray | None"],
    source: str,
) -> Candidate:
    """Return the first candidate if all hold the same numbers, else raise."""
    first = options[0]
    if all(_same(first, other, role, values) for other in options[1:]):
        return first
    raise ambiguous(role, [c.column for c in options], source)


def _same(
    first: Candidate,
    other: Candidate,
    role: str,
    values: Callable[[Candidate], "np.ndarray | None"],
) -> bool:
    """Tell whether two columns hold the same numbers."""
    import numpy as np

    one, two = values(first), values(other)
    if one is None or two is None:
        return False
    # Sizes are often written once in full and once rounded ("0.41" billion): the same thing.
    tolerance = 1e-6 if role == "loss" else 1e-2
    both = np.isfinite(one) & np.isfinite(two)
    return bool(both.any() and np.isclose(one[both], two[both], rtol=tolerance, atol=0.0).all())


def ambiguous(role: str, names: Sequence[str], source: str) -> DataError:
    """Build the error for several equally good columns."""
    pick = next((name for name in names if "val" in name.lower()), names[0])
    return DataError(
        f"{source}: {len(names)} columns could be {role} ({MEANING[role]}) and they differ: "
        f"{listed(names)}. Say which one: columns={{'{role}': '{pick}'}} "
        f'(shell: --map "{role}={pick}").'
    )


def listed(names: Sequence[str], most: int = 12) -> str:
    """Join names for a message, cut after `most`."""
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
