"""``bayescale report``: a saved fit as one HTML file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bayescale.cli.options import FitFile, Groups, Json, Seed


def _option(metavar: str, text: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=text)


def command(
    fit: FitFile,
    output: Annotated[
        str | None,
        _option(
            "FILE.html",
            "Where the report goes; by default the fit's name and -report, in this folder.",
            "--output",
            "-o",
        ),
    ] = None,
    N: Annotated[
        list[str] | None, _option("PARAMS", "Points to predict: 70B, or several.", "--N")
    ] = None,
    D: Annotated[
        list[str] | None, _option("TOKENS", "Training tokens of the points: 1.4T.", "--D")
    ] = None,
    C: Annotated[
        list[str] | None,
        _option(
            "FLOP",
            "Budgets to split between parameters and tokens: 5.76e23; with --N or --D alone, the "
            "compute of those points. Default: ten times the largest run.",
            "--C",
        ),
    ] = None,
    at: Annotated[
        list[str] | None, _option("INPUT=VALUE", "Any other input of the law, for the point.")
    ] = None,
    group: Groups = None,
    title: Annotated[str, _option("TEXT", "Title of the report.")] = "",
    question: Annotated[str, _option("TEXT", "The question, in your words.")] = "",
    holdout: Annotated[
        str,
        _option(
            "SPLIT",
            "Also fit again without the larger runs and predict them: compute:10, or another "
            "split of `bayescale holdout`.",
        ),
    ] = "",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Write a saved fit as one HTML file that needs no network, for people who won't run it.

    The question and its answer come first, with 90% intervals and what they are worth; then the
    gate's verdict, reach, allocation, pictures, checks, the law, its posterior, the data, versions
    and commands. A part that a law can't have says so in a line. Nothing is sampled, unless
    --holdout asks for it. An existing file is replaced only when the new one is whole.

    For example:

      bayescale report fit.nc -o report.html --C 5.76e23
      bayescale report fit.nc --N 70B --D 1.4T --title "Next run" --holdout compute:10
    """
    from bayescale.cli.output import show, show_json
    from bayescale.cli.reading import pairs, split_values
    from bayescale.files import check_writable
    from bayescale.saving import load

    path = Path(output or f"{Path(fit).stem}-report.html")
    check_writable(path)
    others = pairs(at, "--at", "input=value, such as r=0.2")
    points = {name: split_values([text]) for name, text in others.items()}
    groups: dict[str, Any] = dict(pairs(group, "--group", "column=name, such as corpus=c4"))
    asked: dict[str, Any] = {"N": split_values(N), "D": split_values(D), "C": split_values(C)}
    told: dict[str, Any] = {"title": title, "question": question, "holdout": holdout, "seed": seed}
    fitted = load(fit)
    from bayescale.reporting.run import report

    found = report(fitted, path, **asked, at=points, **told, fit_path=fit, **groups)
    if json:
        show_json(found.to_dict())
    else:
        show(fitted.title, *found.answer, str(found))
