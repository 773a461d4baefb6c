"""Other places to run: executors, Dask, several devices; and how a place is chosen."""

import json
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import bayescale as bs
from bayescale.many import devices
from tests.many.sweeps import draws, sweeps


def same(found, fits):
    assert list(found) == list(fits)
    for key, fit in found.items():
        np.testing.assert_array_equal(draws(fit), draws(fits[key]))
        assert fit.summary.equals(fits[key].summary)


def test_dask_gives_what_this_process_gives(fits, tables, tmp_path):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=tmp_path
    )
    with cluster, cluster.get_client() as client, client.get_executor() as executor:
        found = bs.fit_many(
            "chinchilla", [*tables, "nowhere.csv"], executor=executor, seed=3, progress=False
        )
    same(found, fits)
    assert "nowhere.csv" in found.failures[0].error


def test_an_own_law_reaches_worker_processes(tmp_path):
    def mean(E, A, N):  # not importable: it must be sent by value
        return E + A * (N / 1e9) ** -0.3

    params = (bs.Param("E", bs.priors.LogNormal(2, 1)), bs.Param("A", bs.priors.LogNormal(0.3, 1)))
    law = bs.Law("mine", (bs.Input("N"),), params, mean=mean)
    tables = [t[["N", "loss"]] for t in sweeps(2)]
    here = bs.fit_many(law, tables, draws=100, progress=False)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        there = bs.fit_many(
            law, tables, draws=100, executor=executor, folder=tmp_path, progress=False
        )
    same(there, here)
    assert len(list(tmp_path.glob("*.npz"))) == 2


class Dying:
    """An executor whose second part never comes back."""

    def __init__(self):
        self.parts = 0

    def submit(self, function, *args):
        from concurrent.futures import Future

        future, self.parts = Future(), self.parts + 1
        if self.parts == 2:
            future.set_exception(OSError("the worker was lost"))
        else:
            future.set_result(function(*args))
        return future


def test_a_lost_worker_takes_only_its_own_part():
    fits = bs.fit_many("chinchilla", sweeps(17), executor=Dying(), draws=100, progress=False)
    assert [f.key for f in fits.failures] == [str(k) for k in range(8, 16)]
    assert "the worker was lost" in fits.failures[0].error
    assert list(fits) == ["0", "1", "2", "3", "4", "5", "6", "7", "16"]


TWO_DEVICES = """
import json
import jax
import numpy as np
import bayescale as bs
from tests.many.sweeps import draws, sweeps
assert len(jax.local_devices()) == 2
found = bs.fit_many("chinchilla", sweeps(6), lanes=3, workers=2, draws=100, min_ess=0)
again = bs.fit_many("chinchilla", sweeps(6), lanes=3, workers=1, draws=100, min_ess=0)
print(json.dumps({
    "same": all(np.array_equal(draws(found[k]), draws(again[k])) for k in found),
    "converged": [fit.converged for fit in found.values()],
}))
"""


def test_lanes_on_two_devices():
    flags = "--xla_force_host_platform_device_count=2"
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"XLA_FLAGS": flags},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["same"]
    assert len(told["converged"]) == 6


def test_a_gpu_is_taken_for_large_jobs_only(monkeypatch):
    monkeypatch.setattr(devices, "_has_gpu", lambda: True)
    monkeypatch.setattr(devices, "find_device", lambda *_: None)
    monkeypatch.setattr(devices, "_local_devices", lambda platform: 2 if platform == "gpu" else 1)
    small, large = (devices.make_plan("auto", n, None, None) for n in (5, 5000))
    assert (small.device, small.lanes) == ("cpu", 1)
    assert small.workers == devices.usable_cores()
    assert (large.device, large.workers, large.devices, large.lanes) == ("gpu", 2, 2, 0)
    assert devices.make_plan("auto", None, None, None).device == "cpu"
    assert devices.make_plan("cpu", 5000, 3, 4).workers == 3


def test_lanes_fill_the_memory_and_no_more(monkeypatch):
    class Device:
        def memory_stats(self):
            return {"bytes_limit": 2**30}

    monkeypatch.setattr(devices, "find_device", lambda *_: Device())
    few = devices.lanes_that_fit("gpu", 0, 100_000, 7, 4)
    many = devices.lanes_that_fit("gpu", 0, 256, 7, 4)
    assert 1 <= few < many <= devices.MOST_LANES
    assert devices.lanes_that_fit("gpu", 0, 10**9, 7, 4) == 1


def test_long_trajectories_leave_the_batch(monkeypatch, fits, tables):
    """Lanes that want longer trajectories than the first batch allows start again with them."""
    monkeypatch.setattr("bayescale.inference.lanes.SHORT", 2)  # three steps
    lanes = bs.fit_many("chinchilla", tables[:3], lanes=3, workers=1, seed=3, progress=False)
    for key, fit in lanes.items():
        assert fit.stats["n_steps"].max() > 3
        one, other = fit.summary, fits[key].summary
        error = np.hypot(one["mcse"], other["mcse"])
        assert (abs(one["mean"] - other["mean"]) < 5 * error).all()
