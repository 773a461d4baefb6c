"""CSV as people export it: any separator, decimal commas, comment lines, empty lines."""

import csv
import io
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bayescale.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_NAMELESS = "Unnamed: "  # as pandas calls columns without a name
_SEPARATORS = (",", ";", "\t", "|")
_COMMA_NUMBER = re.compile(r"[+-]?\d[\d.]*,\d+(?:[eE][+-]?\d+)?\s*[kKmMbBtTgG]?")
_NUMBER = re.compile(r"[+-]?[\d.,]*\d[\d.,]*(?:[eE][+-]?\d+)?\s*[kKmMbBtTgG]?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")


def read_csv_text(text: str, name: str) -> "pd.DataFrame":
    """Read CSV text into a table.

    Parameters
    ----------
    text
        The whole file, decoded. Separator (comma, semicolon, tab, bar) and decimal mark are
        found out; lines that are comments ("# ...") or empty are left out.
    name
        Name of the file, for messages.

    Returns
    -------
    DataFrame
        Numbers where a whole column is numeric, else the text of the cells.

    Raises
    ------
    DataError
        Where there is no header, no row, a repeated column name, or a row with another number
        of cells.
    """
    lines, declared = _content_lines(text)
    if not lines:
        raise DataError(f"{name} is empty: expected a header line and one row a run.")
    separator = declared or _separator(_header_text(lines))
    names, first = _first_records(lines, separator, name)
    header = _header(names, first, _header_text(lines), name)
    if not first:
        raise DataError(f"{name} has a header line but no rows: expected one row a run.")
    frame = _parse("\n".join(lines), separator, header, name)
    if _has_comma_numbers(frame):
        frame = _with_decimal_comma("\n".join(lines), separator, header, name, frame)
    for column in header[len(names) :]:
        filled = frame[column].notna().to_numpy()
        if filled.any():
            raise DataError(
                f"{name}: row {filled.argmax() + 1} has more cells than the header names columns "
                f"({len(names)}): a stray separator, or a number such as 1,000 without quotes?"
            )
    return frame


def check_names(names: list[str], name: str) -> None:
    """Raise where a column name occurs twice."""
    seen: set[str] = set()
    for column in names:
        if column and column in seen:
            raise DataError(
                f"{name} has two columns named '{column}': rename or delete one of them."
            )
        seen.add(column)


def _content_lines(text: str) -> tuple[list[str], str | None]:
    """Return the lines that carry data, and the separator of a "sep=;" line if there is one."""
    lines = re.split(r"\r\n|\r|\n", text)
    declared = None
    if re.fullmatch(r"\"?sep=.\"?", lines[0].strip("\ufeff ")):
        declared = lines.pop(0).strip('" ')[-1]
    lines = [line for line in lines if line.strip()]
    top = 0
    while top < len(lines) and lines[top].lstrip().startswith("#"):
        top += 1
    comments, body = lines[:top], lines[top:]
    if comments and (not body or _is_commented_header(comments[-1], body[0])):
        # A header written as "# N,D,loss" (numpy.savetxt does), or colours such as #faebdd.
        body = [comments[-1].lstrip("# ").rstrip()] + body
    separators = re.compile("[,;\t|]")
    kept = [
        line
        for place, line in enumerate(body)
        if place == 0 or not (line.startswith("# ") or _is_note(line, separators))
    ]
    return kept, declared


def _is_note(line: str, separators: re.Pattern[str]) -> bool:
    return line.startswith("#") and not separators.search(line)


def _is_commented_header(comment: str, first: str) -> bool:
    """Tell whether the first line holds numbers and the comment above it names its columns."""
    separator = _separator(first)
    cells = first.split(separator)
    same_width = len(cells) == len(comment.split(separator)) > 1
    return same_width and any(_NUMBER.fullmatch(c.strip()) for c in cells)


def _separator(header: str) -> str:
    """Return the separator that occurs most often outside quotes in the header line."""
    bare = re.sub(r'"[^"]*"', "", header)
    counts = {s: bare.count(s) for s in _SEPARATORS}
    best = max(_SEPARATORS, key=lambda s: counts[s])
    return best if counts[best] else ","


def _header_text(lines: list[str]) -> str:
    """Return the header line, with the lines below it that a quoted line break adds."""
    text = lines[0]
    for line in lines[1:20]:
        if text.count('"') % 2 == 0:
            break
        text += " " + line
    return text


def _first_records(lines: list[str], separator: str, name: str) -> tuple[list[str], list[str]]:
    """Return the cells of the header and of the first row."""
    reader = csv.reader((f"{x}\n" for x in lines), delimiter=separator, skipinitialspace=True)
    try:
        names, first = next(reader), next(reader, [])
    except csv.Error as err:
        raise DataError(f"{name} can't be read as CSV ({err}).") from None
    return [" ".join(cell.split()) for cell in names], first


