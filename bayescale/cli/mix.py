"""``bayescale mix``: the best mixture of sources under a budget."""

from functools import partial
from typing import Annotated, Any

import typer

from bayescale.cli.options import FitFile, Groups, Json, Seed


def _several(metavar: str, text: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=text)


def command(
    fit: FitFile,
    C: Annotated[
        str | None, _several("FLOP", "Compute; alone, it leaves N free: 1e23.", "--C")
    ] = None,
    D: Annotated[str | None, _several("TOKENS", "All sampled tokens: 1T.", "--D")] = None,
    N: Annotated[
        str | None, _several("PARAMS", "Parameters, with one of --C and --D.", "--N")
    ] = None,
    unique: Annotated[
        list[str] | None,
        _several("SOURCE=TOKENS", "Unique tokens there are: --unique vision=5B.", "--unique"),
    ] = None,
    limit: Annotated[
        list[str] | None,
        _several("SOURCE=LOW:HIGH", "Share allowed: --limit text=0.5:0.9.", "--limit"),
    ] = None,
    weight: Annotated[
        list[str] | None,
        _several("TARGET=X", "Weighted mean of the losses: --weight text=2.", "--weight"),
    ] = None,
    target: Annotated[
        list[str] | None, _several("NAME", "Only these targets count.", "--target")
    ] = None,
    worst: Annotated[
        bool, typer.Option("--worst", help="Minimise the largest L - E, not the mean.")
    ] = False,
    consider: Annotated[
        list[str] | None,
        _several("SOURCE=SHARE", "Your own mixture, all its shares: its regret.", "--consider"),
    ] = None,
    draws: Annotated[
        int, typer.Option(metavar="INT", help="Posterior draws to take; 0: all.", min=0)
    ] = 1000,
    group: Groups = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE.png", help="Also draw a picture (.svg, .pdf).")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find the best mixture of sources under a budget, with 90% intervals.

    Minimises the mean of L - E over all targets. Below the table: the single mixture with the least
    expected value, the best of those that were trained, and what each costs in expectation.

    For example:

      bayescale fit mixture runs.csv -o fit.nc
      bayescale mix fit.nc --D 1T --N 7B --unique vision=5B --limit text=0.5:0.9
      bayescale mix fit.nc --C 1e23 --worst --plot mix.png
    """
    from bayescale.answers.mix.run import mix
    from bayescale.cli.output import check_place, tell
    from bayescale.cli.reading import pairs, split_values
    from bayescale.saving import load

    asked: dict[str, Any] = {
        "C": C,
        "D": D,
        "N": N,
        "unique": pairs(split_values(unique), "--unique", "source=tokens, such as vision=5B"),
        "limits": _limits(limit),
        "weights": pairs(split_values(weight), "--weight", "target=number, such as text=2"),
        "targets": split_values(target),
        "objective": "worst" if worst else None,
        "consider": pairs(split_values(consider), "--consider", "source=share, such as text=0.6")
        or None,
        "draws": draws or None,
        "seed": seed,
    }
    asked |= pairs(group, "--group", "column=name, such as corpus=c4")
    check_place(plot)
    found = mix(load(fit), **asked)
    tell(found, json, plot, partial(_draw, found), size=partial(_size, found))


def _limits(given: list[str] | None) -> dict[str, tuple[float, ...]]:
    """``text=0.5:0.9`` as ``{"text": (0.5, 0.9)}``; an end left out is 0 or 1."""
    from bayescale.cli.reading import pairs, split_values

    found = {}
    for name, text in pairs(split_values(given), "--limit", "source=low:high").items():
        low, sign, high = text.partition(":")
        try:
            ends = (float(low or 0), float(high or 1))
        except ValueError:
            sign, ends = "", ()
        if not sign:
            raise typer.BadParameter(
                f"--limit '{name}={text}' is not of the form source=low:high, such as text=0.5:0.9"
            )
        found[name] = ends
    return found


def _draw(found: Any, figure: Any) -> None:
    from bayescale.plot import mixture

    mixture(found, ax=figure.add_subplot())


def _size(found: Any) -> tuple[float, float]:
    from bayescale.plot._mixture import picture_size

    return picture_size(found)
