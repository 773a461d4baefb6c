"""The table of intervals beyond the data: what its cells and means are."""

import numpy as np
import pytest
from scipy import stats

from bayescale.check.extrapolation.held import QUANTILES, held_from_draws
from benchmarks.extrapolation import sweeps, table
from benchmarks.extrapolation.record import Record, from_quantiles


def record(sweep, model, share, score, converged=True):
    covered = {"50": share / 2, "80": share, "90": share, "95": share}
    return Record(sweep, model, 10.0, 30, 5, covered, score, 0.05, 0.02, converged)


def test_cells_and_means():
    records = [
        record("one", "ours", 0.4, 0.1),
        record("two", "ours", 1.0, 0.3, converged=False),
        record("one", "theirs", 0.8, 0.2),
    ]
    rows = table.by_sweep(records, 10.0).splitlines()
    assert rows[2] == "| one | 30 | 5 | .40 / 0.100 / 0.050 | .80 / 0.200 / 0.050 |"
    assert rows[3] == "| two | 30 | 5 | 1.00 / 0.300 / 0.050* | – |"
    means = table.means(records, 10.0, ["one", "two"]).splitlines()
    assert means[2].startswith("| ours | 2 | .35 / .70 / .70 / .70 | .40 (one) | 1 | 0.200 |")
    assert table.means(records, 10.0, ["one"]).splitlines()[2].startswith("| ours | 1 |")


def test_quantiles_score_as_draws_do():
    observed = np.array([2.0, 3.0, 2.5])
    even = stats.norm.ppf((np.arange(4001) + 0.5) / 4001)[:, None]
    draws = np.array([2.05, 2.9, 2.5]) * np.exp(0.03 * even)
    ours = held_from_draws(draws, observed, np.arange(3), log=True).scores()
    quantiles = {q: np.quantile(draws, p, axis=0) for q, p in QUANTILES.items()}
    about = {"sweep": "s", "model": "m", "factor": 10.0, "n_train": 9, "n_test": 3}
    theirs = from_quantiles(observed, quantiles, **about)
    assert theirs.coverage == ours["coverage"]
    assert theirs.interval_score == pytest.approx(ours["interval_score"], rel=1e-4)
    assert theirs.width == pytest.approx(ours["median_width"], rel=1e-4)
    assert theirs.rmse == pytest.approx(ours["rmse_log_loss"], rel=1e-4)


def test_sixteen_sweeps_and_their_records():
    assert len(sweeps.sixteen()) == 16
    assert set(sweeps.BY) <= set(sweeps.sweeps())


def test_sweeps_beside_the_catalogue_are_read(data_dir, monkeypatch):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    found = sweeps.load(["porian-const", "mammut-caption"])
    assert len(found["porian-const"]) == 76
    assert set(found["porian-const"].table["lr_decay"]) == {"const"}
    assert len(found["mammut-caption"]) == 118
    assert not any(f.kind == "checksum" for runs in found.values() for f in runs.flags)
