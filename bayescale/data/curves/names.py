"""What people call the columns that name a training run, and those that count its steps.

Compared in lower case and without punctuation, so "run_id" and "Run ID" are one.
"""

from collections.abc import Iterable

RUN_NAMES = frozenset(
    ("run", "runs", "runid", "runname", "runkey", "runhash", "trainrun", "trainingrun")
    + ("wandbrun", "wandbrunid", "exp", "expid", "expname", "experimentid", "experimentname")
    + ("trial", "trialid", "trialname", "hyperid", "modelid")
)
STEP_NAMES = frozenset(
    ("step", "steps", "trainstep", "trainingstep", "currentsteps", "globalstep", "iteration")
    + ("iter",)
)


def plain(name: object) -> str:
    """A header in lower case, without punctuation."""
    return "".join(c for c in str(name).lower() if c.isalnum())


def step_column(columns: Iterable[object]) -> str | None:
    """The first column that counts training steps, or None."""
    return next((str(c) for c in columns if plain(c) in STEP_NAMES), None)
