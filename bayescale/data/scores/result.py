"""Capability scores, frozen: values, loadings, and what they were made from."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.columns import listed
from bayescale.errors import DataError, nearest
from bayescale.tables import Shown, Table

if TYPE_CHECKING:
    import pandas as pd

Rows = tuple[tuple[float | None, ...], ...]
MANY_MISSING = 1 / 3  # of a benchmark's cells: from here its regressions rest on few models


@dataclass(frozen=True)
class Scores(Shown):
    """Capability scores of models; made by `capability_scores`.

    Parameters
    ----------
    models, benchmarks : tuple of str
    values : tuple of tuple of float
        Scores, shape (model, component), in units of accuracy; mean 0 over the models of the fit.
    unexplained : tuple of float
        Root mean square over benchmarks of what the components leave of a model's accuracies.
    centre : tuple of float
        Mean accuracy of each benchmark.
    loadings : tuple of tuple of float
        Orthonormal rows, shape (component, benchmark).
    explained : tuple of float
        Share of the variance of each direction, those beyond K too.
    trained_on : tuple of tuple of float or None
        The accuracies that made the components, shape (model of the fit, benchmark).
    filled : tuple of (model, benchmark)
        Cells that were missing and filled.
    notes : tuple of str
        What was decided in reading.
    """

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    values: Rows = field(repr=False)
    unexplained: tuple[float, ...] = field(repr=False)
    centre: tuple[float, ...] = field(repr=False)
    loadings: Rows = field(repr=False)
    explained: tuple[float, ...] = field(repr=False)
    trained_on: Rows = field(repr=False)
    filled: tuple[tuple[str, str], ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.models)

    @property
    def components(self) -> tuple[str, ...]:
        """Labels of the components: "1" to "K"."""
        return tuple(str(k + 1) for k in range(len(self.loadings)))

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of a run table that hold the scores: S_1 to S_K."""
        return tuple(f"S_{k}" for k in self.components)

    @cached_property
    def array(self) -> np.ndarray:
        """Scores, shape (model, component)."""
        return np.array(self.values, dtype=float)

    @cached_property
    def loading_array(self) -> np.ndarray:
        """Loadings, shape (component, benchmark)."""
        return np.array(self.loadings, dtype=float)

    def of(self, models: Sequence[str]) -> np.ndarray:
        """Scores of named models, shape (len(models), component).

        Raises
        ------
        DataError
            A model has no scores.
        """
        place = {name: k for k, name in enumerate(self.models)}
        for name in models:
            if name not in place:
                raise DataError(
                    f"model '{name}' has no capability scores; there are {listed(self.models)}."
                    + nearest(name, list(self.models))
                )
        return self.array[[place[name] for name in models]]

    def project(self, table: Any, *, model: str = "model", unit: str = "auto") -> "Scores":
        """Scores of other models on the same components, which stay as they are.

        Parameters
        ----------
        table : DataFrame or path
            Accuracies on the same benchmarks, as for `capability_scores`; missing ones are
            filled by the regressions of the fit's own table.
        model, unit : str
            As for `capability_scores`.

        Returns
        -------
        Scores
            Of the new models.

        Raises
        ------
        DataError
            A benchmark is not in the table, a model has no score, or a cell is no accuracy.
        """
        from bayescale.data.scores.imputing import fill_like
        from bayescale.data.scores.reading import read_accuracies

        read = read_accuracies(table, model, self.benchmarks, unit)
        read.check_silent()
        table_of_fit = np.array(self.trained_on, dtype=float)
        centred = fill_like(table_of_fit, read.values) - np.array(self.centre)
        return replace(
            self,
            models=read.models,
            values=as_rows(centred @ self.loading_array.T),
            unexplained=residual(centred, self.loading_array),
            filled=read.missing(),
            notes=(*read.notes, "components come from other models; nothing was fitted again"),
        )

    def to_frame(self) -> "pd.DataFrame":
        """One row a model: ``model``, ``S_1`` …, ``unexplained``, ``filled`` (cells)."""
        import pandas as pd

        count = {m: 0 for m in self.models}
        for name, _ in self.filled:
            count[name] += 1
        columns = dict(zip(self.columns, self.array.T, strict=True))
        return pd.DataFrame(
            {
                "model": list(self.models),
                **columns,
                "unexplained": list(self.unexplained),
                "filled": [count[m] for m in self.models],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record that `from_dict` reads back."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Scores":
        """Scores from the record of `to_dict`, before or after a trip through JSON."""
        try:
            return cls(**{f.name: _frozen(record[f.name]) for f in fields(cls)})
        except (KeyError, TypeError) as error:
            raise DataError(
                f"this is no record of capability scores: {error!s} is missing."
            ) from None

    def save(self, path: str | Path) -> None:
        """Write the scores to a JSON file."""
        Path(path).write_text(json.dumps(self.to_dict()), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "Scores":
        """Read scores that `save` wrote."""
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"can't read capability scores from '{path}': {error}.") from None
        return cls.from_dict(record)

    def describe(self) -> list[str]:
        """What was made of what, one line a fact."""
        count, kept = len(self.loadings), sum(self.explained[: len(self.loadings)])
        lines = [
            f"{count} component{'s' if count != 1 else ''} explain {kept:.1%} of the variance of "
            f"{len(self.benchmarks)} benchmarks over {len(self.trained_on)} models"
        ]
        lines += self.notes
        if self.filled:
            cells = [f"{b} of {m}" for m, b in self.filled]
            lines.append(
                f"{len(cells)} missing score{'s' if len(cells) != 1 else ''} filled by regression "
                f"on the other benchmarks: {listed(cells)}"
            )
        missing = np.isnan(np.array(self.trained_on, dtype=float)).mean(axis=0)
        lines += [
            f"'{name}' is missing for {share:.0%} of the models: its loadings rest on the others"
            for name, share in zip(self.benchmarks, missing, strict=True)
            if share > MANY_MISSING
        ]
        return lines

    def table(self) -> Table:
        """Loadings as a table, and how they came about."""
        rows = [
            [name, f"{mean:.3f}", *(f"{x:+.3f}" for x in column)]
            for name, mean, column in zip(
                self.benchmarks, self.centre, self.loading_array.T, strict=True
            )
        ]
        share = ["variance", "", *(f"{s:.1%}" for s in self.explained[: len(self.loadings)])]
        columns = ["", "mean", *self.columns]
        title = f"capability scores of {len(self.models)} models"
        return Table(columns, [*rows, share], title, (), self.describe())


def residual(centred: np.ndarray, loadings: np.ndarray) -> tuple[float, ...]:
    """Root mean square over benchmarks of what the components leave, for each model."""
    rest = centred - centred @ loadings.T @ loadings
    return tuple(float(r) for r in np.sqrt(np.mean(rest**2, axis=1)))


def as_rows(array: np.ndarray) -> Rows:
    """An array as tuples of numbers, None for NaN: what is hashable and goes through JSON."""
    return tuple(tuple(None if x != x else float(x) for x in row) for row in array)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list | tuple) else value
