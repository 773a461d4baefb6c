"""The shipped sweep is what its record says, and simulate() asks for what it needs."""

import tomllib
from importlib.resources import files

import numpy as np
import pytest

from bayescale.data.simulate import make_sweep, simulate, simulated_sweep
from bayescale.errors import DataError

RECORD = tomllib.loads((files("bayescale.data") / "simulated" / "truth.toml").read_text())


def test_the_shipped_sweep_is_made_again_from_its_record():
    runs, truth = simulated_sweep()
    again = make_sweep(RECORD)
    np.testing.assert_allclose(again["n_params"], runs.column("N"), rtol=1e-5)
    np.testing.assert_allclose(again["n_tokens"], runs.column("D"), rtol=1e-5)
    np.testing.assert_allclose(again["loss"], runs.column("loss"), atol=1e-4)
    assert truth["a"] == pytest.approx(truth["beta"] / (truth["alpha"] + truth["beta"]))


def test_runs_scatter_around_the_stated_law():
    runs, truth = simulated_sweep()
    N, D = runs.column("N"), runs.column("D")
    mean = truth["E"] + truth["A"] * N ** -truth["alpha"] + truth["B"] * D ** -truth["beta"]
    residual = np.log(runs.column("loss") / mean)
    assert np.sum(residual > 0.04) == RECORD["failures"]["runs"]
    assert np.median(np.abs(residual)) == pytest.approx(0.765 * RECORD["noise"]["sigma"], rel=0.35)


def test_simulate_names_what_is_missing():
    with pytest.raises(DataError, match="needs beta, sigma, nu, D"):
        simulate("chinchilla", {"E": 1.8, "A": 400, "B": 400, "alpha": 0.3}, {"N": [1e9]})
