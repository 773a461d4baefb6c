"""``bayescale predict``: loss at new sizes and tokens, with intervals."""

from typing import Annotated, Any

import typer

from bayescale.cli.options import FitFile, Groups, Json, Seed


def command(
    fit: FitFile,
    N: Annotated[
        list[str] | None,
        typer.Option("--N", metavar="PARAMS", help="Parameters: 70B, or several: 7B,70B."),
    ] = None,
    D: Annotated[
        list[str] | None,
        typer.Option("--D", metavar="TOKENS", help="Training tokens: 1.4T, or several."),
    ] = None,
    C: Annotated[
        list[str] | None,
        typer.Option("--C", metavar="FLOP", help="Compute in place of N or D: 5.76e23."),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="INPUT=VALUE", help="Any other input of the law."),
    ] = None,
    group: Groups = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Predict the loss of runs: give any two of N, D and C.

    Two intervals come out: of the law's mean (credible), and of one more training run
    (predictive, noise included). The last column says how far outside the data a point lies.

    For example:

      bayescale predict fit.nc --N 7B,70B --D 1.4T
      bayescale predict fit.nc --N 70B --C 5.76e23 --json
    """
    from bayescale.cli.output import answer
    from bayescale.cli.reading import pairs, split_values

    points: dict[str, Any] = {"N": split_values(N), "D": split_values(D), "C": split_values(C)}
    others = pairs(at, "--at", "input=value, such as r=0.2")
    points |= {name: split_values([text]) for name, text in others.items()}
    groups = pairs(group, "--group", "column=name, such as corpus=c4")

    from bayescale.saving import load

    given = {name: values for name, values in points.items() if values}
    answer(load(fit).predict(seed=seed, **given, **groups), json)
