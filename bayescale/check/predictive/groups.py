"""Mean residual of each group of runs: what the law leaves out."""

from typing import Any

import numpy as np

from bayescale.check.predictive.quantity import Checked, Picture, Skipped, against, bands_of
from bayescale.check.predictive.replicates import Replicates

FEWEST, MOST = 2, 30  # groups of a column that is looked at
FOUND = 4  # columns looked at unasked


def group_columns(seen: Replicates) -> list[str]:
    """Columns of words (or true and false) with 2 to 30 groups, each division once."""
    table, seen_divisions, found = seen.runs.table, set(), []
    for column in table.columns:
        values: Any = table[column]
        if str(column) == seen.model.noise.runs or values.dtype.kind in "fiuc":
            continue
        names = values.astype(str)
        groups = names.nunique()
        if not FEWEST <= groups <= min(MOST, len(table) // 2):
            continue
        division = tuple(np.unique(names, return_inverse=True)[1])
        first = tuple(dict.fromkeys(division))
        canonical = tuple(first.index(k) for k in division)
        if canonical not in seen_divisions:
            seen_divisions.add(canonical)
            found.append(str(column))
    return found[:FOUND]


def group(seen: Replicates, column: str) -> Checked | Skipped:
    """Root mean square over runs of their group's mean residual.

    T = sqrt(sum_g n_g m_g^2 / sum_g n_g), where m_g is the weighted mean of the robust residuals
    of group g and n_g its number of runs.
    """
    check = f"group:{column}"
    names, index = np.unique(seen.runs.table[column].astype(str).to_numpy(), return_inverse=True)
    if not FEWEST <= len(names) <= MOST:
        return Skipped(check, f"'{column}' has {len(names)} groups; 2 to 30 can be compared")
    if len(names) > len(index) // 2:
        return Skipped(check, f"the groups of '{column}' have hardly more than one run each")
    counts = np.bincount(index)
    weights = seen.weights()
    member = np.zeros((len(index), len(names)))
    member[np.arange(len(index)), index] = weights / np.bincount(index, weights)[index]
    means = [seen.factor * (v @ member) for v in seen.robust()]
    size = [np.sqrt(np.average(m**2, axis=1, weights=counts)) for m in means]
    # shown as medians of residuals as they are: means of clipped ones would look too small
    members = [index == k for k in range(len(names))]
    shown = [
        seen.factor * np.stack([np.median(v[:, m], axis=1) for m in members], axis=1)
        for v in (seen.observed, seen.replicated)
    ]
    typical = np.median(shown[0], axis=0)
    usual = np.quantile(np.abs(shown[1]), 0.9, axis=0)
    far = int(np.argmax(np.abs(typical) / np.maximum(usual, 1e-300)))
    quantity = against(
        "spread of group means",
        seen.unit,
        (size[0], size[1]),
        seen.effective,
        _advice(seen, column),
        f"'{names[far]}' {typical[far]:+.2g} {seen.unit}",
    )
    data = {"x": np.arange(len(names), dtype=float), "y": typical} | bands_of(shown[1])
    labels = [str(n) for n in names]
    picture = Picture("slots", column, f"median residual ({seen.unit})", data, labels)
    return Checked(check, f"Residuals by {column}", (quantity,), picture)


def _advice(seen: Replicates, column: str) -> tuple[str, str]:
    pooled = column in seen.model.pooling.columns
    more = (
        f"let another parameter differ by '{column}'"
        if pooled
        else f"let a parameter differ by group, such as pooling={{'E': partial('{column}')}}; for "
        f"checkpoints of one run, noise with runs='{column}'"
    )
    return more, f"groups by '{column}' are more alike than noise allows: are rows averaged?"
