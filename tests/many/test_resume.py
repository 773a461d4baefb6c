"""An interrupted job loses no finished fit and changes no result."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import bayescale as bs
from bayescale.errors import FitError
from bayescale.many import worker
from bayescale.many.job import stream_fits
from tests.many.sweeps import draws, sweep, sweeps


@pytest.fixture
def fitted(monkeypatch):
    """Keys of the data sets that are really sampled, not found in a folder."""
    seen, assemble = [], worker._assemble

    def noted(job, task, *rest):
        seen.append(task.key)
        return assemble(job, task, *rest)

    monkeypatch.setattr(worker, "_assemble", noted)
    return seen


def test_a_job_goes_on_where_it_was(fits, tables, tmp_path, fitted):
    stream = stream_fits(
        "chinchilla", tables, folder=tmp_path / "job", workers=1, seed=3, progress=False
    )
    for _ in range(3):
        next(stream)
    stream.close()
    done = {f.name.split(".")[0] for f in (tmp_path / "job").iterdir()}
    assert 3 <= len(done) < len(tables)
    fitted.clear()
    again = bs.fit_many("chinchilla", tables, folder=tmp_path / "job", seed=3, progress=False)
    assert set(fitted) == set(again) - done
    for key, fit in again.items():
        np.testing.assert_array_equal(draws(fit), draws(fits[key]))
        assert fit.summary.equals(fits[key].summary)
        assert fit.gate == fits[key].gate


SCRIPT = """
import sys
import bayescale as bs
from tests.many.sweeps import sweep
bs.fit_many("chinchilla", [sweep(k) for k in range(40)], folder=sys.argv[1], seed=3, workers=2)
"""


def test_a_killed_process_leaves_only_whole_fits(fits, tables, tmp_path, fitted):
    job = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], cwd=Path(__file__).parents[2]
    )
    deadline = time.monotonic() + 300
    while len(list(tmp_path.glob("*.npz"))) < 5 and time.monotonic() < deadline:
        assert job.poll() is None, "the job ended before it could be killed"
        time.sleep(0.05)
    job.send_signal(signal.SIGKILL)
    job.wait()
    done = {f.name.split(".")[0] for f in tmp_path.glob("*.npz")}
    assert 5 <= len(done) < 40
    again = bs.fit_many(
        "chinchilla", [sweep(k) for k in range(40)], folder=tmp_path, seed=3, progress=False
    )
    assert len(again) == 40
    assert done.isdisjoint(fitted)
    for key, fit in fits.items():
        np.testing.assert_array_equal(draws(again[key]), draws(fit))


def test_changed_data_or_settings_are_fitted_anew(tables, tmp_path, fitted):
    options = {"folder": tmp_path, "progress": False, "workers": 1}
    bs.fit_many("chinchilla", tables[:2], **options)
    fitted.clear()
    bs.fit_many("chinchilla", tables[:2], **options)
    assert fitted == []
    changed = [tables[0], tables[1].assign(loss=tables[1]["loss"] * 1.0001)]
    bs.fit_many("chinchilla", changed, **options)
    assert set(fitted) == {"1"}
    fitted.clear()
    for other in (
        {"seed": 1},
        {"draws": 100},
        {"noise": bs.log_normal()},
        {"priors": {"E": bs.priors.LogNormal(1.7, 0.5)}},
    ):
        bs.fit_many("chinchilla", tables[:1], **options, **other)
        assert set(fitted) == {"0"}
        fitted.clear()


def test_a_damaged_file_costs_one_fit(tables, tmp_path, fitted):
    bs.fit_many("chinchilla", tables[:2], folder=tmp_path, progress=False)
    file = next(tmp_path.glob("1.*.npz"))
    file.write_bytes(file.read_bytes()[:5000])
    fitted.clear()
    fits = bs.fit_many("chinchilla", tables[:2], folder=tmp_path, progress=False)
    assert set(fitted) == {"1"}
    assert len(fits) == 2


def test_an_own_law_is_known_by_its_code(tmp_path, fitted):
    def law(power):
        def mean(E, A, N):
            return E + A * (N / 1e9) ** power

        params = (
            bs.Param("E", bs.priors.LogNormal(2, 1)),
            bs.Param("A", bs.priors.LogNormal(0.3, 1)),
        )
        return bs.Law("mine", (bs.Input("N"),), params, mean=mean)

    tables = [sweep(0)[["N", "loss"]]]
    for power, sampled in ((-0.3, True), (-0.3, False), (-0.4, True)):
        fitted.clear()
        bs.fit_many(law(power), tables, folder=tmp_path, draws=100, progress=False)
        assert bool(fitted) == sampled


def test_a_folder_that_cannot_be_written(tables, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FitError, match="cannot make the folder"):
        bs.fit_many("chinchilla", tables, folder=tmp_path / "file" / "job", progress=False)


def test_keys_of_any_kind_name_files(tables, tmp_path):
    sets = {"corpus a/b: ü": tables[0], "corpus a/b; ü": tables[1], "x" * 300: tables[2]}
    bs.fit_many("chinchilla", sets, folder=tmp_path, progress=False)
    assert len(list(tmp_path.glob("*.npz"))) == 3
    assert len(sweeps(1)) == 1
