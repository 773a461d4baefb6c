"""The benchmark of training curves: its design, its truth, and how it counts."""

import numpy as np

import bayescale as bs
from benchmarks.curves.coverage import holds
from benchmarks.curves.simulation import LAW, DataSets, budgets, design, truth
from benchmarks.curves.ways import WAYS


def test_truth_is_the_optimum_of_the_law():
    for name, budget in zip(("L*(C_max)", "L*(10 C_max)"), budgets(), strict=True):
        sizes = np.geomspace(1e7, 1e13, 200_001)
        tokens = budget / 6 / sizes
        loss = LAW["E"] + LAW["A"] * sizes ** -LAW["alpha"] + LAW["B"] * tokens ** -LAW["beta"]
        assert abs(loss.min() - truth()[name]) < 1e-8


def test_all_ways_see_the_same_curves():
    assert len(design(16)["D"]) == 24 * 16
    whole = next(iter(DataSets(WAYS[0], 1, 16, seed=3)))
    last = next(iter(DataSets(WAYS[-1], 1, 16, seed=3)))
    assert WAYS[-1].last
    assert (len(whole), len(last)) == (384, 24)
    ends = bs.read_runs(whole, curves=bs.Curves(run="run", last=True))
    np.testing.assert_array_equal(ends.column("loss"), last.column("loss"))


def test_intervals_are_central():
    values = np.linspace(0, 1, 1001)
    assert holds(values, 0.06, 0.9)
    assert not holds(values, 0.04, 0.9)
    assert not holds(values, 0.96, 0.9)
