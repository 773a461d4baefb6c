"""From a file to a table: text encoding, separators, comments; CSV, Parquet and JSON lines."""

import gzip
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

from bayescale.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_TEXT = (".csv", ".tsv", ".txt")
_LINES = (".jsonl", ".ndjson")
_KNOWN = ".csv, .tsv, .csv.gz, .parquet, .jsonl or .ndjson"
_INSTEAD = {
    ".xlsx": "save the sheet as 'CSV UTF-8'",
    ".xls": "save the sheet as 'CSV UTF-8'",
    ".ods": "save the sheet as CSV in UTF-8",
    ".json": "write one JSON object a line (.jsonl)",
    ".zip": "unpack it first",
    ".pkl": "save the table as CSV or Parquet (pickles are never opened)",
    ".pickle": "save the table as CSV or Parquet (pickles are never opened)",
    ".nc": "load a saved fit with bayescale.load, not read_runs",
}


def read_bytes(path: Path) -> bytes:
    """Read a file, with one clear line where that can't be done.

    Raises
    ------
    DataError
        Where the path isn't a readable file, or its suffix isn't a known one.
    """
    if path.is_dir():
        raise DataError(f"{path} is a folder; give one file of it ({_KNOWN}).")
    if not path.exists():
        where = "" if path.parent.is_dir() else f" (nor the folder {path.parent})"
        raise DataError(f"there is no file {path}{where}.{_similar(path)}")
    kind_of(path)
    try:
        return path.read_bytes()
    except OSError as err:
        raise DataError(f"{path} can't be read: {err.strerror or err}.") from None


def _similar(path: Path) -> str:
    """Return a hint at a file with a similar name beside a missing one."""
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return ""
    beside = {p.stem: p.name for p in sorted(path.parent.iterdir())}
    close = get_close_matches(path.stem, list(beside), n=1)
    return f" Did you mean '{beside[close[0]]}'?" if close else ""


def kind_of(path: Path) -> str:
    """Return "csv", "parquet" or "lines" by the suffix of a path."""
    suffixes = [s.lower() for s in path.suffixes]
    last = suffixes[-1] if suffixes else ""
    inner = suffixes[-2] if last == ".gz" and len(suffixes) > 1 else last
    if inner in _TEXT:
        return "csv"
    if inner in _LINES:
        return "lines"
    if last in (".parquet", ".pq"):
        return "parquet"
    instead = _INSTEAD.get(last, f"expected {_KNOWN}")
    raise DataError(f"{path.name}: can't read a '{last or 'file without suffix'}'; {instead}.")


def read_file(path: Path, content: bytes) -> "pd.DataFrame":
    """Turn the bytes of a file into a table, cells as they stand in the file.

    Parameters
    ----------
    path
        Where the bytes come from; its suffix tells the format.
    content
        The bytes.

    Returns
    -------
    DataFrame
        All columns of the file, one row for each data row of the file.
    """
    kind = kind_of(path)
    if kind == "parquet":
        return _read_parquet(path.name, content)
    if path.suffix.lower() == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError) as err:
            raise DataError(f"{path.name} is no complete gzip file ({err}).") from None
    text = decode(content, path.name)
    if not text.strip():
        raise DataError(f"{path.name} is empty: expected a header line and one row a run.")
    if kind == "lines":
        return _read_lines(path.name, text)
    from bayescale.data.csvtext import read_csv_text

    return read_csv_text(text, path.name)


def decode(content: bytes, name: str) -> str:
    """Decode UTF-8 (with or without byte order mark), or say what to convert from."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError(
            f"{name} is UTF-16 (Excel's 'Unicode Text'), not UTF-8: save it as 'CSV UTF-8', or "
            f"convert it with: iconv -f UTF-16 -t UTF-8 {name} > new.csv"
        )
    if content[:4] == b"PK\x03\x04":
        raise DataError(f"{name} is a zip or Excel file, whatever its name: save it as CSV.")
    if content[:2] == b"\x1f\x8b":
        raise DataError(f"{name} is compressed with gzip: name it .csv.gz, or unpack it.")
    if content[:4] == b"PAR1":
        raise DataError(f"{name} is a Parquet file, whatever its name: name it .parquet.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        line = content.count(b"\n", 0, err.start) + 1
        byte = content[err.start]
        raise DataError(
            f"{name} is not UTF-8 (byte 0x{byte:02x} in line {line}), probably Windows-1252 or "
            f"Latin-1: convert it with: iconv -f WINDOWS-1252 -t UTF-8 {name} > new.csv"
        ) from None
    if "\0" in text:
        raise DataError(f"{name} holds NUL bytes: it is no text file, or UTF-16 without a mark.")
    start = text[:200].lstrip().lower()
    if start.startswith(("<!doctype html", "<html", "<?xml")):
        raise DataError(f"{name} is a web page, not a table: download the raw file.")
    if start.startswith("version https://git-lfs"):
        raise DataError(f"{name} is a Git LFS pointer, not the data: run 'git lfs pull'.")
    return text


def _read_parquet(name: str, content: bytes) -> "pd.DataFrame":
    import pandas as pd

    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise DataError(
            f"{name}: reading Parquet needs pyarrow: pip install 'bayescale[parquet]'"
        ) from None
    try:
        return pd.read_parquet(io.BytesIO(content), engine="pyarrow").reset_index(drop=True)
    except Exception as err:  # pyarrow raises many kinds; none of them is for the user
        reason = str(err).splitlines()[0] if str(err) else type(err).__name__
        raise DataError(f"{name} is no readable Parquet file ({reason}).") from None


def _read_lines(name: str, text: str) -> "pd.DataFrame":
    import pandas as pd

    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as err:
            raise DataError(f"{name} line {number} is not JSON ({err}).") from None
        if not isinstance(row, dict):
            raise DataError(
                f"{name} line {number} is a {type(row).__name__}: expected one JSON object "
                '(such as {"N": 7e9, "D": 1.4e12, "loss": 2.0}) a line.'
            )
        rows.append(row)
    return pd.DataFrame.from_records(rows)
