"""Who runs: each contender's command, the caches it keeps on disk, and what it needs."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from benchmarks.speed.contenders import shell, simple_scaling_laws
from benchmarks.speed.job import Job
from benchmarks.speed.process import program, succeeds

Command = Callable[[Job, Path, Path], list[str]]  # job, its file, an empty folder -> command line
Caches = Callable[[Path], dict[str, str]]  # an empty folder -> environment that puts caches there


def no_caches(_: Path) -> dict[str, str]:
    """For a contender that keeps nothing on disk."""
    return {}


@dataclass(frozen=True)
class Contender:
    """One row of the table. A sampler's command takes --warm and --out (see contender.serve)."""

    name: str
    command: Command
    caches: Caches = no_caches
    sampler: bool = True


def lineup() -> list[Contender]:
    """The contenders that can run in this environment."""
    found = [Contender("bayescale", partial(_module, "bayescale_fit"), bayescale_caches)]
    own, theirs = program("bayescale"), program("scaling-laws")
    if own and succeeds([own, "fit", "--help"]):
        typed = partial(shell.command, own)
        found.append(Contender("bayescale (shell)", typed, bayescale_caches, sampler=False))
    if find_spec("nutpie") and find_spec("pymc"):
        found.append(Contender("PyMC + nutpie", partial(_module, "pymc_nutpie"), pytensor_caches))
    found.append(Contender("NumPyro MCMC", partial(_module, "numpyro_mcmc")))
    if theirs:
        typed = partial(simple_scaling_laws.command, theirs)
        found.append(Contender("simple-scaling-laws", typed, sampler=False))
    return found


def _module(name: str, job: Job, job_file: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", f"benchmarks.speed.contenders.{name}", str(job_file)]


def bayescale_caches(folder: Path) -> dict[str, str]:
    """Where bayescale keeps compiled functions."""
    return {"BAYESCALE_CACHE": str(folder)}


def pytensor_caches(folder: Path) -> dict[str, str]:
    """Where PyTensor and Numba keep compiled functions."""
    return {
        "PYTENSOR_FLAGS": f"base_compiledir={folder / 'pytensor'}",
        "NUMBA_CACHE_DIR": str(folder / "numba"),
    }
