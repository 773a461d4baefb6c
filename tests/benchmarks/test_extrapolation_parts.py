"""Parts of the benchmark of intervals beyond the data: what is kept, mixed, shifted and learnt."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayescale.check.at_runs import at_runs
from bayescale.check.extrapolation.shift import Shift, find_shift, larger, shifted_at_runs, smaller
from bayescale.data import read_runs
from bayescale.errors import FitError
from bayescale.noise import Noise
from bayescale.priors import LogNormal
from benchmarks.extrapolation import scales, slices, sweeps
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
    part = smaller(train)
    assert part is not None
    C, own = train.column("C"), part.column("C")
    assert own.max() <= C.max() / np.sqrt(10) * (1 + 1e-9)
    assert len(part) == (C.max() / np.sqrt(10) * (1 + 1e-9) >= C).sum()
    assert smaller(train.select(np.argsort(np.argsort(C)) < 6, "few")) is None


def test_a_shift_moves_predictions_and_their_density(runs):
    fit = made_up("chinchilla", runs, draws=200, spread=0.05)
    test = runs.select(np.arange(40) < 5, "few")
    C = test.column("C")
    shift = Shift(-0.05, float(np.sort(C)[1]), 7)
    move = shift.at(C)
    assert (move == 0).sum() == 2  # nothing moves inside
    assert np.allclose(move, -0.05 * np.maximum(np.log(C / np.sort(C)[1]), 0))
    plain, moved = at_runs(fit, test), shifted_at_runs(fit, test, shift)
    assert np.allclose(moved.observed, plain.observed)
    assert np.allclose(np.log(moved.replicate / plain.replicate), move)
    # a density: that of the response moved back, in the response's own unit
    back = replace(test, table=test.table.assign(loss=test.column("loss") * np.exp(-move)))
    assert np.allclose(moved.log_density, at_runs(fit, back).log_density - move)


def test_a_slope_is_the_error_per_efold(runs):
    fit = made_up("chinchilla", runs.select(runs.column("C") < 1e19, "small"), draws=50, spread=0)
    held = larger(runs, fit)
    assert held.column("C").min() > fit.runs.column("C").max()
    found = at_runs(fit, held)
    reach = np.log(held.column("C") / fit.runs.column("C").max())
    middle = np.exp(np.median(np.log(found.replicate), axis=0))
    table = runs.table.copy()
    table.loc[runs.column("C") >= 1e19, "loss"] = middle * np.exp(0.03 * reach)
    shift = find_shift(fit, replace(runs, table=table))
    assert shift.slope == pytest.approx(0.03)
    assert shift.largest == runs.column("C").max()
    assert shift.n_held == len(held)
    assert find_shift(None, runs).at(np.array([1e30])) == 0


def test_a_law_of_another_scale_has_no_shift(runs):
    fit = made_up("chinchilla", runs.select(runs.column("C") < 1e19, "small"), Noise(on="response"))
    with pytest.raises(FitError, match="scatters on the response; a shift is one of log"):
        find_shift(fit, runs)


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
    pairs = [wide if s >= 0.24 else narrow for s in slices.SPREADS]
    found = [row(s, law, 0.5, -1, 0.4) for s in ("porian", "llama3-isoflop") for law in slices.LAWS]
    found = [replace(r, spreads=pairs) if r.law == "auto" else r for r in found]
    found.append(row("porian", "chinchilla", 0.5, -1, 0.6))
    assert slices.by_sweep(found).splitlines()[2].startswith("| porian | 1 | 1 / +0.50")
    lines = {x.split(" | ")[0]: x for x in slices.overall(found).splitlines()}
    assert lines["| chinchilla"].startswith("| chinchilla | 3 | .33 / .33 / .33 | .00 |")
    assert lines["| auto, 0.24 an e-fold"].split(" | ")[2] == "1.00"
    assert "learnt: porian 0.24, llama3-isoflop 0.24" in slices.overall(found)
