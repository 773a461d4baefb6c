"""Bimodal laws from a table: runs on one modality alone, and on two."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import DataError
from bayescale.families.family import Family
from bayescale.law import Law
from bayescale.laws.bimodal import bimodal
from bayescale.laws.bimodal_parts import PLUS

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


def arrange(runs: "Runs", *, modalities: str | Sequence[str] | None = None) -> tuple[Law, "Runs"]:
    """Find modalities and pairs by the tokens of each run.

    Parameters
    ----------
    runs : Runs
        A loss a run, and tokens of each modality (``D_text``, ``speech_tokens``).
    modalities : sequence of str, optional
        Keep runs on these only.

    Raises
    ------
    DataError
        A run on three modalities or none, no run on a modality alone, or no run on two.
    """
    from bayescale.data.mixture_columns import find_columns
    from bayescale.data.mixture_rows import number_cells

    table: Any = runs.table
    runs.require(["N", "loss"], by="law 'bimodal'")
    wanted = (modalities,) if isinstance(modalities, str) else modalities
    skipped: dict[str, Any] = {"shares": {}, "unique": {}, "losses": {}}
    found = find_columns([str(c) for c in table], skipped, wanted, None, runs.source).tokens
    tokens = {m: number_cells(runs, c, f"tokens of '{m}'") for m, c in found.items()}
    held = np.nan_to_num(np.stack(list(tokens.values()), axis=1))
    count = (held > 0).sum(axis=1)
    if (bad := (count < 1) | (count > 2)).any():
        at = int(np.argmax(bad))
        raise DataError(
            f"{runs.source} row {runs.row_numbers[at]} has tokens of {count[at]} modalities "
            f"({', '.join(found)}); the bimodal law is of one or two: leave the row out with "
            "where, or fit a mixture."
        )
    names = tuple(found)
    targets = [PLUS.join(m for m, x in zip(names, row, strict=True) if x) for row in held > 0]
    there = set(targets)
    pairs = tuple(
        (m, n) for k, m in enumerate(names) for n in names[k + 1 :] if f"{m}{PLUS}{n}" in there
    )
    _check_alone(runs, names, there, pairs)
    columns = {f"D_{m}": held[:, k] for k, m in enumerate(names)}
    kept = table.drop(columns=[c for c in found.values() if c not in columns])
    kept = kept.assign(**columns, target=targets)
    return bimodal(names, pairs), replace(runs, table=kept)


def _check_alone(
    runs: "Runs", names: tuple[str, ...], there: set[str], pairs: tuple[tuple[str, str], ...]
) -> None:
    for name in names:
        if name not in there:
            raise DataError(
                f"{runs.source} has no run on '{name}' alone, so that its own law can't be told "
                "from what a pair adds; add such runs, or fit a mixture."
            )
    if not pairs:
        raise DataError(
            f"{runs.source} has no run on two of {', '.join(names)}; fit each modality apart with "
            "chinchilla."
        )


BIMODAL = Family(
    name="bimodal",
    title="Two modalities trained together: synergy and competition",
    build=bimodal,
    arrange=arrange,
    example=bimodal(),
    options={"modalities": "those to fit: text+speech"},
    reading={"columns": {"D": ""}},
)
