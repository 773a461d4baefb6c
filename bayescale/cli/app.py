"""The shell's entry point: names of the commands, and how each ends.

A command is one file with a function ``command`` and one line in `COMMANDS`; its file is imported
when it runs, so that ``bayescale --help`` imports none of them.
"""

import gc
import sys
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from bayescale.errors import BayescaleError

# name -> what it does; its file is bayescale/cli/NAME.py
COMMANDS = {
    "demo": "Fit a simulated sweep whose truth is known, and draw a picture.",
    "fit": "Fit a scaling law to a table of training runs.",
    "predict": "Predict the loss of runs from a saved fit.",
    "allocate": "Find the best N and D for a compute budget.",
    "isoflop": "Read the best size of each budget off IsoFLOP slices.",
    "envelope": "Find compute-optimal sizes from where training curves cross.",
    "approaches": "Compare parametric, IsoFLOP and envelope answers from one table of runs.",
    "mix": "Find the best mixture of sources under a budget.",
    "worth": "Say what repeated epochs and other domains' tokens are worth.",
    "multiplier": "Say how much compute one recipe saves against another.",
    "invariance": "Ask whether exponents are equal, or the same in all mixtures.",
    "select": "Choose the backbone to train on a budget, by a fit of a capability law.",
    "transfer": "Say what carries over: text benchmarks, or domains of a mixture.",
    "pareto": "Say which losses of one model can be had together under a budget.",
    "compare": "Compare saved fits of several laws, and weigh them.",
    "holdout": "Fit a law to small runs and see whether it predicts the larger ones.",
    "ppc": "Check a saved fit against its own runs, by posterior predictive checks.",
    "sensitivity": "Say how much a saved fit leans on priors, inputs and single runs.",
    "sbc": "Check by simulation that a law's intervals hold what they say.",
    "plot": "Draw a picture of a saved fit.",
    "report": "Write a saved fit as one HTML file, for people who won't run it.",
    "models": "List the fits that come with the package, or show one.",
    "check": "Fit shipped models again, and compare with what came out.",
    "laws": "List the laws, or show one with its priors.",
    "datasets": "List the public data sets, or show one.",
    "doctor": "Show versions, devices, the cache, and what is slow and why.",
}

EPILOG = """Start with  bayescale demo  or, on your own runs,

  bayescale fit chinchilla runs.csv -o fit.nc
  bayescale predict fit.nc --N 70B --D 1.4T
  bayescale allocate fit.nc --C 5.76e23"""


class LazyGroup(TyperGroup):
    """Commands whose files are imported when they run; listings show the lines above."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find a command, and import its file."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else load_command(name), rest


def load_command(name: str) -> Any:
    """Import a command's file and build the command from its function."""
    module = import_module(f"bayescale.cli.{name}")
    single = typer.Typer(add_completion=False, rich_markup_mode="rich")
    single.command(name, help=help_text(module.command.__doc__))(module.command)
    return typer.main.get_command(single)


def help_text(doc: str) -> str:
    """A docstring with its paragraphs unwrapped; indented lines (examples) stay as they are."""
    paragraphs = cleandoc(doc).split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else p.replace("\n", " ") for p in paragraphs)


def build() -> Any:
    """The command ``bayescale`` with a stand-in for each of its commands."""
    shell = typer.Typer(
        name="bayescale",
        cls=LazyGroup,
        rich_markup_mode="rich",
        invoke_without_command=True,
        callback=start,
        epilog=EPILOG,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    group = typer.main.get_command(shell)
    assert isinstance(group, LazyGroup)
    for name, line in COMMANDS.items():
        group.add_command(TyperCommand(name, help=line, short_help=line), name)
    return group


def start(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Bayesian neural scaling laws: fit a law to small runs, get intervals for the large one."""
    if version:
        from importlib.metadata import version as installed

        print(f"bayescale {installed('bayescale')}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


def main() -> None:
    """Run the command line and exit: 0 done, 1 an error, 2 wrong usage, 130 stopped."""
    # a short process that imports much: fewer collections save .1 of 2.7 CPU seconds of a fit
    gc.set_threshold(100_000, 50, 50)
    sys.exit(run())


def run() -> int:
    """Run the command line; say what went wrong in one line; give the exit code."""
    from bayescale.cli.ending import broken_pipe, fail, heard, stopped

    try:
        with heard():
            code = build().main(prog_name="bayescale", standalone_mode=False) or 0
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return stopped()
    except BrokenPipeError:
        return broken_pipe()
    except BayescaleError as problem:
        return fail(str(problem), 1)
    except OSError as problem:
        return fail(f"{problem.filename or 'output'}: {problem.strerror or problem}", 1)
    except Exception as problem:
        # typer's own errors carry a message and an exit code; anything else is a bug: show it all
        if not hasattr(problem, "format_message"):
            raise
        return fail(problem, 2)
    return stopped() if code == 130 else int(code)
