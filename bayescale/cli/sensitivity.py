"""``bayescale sensitivity``: how much a saved fit leans on priors, inputs and single runs."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescale.cli.options import FitFile, Groups, Json, Seed

if TYPE_CHECKING:
    from bayescale.fitted import Fit

PARTS = ("prior", "inputs", "runs")


def _option(metavar: str, text: str, *names: str, **limits: Any) -> Any:
    return typer.Option(*names, metavar=metavar, help=text, **limits)


def command(
    fit: FitFile,
    what: Annotated[
        str, _option("PARTS", "Which of prior, inputs and runs to look at; several with commas.")
    ] = "prior,inputs,runs",
    C: Annotated[
        str | None,
        _option("FLOP", "Budget of L* and N_opt; by default ten times the largest run's.", "--C"),
    ] = None,
    at: Annotated[
        list[str] | None,
        _option("INPUT=VALUE", "Watch the loss there too: --at N=70B --at D=1.4T.", "--at"),
    ] = None,
    perturb: Annotated[
        list[str] | None,
        _option("NAME", "Only these perturbations of the inputs: N_bias,loss_offset.", "--perturb"),
    ] = None,
    error: Annotated[float, _option("X", "Relative error of N and D: 0.1 is 10%.")] = 0.1,
    size_column: Annotated[
        str | None, _option("COLUMN", "N counted the other way, with or without embeddings.")
    ] = None,
    vocabulary: Annotated[
        str | None,
        _option("NUMBER", "Vocabulary (or its column): N changes by vocabulary x width."),
    ] = None,
    width: Annotated[str | None, _option("COLUMN", "Column of the model width.")] = None,
    by: Annotated[
        str | None, _option("COLUMN", "Leave out groups of runs in place of single runs.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Fit again without each run, however good its weights.")
    ] = False,
    draws: Annotated[
        int | None, _option("INT", "Kept draws a chain of fits made again.", min=50)
    ] = None,
    workers: Annotated[int | None, _option("INT", "Fits at the same time.", min=1)] = None,
    folder: Annotated[
        str | None, _option("DIR", "Keep finished fits here; the same command goes on from them.")
    ] = None,
    group: Groups = None,
    plot: Annotated[
        str | None,
        _option("FILE.png", "Draw a picture of each part (FILE-prior.png, …); also .svg or .pdf."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say how much a saved fit leans on its priors, on its inputs and on single runs.

    prior: whether priors or runs decide each quantity (power-scaling, nothing is sampled).
    inputs: the fit made again with N, D or loss a little other than stated, or without some runs.
    runs: what leaving out each run changes.

    For example:

      bayescale sensitivity fit.nc --C 5.76e23
      bayescale sensitivity fit.nc --what inputs --perturb embeddings --vocabulary 50304
      bayescale sensitivity fit.nc --what runs --by family --plot families.png
    """
    from bayescale.cli.output import show, show_json
    from bayescale.cli.reading import pairs, split_values

    parts = _parts(split_values([what]) or [])
    files = _files(plot, parts)
    points = pairs(at, "--at", "input=value, such as N=70B")
    groups = pairs(group, "--group", "column=name, such as corpus=c4")
    asked: dict[str, Any] = {"seed": seed, **groups}
    again = {"draws": draws, "workers": workers, "folder": folder}
    again |= {"progress": False if json else None}
    inputs = {"what": split_values(perturb), "error": error, "size_column": size_column}
    inputs |= {"vocabulary": _vocabulary(vocabulary), "width": width}
    from bayescale.saving import load

    fitted, records = load(fit), {}
    for part, result in _results(
        fitted, parts, C, points, asked, inputs | again, {"by": by, "exact": exact} | again
    ):
        records[part] = result.to_dict()
        if not json:
            show(*([""] if len(records) > 1 else []), result)
        if part in files:
            _draw(result, files[part])
            if not json:
                show(f"wrote {files[part]}")
    if json:
        show_json(records)


def _parts(names: list[str]) -> list[str]:
    from bayescale.errors import FitError, nearest

    for name in names:
        if name not in PARTS:
            raise FitError(
                f"--what '{name}' is unknown; known: {', '.join(PARTS)}." + nearest(name, [*PARTS])
            )
    if not names:
        raise FitError(f"--what names nothing; known: {', '.join(PARTS)}.")
    return list(dict.fromkeys(names))


def _files(plot: str | None, parts: list[str]) -> dict[str, Path]:
    """A picture a part, checked before the minutes of sampling."""
    if plot is None:
        return {}
    from bayescale.plot.picture import check_picture

    path = Path(plot)
    names = {part: path.with_name(f"{path.stem}-{part}{path.suffix}") for part in parts}
    files = names if len(parts) > 1 else {parts[0]: path}
    for file in files.values():
        check_picture(file)
    return files


def _vocabulary(text: str | None) -> float | str | None:
    """A number as typed, or the name of a column."""
    from bayescale.data.quantity import parse_quantity
    from bayescale.errors import DataError

    if text is None:
        return None
    try:
        return parse_quantity(text, "--vocabulary")
    except DataError:
        return text


def _results(
    fit: "Fit",
    parts: list[str],
    C: str | None,
    at: dict[str, str],
    asked: dict[str, Any],
    inputs: dict[str, Any],
    runs: dict[str, Any],
) -> Iterator[tuple[str, Any]]:
    """The parts, each as soon as it is there."""
    from bayescale import check
    from bayescale.check.sensitivity.quantities import make_watch

    groups = {k: v for k, v in asked.items() if k != "seed"}
    watch = make_watch(fit, C, at, groups, asked["seed"])
    point: dict[str, Any] = {"C": C, "at": at or None, **asked}
    made: dict[str, Callable[[], Any]] = {
        "prior": lambda: check.power_scaling(fit, **point | {"C": watch.C, "at": watch.at or None}),
        "inputs": lambda: check.perturb(fit, **point, **inputs),
        "runs": lambda: check.influence(fit, **point, **runs),
    }
    for part in parts:
        yield part, made[part]()


def _draw(result: Any, path: Path) -> None:
    from bayescale.plot import sensitivity
    from bayescale.plot._sensitivity import picture_size
    from bayescale.plot.picture import write_picture

    write_picture(path, lambda figure: sensitivity(result, figure=figure), picture_size(result))
