"""Which law, for which table: a law's name, a family's name with options, or a `Law`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayescale.data.aliases import ROLES
from bayescale.errors import DataError, nearest
from bayescale.families import FAMILIES
from bayescale.families.family import Family
from bayescale.law import Law
from bayescale.laws import LAWS, get_law

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


def find_family(law: Any) -> Family | None:
    """The family that a text such as ``mixture:transfer=additive`` names, if it names one."""
    return FAMILIES.get(law.partition(":")[0]) if isinstance(law, str) else None


def choose(law: Law | str, runs: Any, reading: Mapping[str, Any]) -> "tuple[Law, Runs]":
    """The law and the runs in the form in which it reads them.

    Parameters
    ----------
    law : Law or str
        A law, its name, or a family's name with options: ``"mixture:transfer=additive"``.
    runs : Runs, DataFrame, path or data set name
    reading : mapping
        Arguments of `read_runs`.

    Raises
    ------
    LawError
        An unknown law or option.
    DataError
        The table can't be read, or doesn't say what the family needs.
    """
    from bayescale.data.read import read_runs

    family = find_family(law)
    if family is None:
        found = get_law(law)
        check_mapping(found, reading)
        return found, read_runs(runs, **reading)
    assert isinstance(law, str)
    options = family.parse(law.partition(":")[2])
    told = dict(reading)
    for name, value in family.reading.items():
        told[name] = {**value, **(told.get(name) or {})} if isinstance(value, Mapping) else value
    return family.arrange(read_runs(runs, **told), **options)


def check_mapping(law: Law, reading: Mapping[str, Any]) -> None:
    """Raise where a column is mapped to a name that the law doesn't read, such as ``n`` for N.

    Raises
    ------
    DataError
    """
    known = list(dict.fromkeys([*ROLES, *law.columns, *law.label_columns, law.response]))
    for name in reading.get("columns") or {}:
        if name not in known:
            raise DataError(
                f"columns maps '{name}', which law '{law.name}' doesn't read; it reads "
                f"{', '.join(known)}." + nearest(name, known)
            )


def arrange(law: Law | str, runs: Any, **reading: Any) -> "tuple[Law, Runs]":
    """A law for a table, and the table as the law reads it: one row a response.

    ``fit`` does this itself; apart, the arranged runs can be split, and the law looked at.

    Parameters
    ----------
    law : Law or str
        As for `bayescale.fit`.
    runs : Runs, DataFrame, path or data set name
    **reading
        Arguments of `read_runs`.

    Returns
    -------
    law : Law
    runs : Runs

    Raises
    ------
    LawError, DataError
        As `choose`.
    """
    return choose(law, runs, reading)


def choose_all(
    laws: Mapping[str, Law | str], runs: Any, reading: Mapping[str, Any]
) -> "tuple[dict[str, Law], Runs]":
    """Several laws for one table, in the form in which all of them read it.

    Raises
    ------
    DataError
        Two families need the table in different forms.
    """
    from bayescale.data.frames import content_hash
    from bayescale.data.read import read_runs

    table, found = None, {}
    for name, law in laws.items():
        if find_family(law):
            found[name], arranged = choose(law, runs, reading)
            if table is not None and content_hash(table.table) != content_hash(arranged.table):
                raise DataError(
                    f"law '{name}' reads the table in another form than those before it."
                )
            table = arranged
        else:
            found[name] = get_law(law)
    return found, read_runs(runs, **reading) if table is None else table


def example(law: Law | str) -> Law:
    """A law of this name; a family's example where its labels come from a table."""
    family = find_family(law)
    return family.example if family else get_law(law)


def shipped(law: Law) -> Law | None:
    """The law of the same name, or of the same recipe, that comes with the package."""
    if law.recipe:
        return rebuild(law.recipe)
    return LAWS.get(law.name)


def rebuild(recipe: tuple[str, str]) -> Law | None:
    """The law that a recipe gives; None for a family that isn't known here."""
    family = FAMILIES.get(recipe[0])
    return family.rebuild(recipe[1]) if family else None
