"""The main job through the shell: a table in, a posterior out, answers from it."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayescale.data.simulate import simulate
from tests.cli.conftest import Ended

TRUTH = {"E": 1.8, "A": 400.0, "B": 1500.0, "alpha": 0.34, "beta": 0.36, "sigma": 0.004, "nu": 8.0}


def simulated(E: float = 1.8, seed: int = 3, rows: int = 72) -> pd.DataFrame:
    """Runs of a Chinchilla law; as many as in the sweep, so that its compiled functions serve."""
    rng = np.random.default_rng(seed)
    N, D = 10 ** rng.uniform(8, 10, rows), 10 ** rng.uniform(9.5, 11.5, rows)
    return simulate("chinchilla", TRUTH | {"E": E}, {"N": N, "D": D}, seed=seed)


def test_fit_prints_for_people_and_quietly_in_a_pipe(fitted):
    path, ended = fitted
    lines = ended.out.splitlines()
    assert (
        lines[0] == "72 runs from sweep.csv: N <- n_params, D <- n_tokens, C = 6 N D, loss <- loss"
    )
    assert lines[2].startswith("chinchilla fitted to 72 runs: converged (R-hat 1.0")
    assert any(line.split()[:1] == ["alpha"] and "size exponent" in line for line in lines)
    assert f"wrote {path}" in ended.out.replace("\n", "")
    assert "\x1b" not in ended.out + ended.err  # no colours
    assert ended.err == ""  # and no progress bar


def test_json_and_nothing_else(shell, sweep, tmp_path):
    path = tmp_path / "fit.nc"
    ended = shell("fit", "chinchilla", sweep, "-o", path, "--json")
    record = ended.json()
    assert ended.code == 0
    assert ended.err == ""
    assert record["converged"] is True
    assert record["reasons"] == []
    assert record["output"] == str(path)
    assert path.stat().st_size > 100_000
    assert record["n_runs"] == 72
    for name, truth in {"E": 1.76, "alpha": 0.34, "beta": 0.352}.items():
        assert record["parameters"][name]["q025"] < truth < record["parameters"][name]["q975"]
    assert record["diagnostics"]["max_rhat"] < 1.01


def test_a_table_with_own_names_units_and_rows_to_leave_out(shell, tmp_path):
    good, other = simulated(), simulated(E=2.5, seed=4)
    table = pd.concat([good.assign(family="ours"), other.assign(family="theirs")])
    table = table.assign(size_in_b=table["N"] / 1e9, seen=table["D"], val=table["loss"])
    table[["family", "size_in_b", "seen", "val"]].to_csv(tmp_path / "runs.csv", index=False)
    ended = shell(
        "fit", "chinchilla", "runs.csv", "--map", "N=size_in_b", "--map", "D=seen",
        "--map", "loss=val", "--unit", "N=1e9", "--where", "family == 'ours'", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    record = ended.json()
    assert ended.code == 0, ended.err
    assert record["n_runs"] == 72
    assert "size_in_b" in record["data"]["columns"]["N"]
    found = record["parameters"]["E"]
    assert abs(found["mean"] - 1.8) < 4 * found["sd"]
    assert found["sd"] < 0.05  # the other family's floor of 2.5 would be far outside
    assert any("72 of 144" in flag["message"] for flag in record["data"]["flags"])


def test_pooled_fit_end_to_end(shell, call, tmp_path):
    """Two corpora with other floors: one fit, answers by group, groups that don't exist."""
    tables = [
        simulated(1.6, 5, 36).assign(corpus="books"),
        simulated(2.2, 6, 36).assign(corpus="web"),
    ]
    pd.concat(tables).to_csv(tmp_path / "two.csv", index=False)
    path = tmp_path / "two.nc"
    ended = shell(
        "fit", "chinchilla", tmp_path / "two.csv", "--pool", "E=independent:corpus", "-o", path
    )
    assert ended.code == 0, ended.err
    assert "pooling: E independent over corpus" in ended.out
    loss = {}
    for corpus in ("books", "web"):
        args = ("--N", "1B", "--D", "20B", "--group", f"corpus={corpus}", "--json")
        loss[corpus] = call("predict", path, *args).json()["predictions"][0]["loss"]["median"]
    assert loss["web"] - loss["books"] == pytest.approx(0.6, abs=0.05)
    ended = call("predict", path, "--N", "1B", "--D", "20B", "--group", "corpus=boks")
    assert ended.code == 1
    assert "Did you mean 'books'?" in ended.err
    ended = call("predict", path, "--N", "1B", "--D", "20B")
    assert ended.code == 1
    assert "corpus" in ended.err


def test_a_design_that_cannot_tell_is_named_in_the_first_line(shell, tmp_path):
    table = simulated().assign(N=1e9)
    table["loss"] = 1.8 + 400 / table["N"] ** 0.34 + 1500 / table["D"] ** 0.36
    table["loss"] *= np.exp(0.004 * np.random.default_rng(0).standard_normal(len(table)))
    table.to_csv(tmp_path / "onesize.csv", index=False)
    path = tmp_path / "onesize.nc"
    record = shell("fit", "chinchilla", tmp_path / "onesize.csv", "-o", path, "--json")
    assert record.code == 0  # a verdict is an answer
    assert record.json()["converged"] is False
    assert any("one model size" in reason["message"] for reason in record.json()["reasons"])
    assert all(reason["remedy"] for reason in record.json()["reasons"])
    answer = shell("predict", path, "--N", "1B", "--D", "20B")
    assert answer.code == 0
    assert "NOT " in answer.out.splitlines()[0]


