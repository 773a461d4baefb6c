"""Parts of the benchmark of intervals beyond the data: what is kept, mixed, shifted and learnt."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayescale.data import read_runs
from bayescale.priors import LogNormal
from benchmarks.extrapolation import inside, scales, slices, sweeps
from benchmarks.extrapolation.kept import Kept
from benchmarks.extrapolation.record import Record
from tests.answers.conftest import made_up


def record(sweep, model, score):
    covered = {"50": 0.5, "80": 0.8, "90": 0.9, "95": 0.95}
    return Record(sweep, model, 10.0, 30, 5, covered, 0.1, 0.05, 0.02, True, score)


def test_what_is_kept_is_not_computed_again(tmp_path):
    file, made = tmp_path / "kept.jsonl", []

    def make():
        made.append(1)
        yield record("one", "ours", 1.5)

    first = Kept(file).rows({"sweep": "one"}, Record, make)
    with file.open("a") as half:
        half.write('{"key": {"sweep": "tw')  # interrupted while it wrote
    again = Kept(file)
    assert again.rows({"sweep": "one"}, Record, make) == first
    assert len(made) == 1
    again.rows({"sweep": "two"}, Record, make)
    assert len(made) == 2


@pytest.fixture(scope="module")
def runs():
    rng = np.random.default_rng(0)
    N, D = 10 ** rng.uniform(8, 9, 40), 10 ** rng.uniform(9, 10.5, 40)
    return read_runs(pd.DataFrame({"N": N, "D": D, "loss": 2 + rng.uniform(0, 0.5, 40)}))


def test_the_pseudo_split_is_of_the_fitted_runs_alone(runs):
    train = runs.select(np.arange(40) < 30, "some")
    part = inside.smaller(train)
    assert part is not None
    C, own = train.column("C"), part.column("C")
    assert own.max() <= C.max() / np.sqrt(10) * (1 + 1e-9)
    assert len(part) == (C.max() / np.sqrt(10) * (1 + 1e-9) >= C).sum()
    assert inside.smaller(train.select(np.argsort(np.argsort(C)) < 6, "few")) is None


def test_a_shift_moves_predictions_and_their_density(runs):
    fit = made_up("chinchilla", runs, draws=200, spread=0.05)
    test = runs.select(np.arange(40) < 5, "few")
    shift = np.linspace(-0.1, 0.2, 5)
    plain, moved = (inside.shifted(fit, test, s, seed=0) for s in (np.zeros(5), shift))
    assert np.allclose(moved.observed, plain.observed)
    for q in plain.quantiles:
        assert np.allclose(np.log(moved.quantiles[q] / plain.quantiles[q]), shift)
    # the density is that of moved draws: of log loss, by histogram-free identity of a shift
    back = replace(test, table=test.table.assign(loss=test.column("loss") * np.exp(-shift)))
    there = inside.shifted(fit, back, np.zeros(5), seed=0)
    assert np.allclose(moved.log_score, there.log_score - shift)


def test_a_slope_is_the_error_per_efold(runs):
    fit = made_up("chinchilla", runs.select(runs.column("C") < 1e19, "small"), draws=50, spread=0)
    larger = inside.larger(runs, fit)
    assert larger.column("C").min() > fit.runs.column("C").max()
    from bayescale.check.at_runs import at_runs

    found = at_runs(fit, larger, seed=0)
    reach = inside.reach(larger, fit.runs)
    middle = np.exp(np.median(np.log(found.replicate), axis=0))
    off = replace(found, observed=middle * np.exp(0.03 * reach))
    assert inside.slope_of(off, fit, runs) == pytest.approx(0.03)


def test_draws_under_another_prior():
    rng = np.random.default_rng(1)
    old, new = LogNormal(0.004, 0.5), LogNormal(0.006, 0.5)
    drawn = old.sample(rng, (20_000,))
    weights = scales.reweighted(drawn, old, new)
    picked = drawn[scales.systematic(weights, rng)]
    expected = stats.norm(np.log(0.006), 0.5)
    ess = 1 / np.square(weights).sum()
    assert abs(np.log(picked).mean() - expected.mean()) < 4 * 0.5 / np.sqrt(ess)
    for q in (0.1, 0.5, 0.9):
        error = 4 * np.sqrt(q * (1 - q) / ess)
        assert abs((np.log(picked) < expected.ppf(q)).mean() - q) < error


def test_a_family_has_no_say_in_its_own_centre():
    """Marin alone would have .008, the others .002: two sweeps of one family count once."""
    best = {"marin-comma": 0.008, "marin-dclm": 0.008, "gadre-c4": 0.002, "misfitting": 0.002}
    best["porian"] = 0.002
    found = [
        record(name, scales.LABEL.format(c), -abs(c - own))
        for name, own in best.items()
        for c in scales.CENTRES
    ]
    picked, chosen = scales.learnt(found)
    assert chosen == {"marin": 0.002, "gadre": 0.002, "misfitting": 0.002, "porian": 0.002}
    assert len(picked) == 5
    assert {r.model for r in picked} == {scales.LEARNT}


def test_every_sweep_has_a_family():
    named = {sweeps.family(name) for name in sweeps.sweeps()}
    assert len(named) == 11
    assert {m for members in sweeps.FAMILIES.values() for m in members} < set(sweeps.sweeps())


def row(sweep, law, measured, low, high, spreads=()):
    ends = ([low] * 3, [high] * 3)
    return slices.Row(sweep, law, 1e20, 1.0, measured, 0.1, 0.0, *ends, [0, 0], list(spreads), True)


def test_shares_of_slices_and_the_spread_of_other_families():
    narrow, wide = [-0.1, 0.1], [-1.0, 1.0]
    pairs = [narrow, narrow, narrow, wide, wide]
    found = [row(s, law, 0.5, -1, 0.4) for s in ("porian", "llama3-isoflop") for law in slices.LAWS]
    found = [replace(r, spreads=pairs) if r.law == "auto" else r for r in found]
    found.append(row("porian", "chinchilla", 0.5, -1, 0.6))
    assert slices.by_sweep(found).splitlines()[2].startswith("| porian | 1 | 1 / +0.50")
    lines = {x.split(" | ")[0]: x for x in slices.overall(found).splitlines()}
    assert lines["| chinchilla"].startswith("| chinchilla | 3 | .33 / .33 / .33 | .00 |")
    assert lines["| auto, 0.24 an e-fold"].split(" | ")[2] == "1.00"
    assert "learnt: porian 0.24, llama3-isoflop 0.24" in slices.overall(found)
