"""Tasks over workers: threads of this process, or any executor's processes."""

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from itertools import islice
from queue import Queue
from typing import Any

from bayescale.fitted import Fit
from bayescale.inference.engine import Programs
from bayescale.many.devices import Plan, lanes_that_fit
from bayescale.many.record import Record, from_record, to_record
from bayescale.many.result import Failure
from bayescale.many.store import Store
from bayescale.many.task import Job, Task, make_task
from bayescale.many.worker import failure, run_tasks

Outcome = tuple[str, Fit | Failure]
PART = 8  # data sets that are sent to an executor's worker at once
AHEAD = 64  # parts that wait at the executor, so that a generator isn't read to its end at once
BATCHES = 4  # batches of lanes that a worker takes at once, to sort them

_programs: dict[str, Programs] = {}  # of jobs that this process has worked for


def over_threads(
    job: Job,
    pairs: Iterator[tuple[str, Any]],
    reading: Mapping[str, Any],
    store: Store | None,
    plan: Plan,
) -> Iterator[Outcome]:
    """Outcomes as they come from this process's own threads."""
    results: Queue[Any] = Queue(maxsize=4096)
    programs, lock, stop = _programs.setdefault(job.text, {}), threading.Lock(), threading.Event()
    take = BATCHES * (plan.lanes or 2048) if plan.lanes != 1 else 1

    def report(task: Task, outcome: Fit | Failure) -> None:
        if store is not None and isinstance(outcome, Fit):
            store.keep(job, task, outcome)
        results.put((task.key, outcome))

    def work(position: int) -> None:
        try:
            while not stop.is_set():
                with lock:
                    some = list(islice(pairs, take))
                if not some:
                    break
                tasks = []
                for key, runs in some:
                    item = _ready(job, key, runs, reading, store)
                    tasks.append(item) if isinstance(item, Task) else results.put(item)
                for width, group in _widths(job, tasks, plan, position):
                    run_tasks(job, group, programs, width, position, report)
            results.put(None)
        except BaseException as problem:  # a generator's own error, a full disk: the caller's
            results.put(problem)

    threads = [
        threading.Thread(target=work, args=(k % plan.devices,), daemon=True)
        for k in range(plan.workers)
    ]
    for thread in threads:
        thread.start()
    try:
        yield from _until_done(results, len(threads))
    finally:
        stop.set()
        _join(threads, results)


def _until_done(results: "Queue[Any]", workers: int) -> Iterator[Outcome]:
    while workers:
        item = results.get()
        if isinstance(item, BaseException):
            raise item
        if item is None:
            workers -= 1
        else:
            yield item


def _join(threads: list[threading.Thread], results: "Queue[Any]") -> None:
    """Let workers finish the fit that they are at; a full queue must not hold them."""
    while any(thread.is_alive() for thread in threads):
        while not results.empty():
            results.get()
        for thread in threads:
            thread.join(0.05)


def _widths(
    job: Job, tasks: list[Task], plan: Plan, position: int
) -> Iterator[tuple[int, list[Task]]]:
    """Tasks with the number of lanes in which they run."""
    if plan.lanes:
        yield plan.lanes, tasks
        return
    shapes: dict[Any, list[Task]] = {}
    for task in tasks:
        shapes.setdefault(task.shape, []).append(task)
    for (packing, rows), group in shapes.items():
        most = lanes_that_fit(plan.device, position, rows, packing.size, job.settings.chains)
        # by the size of the whole job, not of what is left: an interrupted one goes on the same
        yield min(most, 1 << (plan.count - 1).bit_length()) if plan.count else most, group


def _ready(
    job: Job, key: str, runs: Any, reading: Mapping[str, Any], store: Store | None
) -> Task | Outcome:
    """A task that is still to do, or the outcome of one that failed or is stored."""
    try:
        task = make_task(job, key, runs, reading)
    except Exception as problem:
        return key, failure(key, problem)
    found = None if store is None else store.find(job, task)
    return task if found is None else (key, found)


def over_executor(
    job: Job,
    pairs: Iterator[tuple[str, Any]],
    reading: Mapping[str, Any],
    store: Store | None,
    executor: Executor,
    lanes: int,
) -> Iterator[Outcome]:
    """Outcomes as they come from an executor's workers."""
    waiting: dict[Future[Any], list[Task]] = {}
    size = max(PART, BATCHES * lanes if lanes > 1 else 0)
    try:
        while True:
            while len(waiting) < AHEAD and (some := list(islice(pairs, size))):
                ready = [_ready(job, key, runs, reading, store) for key, runs in some]
                tasks = [item for item in ready if isinstance(item, Task)]
                if tasks:
                    waiting[executor.submit(run_part, _packed(job, tasks, lanes))] = tasks
                yield from (item for item in ready if not isinstance(item, Task))
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield from _received(job, waiting.pop(future), future, store)
    finally:
        for future in waiting:
            future.cancel()


def _received(
    job: Job, tasks: list[Task], future: "Future[Any]", store: Store | None
) -> Iterator[Outcome]:
    """What a part gave; a worker that died takes only its own part with it."""
    try:
        records: dict[str, Record | Failure] = future.result()
    except Exception as problem:
        records = {task.key: failure(task.key, problem) for task in tasks}
    for task in tasks:
        record = records[task.key]
        if isinstance(record, Failure):
            yield task.key, record
            continue
        fit = from_record(job.model, task, record)
        if store is not None:
            store.keep(job, task, fit)
        yield task.key, fit


def _packed(job: Job, tasks: list[Task], lanes: int) -> bytes:
    import cloudpickle  # laws hold functions, which plain pickle can't send

    return cloudpickle.dumps((job, tasks, lanes))


def run_part(packed: bytes) -> dict[str, Record | Failure]:
    """Fit some data sets in a worker process."""
    import cloudpickle

    job, tasks, lanes = cloudpickle.loads(packed)
    outcomes: dict[str, Record | Failure] = {}

    def report(task: Task, outcome: Fit | Failure) -> None:
        outcomes[task.key] = to_record(outcome) if isinstance(outcome, Fit) else outcome

    run_tasks(job, tasks, _programs.setdefault(job.text, {}), lanes, 0, report)
    return outcomes
