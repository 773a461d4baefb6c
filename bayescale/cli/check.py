"""``bayescale check``: shipped models fitted again, and compared with their reference."""

from typing import Annotated

import typer

from bayescale.cli.options import Json


def command(
    models: Annotated[
        list[str],
        typer.Argument(metavar="MODEL...", help="Names (`bayescale models`) or TOML files."),
    ],
    seed: Annotated[
        int | None,
        typer.Option(metavar="INT", help="Default: the model's own plus one.", min=0),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only the verdict of each.")
    ] = False,
    json: Json = False,
) -> None:
    """Fit models again, with another seed, and compare with what came out.

    Each posterior mean may differ by 5 Monte Carlo standard errors, and the gate must say the
    same. The exit code is 1 where one differs.

    For example:

      bayescale check chinchilla-simulated
      bayescale check models/*.toml --json
    """
    from bayescale.cli.output import show, show_json
    from bayescale.zoo.compare import check

    found = []
    for name in models:
        one = check(name, seed, progress=False if json or quiet else None)
        found.append(one)
        if not json:
            show(one.table().title if quiet else one)
    if json:
        show_json([one.to_dict() for one in found])
    if not all(one.passed for one in found):
        raise typer.Exit(1)
