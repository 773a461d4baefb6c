"""``bayescale multiplier``: compute that a reference recipe needs for the same loss."""

from typing import Annotated

import typer

from bayescale.cli.options import Budgets, FitFile, Json, Seed


def command(
    fit: FitFile,
    reference: Annotated[
        str, typer.Argument(metavar="REFERENCE.nc", help="Fit of the recipe to compare with.")
    ],
    C: Budgets,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say how many times more compute the reference needs for the same loss.

    Both are taken compute-optimal, and both must have the same evaluation data.

    For example:

      bayescale fit chinchilla new.csv -o new.nc
      bayescale fit chinchilla old.csv -o old.nc
      bayescale multiplier new.nc old.nc --C 1e22,1e24
    """
    from bayescale.answers.multiplier import compute_multiplier
    from bayescale.cli.output import answer
    from bayescale.cli.reading import split_values
    from bayescale.saving import load

    answer(compute_multiplier(load(fit), load(reference), split_values(C), seed=seed), json)
