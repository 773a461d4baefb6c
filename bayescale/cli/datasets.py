"""``bayescale datasets``: public sweeps to try a law on."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescale.cli.options import Json

if TYPE_CHECKING:
    from bayescale.data.catalog import DataSet
    from bayescale.data.runs import Runs
    from bayescale.tables import Table

HERE = ("shipped", "local", "fetched")


def command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Show this one alone; fetches it if need be."),
    ] = None,
    json: Json = False,
) -> None:
    """List the public data sets, or show one: its source, licence and range.

    Wherever a command takes RUNS, it takes such a name too. Some are fetched at their first use;
    the others are read from the folder that the variable BAYESCALE_DATA names.

    For example:

      bayescale datasets
      bayescale datasets chinchilla-epoch
      bayescale fit chinchilla chinchilla-epoch
    """
    from bayescale.cli.output import show, show_json
    from bayescale.data.public import datasets, find_dataset, load_dataset

    if name is None:
        found = [(d, _runs_if_here(d)) for d in datasets()]
        if json:
            show_json([record(d, runs) for d, runs in found])
        else:
            show(listing(found))
        return
    chosen = find_dataset(name)
    runs = load_dataset(chosen)
    if json:
        show_json(record(chosen, runs))
    else:
        show(*details(chosen, runs))


def _runs_if_here(dataset: "DataSet") -> "Runs | None":
    """The runs where no network is needed and the file can be read."""
    from bayescale.data.public import load_dataset, whereabouts
    from bayescale.errors import DataError

    if whereabouts(dataset) not in HERE:
        return None
    try:
        return load_dataset(dataset)
    except DataError:  # a damaged copy; showing this one alone says what is wrong with it
        return None


def listing(found: "list[tuple[DataSet, Runs | None]]") -> "Table":
    """One row a data set."""
    from bayescale.data.public import whereabouts
    from bayescale.tables import Table

    rows = [
        [d.name, str(len(runs)) if runs else "–", whereabouts(d), d.licence, d.title]
        for d, runs in found
    ]
    notes = ["one in full: bayescale datasets NAME", "to fit one: bayescale fit LAW NAME"]
    if any(row[2] == "missing" for row in rows):
        notes.append(
            "missing: its file was derived from the source; put it into a folder, and name the "
            "folder in BAYESCALE_DATA"
        )
    columns = ["data set", "runs", "where", "licence", "what"]
    return Table(columns, rows, notes=notes, text=["data set", "where", "licence", "what"])


def details(dataset: "DataSet", runs: "Runs") -> list[Any]:
    """The lines and the table that show one data set."""
    from bayescale.tables import Table

    lines = [
        f"{dataset.name}: {dataset.title}",
        f"  cite: {dataset.citation}",
        f"  licence: {dataset.licence}",
        f"  file: {dataset.file}" + (f", from {dataset.url}" if dataset.url else ""),
        f"  rows taken: {dataset.where or 'all'}",
    ]
    if dataset.best_per:
        lines.append(f"  of those the lowest loss of each {', '.join(dataset.best_per)}")
    rows = [[name, *map(_number, span)] for name, span in ranges(runs).items()]
    table = Table(
        ["column", "lowest", "median", "highest"],
        rows,
        text=["column"],
        notes=[f"to fit it: bayescale fit {law} {dataset.name} -o fit.nc" for law in dataset.laws],
    )
    return ["\n".join([*lines, runs.describe()]), table]


def ranges(runs: "Runs") -> dict[str, tuple[float, float, float]]:
    """Lowest, median and highest of N, D, C, tokens a parameter, and loss."""
    import numpy as np

    columns = {c: runs.column(c) for c in ("N", "D", "C", "loss") if c in runs.table}
    if {"N", "D"} <= set(columns):
        columns["D/N"] = columns["D"] / columns["N"]
    return {k: (float(v.min()), float(np.median(v)), float(v.max())) for k, v in columns.items()}


def _number(value: float) -> str:
    from bayescale.tables import quantity

    return quantity(value)


def record(dataset: "DataSet", runs: "Runs | None") -> dict[str, Any]:
    """A data set as JSON; what only its file tells is null where the file isn't here."""
    from bayescale.data.public import whereabouts

    spans = ranges(runs) if runs else {}
    return {
        "name": dataset.name,
        "title": dataset.title,
        "where": whereabouts(dataset),
        "n_runs": len(runs) if runs else None,
        "ranges": {k: dict(zip(("min", "median", "max"), v, strict=True)) for k, v in spans.items()}
        or None,
        "licence": dataset.licence,
        "citation": dataset.citation,
        "note": dataset.note,
        "laws": list(dataset.laws),
        "file": dataset.file,
        "url": dataset.url,
        "sha256": dataset.sha256,
    }
