"""Where the runs of a fit lie: all that answers ask of them, and all that a shipped fit keeps."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.aliases import ROLES
from bayescale.data.cost import CostModel, cost_from_dict
from bayescale.data.flags import Flag
from bayescale.errors import FitError

if TYPE_CHECKING:
    from bayescale.data.runs import Runs
    from bayescale.inference.model import Model
    from bayescale.law import Law

FEW = 8  # so many values of a quantity are told one by one
MOST_GROUPS = 60  # of a column; more are runs, not groups

NUMBERS = ("low", "high", "mean", "median", "centre", "least")  # of a span

Spans = Mapping[str, "Span"]


@dataclass(frozen=True)
class Span:
    """Where the values of a quantity lie.

    Parameters
    ----------
    low, high, mean, median : float
    centre : float
        Geometric mean of the values above 0; NaN where there are none.
    least : float
        The smallest value above 0; NaN where there is none.
    levels : tuple of float
        The distinct values, to three digits, where there are at most 8.
    """

    low: float
    high: float
    mean: float
    median: float
    centre: float
    least: float
    levels: tuple[float, ...] = ()

    @classmethod
    def of(cls, values: Any) -> "Span":
        """The span of an array."""
        found = np.asarray(values, dtype=float)
        above = found[found > 0]
        levels = np.unique([float(f"{x:.3g}") for x in np.unique(found)])
        return cls(
            low=float(found.min()),
            high=float(found.max()),
            mean=float(found.mean()),
            median=float(np.median(found)),
            centre=float(np.exp(np.log(above).mean())) if above.size else float("nan"),
            least=float(above.min()) if above.size else float("nan"),
            levels=tuple(float(x) for x in levels) if len(levels) <= FEW else (),
        )


@dataclass(frozen=True)
class Extent:
    """How many runs a fit has seen, where they lie, and what they cost; none of the runs.

    Parameters
    ----------
    size : int
        Number of rows.
    source, sha256, columns, cost, flags
        As in `Runs`.
    lines : tuple of str
        What was taken for what, and what the checks found.
    spans : mapping
        Quantity -> where it lies: columns of the table (``N``, ``D_text``); and of a law of
        several sources ``tokens`` (of all), ``compute`` (6 N tokens by the cost model),
        ``share:SOURCE``, ``mixed:SOURCE`` (the same of runs with other sources too),
        ``ratio:SOURCE`` (to the first source's tokens; of the first, the others' to its own),
        ``own:SOURCE`` (compute on its tokens alone) and ``epochs:SOURCE``; of a law with unique
        tokens ``epochs``.
    groups : mapping
        Column -> label -> spans of the rows of this label.
    remarks : tuple of str
        What else every answer must say (`Fit.remarks`), where it was found with the rows.
    again : str
        How to fit the law to the rows again.
    """

    size: int
    source: str
    sha256: str
    columns: Mapping[str, str]
    cost: CostModel
    flags: tuple[Flag, ...]
    lines: tuple[str, ...]
    spans: Spans
    groups: Mapping[str, Mapping[str, Spans]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    again: str = ""

    def __len__(self) -> int:
        """Return the number of runs."""
        return self.size

    def __contains__(self, name: str) -> bool:
        """Whether a quantity is known."""
        return name in self.spans

    def span(self, name: str) -> Span:
        """Where a quantity lies.

        Raises
        ------
        FitError
            The runs don't tell.
        """
        if name not in self.spans:
            raise FitError(f"{self.source} doesn't tell {name}, which this answer reads.")
        return self.spans[name]

    def describe(self) -> str:
        """What was taken for what, then the flags, one a line."""
        return "\n".join(self.lines)

    def compute(self, price: CostModel) -> Span:
        """The compute of the runs at a price."""
        known = self.span("compute" if "compute" in self else "C")
        if price == self.cost:
            return known
        if price.kind == self.cost.kind == "six_nd":
            by = price.factor / self.cost.factor
            return _span({name: by * getattr(known, name) for name in NUMBERS})
        sizes, tokens = self.span("N"), self.span("tokens" if "tokens" in self else "D")
        at = {n: price.flops(getattr(sizes, n), getattr(tokens, n)) for n in NUMBERS}
        return _span({name: float(value) for name, value in at.items()})

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        record = asdict(self)
        flags = [[f.kind, list(f.rows), f.message] for f in self.flags]
        return record | {"cost": self.cost.to_dict(), "flags": flags}


def extent_from_dict(record: Mapping[str, Any]) -> Extent:
    """Build an extent from `Extent.to_dict`'s record."""
    told = dict(record)
    told["cost"] = cost_from_dict(record["cost"])
    told["flags"] = tuple(Flag(kind, tuple(rows), text) for kind, rows, text in record["flags"])
    told["spans"] = _spans(record["spans"])
    told["groups"] = {
        column: {label: _spans(spans) for label, spans in labels.items()}
        for column, labels in record["groups"].items()
    }
    for name in ("lines", "remarks"):
        told[name] = tuple(record[name])
    return Extent(**told)


