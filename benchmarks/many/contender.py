"""What every contender's process does: read a task, fit, print one line of JSON."""

import argparse
import json
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.many.sweeps import Sweeps


@dataclass(frozen=True)
class Cost:
    """Wall seconds, and CPU seconds (user + system, children that ended included)."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Task:
    """What a contender gets: a file of sweeps, priors, chains, and options of its own.

    ``priors`` has a record (family and its numbers) for each sampled quantity.
    """

    file: str
    fits: int
    priors: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    chains: int = 4
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    def sweeps(self) -> Sweeps:
        return Sweeps.read(self.file).first(self.fits)


@dataclass(frozen=True)
class Outcome:
    """What a contender says.

    Parameters
    ----------
    missing : str
        Why there are no numbers; empty where there are.
    start, spent : Cost
        Until the first fit is done (imports, compiling, that fit); all further fits together.
    fits : int
        How many those are.
    min_ess, max_rhat : sequence of float
        Of each fit: least bulk or tail ESS, and largest R-hat, over all scalar quantities.
    draws, gradients : float or None
        Mean kept draws a chain; gradient evaluations a kept draw.
    a : sequence of pairs
        Mean and sd of the allocation exponent's draws, of the first fits.
    failures : sequence of str
    notes, versions, extra
        What else is worth saying; packages beside bayescale; more numbers.
    """

    missing: str = ""
    start: Cost | None = None
    spent: Cost | None = None
    fits: int = 0
    min_ess: Sequence[float] = ()
    max_rhat: Sequence[float] = ()
    draws: float | None = None
    gradients: float | None = None
    a: Sequence[Sequence[float]] = ()
    failures: Sequence[str] = ()
    notes: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


def outcome_from_dict(record: Mapping[str, Any]) -> Outcome:
    """Build an outcome from the line that a contender printed."""
    costs = {k: Cost(**record[k]) if record[k] else None for k in ("start", "spent")}
    return Outcome(**{**record, **costs})


class Stopwatch:
    """Seconds since it was started or last read."""

    def __init__(self) -> None:
        self._last = self._now()

    def lap(self) -> Cost:
        before, self._last = self._last, self._now()
        return Cost(self._last.wall - before.wall, self._last.cpu - before.cpu)

    def _now(self) -> Cost:
        own, ended = (
            resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        cpu = own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime
        return Cost(time.perf_counter(), cpu)


def versions_of(*names: str) -> dict[str, str]:
    """Installed versions of packages."""
    return {name: version(name) for name in names}


def serve(run: Callable[[Task], Outcome]) -> None:
    """Run one contender on the task that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("task", type=Path)
    task = Task(**json.loads(parser.parse_args().task.read_text()))
    print(json.dumps(asdict(run(task))))
