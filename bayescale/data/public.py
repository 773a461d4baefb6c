"""Public data sets by name: from a local folder, from the package, or fetched once and checked."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from bayescale.data.catalog import CATALOG, DataSet
from bayescale.data.flags import Flag
from bayescale.data.read import read_runs
from bayescale.data.runs import Runs
from bayescale.errors import DataError, nearest

FOLDER_VARIABLE = "BAYESCALE_DATA"


def datasets() -> list[DataSet]:
    """Return the records of all public data sets, in the order of the catalogue."""
    return list(CATALOG)


def find_dataset(name: str) -> DataSet:
    """Return the record of a data set.

    Raises
    ------
    DataError
        Where there is none of this name; the nearest one is named.
    """
    names = [known.name for known in CATALOG]
    if name not in names:
        raise DataError(
            f"there is no data set '{name}'.{nearest(name, names)} Known: {', '.join(names)}."
        )
    return CATALOG[names.index(name)]


def whereabouts(record: DataSet) -> str:
    """Say where a data set's file is, without reading or fetching it.

    Returns
    -------
    str
        "shipped" with the package, "local" in the folder BAYESCALE_DATA, "fetched" before, "to
        fetch" at its first use, or "missing": to be put into that folder.
    """
    if record.packaged or record.simulator:
        return "shipped"
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return "local" if (Path(named).expanduser() / record.file).is_file() else "missing"
    if record.url is None:
        return "missing"
    return "fetched" if _fetched_path(record).is_file() else "to fetch"


def load_dataset(name: str | DataSet) -> Runs:
    """Load a public data set: its standard slice, checked.

    Parameters
    ----------
    name
        A name that `datasets` lists, or a record of your own.

    Returns
    -------
    Runs
        With the data set's name as source. A file that isn't the one on record is flagged.

    Raises
    ------
    DataError
        Where the file is neither in the folder BAYESCALE_DATA nor to be had by address.
    """
    record = name if isinstance(name, DataSet) else find_dataset(name)
    with _located(record) as table:
        runs = read_runs(
            table,
            columns=record.columns,
            where=record.where,
            cost=record.cost,
            curves=record.curves,
            drop_missing=record.drop_missing,
        )
    runs = lowest(runs, record.best_per)
    flags = (Flag("note", (), record.note), *runs.flags)
    if record.sha256 and runs.sha256 != record.sha256:
        message = f"the file isn't the one on record (sha256 {runs.sha256[:12]}...): own copy?"
        flags = (Flag("checksum", (), message), *flags)
    return replace(runs, source=record.name, flags=flags)


def lowest(runs: Runs, columns: Sequence[str]) -> Runs:
    """Of the runs that agree in some columns the one with the lowest loss; all without columns.

    Raises
    ------
    DataError
        A column is missing.
    """
    if not columns:
        return runs
    runs.require([*columns, "loss"], "the lowest loss of each")
    best: Any = runs.table.groupby(list(columns))["loss"].idxmin().to_numpy()
    mask = runs.table.index.isin(best)
    return runs.select(mask, f"lowest loss of each ({', '.join(columns)})")


def resolve(source: Any) -> Any:
    """Runs of a public data set where a text names one; anything else as it is.

    A text counts as a file if it exists, or has a suffix or a path separator.

    Raises
    ------
    DataError
        Where the text is neither a file nor a data set.
    """
    if not isinstance(source, str):
        return source
    path = Path(source)
    if path.exists() or path.suffix or os.sep in source or "/" in source:
        return path
    names = [known.name for known in CATALOG]
    if source not in names:
        raise DataError(
            f"'{source}' is neither a file nor a data set.{nearest(source, names)} "
            f"Data sets: {', '.join(names)}."
        )
    return load_dataset(source)


@contextmanager
def _located(record: DataSet) -> Iterator[Any]:
    """Yield the path of a data set's file, or the table of a simulated one."""
    with ExitStack() as stack:
        if record.simulator:
            home, _, function = record.simulator.partition(":")
            yield getattr(import_module(home), function)()
            return
        if record.packaged:
            from importlib.resources import as_file, files

            resource = files("bayescale.data").joinpath(record.file)
            if not resource.is_file():
                raise DataError(
                    f"data set '{record.name}': {record.file} is missing from the installed "
                    "package; install bayescale again."
                )
            yield stack.enter_context(as_file(resource))
            return
        yield _local(record) or _fetched(record)


def _local(record: DataSet) -> Path | None:
    """Return the file in the folder BAYESCALE_DATA, or None where no folder is named."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise DataError(f"{FOLDER_VARIABLE} names '{named}', which is no folder.")
    path = folder / record.file
    if not path.is_file():
        raise DataError(
            f"data set '{record.name}': {path} is missing; {FOLDER_VARIABLE} must name a folder "
            f"with {record.file} in it. Source: {record.citation}."
        )
    return path


def _fetched_path(record: DataSet) -> Path:
    """Where a fetched file is kept."""
    import platformdirs

    folder = Path(platformdirs.user_cache_dir("bayescale")) / "datasets"
    return folder / record.file.replace("/", "-")


def _fetched(record: DataSet) -> Path:
    """Fetch the original once into the user's cache, its hash checked."""
    if record.url is None:
        raise DataError(
            f"data set '{record.name}' can't be fetched: its file was derived from the source "
            f"({record.citation}). Put it at {record.file} in a folder and name that folder in "
            f"{FOLDER_VARIABLE}."
        )
    import pooch

    cached = _fetched_path(record)
    if cached.is_file() and hashlib.sha256(cached.read_bytes()).hexdigest() == record.sha256:
        return cached
    downloader: Any = pooch.HTTPDownloader(timeout=20)
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        return Path(
            pooch.retrieve(
                record.url,
                known_hash=f"sha256:{record.sha256}",
                fname=cached.name,
                path=cached.parent,
                downloader=downloader,
            )
        )
    except Exception as err:  # of requests, urllib3, the file system, or a wrong hash
        reason = "another file came" if "hash" in str(err) else type(err).__name__
        raise DataError(
            f"data set '{record.name}' couldn't be fetched from {record.url} ({reason}). Without "
            f"a network, put the file at {record.file} in a folder and name that folder in "
            f"{FOLDER_VARIABLE}."
        ) from None
    finally:
        logger.setLevel(level)
