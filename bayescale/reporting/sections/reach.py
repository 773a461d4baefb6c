"""How far the answer reaches beyond the runs, and what makes its interval wide."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayescale.reporting.blocks import Bars, Block, Grid, Words
from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.answers.isoflop.result import IsoFLOP
    from bayescale.answers.prediction import Prediction
    from bayescale.reporting.study import Study

MOST = 8  # points told one by one
PARTS = ("parameters", "drift", "noise")


def reach(study: "Study") -> Iterator[Block]:
    """Blocks of the section."""
    found = study.predictions.answer
    if not found and study.slices.answer is not None:
        yield _slices(study.slices.answer)
        return
    if not found:
        yield Words(f"Nothing to say: {study.predictions.refusal}", "note")
        return
    for label, answer in found:
        yield _factors(study, answer, label)
    names = [p for p in PARTS if any((answer.width[p] > 0).any() for _, answer in found)]
    rows = [
        (_name(answer, k, label), [float(answer.width[p][k]) for p in names])
        for label, answer in found
        for k in range(min(len(answer), MOST))
    ]
    caption = "What makes the 90% interval of a new run wide: shares of its square."
    yield Bars(names, rows, caption, [1 + PARTS.index(name) for name in names])
    yield Words(
        "Parameters: what the runs leave open about the law. Drift: how far the truth may wander "
        "from the law beyond the runs. Noise: how runs scatter, which no further run can remove."
        + (
            "" if study.fit.model.drift else " This fit has no drift, so the law is taken as exact."
        ),
        "note",
    )


def _factors(study: "Study", answer: "Prediction", label: str) -> Grid:
    """Asked against the runs, for each input of each point; labels don't make a point another."""
    extent, rows, seen = study.fit.extent, [], set()
    records = answer.records()
    numbers = [n for n in answer.points if n in records[0]["outside"]["factor"]]
    for k, record in enumerate(records):
        place = tuple(float(answer.points[n][k]) for n in numbers)
        if place in seen or len(seen) == MOST:
            continue
        seen.add(place)
        name = ", ".join(f"{n} {quantity(v)}" for n, v in zip(numbers[:3], place, strict=False))
        for n, value in zip(numbers, place, strict=True):
            span = extent.span(n)
            inside = f"{quantity(span.low)} to {quantity(span.high)}"
            factor = record["outside"]["factor"][n]
            rows.append([name, n, quantity(value), inside, _words(factor)])
    columns = ["point", "input", "asked", "in the runs", "reach"]
    several = len(seen) > 1
    head = f"{label}: how" if label else "How"
    caption = f"{head} far outside the runs {'each point' if several else 'the point'} lies."
    cut = 0 if several else 1
    return Grid(columns[cut:], [row[cut:] for row in rows], caption, ["point", "input", "reach"])


def _slices(found: "IsoFLOP") -> Grid:
    """Budgets that were asked for against those of the slices."""
    low, high = float(found.C.min()), float(found.C.max())
    rows = []
    for budget in found.asked:
        factor = budget / high if budget > high else min(budget / low, 1.0)
        inside = f"{quantity(low)} to {quantity(high)}"
        rows.append(["C", quantity(float(budget)), inside, _words(float(factor))])
    columns = ["input", "asked", "in the slices", "reach"]
    return Grid(columns, rows, "How far outside the slices each budget lies.", ["input", "reach"])


def _words(factor: float) -> str:
    if factor > 1:
        return f"{factor:.3g} times the largest"
    if factor < 1:
        return f"{factor:.3g} of the smallest" if factor > 0 else "0, below all"
    return "inside"


def _name(answer: "Prediction", k: int, label: str) -> str:
    values = {n: v[k] for n, v in answer.points.items()}
    short = [f"{n} {v if isinstance(v, str) else quantity(float(v))}" for n, v in values.items()]
    return ", ".join(([label] if label else []) + short[:3])
