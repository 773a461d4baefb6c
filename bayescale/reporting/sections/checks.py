"""Is the law right for these runs: predictive checks, leave-one-out, and a hold-out if asked."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayescale.errors import BayescaleError
from bayescale.reporting.blocks import Block, Bullets, Heading, Pictures, Words, grid_of
from bayescale.reporting.figures import picture
from bayescale.reporting.sections.worth_of import held_line

if TYPE_CHECKING:
    from bayescale.check.predictive.quantity import Checked
    from bayescale.check.predictive.result import PredictiveChecks
    from bayescale.reporting.blocks import Picture
    from bayescale.reporting.study import Study

MOST = 4  # checks drawn: the flagged ones first
CHEAP = 5_000_000  # rows times draws up to which leave-one-out is a matter of seconds


def checks(study: "Study") -> Iterator[Block]:
    """Blocks of the section."""
    study.fit.runs.require([], by="a check")  # a fit without its runs says so, once
    yield Heading("Posterior predictive checks")
    found = study.checks.answer
    if found is None:
        yield Words(f"Not made: {study.checks.refusal}", "note")
    else:
        yield from _predictive(found)
    yield Heading("Leave one out")
    yield from _loo(study)
    if study.holdout:
        yield Heading(f"Hold-out: {study.holdout}")
        yield from _holdout(study)


def _predictive(found: "PredictiveChecks") -> Iterator[Block]:
    yield Words(
        "Replicates of the runs, drawn from the fit, beside the runs themselves. "
        f"{found.headline()[:1].upper()}{found.headline()[1:]}.",
        "good" if not found.flagged else "plain",
    )
    table = found.table()
    caption = f"What was observed, and what {found.draws} replicates give for it."
    yield grid_of(table, caption, rename=(("replicated 90%", "replicated (90%)"),))
    drawn = sorted(found.checks, key=lambda c: not any(q.flagged for q in c.quantities))[:MOST]
    yield Pictures([_picture(found, check) for check in drawn])
    rest = len(found.checks) - len(drawn)
    lines = [f"{rest} more checks are in the table only."] if rest else []
    yield Bullets([*lines, *table.notes], "note")


def _picture(found: "PredictiveChecks", check: "Checked") -> "Picture":
    from bayescale.plot import ppc

    said = "; ".join(f"{q.name}: {q.verdict}" for q in check.quantities)
    alt = f"Predictive check {check.name}: {check.title}. {said}."
    return picture(
        lambda figure: ppc(found, figure.add_subplot(), check=check.name),
        alt,
        f"{check.name}: {said}.",
    )


def _loo(study: "Study") -> Iterator[Block]:
    fit = study.fit
    size = len(fit.runs) * fit.stats["lp"].size
    if size > CHEAP:
        yield Words(
            f"Left out of this report: {len(fit.runs):,} runs times {fit.stats['lp'].size:,} draws "
            "take a while. `bayescale compare` works it out.",
            "note",
        )
        return
    from bayescale.check.comparison.loo import loo

    try:
        found = loo(fit, refit="never")
    except BayescaleError as problem:
        yield Words(f"Not made: {problem}", "note")
        return
    names = ", ".join(found.units.names[u] for u in found.unreliable[:8])
    if found.bad:
        yield Words(
            f"{found.bad} of {len(found.units)} sway the fit so much that leaving one out can't be "
            f"worked out without fitting again ({found.units.by} {names}): look at them.",
        )
    else:
        yield Words(
            f"No single {found.units.by} sways the fit: all {len(found.units)} can be left out in "
            f"turn by reweighting (Pareto k at most {found.pareto_k.max():.2f}).",
        )
    yield grid_of(found.table(), "How well each run is predicted by the others.", "law")
    yield Words(
        "elpd: log predictive density of the left-out runs, to compare with another law's on the "
        "same runs; p_loo: how many parameters the runs inform.",
        "note",
    )


def _holdout(study: "Study") -> Iterator[Block]:
    held = study.held.answer
    if held is None:
        yield Words(f"Not made: {study.held.refusal}", "note")
        return
    yield Words(held_line(study))
    table = held.table()
    yield grid_of(table, held.headline(), "law")

    def draw(figure: object) -> None:
        from bayescale.plot import holdout

        holdout(held, figure=figure, labels=held.labels[:1])  # pyright: ignore[reportArgumentType]

    alt = (
        "Predicted against observed for the held-out runs, and the share of runs inside intervals."
    )
    yield Pictures([picture(draw, alt, "Held-out runs, and how many lie inside.", (4.2, 7.0))])
    yield Bullets([*table.warnings, *table.notes], "note")