class Terminal:
    """A command whose standard error is a terminal, as where a person looks."""

    def __init__(self, script: str, *args: str, **options) -> None:
        self.outer, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            [script, *args], stdout=subprocess.PIPE, stderr=inner, text=True, **options
        )
        os.close(inner)
        self.seen = ""

    def wait_for(self, text: str, seconds: float = 180) -> None:
        """Read the terminal until a text shows up."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            left = end - time.monotonic()
            ready, _, _ = select.select([self.outer], [], [], max(0.0, left))
            assert ready, f"no '{text}' in: {self.seen[-500:]}"
            self.seen += os.read(self.outer, 4096).decode(errors="replace")

    def rest(self) -> tuple[int, str]:
        """Exit code and standard output, once it has ended."""
        try:
            while chunk := os.read(self.outer, 4096):
                self.seen += chunk.decode(errors="replace")
        except OSError:  # Linux: the other end is closed
            pass
        out, _ = self.process.communicate(timeout=60)
        return self.process.returncode, out


def test_ctrl_c_while_sampling_leaves_everything_as_it_was(sweep, tmp_path, script):
    path = tmp_path / "old.nc"
    path.write_text("an older fit")
    long = Terminal(script, "fit", "chinchilla", str(sweep), "-o", str(path), "--draws", "2000000")
    long.wait_for("sampling")
    long.process.send_signal(signal.SIGINT)
    code, out = long.rest()
    assert code == 130
    assert "stopped; nothing was written" in long.seen
    assert "Traceback" not in long.seen + out
    assert path.read_text() == "an older fit"
    assert [p.name for p in tmp_path.iterdir()] == ["old.nc"]


def test_ctrl_c_is_heard_while_jax_is_imported(sweep, tmp_path, script):
    """There Python drops a KeyboardInterrupt that is raised in JAX's garbage-collector callback."""
    started = subprocess.Popen(
        [script, "fit", "chinchilla", str(sweep), "-o", str(tmp_path / "fit.nc"), "--draws", "999"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert started.stdout
    started.stdout.readline()  # the runs are read; next JAX is imported
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=120)
    assert started.returncode == 130
    assert err == "stopped; nothing was written\n"
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_older_file(sweep, tmp_path, script):
    path = tmp_path / "old.nc"
    path.write_text("an older fit")
    # no file of this process may pass 200 blocks, as on a disk that runs full
    limited = ["sh", "-c", 'ulimit -f 200; exec "$0" "$@"', script]
    command = [*limited, "fit", "chinchilla", str(sweep), "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    ended = Ended(done.returncode, done.stdout, done.stderr)
    assert ended.code == 1
    assert ended.err.startswith(f"error: cannot write {path}: ")
    assert ended.err.count("\n") == 1
    assert "size exponent" in ended.out  # the numbers are not lost
    assert path.read_text() == "an older fit"
    assert [p.name for p in tmp_path.iterdir()] == ["old.nc"]


def test_demo_compares_with_the_truth(shell, tmp_path):
    ended = shell("demo", cwd=tmp_path, env={"COLUMNS": "80"})
    assert ended.code == 0, ended.err
    assert max(map(len, ended.out.splitlines())) <= 80
    assert (tmp_path / "bayescale-demo.png").read_bytes().startswith(b"\x89PNG")
    assert "Truth against the fit: 8 of 8 inside the 90% interval" in ended.out
    rows = [line.split() for line in ended.out.splitlines()]
    row = next(r for r in rows if r[:2] == ["alpha", "0.34"])
    assert row[-1] == "inside"
    assert float(row[3]) < 0.34 < float(row[5])
    assert "bayescale fit auto runs.csv -o fit.nc" in ended.out


def test_demo_verdict_is_computed():
    from bayescale.cli.demo import recovery_table

    inside = {"parameter": "a", "truth": 0.5, "q05": 0.4, "median": 0.5, "q95": 0.6, "sd": 0.05}
    outside = inside | {"truth": 0.7}
    table = recovery_table([inside | {"inside": True}, outside | {"inside": False}])
    assert table.title == "Truth against the fit: 1 of 2 inside the 90% interval"
    assert [row[-1] for row in table.rows] == ["inside", "OUTSIDE"]


def test_doctor_timings(shell):
    record = shell("doctor", "--timings", "--json").json()
    cold, after = record["timings"]["cold"], record["timings"]["next"]
    compiled = "trace, compile, load"
    assert cold[compiled]["cpu"] > 3 * after[compiled]["cpu"]
    for timed in (cold, after):
        phases = sum(v["wall"] for k, v in timed.items() if k != "total")
        assert phases == pytest.approx(timed["total"]["wall"], rel=0.15)


@pytest.fixture
def script() -> str:
    """Path of the console script."""
    import sys

    return str(Path(sys.executable).with_name("bayescale"))
