"""The benchmark of many fits: its simulation, its arithmetic, and its own contenders."""

import json
from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("benchmarks.many", reason="benchmarks/ lies in the checkout, not the wheel")
from benchmarks.many import growth, table
from benchmarks.many.contender import Cost, Outcome, Stopwatch, outcome_from_dict
from benchmarks.many.contenders import fit_many, one_by_one
from benchmarks.many.ess import QUANTITIES, worst
from benchmarks.many.lineup import GPU, LOOP, LOOP_ONE_CORE, MANY, NUTPIE, Size, lineup
from benchmarks.many.lockstep import waste
from benchmarks.many.measure import Row, make_task
from benchmarks.many.sweeps import Sweeps, simulate
from benchmarks.speed.million import NOISE, TRUTH


def outcome(wall, cpu, fits, ess=()):
    return Outcome(start=Cost(9, 9), spent=Cost(wall, cpu), fits=fits, min_ess=ess, max_rhat=[1.0])


ROWS = [
    Row(MANY, 0.5, outcome(10.0, 20.0, 100, [500.0] * 99 + [300.0])),
    Row(LOOP, 0.5, outcome(4.0, 4.0, 20)),
    Row(LOOP_ONE_CORE, 0.5, outcome(3.0, 3.0, 20)),
    Row(NUTPIE, 0.5, outcome(50.0, 80.0, 20)),
    Row(GPU, 0.5, Outcome(missing="JAX has no gpu here")),
]


def by_name(shown):
    return {row[0]: dict(zip(shown.columns, row, strict=True)) for row in shown.rows}


def test_ratios_are_times_fit_manys_cost_and_a_missing_row_says_why():
    shown = table.measured(ROWS, ["a note"])
    found = by_name(shown)
    assert found[MANY]["wall ms"] == "100"
    assert found[MANY]["ESS>=400"] == "99%"
    assert found[MANY]["least/median"] == "300 / 500"
    assert found[LOOP]["wall x"] == "2"
    assert found[LOOP]["CPU x"] == "1"
    assert found[NUTPIE]["wall x"] == "25"
    assert found[GPU]["wall x"] == "–"
    assert f"{GPU}: missing: JAX has no gpu here" in shown.notes


def test_targets_by_wall_and_by_cpu_seconds():
    found = table.targets(ROWS).rows
    assert [(row[1], row[3]) for row in found] == [
        ("0.99", "no, 1.01 times off"),
        ("2", "yes"),
        ("1.5", "no, 1.20 times off"),
        ("25", "yes"),
        ("20", "yes"),
        ("–", "not measured"),
        ("–", "not measured"),
        ("–", "not measured"),
    ]


def test_outcomes_survive_the_line_that_carries_them():
    for sent in (ROWS[0].outcome, ROWS[-1].outcome):
        line = json.dumps(asdict(sent))
        received = outcome_from_dict(json.loads(line))
        assert (received.start, received.spent) == (sent.start, sent.spent)
        assert json.dumps(asdict(received)) == line


def test_sweeps_are_of_the_known_law_and_do_not_depend_on_their_number(tmp_path):
    few, more = simulate(2, 4000, "random", 7), simulate(3, 4000, "random", 7)
    assert np.array_equal(few.loss, more.loss[:2])
    assert not np.array_equal(more.loss[0], more.loss[2])
    law = TRUTH["E"] + TRUTH["A"] / few.N ** TRUTH["alpha"] + TRUTH["B"] / few.D ** TRUTH["beta"]
    t = np.log(few.loss / law) / NOISE["sigma"]
    # a t of 4 degrees of freedom lies between -.7407 and .7407 half of the time; 8,000 rows, 4 SD
    assert np.mean(np.abs(t) < 0.7407) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(t.size))
    few.write(tmp_path / "s.npz")
    assert np.array_equal(Sweeps.read(tmp_path / "s.npz").D, few.D)


