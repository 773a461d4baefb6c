"""Where many fits run: which device, how many workers, how many fits side by side.

On a CPU a batch in lock-step gains nothing over one fit after another (all wait for the longest
trajectory, which eats what vector instructions give), so there each core has a worker of its own,
a thread, with one fit at a time: compiled code runs without Python's lock. On a GPU one fit is
slower than on a CPU and thousands side by side are faster: 8,192 whole fits of 245 rows took 17.6 s
on an H200 where one takes 183 ms on a CPU, so a GPU wins from about a hundred fits on.
"""

from dataclasses import dataclass

from bayescale.errors import FitError
from bayescale.inference.engine import find_device, usable_cores
from bayescale.inference.nuts import ROOM, state_size

GPU_FROM = 100  # data sets from which a GPU is taken if there is one
MOST_LANES = 8192
SHARE = 0.5  # of a device's memory that lanes may fill
LIVE = 24  # arrays of one number a row and chain that a gradient holds at its widest
UNKNOWN_MEMORY = 4 * 2**30  # bytes assumed where a device doesn't say


@dataclass(frozen=True)
class Plan:
    """Where a job runs.

    Parameters
    ----------
    device : str
        JAX platform.
    workers : int
        Threads, each with fits of its own.
    devices : int
        Local devices, dealt out to the workers in turn.
    lanes : int
        Fits side by side in lock-step on one device; 0: as many as its memory takes.
    count : int or None
        Data sets in the job, where known.
    """

    device: str
    workers: int
    devices: int
    lanes: int
    count: int | None = None


def make_plan(device: str, count: int | None, workers: int | None, lanes: int | None) -> Plan:
    """Choose a device by the size of the job, and how to fill it.

    Parameters
    ----------
    device : str
        ``auto``, or a JAX platform.
    count : int or None
        Number of data sets, where it is known.
    workers, lanes : int or None
        As the user wants them.

    Raises
    ------
    FitError
        There is no such device, or a number is below 1.
    """
    for name, value in (("workers", workers), ("lanes", lanes)):
        if value is not None and (isinstance(value, bool) or not value >= 1):
            raise FitError(f"{name} is {value!r}; expected a whole number of at least 1.")
    if device == "auto":
        device = "gpu" if (count or 0) >= GPU_FROM and _has_gpu() else "cpu"
    find_device(device)
    devices = _local_devices(device)
    if device == "cpu":
        return Plan(device, workers or usable_cores(), devices, lanes or 1, count)
    return Plan(device, workers or devices, devices, lanes or 0, count)


def lanes_that_fit(device: str, position: int, rows: int, dim: int, chains: int) -> int:
    """How many fits of this size a device holds side by side: a power of two."""
    found = find_device(device, position).memory_stats() or {}
    room = found.get("bytes_limit", UNKNOWN_MEMORY)  # what is in use now would change the draws
    trace = ROOM * (dim + 6)
    one = 8 * (chains * (rows * LIVE + 4 * state_size(dim) + trace) + 8 * rows)
    lanes = 1
    while 2 * lanes <= MOST_LANES and 2 * lanes * one <= SHARE * room:
        lanes *= 2
    return lanes


def _has_gpu() -> bool:
    import jax

    return any(d.platform == "gpu" for d in jax.local_devices())


def _local_devices(platform: str) -> int:
    import jax

    return len(jax.local_devices(backend=platform))
