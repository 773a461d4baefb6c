"""What people type: several values in one option, and pairs such as ``loss=val_loss``."""

import re
from collections.abc import Sequence

import typer

# 1,000,000 is one number with separators, not three
_SEPARATED = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?\s*[A-Za-z]*")


def split_values(given: Sequence[str] | None) -> list[str] | None:
    """The values of a repeatable option, each perhaps several with commas: ``7B,70B``."""
    if not given:
        return None
    values: list[str] = []
    for text in given:
        if _SEPARATED.fullmatch(text.strip()):
            values.append(text)
        else:
            values += [part.strip() for part in text.split(",") if part.strip()]
    return values


def pairs(
    given: Sequence[str] | None, option: str, form: str, empty: bool = False
) -> dict[str, str]:
    """A repeatable option of the form ``name=value`` as a mapping.

    Parameters
    ----------
    given
        What was typed.
    option, form
        The option and the form expected, for messages.
    empty
        Whether a value may be empty.

    Raises
    ------
    typer.BadParameter
        A text without ``=``, or a name given twice.
    """
    found: dict[str, str] = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if not (sign and name and (value or empty)):
            raise typer.BadParameter(f"{option} '{text}' is not of the form {form}")
        if name in found:
            raise typer.BadParameter(f"{option} says what {name} is more than once")
        found[name] = value
    return found
