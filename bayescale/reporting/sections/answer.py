"""The question and the answer: a headline, what it is worth, and the numbers behind it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bayescale.reporting.blocks import Block, Grid, Words, grid_of
from bayescale.reporting.sections.worth_of import worth_of
from bayescale.tables import intervals, quantity, with_spread

if TYPE_CHECKING:
    from bayescale.answers.allocation import Allocation
    from bayescale.answers.prediction import Prediction
    from bayescale.reporting.study import Study

MOST = 6  # headlines; a table has them all


def answer(study: "Study") -> Iterator[Block]:
    """Blocks of the section."""
    yield Words(study.asked.words, "note")
    if study.asked.default:
        yield Words(study.asked.default, "note")
    lines = list(headlines(study))
    for line in lines[:MOST]:
        yield Words(line, "lead")
    if not lines:
        why = study.predictions.refusal or study.allocations.refusal
        yield Words(f"No answer: {why}", "bad")
    if len(lines) > MOST:
        yield Words(f"{len(lines) - MOST} more are in the tables.", "note")
    yield Words(worth_of(study), "plain" if study.fit.converged else "bad")
    for label, found in study.predictions.answer or []:
        if len(found) > 1 or study.asked.points:
            yield _points(found, label)


def headlines(study: "Study") -> Iterator[str]:
    """The answer, a sentence for each group and point or budget."""
    optima, points = study.allocations.answer or [], study.predictions.answer or []
    if study.asked.points:
        for label, found in points:
            for k in range(len(found)):
                yield _of(label) + _point(found, k)
        optima = optima if study.asked.given and study.asked.budgets else []
    runs = dict(points) if not study.asked.points else {}
    for label, best in optima:
        for k in range(len(best.C)):
            yield _of(label) + _split(best, k)
            if label in runs:
                yield _of(label) + _run(runs[label], k)


def _of(label: str) -> str:
    return f"{label}: " if label else ""


def _point(found: "Prediction", k: int) -> str:
    """One point: the response of a run there."""
    at = ", ".join(f"{n} = {_value(v[k])}" for n, v in found.points.items())
    return f"Predicted {found.response} at {at}: {_response(found, k)}."


def _split(best: "Allocation", k: int) -> str:
    """One budget: parameters and tokens."""
    q = {n: intervals(_finite(best.draws[n][:, k])) for n in ("N_opt", "D_opt")}
    sizes, tokens = (
        f"{quantity(q[x]['median'])} {what} (90% interval {quantity(q[x]['q05'])} to "
        f"{quantity(q[x]['q95'])})"
        for x, what in (("N_opt", "parameters"), ("D_opt", "tokens"))
    )
    return f"Best use of {quantity(float(best.C[k]))} FLOP: {sizes} on {tokens}."


def _run(found: "Prediction", k: int) -> str:
    """The response of a run at the recommended size."""
    n, d = (quantity(float(found.points[x][k])) for x in ("N", "D"))
    return (
        f"A run of {n} parameters on {d} tokens, the best single choice: {found.response} "
        f"{_response(found, k)}."
    )


def _response(found: "Prediction", k: int) -> str:
    """Median and 90% interval of a new run, with as many digits as the interval carries."""
    q = intervals(found.new_run[:, k])
    spread = (q["q95"] - q["q05"]) / 3.29
    middle, low, high = (with_spread(q[x], spread) for x in ("median", "q05", "q95"))
    unit = f" {found.unit}" if found.unit else ""
    return f"{middle}{unit} (90% interval of such a run {low} to {high})"


def _finite(draws: Any) -> Any:
    import numpy as np

    return draws[np.isfinite(draws)]


def _value(value: Any) -> str:
    return value if isinstance(value, str) else quantity(float(value))


def _points(found: "Prediction", label: str) -> Grid:
    unit = f" ({found.unit})" if found.unit else ""
    caption = f"Predicted {found.response}{unit}: of the law, and of one more training run."
    return grid_of(found.table(), _of(label) + caption)
