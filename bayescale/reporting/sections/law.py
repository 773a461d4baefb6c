"""The law: its equation and source, how runs scatter around it, and what was believed before."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayescale.prior_table import prior_table, where_sampled
from bayescale.reporting.blocks import Block, Bullets, Facts, Heading, Words, grid_of
from bayescale.reporting.maths import equation

if TYPE_CHECKING:
    from bayescale.reporting.study import Study


def law(study: "Study") -> Iterator[Block]:
    """Blocks of the section."""
    model = study.fit.model
    chosen = model.law
    if chosen.title:
        yield Words(f"{chosen.title}.")
    yield equation(chosen)
    pairs = [("Source", str(chosen.reference)), ("Scatter of runs", model.noise.describe())]
    pairs.append(("Beyond the runs", _beyond(study)))
    pairs += [(f"Groups: {p}", f"{q.kind} over {q.column}") for p, q in model.pooling.by_param]
    yield Facts(pairs)
    if chosen.note:
        yield Words(chosen.note, "note")
    yield Heading("What was believed before the runs")
    yield Words(
        "Priors say what was held possible before these runs. They are broad: the posterior below "
        "shows what the runs added, and the gate names parameters whose posterior is their prior."
    )
    table = prior_table(model.params)
    yield grid_of(table, "Priors of the law's, the noise's and the drift's parameters.")
    yield Bullets([*where_sampled(chosen.params), *table.notes], "note")


def _beyond(study: "Study") -> str:
    drift = study.fit.model.drift
    if drift is None:
        return "the law is taken as exact (no drift)"
    return f"the truth may drift away from the law: {drift.describe()}"
