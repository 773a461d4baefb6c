"""What a table says of each backbone: its size, its groups, its covariates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.data.quantity import parse_quantity
from bayescale.errors import DataError, nearest

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.fitted import Fit


@dataclass(frozen=True)
class Attributes:
    """Columns of the runs, or of the table of new backbones, by model.

    Parameters
    ----------
    table : DataFrame
        With a column ``model``.
    source : str
        For messages.
    new : bool
        Whether it is a table of new backbones.
    """

    table: "pd.DataFrame" = field(repr=False)
    source: str
    new: bool

    @classmethod
    def of(cls, fit: "Fit", table: Any, model: str, names: Sequence[str]) -> "Attributes":
        """The runs' columns; those of a table of new backbones where one is given."""
        if table is None:
            return cls(fit.runs.table, "the runs", False)
        from bayescale.data.scores.reading import open_table

        frame, key = open_table(table, model)
        frame = frame[frame[key].astype(str).isin(names)]
        return cls(frame.assign(model=frame[key].astype(str)), "the table of models", True)

    def values(self, column: str, name: str) -> list[Any]:
        """The different values of a column for one model; none where there is no such column."""
        if column not in self.table or "model" not in self.table:
            return []
        own: Any = self.table[column][self.table["model"].astype(str) == name]
        return list(dict.fromkeys(own.dropna()))

    def word(self, column: str, name: str) -> str:
        """The label of a model in a column; empty where it has none, or several."""
        found = self.values(column, name)
        return str(found[0]) if len(found) == 1 else ""

    def number(self, column: str, name: str) -> float:
        """The number of a model in a column; NaN where it has none, or several."""
        found = self.values(column, name)
        try:
            return float(found[0]) if len(found) == 1 else float("nan")
        except (TypeError, ValueError):
            return float("nan")

    def sizes(self, params: Any, names: Sequence[str]) -> np.ndarray:
        """Parameters of each backbone, shape (model,).

        Parameters
        ----------
        params : mapping, str or None
            Model -> parameters ("8B", 8e9), or the column that holds them; N by default.
        names : sequence of str

        Raises
        ------
        DataError
            Sizes are missing (all of them are named), or one is no number of parameters.
        """
        if isinstance(params, Mapping):
            known = [str(n) for n in params]
            if strange := [n for n in known if n not in names]:
                raise DataError(
                    f"params names '{strange[0]}', which isn't among the backbones: "
                    f"{', '.join(names[:12])}." + nearest(strange[0], list(names))
                )
            given = {str(k): v for k, v in params.items()}
            found = {n: _size(given[n], n) for n in names if n in given}
        else:
            found = self._sizes(params, names)
        if missing := [n for n in names if n not in found]:
            raise DataError(
                f"N isn't known for {', '.join(missing)}: give params={{model: parameters}} or "
                f"params='column' of {self.source} (active parameters, for mixtures of experts)."
            )
        return np.array([found[n] for n in names])

    def _sizes(self, params: str | None, names: Sequence[str]) -> dict[str, float]:
        """Sizes from a column, in the unit of its header (``params_b``: billions)."""
        from bayescale.data.headers import read_header

        column = "N" if params is None else str(params)
        if column not in self.table:
            if params is None:
                return {}
            known = [str(c) for c in self.table]
            raise DataError(
                f"{self.source} has no column '{column}' of parameters." + nearest(column, known)
            )
        scale, found = read_header(column).scale, {}
        for name in names:
            own = self.values(column, name)
            if len(own) > 1:
                raise DataError(
                    f"column '{column}' gives '{name}' several sizes ({own[0]} and {own[1]}); a "
                    "backbone has one."
                )
            if own:
                plain = not isinstance(own[0], str) and scale != 1.0
                found[name] = _size(float(own[0]) * scale if plain else own[0], name)
        return found


def _size(value: Any, name: str) -> float:
    try:
        return parse_quantity(value, "N")
    except DataError as problem:
        raise DataError(f"parameters of '{name}': {problem}") from None