def test_the_chinchilla_design_is_the_points_own(data_dir, monkeypatch):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    found = simulate(2, 245, "chinchilla", 0)
    assert np.array_equal(found.N[0], found.N[1])
    again = simulate(1, 300, "chinchilla", 0)
    assert set(again.N[0]) <= set(found.N[0])


def test_waste_of_lock_step_by_hand():
    steps = np.array([[[1, 3]], [[3, 1]], [[7, 7]], [[7, 7]]])  # fit, chain, draw
    assert waste(steps, 1) == 1.0
    # sorted: batches (first two) and (last two); 6 + 14 iterations for two fits each, 36 alone
    assert waste(steps, 2) == pytest.approx(2 * (6 + 14) / 36)
    assert waste(steps, 4) == pytest.approx(4 * 14 / 36)
    chains = np.array([[[1, 1], [3, 3]]])
    assert waste(chains, 1) == pytest.approx(1.5)


def test_worst_finds_the_quantity_that_mixes_badly():
    rng = np.random.default_rng(0)
    draws = {name: rng.standard_normal((4, 500)) for name in QUANTITIES}
    ess, rhat = worst(draws)
    assert ess > 800
    assert rhat < 1.02
    draws["gamma"] = np.cumsum(draws["gamma"], axis=1)
    ess, rhat = worst(draws)
    assert ess < 100
    assert rhat > 1.05


def test_own_contenders_fit_and_agree_with_arviz(tmp_path):
    simulate(3, 60, "random", 1).write(tmp_path / "s.npz")
    task = make_task(tmp_path / "s.npz", 4, 0)
    task = type(task)(**asdict(task) | {"fits": 3})
    many = fit_many.run(task)
    assert (many.fits, len(many.min_ess), many.failures) == (3, 3, [])
    assert many.spent is not None
    assert many.spent.wall > 0
    assert min(many.min_ess) >= 400
    off = float(many.notes[0].split(": ")[1].split()[0])
    assert off < 1e-9
    assert many.extra["lockstep"]["1"] >= 1
    alone = lineup(Size(3, 60, "random", 0))[2]
    assert alone.name == LOOP
    options = alone.options(many)
    assert options["draws"] == round(many.draws or 0)
    loop = one_by_one.run(type(task)(**asdict(task) | {"options": options}))
    assert loop.draws == options["draws"]
    assert len(loop.min_ess) == 3
    shown = table.measured([Row(MANY, 0.1, many), Row(LOOP, 0.1, loop)], [])
    (said,) = (note for note in shown.notes if "posterior sd" in note)
    assert float(said.split("within ")[1].split()[0]) < 0.25  # 400 draws and more: 5 MCSE


def test_quantities_are_all_that_a_chinchilla_fit_reports(chinchilla_summary):
    assert set(chinchilla_summary) == set(QUANTITIES)


@pytest.fixture
def chinchilla_summary():
    import pandas as pd

    import bayescale as bs

    (columns,) = simulate(1, 60, "random", 1)
    options = {"draws": 50, "warmup": 50, "chains": 2, "progress": False}
    return list(bs.fit("chinchilla", pd.DataFrame(columns), **options).summary.index)


def test_growth_tables_say_the_power_between_lines():
    points = [
        growth.Point("rows", rows, Row(f"rows {rows}", 0.1, outcome(1.0, rows / 64, 4)))
        for rows in (64, 256, 1024)
    ]
    first, lockstep = growth.tables(points)
    assert [row[0] for row in first.rows] == ["64", "256", "1,024"]
    assert any("+1.00, +1.00" in note for note in first.notes)
    assert lockstep.rows == []


def test_stopwatch_counts_from_lap_to_lap():
    watch = Stopwatch()
    sum(k * k for k in range(300_000))
    first, second = watch.lap(), watch.lap()
    assert first.cpu > 0
    assert second.wall < first.wall
