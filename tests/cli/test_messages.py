"""Bad input: one line that says what is wrong and what to do, and the right exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr


def refused(ended, code: int, *parts: str) -> None:
    """An error of one line that holds all parts."""
    assert ended.code == code, ended
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1, ended.err
    assert "Traceback" not in ended.err
    for part in parts:
        assert part in ended.err, ended.err
    assert ended.out == "" or "runs from" in ended.out


WRONG_TABLE = [
    (["fit", "chinchila", "SWEEP"], ["unknown law 'chinchila'", "Did you mean 'chinchilla'?"]),
    (["fit", "chinchilla", "nowhere.csv"], ["nowhere.csv"]),
    (
        ["fit", "chinchilla", "chinchila-epoch"],
        ["neither a file nor a data set", "chinchilla-epoch"],
    ),
    (["fit", "chinchilla", "SWEEP", "--map", "loss=vloss"], ["no column 'vloss'", "'loss'"]),
    (["fit", "chinchilla", "SWEEP", "--map", "q=loss"], ["'q'", "reads N, D"]),
    (["fit", "chinchilla", "SWEEP", "--unit", "N=big"], ["--unit N", "not a number"]),
    (["fit", "chinchilla", "SWEEP", "--unit", "loss=2"], ["loss", "N, D, C"]),
    (["fit", "chinchilla", "SWEEP", "--where", "famly == 'x'"], ["famly"]),
    (["fit", "chinchilla", "SWEEP", "--where", "n_params > 1e30"], ["no"]),
    (["fit", "chinchilla", "SWEEP", "--where", "__import__('os')"], ["__import__"]),
    (["fit", "chinchilla", "SWEEP", "--cost", "sixnd"], ["--cost 'sixnd'", "active:COLUMN"]),
    (["fit", "chinchilla", "SWEEP", "--cost", "active:n_act"], ["n_act"]),
    (["fit", "chinchilla", "SWEEP", "--factor", "-6"], ["-6"]),
    (["datasets", "chinchila-epoch"], ["Did you mean 'chinchilla-epoch'?"]),
]
WRONG_MODEL = [
    (["fit", "chinchilla", "SWEEP", "--noise", "studentt"], ["Did you mean 'student_t'?"]),
    (["fit", "chinchilla", "SWEEP", "--noise-varies-with", "temperature"], ["temperature"]),
    (["fit", "chinchilla", "SWEEP", "--known-sd", "se"], ["se"]),
    (["fit", "chinchilla", "SWEEP", "--runs-column", "rnu"], ["rnu"]),
    (["fit", "chinchilla", "SWEEP", "--pool", "alpha=some:run"], ["partial:COLUMN"]),
    (["fit", "chinchilla", "SWEEP", "--pool", "alfa=partial:run"], ["Did you mean 'alpha'?"]),
    (["fit", "chinchilla", "SWEEP", "--pool", "alpha=partial:corpus"], ["corpus"]),
    (["fit", "chinchilla", "SWEEP", "--prior", "alfa=Normal(0, 1)"], ["Did you mean 'alpha'?"]),
    (["fit", "chinchilla", "SWEEP", "--prior", "E=Normal(0, 1)"], ["E", "positive"]),
    (["fit", "chinchilla", "SWEEP", "--prior", "E=Lognormal(1, 1)"], ["Did you mean 'LogNormal'?"]),
    (["fit", "chinchilla", "SWEEP", "--prior", "E=LogNormal(1)"], ["2 numbers"]),
    (["fit", "chinchilla", "SWEEP", "--draws", "1"], ["draws is 1", "at least"]),
    (["fit", "chinchilla", "SWEEP", "--target-accept", "2"], ["target_accept", "between"]),
    (["fit", "chinchilla", "SWEEP", "--device", "npu"], ["npu", "cpu"]),
    (["laws", "kaplna"], ["unknown law 'kaplna'", "Did you mean 'kaplan'?"]),
]
WRONG_QUESTION = [
    (["allocate", "FIT", "--C", "24"], ["C = 24", "too small", "1e24"]),
    (["allocate", "FIT", "--C", "lots"], ["'lots' is not a number"]),
    (["allocate", "FIT", "--C", "1e22", "--N", "70"], ["N = 70", "too small"]),
    (["predict", "FIT", "--N", "70", "--D", "1.4T"], ["N = 70", "too small"]),
    (["predict", "FIT", "--N", "-7B", "--D", "1.4T"], ["above zero"]),
    (["predict", "FIT", "--N", "7B"], ["needs D"]),
    (["predict", "FIT", "--N", "7B", "--D", "1T", "--C", "1e23"], ["give two of them"]),
    (["predict", "FIT", "--N", "7B,8B", "--D", "1T,2T,3T"], ["N has 2, D has 3"]),
    (["predict", "FIT", "--N", "7B", "--D", "1T", "--at", "r=0.2"], ["unknown argument 'r'"]),
    (["predict", "FIT", "--N", "7B", "--D", "1T", "--group", "corpus=c4"], ["'corpus'"]),
    (["plot", "FIT", "--kind", "allocaton"], ["Did you mean 'allocation'?"]),
    (["plot", "FIT", "-o", "picture.doc"], [".png"]),
    (["plot", "FIT", "--kind", "residuals", "--extend", "2"], ["takes no --extend"]),
]
WRONG_USE = [
    (["fit", "chinchilla"], ["missing argument 'RUNS'", "bayescale fit --help"]),
    (["fit", "chinchilla", "SWEEP", "--drws", "5"], ["--drws", "bayescale fit --help"]),
    (["fit", "chinchilla", "SWEEP", "--draws", "many"], ["--draws"]),
    (["fit", "chinchilla", "SWEEP", "--map", "loss"], ["--map 'loss'", "what=column"]),
    (["fit", "chinchilla", "SWEEP", "--pool", "alpha"], ["--pool 'alpha'", "param=kind:column"]),
    (["fit", "chinchilla", "SWEEP", "--map", "N=a", "--map", "N=b"], ["more than once"]),
    (["allocate", "FIT"], ["--C", "bayescale allocate --help"]),
    (["predct", "FIT"], ["Did you mean 'predict'"]),
    (["--nonsense"], ["--nonsense"]),
]


def _ids(case: object) -> str | None:
    return " ".join(map(str, case)) if isinstance(case, list) and len(case) > 1 else None


def _filled(args: list[str], sweep: Path, fit_file: str) -> list[str]:
    return [{"SWEEP": str(sweep), "FIT": fit_file}.get(a, a) for a in args]


@pytest.mark.parametrize(("args", "parts"), WRONG_TABLE + WRONG_MODEL + WRONG_QUESTION, ids=_ids)
def test_an_error_is_one_line(call, sweep, fit_file, tmp_path, monkeypatch, args, parts):
    monkeypatch.chdir(tmp_path)
    refused(call(*_filled(args, sweep, fit_file)), 1, *parts)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("args", "parts"), WRONG_USE, ids=_ids)
def test_wrong_use_is_one_line_too(call, sweep, fit_file, args, parts):
    refused(call(*_filled(args, sweep, fit_file)), 2, *parts)


@pytest.mark.parametrize(
    ("args", "code"),
    [(["predict", "nothing.nc", "--N", "1B", "--D", "20B"], 1), (["predict", "--oops"], 2)],
)
def test_errors_come_as_json_where_json_was_asked_for(shell, args, code):
    ended = shell(*args, "--json")
    assert ended.code == code
    message = ended.json()["error"]
    assert ended.err == f"error: {message}\n"


def test_a_file_that_is_no_fit(call, sweep, tmp_path):
    ended = call("predict", sweep, "--N", "1B", "--D", "20B")
    refused(ended, 1, "can't be read as a bayescale fit")
    ended = call("predict", tmp_path, "--N", "1B", "--D", "20B")
    refused(ended, 1, str(tmp_path))


def test_a_truncated_fit(call, fit_file, tmp_path):
    content = Path(fit_file).read_bytes()
    for part in (0.001, 0.5, 0.99):
        path = tmp_path / "half.nc"
        path.write_bytes(content[: int(part * len(content))])
        refused(call("allocate", path, "--C", "1e22"), 1, "half.nc", "Fit again")


def test_a_netcdf_from_elsewhere(call, tmp_path):
    path = tmp_path / "weather.nc"
    xr.Dataset({"t": ("x", np.arange(3.0))}).to_netcdf(path, engine="h5netcdf")
    refused(call("predict", path, "--N", "1B", "--D", "20B"), 1, "holds no bayescale fit")


def test_places_that_cannot_be_written_are_refused_before_sampling(call, sweep, tmp_path):
    for place, part in (
        (tmp_path / "no" / "such" / "fit.nc", "does not exist"),
        (tmp_path, "it is a folder"),
        (Path("/dev/null"), "device"),
    ):
        ended = call("fit", "chinchilla", sweep, "-o", place)
        refused(ended, 1, f"cannot write {place}", part)
        assert ended.out == ""  # the runs weren't even read


def test_a_read_only_folder(call, sweep, tmp_path):
    if os.geteuid() == 0:  # permissions don't bind root; a file system without files does
        folder = Path("/proc")
        if not folder.is_dir():
            pytest.skip("running as root, and there is no /proc")
    else:
        folder = tmp_path / "locked"
        folder.mkdir(mode=0o555)
    ended = call("fit", "chinchilla", sweep, "-o", folder / "fit.nc")
    refused(ended, 1, f"cannot write {folder / 'fit.nc'}")
    assert ended.out == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_standard_output_on_a_full_disk(more):
    script = Path(sys.executable).with_name("bayescale")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [script, "laws", *more], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == "error: output: No space left on device\n"


def test_a_reader_that_leaves():
    script = Path(sys.executable).with_name("bayescale")
    writer = subprocess.Popen(
        [script, "datasets", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert writer.stdout
    assert writer.stderr
    writer.stdout.close()
    err = writer.stderr.read().decode()
    writer.wait(timeout=60)
    assert "Traceback" not in err
    assert "Exception" not in err


def test_json_listings(call):
    laws = call("laws", "--json").json()
    assert {"chinchilla", "kaplan"} <= {law["name"] for law in laws}
    assert all(p["why"] for law in laws for p in law["parameters"])  # no prior without a reason
    one = call("laws", "chinchilla", "--json").json()
    assert one["latex"].startswith("L = E")
    assert {p["name"] for p in one["parameters"]} == {"E", "A", "B", "alpha", "beta"}
    sets = call("datasets", "--json").json()
    shipped = next(d for d in sets if d["name"] == "simulated-sweep")
    assert shipped["where"] == "shipped"
    assert shipped["n_runs"] == 72
    assert call("datasets", "simulated-sweep", "--json").json() == shipped


def test_doctor(call, compile_cache):
    record = call("doctor", "--json").json()
    assert record["cache"]["folder"] == str(compile_cache)
    assert "cpu" in record["devices"]
    assert record["versions"]["jax"]
    text = call("doctor").out
    for word in ("versions:", "devices:", "cache:", "What takes time"):
        assert word in text


def test_doctor_clears_the_cache(call, tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESCALE_CACHE", str(tmp_path))
    (tmp_path / "a.bin").write_bytes(b"x" * 10)
    (tmp_path / "notes.txt").write_text("not ours")
    record = json.loads(call("doctor", "--clear-cache", "--json").out)
    assert record["cleared"] == 1
    assert record["cache"]["functions"] == 0
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]
