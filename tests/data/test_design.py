"""What a design can't separate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescale.data import design_report, load_dataset
from bayescale.errors import DataError

SIZES = np.geomspace(1e8, 1e10, 8)
GRID_N = np.repeat(SIZES, 5)
GRID_D = np.tile(np.geomspace(2e9, 1e12, 5), 8)


def kinds(*arrays) -> list[str]:
    return [flag.kind for flag in design_report(*arrays)]


def test_good_designs_are_silent():
    assert kinds(GRID_N, GRID_D) == []
    budgets = np.repeat([1e18, 1e19, 1e20], 8)
    sizes = np.tile(SIZES, 3)
    assert kinds(sizes, budgets / (6 * sizes)) == []


def test_twenty_tokens_per_parameter_everywhere():
    (flag,) = design_report(SIZES, 20 * SIZES)
    assert flag.kind == "tied"
    assert "D = 20 N" in flag.message
    assert "0.0% of its range" in flag.message
    assert set(flag.parameters) == {"alpha", "beta", "A", "B"}
    assert "more and fewer tokens" in flag.remedy


@given(st.floats(0.3, 2), st.floats(1, 1e4), st.integers(0, 100))
def test_any_line_in_the_logarithms_is_tied(power, factor, seed):
    wobble = np.exp(np.random.default_rng(seed).normal(0, 0.01, len(SIZES)))
    (flag,) = design_report(SIZES, factor * SIZES**power * wobble)
    assert flag.kind == "tied"


def test_enough_scatter_unties():
    wobble = np.exp(np.random.default_rng(3).normal(0, 1, 40))
    sizes = np.geomspace(1e8, 1e10, 40)
    assert kinds(sizes, 20 * sizes * wobble) == []


def test_one_size_one_data_size_one_budget():
    same = np.full(8, 1e9)
    assert kinds(same, SIZES * 20) == ["one-size"]
    assert kinds(SIZES, same * 20) == ["one-data-size"]
    assert kinds(SIZES, 1e19 / SIZES) == ["one-budget"]
    assert kinds(GRID_N, GRID_D, np.full(len(GRID_N), 1e20)) == ["one-budget"]
    (flag,) = design_report(same, SIZES * 20)
    assert "N = 1e+09" in flag.message
    assert "alpha" in flag.parameters


def test_two_sizes_are_not_enough_for_an_exponent():
    n, d = np.repeat([1e8, 1e9], 5), np.tile(GRID_D[:5], 2)
    assert kinds(n, d) == ["two-sizes"]
    assert kinds(d, n) == ["two-data-sizes"]
    assert kinds(np.geomspace(1e8, 1e9, 1000), GRID_D[np.arange(1000) % 5]) == []


def test_fewer_cells_than_parameters():
    n, d = np.array([1e8, 1e8, 1e9, 3e9]), np.array([1e9, 1e10, 2e10, 1e11])
    assert "few-cells" in kinds(n, d)
    assert "few-cells" in kinds(np.tile(n, 10), np.tile(d, 10))  # repeats are no new cells


def test_narrow_ranges():
    assert kinds(np.repeat([1e9, 1.5e9, 2e9], 5), np.tile(GRID_D[:5], 3)) == ["narrow-N"]
    assert kinds(np.tile(SIZES, 3), np.repeat([1e10, 1.5e10, 2e10], 8)) == ["narrow-D"]


def test_repeats_and_order_change_nothing():
    order = np.random.default_rng(0).permutation(len(GRID_N))
    for n, d in ((GRID_N, GRID_D), (SIZES, 20 * SIZES), (SIZES, SIZES * 0 + 1e10)):
        twice = np.tile(n, 2), np.tile(d, 2)
        assert kinds(*twice) == kinds(n, d)
        assert kinds(n[order[order < len(n)]], d[order[order < len(n)]]) == kinds(n, d)


def test_bad_arrays():
    with pytest.raises(DataError, match="one length"):
        design_report([1e8, 1e9], [1e9])
    with pytest.raises(DataError, match="one length"):
        design_report([], [])
    with pytest.raises(DataError, match="above zero"):
        design_report([1e8, -1e9], [1e9, 1e9])


@pytest.mark.parametrize("name", ["chinchilla-epoch", "porian", "gadre-c4", "misfitting"])
def test_real_sweeps_are_silent(name, data_dir, monkeypatch):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    runs = load_dataset(name)
    assert design_report(runs.column("N"), runs.column("D"), runs.column("C")) == ()