def _header(names: list[str], first: list[str], line: str, name: str) -> list[str]:
    """Check the header against the first row; return a name for every column."""
    numeric = sum(bool(_NUMBER.fullmatch(n)) for n in names)
    if numeric and (numeric == sum(map(bool, names)) or (numeric > 1 and not _any_role(names))):
        raise DataError(
            f"{name} has no header: its first line is '{line[:60]}'. Add a line with the "
            "names of the columns, such as N,D,loss."
        )
    if len(names) == len(first) == 1 and len(names[0].split()) > 1:
        cells = first[0].split()
        if len(cells) > 1 and all(_NUMBER.fullmatch(c) for c in cells):
            raise DataError(
                f"{name} is separated by spaces: separate the columns by commas or tabs."
            )
    check_names(names, name)
    _check_first_row(first, names, line.strip(",;\t|")[:60], name)
    # Rows may end in separators that the header lacks.
    every = [*names, *[""] * (len(first) - len(names))]
    return [n or f"{_NAMELESS}{i}" for i, n in enumerate(every)]


def _check_first_row(first: list[str], names: list[str], line: str, name: str) -> None:
    if sum(map(bool, names)) == 1 and sum(bool(cell.strip()) for cell in first) > 1:
        raise DataError(
            f"{name}: the first line, '{line}', looks like a title: delete it, so that the file "
            "starts with the names of the columns."
        )
    if any(cell.strip() for cell in first[len(names) :]):
        raise DataError(
            f"{name}: the first row has {len(first)} cells but the header names {len(names)} "
            "columns: name every column (R's write.table leaves one out), and quote numbers that "
            "hold the separator."
        )


def _any_role(names: list[str]) -> bool:
    from bayescale.data.columns import candidates

    return any(candidates(names).values())


def _parse(
    text: str, separator: str, names: list[str], name: str, **options: Any
) -> "pd.DataFrame":
    import pandas as pd

    read: Any = pd.read_csv
    options |= {"header": 0, "names": names, "index_col": False, "skipinitialspace": True}
    if options.get("engine") != "python" and pd.__version__.startswith("2."):
        options["float_precision"] = "round_trip"  # pandas 2 is else off in the last bit
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows cut short
            return read(io.StringIO(text), sep=separator, low_memory=False, **options)
    except (pd.errors.ParserError, pd.errors.ParserWarning) as err:
        raise DataError(f"{name}: {_ragged(str(err), text, separator, len(names))}") from None
    except (ValueError, OverflowError) as err:
        raise DataError(f"{name} can't be read as CSV: {str(err).splitlines()[0]}.") from None


def _ragged(message: str, text: str, separator: str, expected: int) -> str:
    """Say which row has too many cells, or where a quote isn't closed."""
    if "EOF inside string" in message:
        return 'a quotation mark (") is opened and never closed; close or delete it.'
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    for row, cells in enumerate(_whole(reader)):
        if row and len(cells) > expected:
            return (
                f"row {row} has {len(cells)} cells where the header names {expected} columns: "
                "a stray separator, or a number such as 1,000 without quotes?"
            )
    return f"not a regular table ({message.splitlines()[0]})."


def _whole(reader: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield records up to the first that csv can't take (a cell of more than 128 kB, say)."""
    with suppress(csv.Error):
        yield from reader


def _texts(frame: "pd.DataFrame") -> list[Any]:
    from pandas.api.types import is_numeric_dtype

    return [frame[c].dropna().astype(str) for c in frame if not is_numeric_dtype(frame[c])]


def _has_comma_numbers(frame: "pd.DataFrame") -> bool:
    return any(
        cells.str.contains(",", regex=False).any()
        and cells.str.strip().str.fullmatch(_COMMA_NUMBER.pattern).any()
        for cells in _texts(frame)
    )


def _with_decimal_comma(
    text: str, separator: str, names: list[str], name: str, frame: "pd.DataFrame"
) -> "pd.DataFrame":
    """Read the table again with decimal commas where commas can't be thousands separators."""
    import pandas as pd

    raw = _parse(text, separator, names, name, dtype=str)
    numbers: Any = pd.concat([c.str.strip() for c in _texts(raw)], ignore_index=True)
    numbers = numbers[numbers.str.fullmatch(_NUMBER.pattern)]
    with_comma = numbers[numbers.str.contains(",", regex=False)]
    sure_comma = with_comma[~with_comma.str.fullmatch(_THOUSANDS.pattern)]
    points = numbers[numbers.str.contains(r"^[^.]*\.[^.]*$") & ~numbers.str.contains(",")]
    sure_point = points[~points.str.fullmatch(r"[+-]?\d{1,3}\.\d{3}")]
    # Where both occur, commas are lists or slips: a cell of N, D, C or loss that holds one is
    # named when it is read. With points only, 1,000,000 has a thousands separator.
    if len(sure_point) or (not len(sure_comma) and (separator != ";" or len(points))):
        return frame
    for column in raw:
        cells: Any = raw[column].str.strip()
        is_number = cells.str.fullmatch(_NUMBER.pattern, na=False).astype(bool)
        swapped = cells.where(
            ~is_number,
            cells.str.replace(".", "", regex=False).str.replace(",", ".", regex=False),
        )
        whole: Any = pd.to_numeric(swapped, errors="coerce")
        raw[column] = whole if whole.notna().sum() == cells.notna().sum() else swapped
    return raw
