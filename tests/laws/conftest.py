"""What the contract of laws is tested on: prior draws and realistic inputs, for any law."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.law import Law

ROWS, DRAWS = 12, 50


def realistic_inputs(law: Law) -> dict[str, np.ndarray]:
    """N from 1e6 to 1e11, D from 1e7 to 1e13, C = 6 N D; a new input needs a line here."""
    rng = np.random.default_rng(20)
    N = 10 ** rng.uniform(6, 11, ROWS)
    D = 10 ** rng.uniform(7, 13, ROWS)
    known = {"N": N, "D": D, "C": 6 * N * D, "U": D / rng.uniform(1, 60, ROWS)}
    missing = [i.name for i in law.inputs if i.name not in known]
    assert not missing, f"say in {__file__} what realistic values of {missing} are"
    return {i.name: known[i.name] for i in law.inputs}


def references(law: Law, inputs: dict[str, np.ndarray]) -> dict[str, float]:
    return {
        f"{i.name}_ref": float(np.exp(np.mean(np.log(inputs[i.name]))))
        if i.positive
        else float(np.mean(inputs[i.name]))
        for i in law.inputs
    }


class Setting:
    """A law with inputs, references and prior draws of its coordinates and parameters."""

    def __init__(self, law: Law) -> None:
        self.law, self.model = law, Model(law)
        self.inputs = realistic_inputs(law)
        self.refs = references(law, self.inputs)
        self.labels = {d: ("first", "second") for p in law.params for d in p.dims}
        self.packing = Packing.of(self.model, self.labels)
        sites = self.packing.sample_prior(np.random.default_rng(21), DRAWS)
        self.coordinates = self.model.by_row(self.model.coordinates(sites), {})
        self.params = self.model.to_params(self.coordinates, self.refs)
        self.unconstrained = self.packing.join(sites)

    def mean(self, params: Any = None, inputs: Any = None) -> Any:
        """The law's mean, shape (draw, row) for (draw, 1) parameters and (row,) inputs."""
        return self.model.mean(params or self.params, inputs or self.inputs)


@pytest.fixture(scope="session")
def setting() -> Callable[[Law], Setting]:
    made: dict[str, Setting] = {}

    def make(law: Law) -> Setting:
        if law.name not in made:
            made[law.name] = Setting(law)
        return made[law.name]

    return make
