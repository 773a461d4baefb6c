"""IsoFLOP slices from training curves: the loss of each run at a few budgets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.curves.which import name_runs
from bayescale.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.data.runs import Runs

MOST = 8  # budgets
LEAST = 4  # sizes that a budget needs
SAME = 1e-5  # of compute: budgets that a table was designed with are as equal as this
NEAR = 0.06  # of the lowest loss: a slice's shape holds near its minimum


def has_budgets(runs: "Runs") -> bool:
    """Whether runs end at a few budgets, several at each."""
    steps = np.round(np.log(runs.column("C")) / SAME)
    return len(np.unique(steps)) * 3 <= len(steps)


def cut_slices(runs: "Runs", columns: Sequence[str]) -> "pd.DataFrame":
    """The loss of every run at up to eight budgets, along its curve (linear in ln C).

    Sizes whose loss is more than 6% above the lowest of their budget are left out.

    Parameters
    ----------
    runs : Runs
        Checkpoints in order.
    columns : sequence of str
        Columns that name the run.

    Returns
    -------
    DataFrame
        ``run``, ``N``, ``D``, ``C``, ``loss``.

    Raises
    ------
    DataError
        At no two budgets do four sizes have a loss near the lowest.
    """
    import pandas as pd

    _, which = name_runs(runs, columns)
    log_c, log_d = np.log(runs.column("C")), np.log(runs.column("D"))
    log_l, N = np.log(runs.column("loss")), runs.column("N")
    wide = np.linspace(log_c.min(), log_c.max(), 200)
    grid = wide[_near_sizes(log_c, log_l, N, which.code, wide) >= LEAST]
    if len(grid) < 2:
        raise DataError(
            f"the curves of {runs.source} give no IsoFLOP slices: at no two budgets do {LEAST} "
            f"sizes have a loss within {NEAR:.0%} of the lowest."
        )
    budgets = np.linspace(grid[0], grid[-1], MOST)
    parts = []
    for k, name in enumerate(which.names):
        own = which.code == k
        inside = (budgets >= log_c[own].min()) & (budgets <= log_c[own].max())
        at = budgets[inside]
        record = {"run": name, "N": N[own][0], "C": np.exp(at)}
        record["D"] = np.exp(np.interp(at, log_c[own], log_d[own]))
        record["loss"] = np.exp(np.interp(at, log_c[own], log_l[own]))
        parts.append(pd.DataFrame(record))
    table = pd.concat(parts, ignore_index=True)
    lowest: Any = table.groupby("C")["loss"].transform("min")
    kept: Any = table[table["loss"] <= lowest * (1 + NEAR)]
    return kept.reset_index(drop=True)


def _near_sizes(
    log_c: np.ndarray, log_l: np.ndarray, N: np.ndarray, code: np.ndarray, grid: np.ndarray
) -> np.ndarray:
    """Number of sizes near the lowest loss at each budget; sizes within 5% count as one."""
    rows = [np.flatnonzero(code == k) for k in range(int(code.max()) + 1)]
    loss = np.stack([np.interp(grid, log_c[r], log_l[r], np.inf, np.inf) for r in rows])
    size = np.round(np.log(N[[r[0] for r in rows]]) / 0.05)
    near = loss <= loss.min(axis=0) + np.log1p(NEAR)
    return np.stack([near[size == s].any(axis=0) for s in np.unique(size)]).sum(axis=0)
