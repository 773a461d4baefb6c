"""Options that several commands share."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
FitFile = Annotated[
    str,
    typer.Argument(
        metavar="FIT.nc",
        help="A file that `bayescale fit … -o` wrote, or the name of a shipped fit "
        "(`bayescale models`).",
    ),
]
Budgets = Annotated[
    list[str],
    typer.Option("--C", metavar="FLOP", help="Compute: 5.76e23, or several: 1e22,1e23."),
]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="COLUMN=NAME", help="The group, for a pooled fit: corpus=c4."),
]
Seed = Annotated[int, typer.Option(metavar="INT", help="Seed of all randomness.", min=0)]
Picture = Annotated[
    str | None, typer.Option("--plot", metavar="FILE.png", help="Also draw a picture (.svg, .pdf).")
]
