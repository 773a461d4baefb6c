"""What the contract of laws is tested on: prior draws and realistic inputs, for any law."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayescale.data.cost import SIX_ND
from bayescale.data.runs import Runs
from bayescale.inference.batch import make_batch, make_layout
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.law import Law

ROWS, DRAWS = 12, 50


def realistic_inputs(law: Law) -> pd.DataFrame:
    """N from 1e6 to 1e11, D from 1e7 to 1e13, C = 6 N D; for other inputs the law's own design."""
    rng = np.random.default_rng(20)
    N = 10 ** rng.uniform(6, 11, ROWS)
    D = 10 ** rng.uniform(7, 13, ROWS)
    known = {"N": N, "D": D, "C": 6 * N * D, "U": D / rng.uniform(1, 60, ROWS)}
    columns = list(dict.fromkeys((*law.columns, *law.label_columns)))
    if set(columns) <= set(known):
        return pd.DataFrame({c: known[c] for c in columns})
    assert law.design, f"'{law.name}' reads {columns}: give it design=, columns to simulate on"
    frame = pd.DataFrame(law.design())
    some = np.unique(np.linspace(0, len(frame) - 1, 5 * ROWS).round().astype(int))
    if law.label_columns:  # every label needs rows
        first = [g.index[:ROWS] for _, g in frame.groupby(list(law.label_columns))]
        some = np.unique(np.concatenate([some, *first]))
    return frame.iloc[some].reset_index(drop=True)


class Setting:
    """A law with inputs, references and prior draws of its coordinates and parameters."""

    def __init__(self, law: Law, frame: pd.DataFrame | None = None) -> None:
        self.law, self.model = law, Model(law, law.default_noise)
        self.frame = realistic_inputs(law) if frame is None else frame
        middle = {"log": 3.0, "logit": 0.5, "response": 0.5}[self.model.noise.on]
        table = self.frame.assign(**{law.response: middle})
        if self.model.noise.varies_with == "C" and "C" not in table:
            table["C"] = 6 * table["N"] * table["D"]
        for column in (c for c in self.model.columns if c not in table):
            table[column] = np.resize(["first", "second"], len(table))
        rows = np.arange(1, len(table) + 1)
        runs = Runs(table, {}, SIX_ND, rows, (), "design", "")
        layout = make_layout(self.model, runs)
        batch = make_batch(self.model, runs, layout)
        self.inputs, self.refs, self.index = batch["inputs"], batch["refs"], batch["index"]
        self.rows = len(table)
        self.packing = Packing.of(self.model, layout.labels)
        self.sites = self.packing.sample_prior(np.random.default_rng(21), DRAWS)
        self.coordinates = self.at_rows(self.sites)
        self.params = self.model.to_params(self.coordinates, self.refs)
        self.unconstrained = self.packing.join(self.sites)

    def at_rows(self, sites: Any) -> dict[str, Any]:
        """Coordinates of each row from values of the sites."""
        return self.model.by_row(self.model.coordinates(sites), self.index)

    def in_units(self, unit: str, size: float) -> "Setting":
        """The same setting with the inputs of this unit in units ``size`` times as large."""
        alike = [i for i in self.law.inputs if i.unit == unit and i.kind == "number"]
        columns = [c for i in alike for c in self.law.columns_of(i)]
        return Setting(self.law, self.frame.assign(**self.frame[columns] / size))

    def mean(self, params: Any = None, inputs: Any = None) -> Any:
        """The law's mean, shape (draw, row) for (draw, 1) parameters and (row,) inputs."""
        return self.model.mean(params or self.params, inputs or self.inputs)


@pytest.fixture(scope="session")
def setting() -> Callable[[Law], Setting]:
    made: dict[Law, Setting] = {}

    def make(law: Law) -> Setting:
        if law not in made:
            made[law] = Setting(law)
        return made[law]

    return make
