"""``bayescale multiplier``: compute that a reference recipe needs for the same loss."""

from typing import Annotated, Any

import typer

from bayescale.cli.options import Budgets, FitFile, Groups, Json, Picture, Seed


def command(
    fit: FitFile,
    C: Budgets,
    reference: Annotated[
        str | None,
        typer.Argument(metavar="REFERENCE.nc", help="Fit of the recipe to compare with."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="GROUP", help="In place of a second fit: the group of a pooled fit, as dclm."
        ),
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP", help="With --against: the groups in question; all others."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="With --against: the column that names the groups."),
    ] = None,
    group: Groups = None,
    plot: Picture = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say how many times more compute the reference needs for the same loss.

    Both are taken compute-optimal, and both must have the same evaluation data. Groups of one
    pooled fit are compared draw by draw, so that what they share cancels.

    For example:

      bayescale fit chinchilla new.csv -o new.nc
      bayescale fit chinchilla old.csv -o old.nc
      bayescale multiplier new.nc old.nc --C 1e22,1e24
      bayescale multiplier pooled.nc --against dclm --C 1e21,1e22 --plot multiplier.png
    """
    from bayescale.answers.multiplier import compute_multiplier
    from bayescale.cli.output import check_place, tell
    from bayescale.cli.reading import pairs, split_values
    from bayescale.saving import load

    if (reference is None) == (against is None):
        raise typer.BadParameter("give a second fit, or --against with a group of a pooled fit")
    check_place(plot)
    other: Any = against if reference is None else load(reference)
    options: dict[str, Any] = dict(pairs(group, "--group", "column=name, such as size=large"))
    found = compute_multiplier(
        load(fit), other, split_values(C), by=by, groups=split_values(groups), seed=seed,
        **options,
    )  # fmt: skip

    def draw(figure: Any) -> None:
        from bayescale.plot import multiplier

        multiplier(found, ax=figure.add_subplot())

    tell(found, json, plot, draw)
