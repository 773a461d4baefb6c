"""A whole process, from start to end: wall seconds, CPU seconds of it and its children, memory."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@dataclass(frozen=True)
class Usage:
    """Wall and CPU (user + system) seconds, and peak resident memory in MB."""

    wall: float
    cpu: float
    memory: float = 0.0


class ProcessFailed(RuntimeError):
    """A contender's process ended with an error; the message has its last lines."""


def measure(command: list[str], env: dict[str, str]) -> tuple[Usage, str]:
    """Run a command to its end; return its usage and what it printed."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        begin = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=err, env=os.environ | env)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode:
            raise ProcessFailed(f"{' '.join(command)}: {''.join(err.readlines()[-5:]).strip()}")
        unit = 1e6 if sys.platform == "darwin" else 1e3  # bytes there, kilobytes elsewhere
        usage = Usage(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / unit)
        return usage, out.read()


def program(name: str) -> str | None:
    """The command of this name in the running environment, else on the path."""
    own = Path(sys.executable).parent / name
    return str(own) if own.exists() else shutil.which(name)


def succeeds(command: list[str]) -> bool:
    """Whether a command runs without an error."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def machine() -> dict[str, str]:
    """What the numbers hold for: processor, cores, load, versions."""
    names = ("bayescale", "jax", "numpyro", "pymc", "pytensor", "nutpie", "simple-scaling-laws")
    found = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load": ", ".join(f"{x:.2f}" for x in os.getloadavg()),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
    }
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
