"""The posterior: each parameter with its interval and its diagnostics."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayescale.printing import fit_table
from bayescale.reporting.blocks import Block, Words, grid_of

if TYPE_CHECKING:
    from bayescale.reporting.study import Study


def posterior(study: "Study") -> Iterator[Block]:
    """Blocks of the section."""
    table = fit_table(study.fit)
    chains, draws = study.fit.stats["lp"].shape
    yield grid_of(
        table,
        f"Posterior of {len(table.rows)} quantities, from {chains} chains of {draws:,} draws.",
        "parameter",
    )
    more = [note for note in table.notes if "more parameters" in note]
    yield Words(
        " ".join(
            [
                "90% interval: the quantity lies in it with probability 0.9, given the law and the "
                "priors. R-hat compares chains and should be below 1.01; ESS is the number of "
                "independent draws that these are worth, and should be 400 or more.",
                *more,
            ]
        ),
        "note",
    )
