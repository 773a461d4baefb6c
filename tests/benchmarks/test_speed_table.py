"""The benchmark's tables: ratios point the right way, targets say yes or how far off."""

import numpy as np
import pytest

pytest.importorskip("benchmarks.speed", reason="benchmarks/ lies in the checkout, not the wheel")
from benchmarks.speed import table
from benchmarks.speed.measure import Result, smallest_ess
from benchmarks.speed.process import Usage

OURS = Result(
    "bayescale",
    cold=Usage(11.0, 10.0),
    next=Usage(4.0, 3.0),
    warm=Usage(0.5, 0.4),
    gradients=7.0,
    ess=2000.0,
    a=(0.514, 0.011),
)
NUTPIE = Result(
    "PyMC + nutpie",
    cold=Usage(30.0, 20.0),
    next=Usage(12.0, 11.0),
    warm=Usage(4.0, 3.0),
    gradients=49.0,
    ess=800.0,
    a=(0.515, 0.011),
)
SIMPLE = Result("simple-scaling-laws", cold=Usage(4.0, 3.5), next=Usage(4.0, 3.5))


def row(shown, name):
    cells = next(r for r in shown.rows if r[0] == name)
    return dict(zip(shown.columns, cells, strict=True))


def test_measured_shows_every_contender_and_dashes_for_what_it_lacks():
    shown = table.measured([OURS, NUTPIE, SIMPLE], notes=["medians of 3"])
    assert [r[0] for r in shown.rows] == ["bayescale", "PyMC + nutpie", "simple-scaling-laws"]
    ours, simple = row(shown, "bayescale"), row(shown, "simple-scaling-laws")
    assert ours["cold wall/CPU s"] == "11.0 / 10.0"
    assert ours["ESS/s"] == "4,000"
    assert ours["ESS/CPU s"] == "5,000"
    assert ours["a"] == "0.5140 ± 0.0110"
    assert simple["warm wall/CPU s"] == simple["min ESS"] == simple["a"] == "–"
    assert "medians of 3" in str(shown)


def test_ratios_are_above_one_where_bayescale_is_better():
    shown = table.ratios([OURS, NUTPIE, SIMPLE])
    nutpie, simple = row(shown, "PyMC + nutpie"), row(shown, "simple-scaling-laws")
    assert nutpie["cold CPU"] == "2"
    assert nutpie["gradients/draw"] == "7"
    assert nutpie["ESS/s"] == "20"
    assert float(simple["cold CPU"]) < 1
    assert simple["ESS/s"] == "–"


def test_targets_say_yes_or_how_far_off():
    shown = table.targets([OURS, NUTPIE, SIMPLE])
    met = {r[0]: r[-1] for r in shown.rows}
    assert met["warm min ESS/s over nutpie's"] == "yes"
    assert met["gradient evaluations a draw"] == "yes"
    assert met["cold CPU over nutpie's"] == "no, 1.50 times off"
    assert met["next CPU of bayescale over simple-scaling-laws'"] == "yes"


def test_targets_without_rivals_keep_what_needs_none():
    shown = table.targets([OURS])
    assert [r[0] for r in shown.rows] == ["gradient evaluations a draw"]


def test_smallest_ess_finds_the_slowest_parameter():
    rng = np.random.default_rng(0)
    draws = {name: rng.standard_normal((4, 500)) for name in ("E", "A", "B", "alpha", "beta")}
    assert smallest_ess(draws) > 1000
    draws["B"] = np.cumsum(draws["B"], axis=1)
    assert smallest_ess(draws) < 100
