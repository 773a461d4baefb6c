"""A contender's cold, next and warm cost on one job."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.speed.job import PARAMETERS, Job
from benchmarks.speed.lineup import Contender
from benchmarks.speed.process import Usage, measure


@dataclass(frozen=True)
class Result:
    """Medians over repeats; None where a contender has no such thing.

    ``cold``: a whole process with empty caches; ``next``: the process after it; ``warm``: a
    further fit with another seed in one process, ``ess`` the smallest bulk ESS of the law's
    parameters that it gives, ``a`` mean and sd over all warm fits.
    """

    name: str
    cold: Usage
    next: Usage
    warm: Usage | None = None
    gradients: float | None = None
    ess: float | None = None
    a: tuple[float, float] | None = None
    phases: dict[str, dict[str, float]] = field(default_factory=dict)  # when -> phase -> seconds


@dataclass(frozen=True)
class Bench:
    """A job, a folder to work in, how often to repeat, and where to say what is running."""

    job: Job
    folder: Path
    repeats: int
    say: Callable[[str], None]

    def run(self, contender: Contender) -> Result:
        """Measure one contender, a process at a time."""
        cold, following, printed = [], [], {}
        for k in range(self.repeats):
            self.say(f"{contender.name}: process {k + 1} of {self.repeats}")
            env = contender.caches(self._new_folder())
            usage, printed["cold"] = measure(self._command(contender), env)
            cold.append(usage)
            if env:  # without caches on disk the next process is like the first
                usage, printed["next"] = measure(self._command(contender), env)
                following.append(usage)
        result = Result(contender.name, _middle(cold), _middle(following or cold))
        return self._with_warm(contender, result, printed) if contender.sampler else result

    def _with_warm(self, contender: Contender, result: Result, printed: dict[str, str]) -> Result:
        self.say(f"{contender.name}: warm")
        draws = self._new_folder()
        options = ["--warm", str(self.repeats), "--out", str(draws)]
        _, text = measure(self._command(contender) + options, contender.caches(self._new_folder()))
        fits = _last_line(text)["warm"]
        saved = [dict(np.load(draws / f"{k}.npz")) for k in range(self.repeats)]
        a = np.concatenate([s["a"].ravel() for s in saved])
        phases = {when: _last_line(out)["phases"] for when, out in printed.items()}
        return Result(
            name=result.name,
            cold=result.cold,
            next=result.next,
            warm=Usage(median(f["wall"] for f in fits), median(f["cpu"] for f in fits)),
            gradients=median(f["gradients"] for f in fits),
            ess=median(smallest_ess(s) for s in saved),
            a=(float(a.mean()), float(a.std())),
            phases=phases | {"warm": fits[-1]["phases"]},
        )

    def _command(self, contender: Contender) -> list[str]:
        job_file = self.folder / "job.json"
        if not job_file.exists():
            self.job.write(job_file)
        return contender.command(self.job, job_file, self._new_folder())

    def _new_folder(self) -> Path:
        folder = self.folder / f"{len(list(self.folder.iterdir())):03d}"
        folder.mkdir()
        return folder


def smallest_ess(draws: dict[str, np.ndarray]) -> float:
    """Smallest rank-normalised bulk ESS over the law's parameters (Vehtari et al. 2021)."""
    from arviz_stats.base.array import array_stats

    stacked = np.stack([draws[name] for name in PARAMETERS])
    found = array_stats.ess(stacked, method="bulk", chain_axis=1, draw_axis=2)
    return float(np.min(np.asarray(found)))


def _last_line(text: str) -> dict:
    return json.loads(text.splitlines()[-1])


def _middle(usages: list[Usage]) -> Usage:
    return Usage(*(median(getattr(u, f) for u in usages) for f in ("wall", "cpu", "memory")))
