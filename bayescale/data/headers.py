"""What a column header says: its words, and the unit it names ("params (B)", "tokens_T")."""

import re
from dataclasses import dataclass

from bayescale.data.quantity import PF_DAY

# A trailing word or bracket that scales the numbers below it.
_UNITS = {
    "k": 1e3,
    "thousand": 1e3,
    "thousands": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "mil": 1e6,
    "million": 1e6,
    "millions": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "g": 1e9,
    "billion": 1e9,
    "billions": 1e9,
    "t": 1e12,
    "tn": 1e12,
    "trillion": 1e12,
    "trillions": 1e12,
}
# PFLOP and smaller are left out on purpose: "TFLOPs" is as often a speed as an amount.
_FLOP_UNITS = {
    "eflop": 1e18,
    "exaflop": 1e18,
    "zflop": 1e21,
    "zettaflop": 1e21,
    "yflop": 1e24,
    "yottaflop": 1e24,
}
_PLAIN = {
    "nats",
    "nat",
    "nats/token",
    "nats per token",
    "flop",
    "flops",
    "params",
    "tokens",
    "count",
}
_POWER = re.compile(r"(?:x|×)?\s*(?:1?e\+?|10\^|10\*\*)(\d{1,2})$")
_BRACKET = re.compile(r"^(?P<name>.*\S)\s*[(\[{](?P<unit>[^()\[\]{}]+)[)\]}]$")
_PF_DAYS = re.compile(r"p(eta)?f(lops?)?(/?s)?[-_ ]?days?$")


@dataclass(frozen=True)
class Header:
    """A header taken apart.

    Parameters
    ----------
    text
        The header as it stands in the file.
    words
        Its words in lower case, without the unit.
    scale
        What the numbers below are multiplied with (1 where no unit is named).
    letter
        The first word in its own case if it is a single letter, else "".
    """

    text: str
    words: tuple[str, ...]
    scale: float
    letter: str

    @property
    def joined(self) -> str:
        """The words run together: how aliases are compared."""
        return "".join(self.words)


def read_header(text: str) -> Header:
    """Take a header apart into words and unit.

    Parameters
    ----------
    text
        A column name, for instance "Model Size (B)", "tokens_T", "FLOPs (1E21)", "nParams".

    Returns
    -------
    Header
        Words in lower case and the scale of the unit.
    """
    name, scale = text.strip(), 1.0
    bracket = _BRACKET.match(name)
    if bracket:
        unit = unit_scale(bracket["unit"])
        if unit is not None:
            name, scale = bracket["name"], unit
    pieces = _split(name)
    # A header that is nothing but "B" or "T" names no quantity, so the unit never stands alone.
    if scale == 1.0 and len(pieces) > 1:
        for taken in (2, 1):
            unit = unit_scale(" ".join(pieces[-taken:])) if len(pieces) > taken else None
            if unit is not None and unit != 1.0:
                pieces, scale = pieces[:-taken], unit
                break
    letter = pieces[0] if pieces and len(pieces[0]) == 1 else ""
    return Header(text, tuple(p.lower() for p in pieces), scale, letter)


def unit_scale(text: str) -> float | None:
    """Return the factor a unit stands for ("B" 1e9, "1E21" 1e21, "PF-days"), None if unknown."""
    unit = text.strip().lower()
    if unit in _PLAIN:
        return 1.0
    if _PF_DAYS.match(unit):
        return PF_DAY
    power = _POWER.match(unit)
    if power:
        return float(f"1e{power[1]}")
    if unit.removesuffix("s") in _FLOP_UNITS:
        return _FLOP_UNITS[unit.removesuffix("s")]
    words = re.sub(r"\s+(of )?(params?|parameters|tokens|flops?)$", "", unit)
    return _UNITS.get(words)


def _split(name: str) -> list[str]:
    """Split at punctuation and where camelCase starts a new word."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [piece for piece in re.split(r"[^0-9A-Za-z]+", spaced) if piece]
