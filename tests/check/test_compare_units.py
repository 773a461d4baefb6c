"""What is left out together: runs by their column, and tables that must or mustn't be refused."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.check import loo
from bayescale.check.comparison.checkpoints import correlated, run_column
from bayescale.check.comparison.units import find_units
from bayescale.data import read_runs
from bayescale.errors import DataError, FitError
from tests.answers.conftest import made_up
from tests.check.laplace import laplace


def curves(seed=0, runs=8, steps=8, spread=0.03, sigma=0.003, grid=False):
    """Training curves whose runs are off by 3%, or a grid of separate trainings with 1% noise."""
    rng = np.random.default_rng(seed)
    N = np.repeat(10 ** np.linspace(7.7, 9.3, runs), steps)
    D = np.tile(np.linspace(1, steps, steps) * 8e9, runs)
    mean = 1.8 + 480 * N**-0.35 + 2000 * D**-0.37
    off = np.repeat(spread * rng.standard_normal(runs), steps)
    noise = sigma * rng.standard_normal(len(N))
    noise = 0.01 * rng.standard_normal(len(N)) if grid else off + noise
    name = np.repeat([f"r{k}" for k in range(runs)], steps)
    return pd.DataFrame({"N": N, "D": D, "loss": mean * np.exp(noise), "run_id": name})


@pytest.fixture(scope="module")
def checkpoints():
    return laplace("chinchilla", read_runs(curves().drop(columns="run_id")))


def test_checkpoints_without_a_run_column_are_refused(checkpoints):
    with pytest.raises(FitError, match=r"look like checkpoints of 8 training runs .*by='run'"):
        loo(checkpoints)


def test_refusal_is_one_line_and_can_be_overruled(checkpoints):
    with pytest.raises(FitError) as refused:
        loo(checkpoints)
    assert "\n" not in str(refused.value)
    found = loo(checkpoints, by="row", refit="never")
    assert found.units.by == "row"
    assert len(found.units) == 64


def test_order_of_rows_hides_nothing():
    table = curves().drop(columns="run_id").sample(frac=1, random_state=1)
    assert correlated(laplace("chinchilla", read_runs(table))).checkpoints


def test_several_runs_of_one_size_are_told_apart_by_their_order_in_the_file():
    table = pd.concat([curves(seed, runs=4) for seed in range(2)], ignore_index=True)
    found = correlated(laplace("chinchilla", read_runs(table.drop(columns="run_id"))))
    assert found.checkpoints
    assert found.curves == 8


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("law", ["chinchilla", "kaplan"])
def test_a_grid_of_separate_trainings_passes_even_under_a_wrong_law(law, seed):
    fit = laplace(law, read_runs(curves(seed, grid=True).drop(columns="run_id")))
    assert find_units({"x": fit}, None).by == "row"


def test_run_column_is_found_and_used():
    fit = laplace("chinchilla", read_runs(curves()))
    assert run_column(fit.runs) == "run_id"
    found = loo(fit, refit="never")
    assert found.units.by == "run_id"
    assert len(found.units) == 8
    assert "left out together" in found.units.note
    # neighbours give a row away: single rows look far easier than whole runs
    assert loo(fit, by="row", refit="never").elpd > found.elpd


def test_a_name_for_each_row_is_no_run():
    table = curves(grid=True)
    table["run_id"] = [f"r{k}" for k in range(len(table))]
    assert run_column(read_runs(table)) is None
    table["run_id"] = "sweep-1"  # one name for all: an experiment, not a run
    assert run_column(read_runs(table)) is None


def test_noise_with_offsets_decides():
    table = curves().rename(columns={"run_id": "shape"})
    fit = made_up("chinchilla", read_runs(table), bs.student_t(runs="shape"))
    units = find_units({"x": fit}, None)
    assert units.by == "shape"
    assert len(units) == 8
    assert "share an offset in this fit's noise" in units.note


@pytest.mark.parametrize("name", ["gadre-c4", "misfitting", "porian"])
def test_real_grids_pass(name, data_dir, monkeypatch):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    fit = laplace("chinchilla", read_runs(name), draws=50)
    assert find_units({name: fit}, None).by == "row"


def test_real_checkpoints_are_refused_without_and_grouped_with_their_column(data_dir, monkeypatch):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    runs = read_runs("gemstones")
    assert find_units({"x": made_up("chinchilla", runs)}, None).by == "run_id"
    bare = read_runs(runs.table[["N", "D", "loss"]])
    with pytest.raises(FitError, match="checkpoints of 20 training runs"):
        find_units({"x": laplace("kaplan", bare, draws=50)}, None)


def test_bad_groups(checkpoints):
    with pytest.raises(DataError, match="no column 'runs'"):
        loo(checkpoints, by="runs")
    table = curves(grid=True).assign(half=["a", "b"] * 32)
    with pytest.raises(FitError, match=r"'half' has 2 groups; .* needs 3"):
        loo(made_up("chinchilla", read_runs(table)), by="half")
    table["half"] = [None, *["b"] * 63]
    with pytest.raises(FitError, match="names no group in row 1"):
        loo(made_up("chinchilla", read_runs(table)), by="half")


def test_groups_of_one_row_with_parameters_of_their_own_are_refused():
    table = curves(grid=True).assign(family=["a"] * 40 + ["b"] * 23 + ["c"])
    fit = made_up("chinchilla", read_runs(table), pooling={"E": bs.independent("family")})
    with pytest.raises(FitError, match=r"E is independent by 'family'.*no row of family 'a'"):
        loo(fit, by="family")
    with pytest.raises(FitError, match=r"leaving out row 64 leaves no row of family 'c'"):
        loo(fit, by="row")
    partial = made_up("chinchilla", read_runs(table), pooling={"E": bs.partial("family")})
    with pytest.raises(FitError, match="3 groups by 'family' have parameters of their own"):
        loo(partial, by="family", refit="never")
