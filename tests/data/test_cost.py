"""Cost models: any two of N, D and C give the third."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescale.data import SIX_ND, active_params, cost_from_dict, custom, read_runs, six_nd
from bayescale.errors import DataError

positive = st.floats(min_value=1e4, max_value=1e13)


def with_attention(n, d):
    """Return 6 N D and a term that grows slower than N."""
    return 6.0 * n * d + 40.0 * np.sqrt(n) * d


OWN = custom(with_attention, "with_attention")


@given(positive, positive)
def test_any_two_give_the_third(n, d):
    for cost in (SIX_ND, six_nd(8.0)):
        c = cost.flops(n, d)
        assert cost.tokens(n, c) == pytest.approx(d, rel=1e-14)
        assert cost.params(c, d) == pytest.approx(n, rel=1e-14)


@settings(max_examples=50, deadline=None)
@given(positive, positive)
def test_any_two_give_the_third_with_an_own_function(n, d):
    c = OWN.flops(n, d)
    assert OWN.tokens(n, c) == pytest.approx(d, rel=1e-11)
    assert OWN.params(c, d) == pytest.approx(n, rel=1e-11)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(positive, positive), min_size=3, max_size=8), st.sampled_from("NDC"))
def test_a_table_gets_its_missing_column(pairs, missing):
    n, d = (np.array(x) for x in zip(*pairs, strict=True))
    frame = pd.DataFrame({"N": n, "D": d, "C": 6 * n * d}).drop(columns=missing)
    runs = read_runs(frame, units={"N": 1, "D": 1, "C": 1})
    assert runs.derived == {missing}
    np.testing.assert_allclose(runs.column("N"), n, rtol=1e-14)
    np.testing.assert_allclose(runs.column("D"), d, rtol=1e-14)
    np.testing.assert_allclose(runs.column("C"), 6 * n * d, rtol=1e-14)


def test_whole_numbers_do_not_overflow():
    n, d = np.array([7_000_000_000_000]), np.array([15_000_000_000_000])
    assert SIX_ND.flops(n, d)[0] == pytest.approx(6.3e26, rel=1e-15)
    frame = pd.DataFrame({"N": np.repeat(n, 3), "D": np.repeat(d, 3)})
    assert frame.dtypes.eq("int64").all()
    np.testing.assert_allclose(read_runs(frame).column("C"), 6.3e26, rtol=1e-15)


def test_active_parameters_set_the_cost():
    frame = pd.DataFrame({"N": [1e9, 2e9], "D": [2e10, 4e10], "active": [1e8, 2e8]})
    runs = read_runs(frame, cost=active_params("active"))
    np.testing.assert_allclose(runs.column("C"), 6 * frame.active * frame.D)
    assert runs.columns["C"] == "6 [active] D"
    assert runs.cost.describe() == "C = 6 [active] D"
    np.testing.assert_allclose(
        runs.cost.tokens(runs.column("N"), runs.column("C"), runs.table), frame.D
    )
    with pytest.raises(DataError, match="only fixes the active parameters"):
        runs.cost.params(runs.column("C"), runs.column("D"), runs.table)
    with pytest.raises(DataError, match="needs the column 'active'"):
        runs.cost.flops(1e9, 2e10)


def test_active_parameters_in_billions_and_as_text():
    frame = pd.DataFrame({"N": [1e9, 2e9], "D": [2e10, 4e10], "active_params_b": [0.1, 0.2]})
    runs = read_runs(frame, cost=active_params("active_params_b"))
    np.testing.assert_allclose(runs.column("C"), 6 * np.array([1e8, 2e8]) * frame.D)
    assert runs.columns["N"] == "N"
    frame = pd.DataFrame({"N": [1e9, 2e9], "D": [2e10, 4e10], "active": ["100M", "0.2B"]})
    runs = read_runs(frame, cost=active_params("active"))
    np.testing.assert_allclose(runs.column("C"), 6 * np.array([1e8, 2e8]) * frame.D)


def test_active_parameters_are_not_taken_for_the_size():
    frame = pd.DataFrame({"active_params": [1e8, 2e8], "D": [2e10, 4e10], "loss": [3.0, 2.8]})
    runs = read_runs(frame, cost=active_params("active_params"))
    assert "N" not in runs.columns
    np.testing.assert_allclose(runs.column("C"), 6 * frame.active_params * frame.D)


@pytest.mark.parametrize("cost", [SIX_ND, six_nd(2.5), active_params("Na", scale=1e9)])
def test_dicts_bring_cost_models_back(cost):
    assert cost_from_dict(cost.to_dict()) == cost


def test_an_own_function_is_kept_by_name():
    back = cost_from_dict(OWN.to_dict())
    assert back.describe() == "C = with_attention(N, D)"
    with pytest.raises(DataError, match="'with_attention' is an own function and wasn't saved"):
        back.flops(1e9, 1e10)
    again = cost_from_dict(OWN.to_dict(), with_attention)
    assert again.flops(1e9, 1e10) == OWN.flops(1e9, 1e10)
    with pytest.raises(DataError, match="unknown kind"):
        cost_from_dict({"kind": "tpu"})


def test_bad_cost_models():
    with pytest.raises(DataError, match="factor = 0"):
        six_nd(0)
    with pytest.raises(DataError, match="expected a function"):
        custom(3, "three")  # type: ignore[arg-type]
