"""A contender's process, started on a task."""

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.many.contender import Outcome, Task, outcome_from_dict
from benchmarks.many.lineup import Contender
from benchmarks.speed.process import ProcessFailed, measure


@dataclass(frozen=True)
class Row:
    """A contender with what it said, and the load average when it began."""

    name: str
    load: float
    outcome: Outcome


@dataclass(frozen=True)
class Bench:
    """A task, a folder to work in, the rivals' Python, and where to say what is running."""

    task: Task
    folder: Path
    python: str
    say: Callable[[str], None]

    def run(self, contender: Contender, many: Outcome) -> Row:
        """Run one contender; what it lacks is said in its row, not raised."""
        load = os.getloadavg()[0]
        self.say(f"{contender.name} ({contender.fits} fits, load {load:.1f})")
        python = self.python if contender.rival else sys.executable
        options = contender.options(many)
        task = replace(self.task, fits=contender.fits, options=options, seed=self.task.seed)
        file = self.folder / f"{len(list(self.folder.glob('task*')))}.task.json"
        task.write(file)
        command = [python, "-m", f"benchmarks.many.contenders.{contender.module}", str(file)]
        try:
            _, printed = measure(command, contender.caches(self._caches(contender)))
        except ProcessFailed as failure:
            return Row(contender.name, load, Outcome(missing=_last(str(failure))))
        return Row(contender.name, load, outcome_from_dict(json.loads(printed.splitlines()[-1])))

    def _caches(self, contender: Contender) -> Path:
        """An empty folder for compiled functions, shared by all of bayescale's."""
        folder = self.folder / ("caches-rivals" if contender.rival else "caches")
        folder.mkdir(exist_ok=True)
        return folder


def make_task(file: Path, chains: int, seed: int) -> Task:
    """The task that all contenders get, with bayescale's priors."""
    from bayescale.laws import get_law
    from bayescale.noise import Noise

    params = (*get_law("chinchilla").params, *Noise().params())
    priors = {p.site: p.prior.to_dict() for p in params}
    return Task(str(file), 0, priors, chains, seed)


def _last(text: str) -> str:
    lines: Sequence[str] = text.strip().splitlines()
    return lines[-1] if lines else "it failed without a word"
