"""Mixture laws from a table: which sources and targets it has, and what is repeated."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.flags import Flag
from bayescale.errors import DataError
from bayescale.families.family import Family
from bayescale.law import Law
from bayescale.laws.mixture import mixture

if TYPE_CHECKING:
    from bayescale.data.runs import Runs

ONE_SIZE = 1.02  # model sizes within a factor of this are one size
SAME_TOKENS = 1e-3  # sampled over unique tokens, less one, up to which nothing is repeated


def arrange(
    runs: "Runs",
    *,
    sources: str | Sequence[str] | None = None,
    targets: str | Sequence[str] | None = None,
    transfer: str = "exponential",
    capacity: str | None = None,
    repetition: bool | str | Sequence[str] | None = None,
    shares: str = "all",
    sparse: bool = False,
    size: bool | None = None,
    normalise: bool = False,
) -> tuple[Law, "Runs"]:
    """Find sources and targets in a table, and give it one row a run and target.

    Parameters
    ----------
    runs : Runs
        Wide or long, as `bayescale.data.mixtures.read_mixtures` takes them.
    sources, targets : sequence of str, optional
        These only, in this order.
    transfer, capacity, shares, sparse
        As in `bayescale.laws.mixture.mixture`.
    repetition : bool or sequence of str, optional
        Sources whose data are repeated; default: those with fewer unique than sampled tokens in
        some run.
    size : bool, optional
        Whether N is read; default: where there are two sizes or more.
    normalise : bool
        Divide shares that don't sum to one by their sum.

    Raises
    ------
    DataError
        The table doesn't say what the law needs.
    """
    from bayescale.data.mixtures import melt

    table = melt(runs, None, _names(sources), _names(targets), normalise=normalise)
    found = tuple(str(c)[2:] for c in table.table if str(c).startswith("D_"))
    if size is None:
        size, table = _sizes(table)
    law = mixture(
        found,
        tuple(dict.fromkeys(table.table["target"].astype(str))),
        transfer=transfer,
        capacity=capacity,
        repetition=_repeated(table, found, repetition),
        shares=shares,
        sparse=sparse,
        size=size,
    )
    return law, table


def _names(asked: Any) -> tuple[str, ...] | None:
    return (asked,) if isinstance(asked, str) else None if asked is None else tuple(asked)


def _sizes(runs: "Runs") -> tuple[bool, "Runs"]:
    """Whether there are several sizes; if not, the table with a flag that says what follows."""
    if "N" in runs.table:
        N = runs.column("N")
        if N.max() > ONE_SIZE * N.min():
            return True, runs
        what = f"all runs have one size (N = {np.median(N):.3g})"
    else:
        what = "there is no column of parameters N"
    message = f"{what}: the law has no size term, and E is the loss of that size with endless data."
    return False, replace(runs, flags=(*runs.flags, Flag("note", (), message)))


def _repeated(
    runs: "Runs", sources: tuple[str, ...], asked: bool | str | Sequence[str] | None
) -> tuple[str, ...]:
    """Sources whose data are repeated; each has a column of unique tokens."""
    given = tuple(s for s in sources if f"U_{s}" in runs.table)
    if asked is None:
        return tuple(
            s
            for s in given
            if (runs.column(f"D_{s}") > runs.column(f"U_{s}") * (1 + SAME_TOKENS)).any()
        )
    chosen = given if asked is True else _names(asked or ()) or ()
    missing = [s for s in chosen if s not in given]
    if missing or (asked is True and not given):
        what = f"'{missing[0]}'" if missing else "any source"
        raise DataError(
            f"{runs.source} has no unique tokens of {what} (U_* or unique_tokens_*), which "
            "repetition needs; add the column, or leave it out: repetition=False (shell: "
            "mixture:repetition=no)."
        )
    return chosen


MIXTURE = Family(
    name="mixture",
    title="Loss of each target from a mixture of sources",
    build=mixture,
    arrange=arrange,
    example=mixture(("text", "vision"), repetition=("vision",)),
    options={
        "transfer": "how other sources change a target's tokens: exponential, additive, none",
        "capacity": "how other data take effective size: own (by their share), directional, none",
        "repetition": "sources with repeated data: yes, no, or names joined by +",
        "shares": "share of a source: all, pairwise, discounted (by repetition)",
        "sparse": "yes: transfers under a regularised horseshoe",
        "size": "no: a law without N",
        "sources": "sources to keep, joined by +",
        "targets": "targets to keep, joined by +",
        "normalise": "yes: shares that don't sum to one are divided by their sum",
    },
    reading={"columns": {"loss": "", "D": ""}},
)