def _span(numbers: Mapping[str, float], levels: tuple[float, ...] = ()) -> Span:
    """A span of these numbers, by name."""
    low, high, mean, median, centre, least = (float(numbers[name]) for name in NUMBERS)
    return Span(low, high, mean, median, centre, least, levels)


def _spans(record: Mapping[str, Any]) -> dict[str, Span]:
    return {
        name: _span({k: span[k] for k in NUMBERS}, tuple(span["levels"]))
        for name, span in record.items()
    }


def extent_of(model: "Model", runs: "Runs") -> Extent:
    """The extent of the runs that a model was fitted to."""
    every = dict(_quantities(model, runs))
    groups: dict[str, dict[str, Spans]] = {}
    for column in dict.fromkeys([*model.law.label_columns, *model.cell_columns]):
        names = runs.table[column].astype(str).to_numpy()
        labels = list(dict.fromkeys(names))
        if len(labels) <= MOST_GROUPS:
            groups[column] = {label: _measure(every, names == label) for label in labels}
    return Extent(
        size=len(runs),
        source=runs.source,
        sha256=runs.sha256,
        columns=dict(runs.columns),
        cost=runs.cost,
        flags=runs.flags,
        lines=tuple(runs.describe().splitlines()),
        spans=_measure(every, np.ones(len(runs), dtype=bool)),
        groups=groups,
    )


def _measure(every: Mapping[str, np.ndarray], rows: np.ndarray) -> dict[str, Span]:
    """Spans of all quantities over some rows; those without a value there are left out."""
    found = {name: values[rows] for name, values in every.items()}
    found = {name: values[np.isfinite(values)] for name, values in found.items()}
    return {name: Span.of(values) for name, values in found.items() if values.size}


def _quantities(model: "Model", runs: "Runs") -> Iterator[tuple[str, np.ndarray]]:
    """Each quantity that answers ask about, shape (row,), NaN where a row has none."""
    law, noise = model.law, model.noise
    names = [*ROLES, "U", *law.number_columns, law.response]
    names += [c for c in (noise.known_sd, noise.varies_with) if c]
    for name in dict.fromkeys(names):
        if name in runs.table and runs.table[name].dtype.kind in "fiu":
            yield name, runs.column(name).astype(float)
    if "D" in runs.table and "U" in runs.table:
        yield "epochs", _over(runs.column("D"), runs.column("U"))
    yield from _of_sources(law, runs)


def _of_sources(law: "Law", runs: "Runs") -> Iterator[tuple[str, np.ndarray]]:
    """Quantities of a law that reads the tokens of several sources."""
    split = next((i for i in law.inputs if i.name == "D" and i.dims), None)
    if split is None:
        return
    names = law.axes[split.dims[0]]
    tokens = np.stack([runs.column(c).astype(float) for c in law.columns_of(split)], axis=1)
    total, first = tokens.sum(axis=1), tokens[:, 0]
    sizes = runs.column("N").astype(float) if "N" in runs.table else None
    yield "tokens", total
    if sizes is not None and runs.cost.kind != "active":
        yield "compute", runs.cost.flops(sizes, total)
    for k, name in enumerate(names):
        share = tokens[:, k] / total
        yield f"share:{name}", share
        yield f"mixed:{name}", np.where((share > 0) & (share < 1), share, np.nan)
        yield f"ratio:{name}", _over(tokens[:, k] if k else total - first, first)
        if sizes is not None:
            yield f"own:{name}", 6 * sizes * tokens[:, k]
        if f"U_{name}" in runs.table:
            yield f"epochs:{name}", _over(tokens[:, k], runs.column(f"U_{name}"))


def _over(above: Any, below: Any) -> np.ndarray:
    """A quotient; NaN where there is nothing below."""
    top, bottom = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
    with np.errstate(all="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)
