"""What to do by this fit: the best split of budgets, or the answers that the law can give."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayescale.errors import BayescaleError
from bayescale.reporting.blocks import (
    Block,
    Bullets,
    Heading,
    Pictures,
    Words,
    grid_of,
    joined_columns,
)
from bayescale.reporting.figures import SIZE, axes_picture, picture

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.reporting.study import Study
    from bayescale.tables import Table

MOST = 24  # rows of a table; of more the first and the last


@dataclass(frozen=True)
class Decision:
    """An answer that some laws can give.

    Parameters
    ----------
    title : str
    suits : callable
        Whether a fit's law can give it.
    blocks : callable
        Gives its blocks.
    """

    title: str
    suits: "Callable[[Fit], bool]"
    blocks: "Callable[[Study], Iterator[Block]]"


def decisions(study: "Study") -> Iterator[Block]:
    """Blocks of the section; an answer that is refused is a line."""
    suited = [d for d in DECISIONS if d.suits(study.fit)]
    for decision in suited:
        yield Heading(decision.title)
        try:
            yield from list(decision.blocks(study))
        except BayescaleError as problem:
            yield Words(f"Not given: {problem}", "note")
    if not suited:
        refused = study.allocations.refusal
        yield Words(
            f"This law gives no allocation: {refused}" if refused else
            "This law says what a run reaches, not how to split a budget.",
            "note",
        )  # fmt: skip


def _table(table: "Table", caption: str) -> Iterator[Block]:
    """An answer's table with intervals in the cells of their medians, and its notes."""
    grid = grid_of(table, caption, "what")
    pairs = [a for a, b in zip(grid.columns, grid.columns[1:], strict=False) if b == "90%"]
    shown = joined_columns(grid, pairs)
    if len(shown.rows) > MOST:
        cut = len(shown.rows) - MOST
        rows = [*shown.rows[: MOST // 2], *shown.rows[-MOST // 2 :]]
        shown = replace(shown, rows=rows, caption=f"{caption} {cut} rows between are left out.")
    yield shown
    if table.notes:
        yield Bullets(list(table.notes), "note")


def _allocation(study: "Study") -> Iterator[Block]:
    from bayescale.plot import allocation, tokens_per_param

    found = study.allocations
    if found.answer is None:
        yield Words(f"Not given: {found.refusal}", "note")
        return
    for label, best in found.answer:
        head = f"{label}: compute-optimal" if label else "Compute-optimal"
        yield from _table(best.table(), f"{head} parameters and tokens, with 90% intervals.")
    if not study.fit.has_runs:
        return
    options: dict[str, Any] = {"fit": study.fit, "seed": study.seed}
    options |= dict(study.asked.group)
    yield Pictures(
        [
            axes_picture(
                allocation,
                "Best parameters and best tokens against compute, with 50% and 90% bands, from the "
                "smallest run to one and a half decades beyond the largest.",
                "Compute-optimal parameters and tokens.",
                title="Best parameters and tokens",
                **options,
            ),
            axes_picture(
                tokens_per_param,
                "Best tokens per parameter against compute, with 50% and 90% bands.",
                "Compute-optimal tokens per parameter.",
                title="Best tokens per parameter",
                **options,
            ),
        ]
    )


def _budgets(study: "Study") -> list[Any]:
    """Budgets asked for, else ten times the largest run's."""
    from bayescale.reporting.asked import TIMES

    if study.asked.budgets:
        return list(study.asked.budgets)
    extent = study.fit.extent
    name = "compute" if "compute" in extent else "C"
    return [TIMES * extent.span(name).high]


def _optima(study: "Study") -> Iterator[Block]:
    from bayescale.answers.composition import optima

    found = optima(study.fit, _budgets(study))
    yield from _table(found.table(), "Best size and own tokens of each objective.")


def _frontier(study: "Study") -> Iterator[Block]:
    from bayescale.answers.pareto.run import pareto
    from bayescale.plot import pareto as draw

    found = pareto(study.fit, _budgets(study), seed=study.seed, **study.asked.group)
    yield from _table(found.table(), "What can be had together under the budget, by mixture.")
    alt = "The frontier between two losses of one model, with 50% and 90% bands."
    yield Pictures([axes_picture(draw, alt, "Losses that can be had together.", answer=found)])


def _mixture(study: "Study") -> Iterator[Block]:
    from bayescale.plot import mixture

    found = study.mixture.answer
    if found is None:
        yield Words(f"Not given: {study.mixture.refusal}", "note")
        return
    yield from _table(found.table(), "Shares of the best mixture, the size free.")
    alt = "Best share of each source, with 50% and 90% intervals."
    yield Pictures([axes_picture(mixture, alt, "The best mixture.", answer=found)])


def _worth(study: "Study") -> Iterator[Block]:
    from bayescale.answers.worth import worth
    from bayescale.plot import worth as draw
    from bayescale.plot._worth import picture_size

    found = worth(study.fit, seed=study.seed, **study.asked.group)
    yield from _table(found.table(), "Worth in fresh tokens, or in the target's own.")
    alt = "Worth of repeated epochs and of other sources' tokens, with 50% and 90% intervals."
    size = (SIZE[0], picture_size(found)[1] * SIZE[0] / picture_size(found)[0] + 0.6)
    yield Pictures(
        [
            picture(
                lambda f: draw(found, ax=f.add_subplot(), title=None), alt, "Worth of tokens.", size
            )
        ]
    )


def _limited(study: "Study") -> Iterator[Block]:
    from bayescale.answers.data_limit import allocate_limited

    unique = study.fit.extent.span("U").high
    found = allocate_limited(
        study.fit, _budgets(study), unique, seed=study.seed, **study.asked.group
    )
    caption = "Best size and epochs where the unique tokens are those of the run that had most."
    yield from _table(found.table(), caption)


def _slices(study: "Study") -> Iterator[Block]:
    from bayescale.plot import slices

    found = study.slices.answer
    if found is None:
        yield Words(f"Not given: {study.slices.refusal}", "note")
        return
    yield from _table(found.table(), "Least loss and best size of each budget.")
    alt = "Loss against parameters at each budget with its minimum, and the minima against compute."
    yield Pictures(
        [picture(lambda f: slices(found, figure=f, title=None), alt, "IsoFLOP slices.", (4.4, 7.0))]
    )


def _select(study: "Study") -> Iterator[Block]:
    found = study.selection.answer
    if found is None:
        yield Words(f"Not given: {study.selection.refusal}", "note")
        return
    yield from _table(found.table(), "Which backbone to train on the budget.")


def _transfer(study: "Study") -> Iterator[Block]:
    from bayescale.answers.transfer import transfer_tax
    from bayescale.plot import transfer_tax as draw
    from bayescale.plot._transfer_tax import picture_size

    found = transfer_tax(study.fit)
    yield from _table(found.table(), "How each text benchmark carries over.")
    alt = "How each text benchmark carries over, with 50% and 90% intervals."
    size = picture_size(found)
    yield Pictures(
        [picture(lambda f: draw(found, ax=f.add_subplot(), title=None), alt, "Transfer.", size)]
    )


def _family(*names: str) -> "Callable[[Fit], bool]":
    return lambda fit: (fit.law.recipe or ("",))[0] in names


def _limits_data(fit: "Fit") -> bool:
    return {i.name for i in fit.law.inputs} == {"N", "D", "U"} and not any(
        i.dims for i in fit.law.inputs
    )


DECISIONS = (
    Decision("Best split of a budget", lambda fit: fit.law.of_n_and_d, _allocation),
    Decision("Best size of each budget", _family("isoflop"), _slices),
    Decision("Best size by composition", _family("decoupled"), _optima),
    Decision("Frontier between losses", _family("decoupled"), _frontier),
    Decision("Best mixture", _family("mixture"), _mixture),
    Decision("Best size with limited data", _limits_data, _limited),
    Decision("Which backbone", _family("capability", "capability-loss"), _select),
    Decision("Transfer of text benchmarks", _family("capability", "capability-loss"), _transfer),
    Decision(
        "What tokens are worth",
        lambda fit: _limits_data(fit) or _family("mixture", "decoupled")(fit),
        _worth,
    ),
)
