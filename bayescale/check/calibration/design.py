"""Where simulated runs lie: a user's own design, or a plain grid over the law's inputs."""

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.frames import content_hash
from bayescale.data.read import read_runs
from bayescale.errors import DataError
from bayescale.inference.batch import needed_columns
from bayescale.inference.model import Model
from bayescale.tables import quantity

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.data.runs import Runs

RANGES = {"N": (3e7, 1e10), "D": (3e9, 3e11), "C": (1e18, 1e22)}  # what small sweeps span
SIZES, TOKENS, ALONE = 8, 5, 40  # points of a grid of N and D, and of one input alone
GROUPS = ("g1", "g2", "g3")  # of a pooled model without a design of its own


def make_design(model: Model, given: Any = None) -> "tuple[Runs, str]":
    """Runs whose inputs and groups are kept and whose responses are simulated, and a line on them.

    Parameters
    ----------
    model : Model
    given : Runs, DataFrame, path or data set name, optional
        Default: a grid over the inputs N, D or C; of a pooled model each of three groups has it.

    Raises
    ------
    DataError
        A column is missing, or there is no grid for the law's inputs.
    """
    if given is None:
        frame, said = _grid(model)
        runs = replace(read_runs(frame), source="the default design")
    else:
        runs = read_runs(given)
        said = f"the {len(runs)} runs of {runs.source}"
    needed = [c for c in needed_columns(model) if c != model.law.response]
    runs.require(needed, by=f"law '{model.law.name}' as set up here")
    # a response that every noise takes: log odds are of numbers between 0 and 1
    return with_response(runs, model.law.response, np.full(len(runs), 0.5)), said


def with_response(runs: "Runs", response: str, values: np.ndarray) -> "Runs":
    """The same runs with other responses, and without what the reader said of the old ones."""
    table = runs.table.assign(**{response: values})
    return replace(
        runs,
        table=table,
        columns={**runs.columns, response: "simulated"},
        flags=(),
        derived=runs.derived - {response},
        sha256=content_hash(table),
    )


def twice(runs: "Runs", response: str, values: np.ndarray) -> "Runs":
    """The runs as they are, and behind them the same runs with other responses."""
    import pandas as pd

    again = with_response(runs, response, values)
    table = pd.concat([runs.table, again.table], ignore_index=True)
    numbers = np.concatenate([runs.row_numbers, runs.row_numbers])
    return replace(again, table=table, row_numbers=numbers, sha256=content_hash(table))


def _grid(model: Model) -> "tuple[pd.DataFrame, str]":
    import pandas as pd

    inputs = [i.name for i in model.law.inputs]
    if model.law.design:
        frame = pd.DataFrame(model.law.design())
        if model.noise.runs or set(model.columns) - set(frame):
            run = np.arange(len(frame)) % SIZES
            return _grouped(model, frame, run, f"{len(frame)} rows of the law's own design")
        return frame, f"{len(frame)} rows of the law's own design"
    if sorted(inputs) == ["D", "N"]:
        sizes, tokens = np.geomspace(*RANGES["N"], SIZES), np.geomspace(*RANGES["D"], TOKENS)
        frame = pd.DataFrame(product(sizes, tokens), columns=["N", "D"])
        run = np.arange(len(frame)) // TOKENS
        said = f"{SIZES} x {TOKENS} points, {_span('N')} x {_span('D')}"
    elif len(inputs) == 1 and inputs[0] in RANGES:
        name = inputs[0]
        frame = pd.DataFrame({name: np.geomspace(*RANGES[name], ALONE)})
        run = np.arange(ALONE) % SIZES
        said = f"{ALONE} points, {_span(name)}"
    else:
        raise DataError(
            f"there is no default design for law '{model.law.name}' of {', '.join(inputs)}; give "
            "design=, a table with these columns (shell: --design RUNS)."
        )
    return _grouped(model, frame, run, said)


def _grouped(
    model: Model, frame: "pd.DataFrame", run: np.ndarray, said: str
) -> "tuple[pd.DataFrame, str]":
    """The grid once for each group, and runs named where their checkpoints share an offset."""
    import pandas as pd

    columns = [c for c in model.columns if c != model.noise.runs and c not in frame]
    cells = list(product(GROUPS, repeat=len(columns)))
    parts = [frame.assign(**dict(zip(columns, cell, strict=True))) for cell in cells]
    joined = pd.concat(parts, ignore_index=True)
    if columns:
        said += f", in each of {len(cells)} groups of {', '.join(columns)}"
    if model.noise.runs and model.noise.runs not in joined:
        names = [f"r{1 + r + k * SIZES}" for k in range(len(cells)) for r in run]
        joined[model.noise.runs] = names
        said += f", {len(set(names))} runs by {model.noise.runs}"
    return joined, said


def _span(name: str) -> str:
    low, high = RANGES[name]
    return f"{name} {quantity(low)} to {quantity(high)}"
