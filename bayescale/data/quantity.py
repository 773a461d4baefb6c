"""Numbers as people write them: "7.68B", "1.4T", "350M", "5.76e23", "1,000,000"."""

import math
import re

from bayescale.errors import DataError

# Power of ten of a suffix. Lower case is the same: nobody counts milli-parameters.
_SUFFIXES = {
    "": 0,
    "k": 3,
    "thousand": 3,
    "m": 6,
    "mn": 6,
    "million": 6,
    "millions": 6,
    "b": 9,
    "bn": 9,
    "g": 9,
    "billion": 9,
    "billions": 9,
    "t": 12,
    "tn": 12,
    "trillion": 12,
    "trillions": 12,
}
_FLOP_PREFIXES = {
    "": 0,
    "mega": 6,
    "m": 6,
    "giga": 9,
    "g": 9,
    "tera": 12,
    "t": 12,
    "peta": 15,
    "p": 15,
    "exa": 18,
    "e": 18,
    "zetta": 21,
    "z": 21,
    "yotta": 24,
    "y": 24,
}
PF_DAY = 1e15 * 86400  # FLOP in one petaFLOP/s-day (Kaplan et al., arXiv:2001.08361)

_NUMBER = re.compile(
    r"(?P<number>[+-]?(?:\d+(?:[,_ \u00a0\u2009\u202f']\d{3})+|\d+(?:_\d+)*|(?=\.\d))(?:\.\d*)?)"
    r"(?:[eE](?P<exponent>[+-]?\d+)|\s*(?:[x*×·]\s*10\s*(?:\^|\*\*)?\s*(?P<power>[+-]?\d+)))?"
    r"\s*(?P<rest>.*)",
    re.DOTALL,
)
_UNIT_WORDS = re.compile(r"\s*(params?|parameters?|tokens?|toks?|flops?|flop)$", re.IGNORECASE)
_MEANING = {"N": "parameters", "D": "tokens", "C": "FLOP", "loss": "nats per token"}
_EXAMPLE = {"N": "7.68B or 7.68e9", "D": "1.4T or 1.4e12", "C": "5.76e23", "loss": "2.35"}
# Below these, a number typed by hand is nearly surely in another unit.
_SMALLEST = {"N": 100.0, "D": 100.0, "C": 1e6}


def parse_quantity(text: str | float, what: str = "value") -> float:
    """Read one number as a person writes it, in the field's own suffixes.

    Parameters
    ----------
    text
        For instance "7.68B", "1.4T tokens", "350M", "5.76e23", "1_000", "1,000,000", "6x10^21",
        "1 ZFLOP" or "3.2 PF-days"; a number is taken as it is. Suffixes are powers of a
        thousand and not case-sensitive ("B" and "b" are both 1e9).
    what
        What the number is, for messages: "N" (parameters), "D" (tokens), "C" (FLOP), "loss", or
        any other name.

    Returns
    -------
    float
        The number: parameters, tokens or FLOP.

    Raises
    ------
    DataError
        Where the text isn't a finite positive number, or is too small to be in the stated unit
        (``N`` or ``D`` below 100, ``C`` below 1e6).
    """
    value = parse_number(text, what)
    unit = f" {_MEANING[what]}" if what in _MEANING else ""
    if not math.isfinite(value) or value <= 0:
        raise DataError(f"{what} = {text} is not a finite number above zero.{_write(what)}")
    if value < _SMALLEST.get(what, 0.0):
        is_log = what == "C" and 10 <= value <= 40
        power = f" (or 1e{value:g} if that is its base-10 logarithm)" if is_log else ""
        raise DataError(
            f"{what} = {text} would mean {value:g}{unit}, which is too small: give the full "
            f"number, such as {_EXAMPLE[what]}{power}."
        )
    return value


def parse_number(text: str | float, what: str = "value") -> float:
    """Read a number like `parse_quantity`, without judging its sign or size.

    Raises
    ------
    DataError
        Where the text is no number, or could be read in two ways.
    """
    if isinstance(text, int | float) and not isinstance(text, bool):
        return float(text)
    cleaned = str(text).strip().replace("\u2212", "-")
    if cleaned.lower().lstrip("+-") in ("inf", "infinity", "nan"):
        return float(cleaned)
    match = _NUMBER.fullmatch(cleaned)
    if match is None:
        raise DataError(f"{what}: '{text}' is not a number.{_write(what)}")
    rest = match["rest"].strip()
    if re.match(r"[+-]?[\d.,]*\d[.,]\d", cleaned) and re.match(r"[.,\d]", rest):
        raise DataError(
            f"{what}: '{text}' could be a decimal comma or a misplaced thousands separator; "
            "write a decimal point (1.5) or no separator at all."
        )
    scale = _scale_of(rest)
    if scale is None:
        raise DataError(f"{what}: '{text}' is not a number ('{rest}' is unknown).{_write(what)}")
    digits = re.sub(r"[,_ \u00a0\u2009\u202f']", "", match["number"])
    exponent = int(match["exponent"] or match["power"] or 0)
    if scale == "pf-day":
        return float(f"{digits}e{exponent}") * PF_DAY
    # One conversion from text, so that 7.68B is exactly 7.68e9.
    return float(f"{digits}e{exponent + int(scale)}")


def _scale_of(rest: str) -> int | str | None:
    """Return the power of ten of what follows the digits, "pf-day", or None if unknown."""
    lowered = rest.lower()
    if re.fullmatch(r"pf(lops?)?(/?s)?[- ]?days?|petaflops?(/s)?[- ]?days?", lowered):
        return "pf-day"
    flop = re.fullmatch(r"(\w*?)[- ]?flops?", lowered)
    if flop and flop[1] in _FLOP_PREFIXES:
        return _FLOP_PREFIXES[flop[1]]
    suffix = _UNIT_WORDS.sub("", lowered).strip()
    return _SUFFIXES.get(suffix)


def _write(what: str) -> str:
    return f" Write it like {_EXAMPLE[what]}." if what in _EXAMPLE else " Write it like 1e9 or 1B."
