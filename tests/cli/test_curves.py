"""Training curves through the shell: cleaning, memory, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from bayescale.data.simulate import simulate
from bayescale.noise import student_t


@pytest.fixture(scope="module")
def curves(tmp_path_factory):
    design = pd.DataFrame({"run": np.repeat([f"m{k}" for k in range(8)], 9)})
    design["N"] = np.repeat(1e8 * 2.0 ** np.arange(8), 9)
    design["D"] = np.tile(2e9 * 1.6 ** np.arange(9), 8)
    design["step"] = (design["D"] / 1e6).round()
    truth = {"E": 1.8, "A": 480.0, "B": 2000.0, "alpha": 0.35, "beta": 0.36}
    scatter = {"sigma": 0.005, "nu": 8.0, "run_sd": 0.005, "memory": 1.0}
    noise = student_t(runs="run", along="D")
    table = simulate("chinchilla", truth | scatter, dict(design.items()), noise=noise)
    path = tmp_path_factory.mktemp("curves") / "curves.csv"
    table.to_csv(path, index=False)
    return path


def test_curves_are_cleaned_and_remembered(call, curves):
    cleaning = ("--run", "run", "--drop-before", "step=4000", "--smooth", "3", "--thin", "5")
    sampler = ("--draws", "100", "--chains", "2", "--json")
    ended = call(
        "fit", "chinchilla", curves, *cleaning, "--runs-column", "run", "--along", "D", *sampler
    )
    record = ended.json()
    assert record["n_runs"] == 40
    said = [f["message"] for f in record["data"]["flags"] if f["kind"] == "curves"]
    assert said[0] == "16 of 72 checkpoints dropped: step below 4000."
    assert "smoothed along each run: centred mean of 3" in said[2]
    assert "40 of 56 rows" in said[3]
    assert record["noise"] == (
        "Student-t on log response, an offset for each 'run', AR(1) along D in each 'run'"
    )
    assert record["parameters"]["memory"]["median"] > 0
    assert record["remarks"] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--smooth", "5"), "--smooth needs to know which rows are one training run: --run"),
        (("--drop-before", "1B"), "--drop-before needs to know"),
        (("--last",), "--last needs to know"),
        (("--run", "run", "--smooth", "4"), "smooth is 4; a centred window is an odd number"),
        (("--run", "seed"), "no column 'seed'"),
        (("--along", "D"), "needs the column that names the run"),
        (("--runs-column", "run", "--along", "epoch"), "needs 'epoch'"),
    ],
)
def test_what_cannot_be_done_is_named(call, curves, options, message):
    ended = call("fit", "chinchilla", curves, *options)
    assert ended.code != 0
    assert message in " ".join(ended.err.split())
