"""Real commands: the console script in processes of its own, and its entry point in this one."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SCRIPT = Path(sys.executable).with_name("bayescale")


LIST_MODULES = """
import contextlib, io, json, sys
from bayescale.cli.app import run
with contextlib.redirect_stdout(io.StringIO()):
    code = run()
print(json.dumps([code, sorted({name.split(".")[0] for name in sys.modules})]))
"""


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """What it printed, all of which must be JSON without NaN."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


def environment(**changes: str) -> dict[str, str]:
    """The environment of a command: nobody says how wide or colourful the terminal is."""
    dropped = ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TERM", "BAYESCALE_DATA")
    return {k: v for k, v in os.environ.items() if k not in dropped} | changes


@pytest.fixture(scope="session")
def shell(compile_cache: Path) -> Callable[..., Ended]:
    """Run the console script in a pipe."""

    def run(*args: str, cwd: Path | None = None, **options: Any) -> Ended:
        env = environment(**options.pop("env", {}))
        command = [str(SCRIPT), *map(str, args)]
        done = subprocess.run(
            command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300, **options
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable:
    """Run the entry point in this process, which saves the imports."""

    def run(*args: str) -> Ended:
        from bayescale.cli.app import main

        monkeypatch.setattr(sys, "argv", ["bayescale", *map(str, args)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Ended(int(ended.value.code or 0), printed.out, printed.err)

    return run


@pytest.fixture(scope="session")
def sweep() -> Path:
    """The simulated sweep that ships with the package."""
    return Path(str(files("bayescale.data"))) / "simulated" / "sweep.csv"


@pytest.fixture(scope="session")
def fitted(shell: Callable[..., Ended], sweep: Path, tmp_path_factory: Any) -> tuple[Path, Ended]:
    """A saved fit of the sweep, and what the command printed."""
    path = tmp_path_factory.mktemp("fit") / "fit.nc"
    ended = shell("fit", "chinchilla", sweep, "-o", path)
    assert ended.code == 0, ended.err
    return path, ended


@pytest.fixture(scope="session")
def fit_file(fitted: tuple[Path, Ended]) -> str:
    """Path of a saved fit."""
    return str(fitted[0])


@pytest.fixture(scope="session")
def imported() -> Callable[..., set[str]]:
    """Top-level modules that a new process holds after a command."""

    def look(*args: str) -> set[str]:
        command = [sys.executable, "-c", LIST_MODULES, *args]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        code, modules = json.loads(done.stdout)
        assert code == 0, done.stderr
        return set(modules)

    return look
