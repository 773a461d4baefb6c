"""Slices of a table: found, given or named by a column; what is dropped, flagged and refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescale as bs
from bayescale.data.isoflop import find_slices, interior
from bayescale.errors import DataError
from bayescale.families.isoflop import arrange

BUDGETS = (1e18, 3e18, 1e19)


def slices(budgets=BUDGETS, sizes=6, centre=1.0, width=4.0):
    """Parabolas with minima at sqrt(C/120)."""
    parts = []
    for C in budgets:
        best = np.sqrt(C / 120)
        N = best * centre * np.geomspace(1 / width, width, sizes)
        loss = 3 - 0.1 * np.log(C / 1e18) + 0.03 * np.log(N / best) ** 2
        parts.append(pd.DataFrame({"N": N, "D": C / (6 * N), "loss": loss}))
    return pd.concat(parts, ignore_index=True)


def refused(message, table, budgets=None, least=4):
    with pytest.raises(DataError, match=message):
        find_slices(bs.read_runs(table), budgets, least)


def test_budgets_are_found_and_runs_get_their_slice():
    table = slices()
    off = pd.DataFrame({"N": [1e8], "D": [1e12], "loss": [2.0]})
    law, runs = arrange(bs.read_runs(pd.concat([table, off])))
    assert law.axes["budget"] == ("1e18", "3e18", "1e19")
    assert len(runs) == 18
    assert list(runs.table["budget"][:6]) == ["1e18"] * 6
    np.testing.assert_allclose(runs.column("C")[:6], 1e18, rtol=1e-9)
    said = " ".join(f.message for f in runs.flags)
    assert "1 runs lie on no IsoFLOP slice" in said


@given(st.permutations(range(18)))
def test_the_order_of_rows_changes_nothing(order):
    table = slices()
    found = find_slices(bs.read_runs(table), None, 4)
    other = find_slices(bs.read_runs(table.iloc[list(order)]), None, 4)
    np.testing.assert_array_equal(found.place[list(order)], other.place)
    np.testing.assert_allclose(found.C, other.C, rtol=1e-12)
    assert found.labels == other.labels


@pytest.mark.parametrize(
    "budgets", ["1e18,1e19", "1e18+1e19", "1e+18,1e+19", [1e18, "1e19"], (1e19, 1e18)]
)
def test_budgets_can_be_given(budgets):
    found = find_slices(bs.read_runs(slices()), budgets, 4)
    assert found.labels == ("1e18", "1e19")
    assert (found.place < 0).sum() == 6


def test_a_column_can_say_the_budgets():
    table = slices().assign(wave=np.repeat(["small", "mid", "large"], 6))
    table["D"] *= np.linspace(1, 1.3, 18)  # C is uneven: only the column tells
    found = find_slices(bs.read_runs(table), "wave", 4)
    assert found.place.tolist() == np.repeat([0, 1, 2], 6).tolist()
    assert any("compute differs by up to" in f.message for f in found.flags)


def test_a_slice_of_few_sizes_is_left_out_and_said():
    table = pd.concat([slices(), slices((1e20,), sizes=3)])
    found = find_slices(bs.read_runs(table), "1e18,3e18,1e20", 4)
    assert found.labels == ("1e18", "3e18")
    said = [f.message for f in found.flags]
    assert any("budget 1e20 has 3 sizes, 4 are needed: left out" in m for m in said)
    assert find_slices(bs.read_runs(table), "1e18,1e20", 3).labels == ("1e18", "1e20")


def test_a_minimum_at_an_end_is_said_by_name():
    table = pd.concat([slices(), slices((1e20,), centre=8.0)])
    found = find_slices(bs.read_runs(table), None, 4)
    assert any("no interior minimum: 1e20" in f.message for f in found.flags)
    assert interior(np.array([1.0, 2.0, 4.0]), np.array([2.0, 1.0, 3.0]))
    assert not interior(np.array([1.0, 1.01, 4.0]), np.array([1.5, 1.0, 3.0]))  # one size twice


def test_seeds_are_kept_and_said():
    table = slices()
    again = table.iloc[[2]].assign(loss=table["loss"][2] * 1.001)
    found = find_slices(bs.read_runs(pd.concat([table, again])), None, 4)
    assert (found.place >= 0).all()
    assert any("row 19: a budget and size run before" in f.message for f in found.flags)


def test_bad_tables_are_refused():
    table = slices()
    refused("has no IsoFLOP slice: none of the 0 budgets", table[::6])
    refused(r"4 sizes at one budget only \(1e18 FLOP\)", table[:6])
    refused(
        "no run of DataFrame lies within 10% of the budget 1e25 .* C = 1e19", table, "1e18,1e25"
    )
    refused("1e18 and 1.05e18 lie within 10% of each other", table, [1e18, 1.05e18])
    refused("Give budgets in FLOP, or a column of DataFrame: N, D, C, loss", table, "many")
    refused("budget", table, [-1e18])
    refused("N is 1e\\+08 in all runs", table.assign(N=1e8))
    refused("needs loss", table.drop(columns="loss"))


def test_mixed_experiments_are_refused_with_the_column():
    both = pd.concat([slices().assign(corpus="web"), slices().assign(corpus="code", loss=2.0)])
    refused("18 runs at the budget and size of another, told apart by 'corpus'", both)


def test_real_sweeps_have_the_slices_of_their_budgets(data_dir, monkeypatch):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    law, runs = bs.arrange("isoflop", "llama3-isoflop")
    assert law.axes["budget"][0] == "6e18"
    assert law.axes["budget"][-1] == "1e22"
    assert (len(law.axes["budget"]), len(runs)) == (10, 133)
    with pytest.raises(DataError, match="told apart by 'condition'"):
        bs.arrange("isoflop", data_dir / "isoflop_llama3" / "isoflops.csv")
    with pytest.raises(DataError, match="told apart by 'dataset'"):
        bs.arrange("isoflop", data_dir / "isoflop_marin" / "isoflops.csv")


def test_options_are_read_from_text():
    law, runs = bs.arrange("isoflop:budgets=1e18+1e19:shape=cubic:deviations=no", slices())
    assert law.axes["budget"] == ("1e18", "1e19")
    assert [p.name for p in law.params] == ["L_min", "G", "a", "h", "s"]
    assert len(runs) == 12
    three, _ = bs.arrange("isoflop:budgets=1e18+3e18:shape=parabola", slices(sizes=3))
    assert three.axes["budget"] == ("1e18", "3e18")
    with pytest.raises(DataError, match="none of the 2 budgets given has 4 sizes"):
        bs.arrange("isoflop:budgets=1e18+3e18:shape=cubic", slices(sizes=3))
