"""The runs: how many, from where, what ranges, what was derived or dropped."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bayescale.data.aliases import MEANING, ROLES
from bayescale.reporting.blocks import Block, Bullets, Facts, Grid, Words
from bayescale.tables import quantity

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.reporting.study import Study

MOST_ROWS = 20  # of the table of ranges
MOST_LABELS = 12


def data(study: "Study") -> Iterator[Block]:
    """Blocks of the section."""
    fit = study.fit
    extent = fit.extent
    pairs = [
        ("Runs", f"{len(extent):,}"),
        ("Source", extent.source),
        ("Cost", extent.cost.describe()),
    ]
    pairs += [
        (f"Labels of {c}", _labels(v)) for c, v in fit.layout.labels.items() if _shown(fit, c)
    ]
    pairs.append(("SHA-256", extent.sha256))
    yield Facts(pairs)
    yield _ranges(fit)
    yield Bullets(list(_taken(fit)))
    if extent.flags:
        yield Words("What the reader noted:")
        yield Bullets([f"{flag.kind}: {flag.message}" for flag in extent.flags], "note")
    if not fit.has_runs:
        yield Words(f"This fit was shipped without its runs; `{extent.again}` reads them.", "note")


def _taken(fit: "Fit") -> Iterator[str]:
    """What was read from which column, and what was computed."""
    for role, name in fit.extent.columns.items():
        if not fit.has_runs:  # a formula or a column: their names tell
            yield f"{role} is from: {name}"
        elif role in fit.runs.derived:
            yield f"{role} was computed: {name}"
        else:
            yield f"{role} was read from the column {name}"


def _shown(fit: "Fit", column: str) -> bool:
    """Whether an axis names groups or responses of the runs."""
    return column in (*fit.model.columns, *fit.law.label_columns)


def _labels(values: tuple[str, ...]) -> str:
    more = f" and {len(values) - MOST_LABELS} more" if len(values) > MOST_LABELS else ""
    return f"{len(values)}: {', '.join(values[:MOST_LABELS])}{more}"


def _ranges(fit: "Fit") -> Grid:
    """Least, median and largest of what the law reads and gives, and the decades between."""
    extent = fit.extent
    units = {i.name: (i.meaning, i.unit) for i in fit.law.inputs}
    rows = []
    wanted = dict.fromkeys((*ROLES, "U", *fit.law.number_columns, fit.law.response))
    names = [name for name in wanted if name in extent]
    for name in names[:MOST_ROWS]:
        span = extent.span(name)
        decades = f"{np.log10(span.high / span.low):.1f}" if span.low > 0 else "–"
        meaning, unit = units.get(name) or units.get(name.split("_")[0]) or ("", "")
        meaning = meaning or MEANING.get(name, "")
        if name == fit.law.response:
            meaning, unit = "what is explained", fit.law.response_unit
        rows.append(
            [name, *(quantity(v) for v in (span.low, span.median, span.high)), decades]
            + [meaning + (f" ({unit})" if unit else "")]
        )
    more = f" ({len(names) - MOST_ROWS} more are not shown)" if len(names) > MOST_ROWS else ""
    columns = ["quantity", "least", "median", "largest", "decades", "meaning"]
    return Grid(columns, rows, f"Where the runs lie{more}.", ["quantity", "meaning"])
