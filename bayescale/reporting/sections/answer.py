"""The question and the answer: a headline, what it is worth, and the numbers behind it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bayescale.reporting.blocks import Block, Grid, Words
from bayescale.reporting.sections.worth_of import worth_of
from bayescale.tables import intervals, quantity, with_spread

if TYPE_CHECKING:
    from bayescale.answers.mix.result import Mixture
    from bayescale.answers.prediction import Prediction
    from bayescale.answers.selection.result import Selection
    from bayescale.reporting.study import Study

MOST = 6  # headlines; a table has them all


def answer(study: "Study") -> Iterator[Block]:
    """Blocks of the section."""
    yield Words(study.asked.words, "note")
    if study.asked.default:
        yield Words(study.asked.default, "note")
    lines = list(headlines(study))
    for line in lines[:MOST]:
        yield Words(line, "lead" if study.fit.converged else "doubt")
    if not lines:
        why = study.slices.refusal or study.predictions.refusal or study.allocations.refusal
        yield Words(f"No answer: {why}", "bad")
    if len(lines) > MOST:
        yield Words(f"{len(lines) - MOST} more are in the tables.", "note")
    yield Words(worth_of(study), "plain" if study.fit.converged else "bad")
    for label, found in study.predictions.answer or []:
        if len(found) > 1 or study.asked.points:
            yield _points(found, label)


def headlines(study: "Study") -> Iterator[str]:
    """The answer, a sentence for each group and point or budget."""
    if study.asked.points:
        for label, found in study.predictions.answer or []:
            for k in range(len(found)):
                yield _of(label) + _point(found, k)
    if not study.asked.points or (study.asked.given and study.asked.budgets):
        yield from _splits(study)
    if study.selection.answer is not None:
        yield from _chosen(study.selection.answer)
    if study.mixture.answer is not None:
        yield _mixed(study.mixture.answer)


def _splits(study: "Study") -> Iterator[str]:
    """How to split each budget, and what a run of the best size reaches."""
    runs = {} if study.asked.points else dict(study.predictions.answer or [])
    for label, best in study.allocations.answer or []:
        for k, budget in enumerate(best.C):
            sizes, tokens = best.draws["N_opt"][:, k], best.draws["D_opt"][:, k]
            yield _of(label) + _split(float(budget), sizes, tokens)
            if label in runs:
                yield _of(label) + _run(runs[label], k)
    if study.slices.answer is not None:
        found = study.slices.answer
        sizes, tokens = found.n_opt(found.asked), found.d_opt(found.asked)
        for k, budget in enumerate(found.asked):
            yield _split(float(budget), sizes[:, k], tokens[:, k])


def _chosen(found: "Selection") -> Iterator[str]:
    """The backbone to train on each budget."""
    for k, name in enumerate(found.chosen):
        sure = float(found.p_best[k, found.models.index(name)])
        yield (
            f"Best backbone to train on {quantity(float(found.C[k]))} FLOP: {name} (the best with "
            f"probability {sure:.2f})."
        )


def _mixed(found: "Mixture") -> str:
    """The best mixture: each source's share."""
    shares = []
    for k, name in enumerate(found.sources):
        q = intervals(100 * found.draws["share"][:, k])
        shares.append(f"{name} {q['median']:.0f}% ({q['q05']:.0f} to {q['q95']:.0f}%)")
    return f"Best mixture at {found.budget}: {', '.join(shares)} of the tokens (90% intervals)."


def _of(label: str) -> str:
    return f"{label}: " if label else ""


def _point(found: "Prediction", k: int) -> str:
    """One point: the response of a run there; what all points share is left to the question."""
    shared = _shared(found)
    at = [f"{n} = {_value(v[k])}" for n, v in found.points.items() if n not in shared]
    where = f" at {', '.join(at)}" if at else ""
    return f"Predicted {found.response}{where}: {_response(found, k)}."


def _shared(found: "Prediction") -> dict[str, str]:
    """Inputs that all of several points have in common, as text."""
    if len(found) == 1:
        return {}
    same = {n: v for n, v in found.points.items() if len(set(v.tolist())) == 1}
    return {n: _value(v[0]) for n, v in same.items()}


def _split(budget: float, sizes: Any, tokens: Any) -> str:
    """One budget: parameters and tokens, from their draws."""
    n, d = (intervals(_finite(draws)) for draws in (sizes, tokens))
    best, feed = (
        f"{quantity(q['median'])} {what} (90% interval {quantity(q['q05'])} to "
        f"{quantity(q['q95'])})"
        for q, what in ((n, "parameters"), (d, "tokens"))
    )
    return f"Best use of {quantity(budget)} FLOP: {best} on {feed}."


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
    """What differs between points, with the interval of the law and of a new run."""
    shared, rows = _shared(found), []
    for k in range(len(found)):
        at = [_value(v[k]) for n, v in found.points.items() if n not in shared]
        law, run = intervals(found.loss[:, k]), intervals(found.new_run[:, k])
        spread = (law["q95"] - law["q05"]) / 3.29
        cells = [with_spread(law["median"], spread)]
        cells += [
            f"{with_spread(q['q05'], spread)} to {with_spread(q['q95'], spread)}"
            for q in (law, run)
        ]
        rows.append(at + cells)
    unit = f" ({found.unit})" if found.unit else ""
    at = f" at {', '.join(f'{n} = {v}' for n, v in shared.items())}" if shared else ""
    caption = f"{_of(label)}Predicted {found.response}{unit}{at}: the law, and one more run."
    columns = [*(n for n in found.points if n not in shared), found.response]
    words = [n for n in columns if n in found.points and isinstance(found.points[n][0], str)]
    return Grid([*columns, "90% of the law", "90% of a run"], rows, caption, words)
