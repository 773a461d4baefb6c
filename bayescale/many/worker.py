"""One worker: tasks of a job in, fits or failures out, on one device."""

import time
from collections.abc import Callable, Iterable

import numpy as np

from bayescale.assembling import Look, assemble, declaration, look
from bayescale.errors import BayescaleError
from bayescale.fitted import Fit
from bayescale.inference.engine import Clock, Engine, Programs, find_device, float64
from bayescale.inference.gate import MAX_RHAT
from bayescale.inference.lanes import Lanes, Verdict
from bayescale.inference.sample import Draws
from bayescale.many.result import Failure
from bayescale.many.task import Job, Task

# told of each outcome as it comes
Report = Callable[[Task, Fit | Failure], None]


def run_tasks(
    job: Job, tasks: Iterable[Task], programs: Programs, width: int, position: int, report: Report
) -> None:
    """Fit some data sets, and report each as it is done; none stops the others.

    Parameters
    ----------
    job : Job
    tasks : iterable of Task
    programs : dict
        Compiled functions that the workers of a job share.
    width : int
        Fits side by side in lock-step.
    position : int
        Which of the local devices to use.
    report : callable
    """
    groups: dict[object, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.shape, []).append(task)
    for group in groups.values():
        _side_by_side(job, group, programs, width, position, report)


def _side_by_side(
    job: Job, tasks: list[Task], programs: Programs, width: int, position: int, report: Report
) -> None:
    """Fits of one shape in lanes."""
    begin = time.perf_counter()
    device = find_device(job.settings.device, position)

    def judge(index: int, drawn: Draws, fresh: bool) -> Verdict:
        task = tasks[index]
        try:
            looked = look(job.model, task.layout, task.packing, drawn)
            verdict = _verdict(job, looked, drawn.stats["lp"].shape[1], fresh)
            if verdict != "enough":
                return verdict
            outcome = _assemble(job, task, drawn, begin, len(tasks), looked)
        except Exception as problem:
            outcome = failure(task.key, problem)
        report(task, outcome)
        return "enough"

    packing = tasks[0].packing
    try:
        with float64(device):
            engine = Engine(
                job.model, packing, job.settings, declaration(job.model), device, Clock(), {},
                programs,
            )  # fmt: skip
            lanes = Lanes(engine, packing, width)
            errors = lanes.sample([t.batch for t in tasks], [t.seed for t in tasks], judge)
    except Exception as problem:
        errors = [problem] * len(tasks)
    for task, error in zip(tasks, errors, strict=True):
        if error is not None:
            report(task, failure(task.key, error))


def _verdict(job: Job, looked: Look, draws: int, fresh: bool) -> Verdict:
    """Whether draws are enough, more of them may help, or a new start is called for.

    More can't help where the ESS would be too low at the most draws; those start again with what
    they have taught, twice at most, and so do those that drew the most in vain.
    """
    d = looked[2]
    with np.errstate(all="ignore"):
        ess, rhat = np.nanmin([d.ess_bulk, d.ess_tail]), np.nanmax(d.rhat)
    if ess >= job.min_ess and rhat < MAX_RHAT:
        return "enough"
    if draws < job.most and ess * job.most / draws >= job.min_ess:
        return "more"
    return "again" if fresh and job.min_ess else "enough"


def _assemble(job: Job, task: Task, drawn: Draws, begin: float, beside: int, looked: Look) -> Fit:
    """The fit; its seconds are its share of those of the fits beside it."""
    now = time.perf_counter()
    share = now - (now - begin) / beside
    return assemble(
        job.model, task.runs, task.layout, task.packing, drawn, job.settings, task.seed, share,
        looked,
    )  # fmt: skip


def failure(key: str, problem: Exception) -> Failure:
    """What went wrong with a data set, in one line."""
    if isinstance(problem, BayescaleError):
        return Failure(key, str(problem))
    first = (str(problem).splitlines() or [""])[0][:200]
    return Failure(key, f"unexpected {type(problem).__name__}: {first}")
