"""Inputs beyond N, D and C: named by the user, or known by an alias; and harm by repetition."""

import numpy as np
import pandas as pd
import pytest

from bayescale.data.overrepetition import harm, harmed
from bayescale.data.public import load_dataset
from bayescale.data.read import read_runs
from bayescale.errors import DataError

TABLE = {
    "n_params": [1e8, 1e8, 4e8],
    "n_tokens": [2e9, 8e9, 8e9],
    "unique_tokens": [2e9, 2e9, 2e9],
    "loss": [3.9, 3.5, 3.3],
}


def frame(**changes):
    return pd.DataFrame(TABLE).assign(**changes)


@pytest.mark.parametrize(
    "name", ["unique_tokens", "n_unique_tokens", "UniqueTokens", "Unique Tokens", "U"]
)
def test_unique_tokens_are_read_as_U(name):
    runs = read_runs(frame().rename(columns={"unique_tokens": name}))
    np.testing.assert_array_equal(runs.column("U"), [2e9] * 3)
    np.testing.assert_array_equal(runs.column(name), [2e9] * 3)
    assert runs.columns["U"] == name
    assert f"U <- {name}" in runs.describe()


def test_the_unit_in_the_header_counts():
    table = frame(**{"unique_tokens": [2.0, 2.0, 2.0]})
    runs = read_runs(table.rename(columns={"unique_tokens": "unique_tokens_b"}))
    np.testing.assert_array_equal(runs.column("U"), [2e9] * 3)
    stated = read_runs(table, units={"U": 1e9})
    np.testing.assert_array_equal(stated.column("U"), [2e9] * 3)


def test_any_input_of_a_law_can_be_mapped():
    runs = read_runs(frame(sparse=[0.5, 0.75, 0.9]), columns={"S": "sparse"})
    np.testing.assert_array_equal(runs.column("S"), [0.5, 0.75, 0.9])
    assert "sparse" in runs.table
    assert runs.columns["S"] == "sparse"


def test_mapping_overrides_the_alias_and_can_leave_it_out():
    runs = read_runs(frame(pool=[1e9] * 3), columns={"U": "pool"})
    np.testing.assert_array_equal(runs.column("U"), [1e9] * 3)
    assert "U" not in read_runs(frame(), columns={"U": ""}).table


def test_reading_again_keeps_inputs_and_filters_by_them():
    runs = read_runs(frame(pool=[1e9] * 3), columns={"U": "pool"})
    again = read_runs(runs, where="D > 2 * U and unique_tokens > 1e9")
    assert again.columns["U"] == "pool"
    np.testing.assert_array_equal(again.column("U"), [1e9] * 2)
    fewer = read_runs(read_runs(frame()), where="D < 2 * U")
    assert len(fewer) == 1
    assert len(read_runs(fewer, columns={"loss": "loss"}).column("U")) == 1


def test_two_columns_of_one_alias_are_left_for_the_user_to_choose():
    runs = read_runs(frame(n_unique_tokens=[1e9] * 3))
    assert "U" not in runs.table


def test_text_in_a_column_of_that_name_is_nobodys_error():
    runs = read_runs(frame(unique_tokens=["all", "some", "few"]))
    assert "U" not in runs.table


@pytest.mark.parametrize("name", ["tokens", "n_params", "n", "size", "my input", "LOSS"])
def test_another_name_of_a_role_is_no_input(name):
    with pytest.raises(DataError, match=f"'{name}' is no role"):
        read_runs(frame(), columns={name: "unique_tokens"})


def test_the_unit_of_nothing_is_an_error():
    with pytest.raises(DataError, match="'params' is none of N, D, C"):
        read_runs(frame(), units={"params": 1e9})


def test_repeats_of_a_cell_have_the_same_unique_tokens():
    table = frame(unique_tokens=[2e9, 1e9, 2e9], n_params=1e8, n_tokens=8e9, loss=[3.5, 3.6, 3.51])
    flag = next(f for f in read_runs(table).flags if f.kind == "repeats")
    assert flag.rows == (1, 3)


def test_harm_is_measured_against_fewer_epochs_of_the_same_run():
    N, U = np.full(5, 1e8), np.full(5, 1e9)
    D = np.array([1e9, 4e9, 16e9, 64e9, 64e9])
    loss = np.array([4.0, 3.5, 3.4, 3.6, 3.41])
    above = harm(N, D, U, loss)
    np.testing.assert_allclose(above, [0, 0, 0, *[np.log(3.41 / 3.4)] * 2])
    better_again = harm(N, np.array([1e9, 4e9, 16e9, 64e9, 256e9]), U, [4.0, 3.5, 3.6, 3.4, 3.5])
    np.testing.assert_allclose(better_again, [0, 0, 0, 0, np.log(3.5 / 3.4)])
    # more unique tokens, another size, or no repetition: nothing to compare with
    assert not harm(N, D, U * [1, 2, 3, 5, 7], loss).any()
    assert not harm(N * [1, 2, 3, 4, 5], D, U, loss).any()
    assert not harm(N, D, D, loss).any()


def test_a_larger_run_far_worse_than_a_smaller_one_is_harmed():
    above = harm(np.array([1e8, 1e9]), np.array([8e9, 16e9]), np.full(2, 1e8), np.array([3.7, 8.0]))
    np.testing.assert_allclose(above, [0, np.log(8 / 3.7)])


def test_harmed_runs_of_real_sweeps(monkeypatch, data_dir):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    runs = load_dataset("datablations-repetition")
    which = harmed(runs)
    assert runs.column("loss")[which].max() > 11
    # SOURCE.md: with 100M unique tokens and more than 500M parameters the loss rises to 5 to 11
    risen = (runs.column("U") < 2e8) & (runs.column("N") > 5e8) & (runs.column("loss") > 5)
    risen &= runs.column("D") > 2 * runs.column("U")
    assert np.all(which[risen])
    epochs = runs.column("D") / runs.column("U")
    assert epochs[which].min() > 10
    assert not harmed(load_dataset("openclip")).any()


@pytest.mark.parametrize(("decay", "best"), [(0.1, 16), (1.6, 32)])
def test_more_epochs_than_the_best_number_are_harmful(data_dir, decay, best):
    """SOURCE.md: the lowest error is at 16 epochs with weight decay .1, at 32 with 1.6."""
    path = data_dir / "marin_epochs" / "marin_epochs.csv"
    runs = read_runs(path, loss="error_mean", where=f"weight_decay == {decay}")
    np.testing.assert_array_equal(harmed(runs), runs.column("epochs") > best)
    flag = next(f for f in runs.flags if f.kind == "over-repeated")
    assert f"where='D < {2 * best} * U'" in flag.message


def test_harm_needs_its_columns_and_a_margin():
    runs = read_runs(frame().drop(columns="unique_tokens"))
    with pytest.raises(DataError, match="finding runs harmed by repetition needs U"):
        harmed(runs)
    with pytest.raises(DataError, match="margin is -1"):
        harmed(read_runs(frame()), margin=-1)
