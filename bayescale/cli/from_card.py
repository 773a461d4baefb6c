"""What ``bayescale fit`` does with a model's TOML in place of a law and runs."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bayescale.fitted import Fit

TAKEN = {"law", "runs", "output", "seed", "device", "quiet", "json", "ctx"}


def is_card(law: str, runs: str | None) -> bool:
    """Whether a TOML file stands in place of law and runs.

    Raises
    ------
    typer.BadParameter
        Runs are missing, or given beside a TOML file.
    """
    card = law.endswith(".toml")
    if card and runs is not None:
        raise typer.BadParameter(f"{law} names its runs: leave out '{runs}'")
    if not card and runs is None:
        raise typer.BadParameter("missing argument 'RUNS' (only a model's TOML names its runs)")
    return card


def fit_card(path: str, given: typer.Context, device: str, quiet: bool, bar: bool) -> "Fit":
    """Fit a model as its TOML says, with the seed that was given, if one was.

    Raises
    ------
    typer.BadParameter
        An option that changes the model.
    """
    from bayescale.cli.output import show
    from bayescale.fitting import fit
    from bayescale.zoo.cards import card
    from bayescale.zoo.refitting import arguments, runs_of

    told = [n for n in given.params if given.get_parameter_source(n).name == "COMMANDLINE"]  # pyright: ignore
    if strange := [n for n in told if n not in TAKEN]:
        name = strange[0].replace("_", "-")
        raise typer.BadParameter(f"{path} says how to fit: --{name} can't change it; edit a copy")
    record = card(path)
    seed = given.params["seed"] if "seed" in told else None
    how, table = arguments(record, path, seed), runs_of(record, path)
    how |= {"device": device, "progress": None if bar else False}
    if not quiet:
        show(f"{record.title}: {record.law}", table.describe())
    return fit(record.law, table, **how)
