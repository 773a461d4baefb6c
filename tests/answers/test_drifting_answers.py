"""Answers of laws with drift: wider beyond the runs, unchanged inside."""

import numpy as np
import pytest

import bayescale as bs
from tests.answers.conftest import made_up

LAW = bs.get_law("auto")


@pytest.fixture(scope="module")
def drifting(sweep):
    return made_up(LAW, sweep, noise=LAW.noise, draws=1000, spread=1e-4)


@pytest.fixture(scope="module")
def exact(sweep):
    return made_up(LAW.with_drift(False), sweep, noise=LAW.noise, draws=1000, spread=1e-4)


def test_shares_of_the_width_add_up_and_drift_only_beyond(drifting):
    largest = drifting.runs.column("C").max()
    found = drifting.predict(N="1B", C=[largest / 2, largest * 10, largest * 1e3])
    total = sum(found.width.values())
    assert np.allclose(total, 1.0)
    drift = found.width["drift"]
    assert drift[0] == 0
    assert drift[0] < drift[1] < drift[2]
    record = found.to_dict()["predictions"][2]
    assert record["width_from"]["drift"] == pytest.approx(drift[2])
    assert record["outside"]["efolds"]["C"] == pytest.approx(np.log(1e3))
    assert "drift" in str(found)


def test_the_credible_interval_has_the_drift_in_it(drifting, exact):
    far = drifting.runs.column("C").max() * 100
    wide, narrow = (np.log(f.predict(N="1B", C=far).loss).std() for f in (drifting, exact))
    assert wide > 5 * narrow


def test_the_warning_beyond_is_that_of_its_kind(drifting, exact):
    far = drifting.runs.column("C").max() * 100
    for answer in (drifting.predict(N="1B", C=far), drifting.allocate(C=far)):
        assert "Intervals widen with the reach" in " ".join(answer.warnings)
    for answer in (exact.predict(N="1B", C=far), exact.allocate(C=far)):
        assert "Intervals take the law as exact" in " ".join(answer.warnings)


def test_same_answer_twice(drifting):
    one, other = (drifting.predict(N="7B", D="1T").loss for _ in range(2))
    assert np.array_equal(one, other)


def test_the_optimum_wanders_by_reach_beyond_and_not_inside(drifting):
    largest = float(drifting.runs.column("C").max())
    found = drifting.allocate(C=[largest / 3, largest * 100])
    inside, beyond = np.log(found.draws["N_opt"]).std(axis=0)
    assert inside < 0.01
    assert beyond == pytest.approx(0.08 * np.log(100), rel=0.1)
    a_inside, a_beyond = found.draws["a"].std(axis=0)
    assert a_inside < 0.01
    assert a_beyond == pytest.approx(0.08, rel=0.1)


def test_inside_the_runs_optima_are_the_laws(drifting, exact):
    budget = float(np.median(drifting.runs.column("C")))
    one, other = (f.allocate(C=budget).draws["N_opt"] for f in (drifting, exact))
    assert np.median(one) == pytest.approx(np.median(other), rel=1e-3)


def test_a_saved_fit_drifts_as_before(tmp_path, sweep):
    fit = bs.fit("auto", sweep, draws=20, warmup=50, progress=False)
    fit.save(tmp_path / "fit.nc")
    again = bs.load(tmp_path / "fit.nc")
    assert again.law.drift == LAW.drift
    assert np.array_equal(again.predict(N="1T", D="10T").loss, fit.predict(N="1T", D="10T").loss)
