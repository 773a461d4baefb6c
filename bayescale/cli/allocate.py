"""``bayescale allocate``: how to split a compute budget between size and tokens."""

from typing import Annotated

import typer

from bayescale.cli.options import Budgets, FitFile, Groups, Json, Seed


def command(
    fit: FitFile,
    C: Budgets,
    N: Annotated[
        list[str] | None,
        typer.Option(
            "--N", metavar="PARAMS", help="Sizes you consider: what each costs at each budget."
        ),
    ] = None,
    factor: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="Take C = X N D, in place of the cost model of the data.", min=1e-9
        ),
    ] = None,
    group: Groups = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find the compute-optimal size and tokens, with 90% intervals.

    Below the table: the single size with the least expected loss, and for your own sizes the
    expected regret (loss above the optimum) and the compute wasted.

    For example:

      bayescale allocate fit.nc --C 5.76e23
      bayescale allocate fit.nc --C 1e22,1e23,1e24 --N 30B,70B
    """
    from bayescale.cli.output import answer
    from bayescale.cli.reading import pairs, split_values
    from bayescale.data.cost import six_nd
    from bayescale.saving import load

    groups = pairs(group, "--group", "column=name, such as corpus=c4")
    cost = None if factor is None else six_nd(factor)
    found = load(fit).allocate(split_values(C), N=split_values(N), cost=cost, seed=seed, **groups)
    answer(found, json)
