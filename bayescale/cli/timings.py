"""Where the time of a fit goes, in a process with an empty cache and in the next one.

Run as a module, this is the process that is timed.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bayescale.errors import FitError

if TYPE_CHECKING:
    from bayescale.tables import Table

PHASES = (
    "start and imports", "read runs", "import jax", "trace, compile, load", "mode", "sample",
    "diagnostics", "save",
)  # fmt: skip


def measure() -> dict[str, Any]:
    """Fit the shipped sweep in two new processes with one fresh cache.

    Returns
    -------
    dict
        ``cold`` and ``next``: phase -> ``wall`` and ``cpu`` seconds, with ``total``.

    Raises
    ------
    FitError
        A process failed.
    """
    import os
    import subprocess
    import tempfile

    found = {}
    with tempfile.TemporaryDirectory(prefix="bayescale-timings-") as folder:
        environment = os.environ | {"BAYESCALE_CACHE": f"{folder}/cache"}
        for name in ("cold", "next"):
            command = [sys.executable, "-m", "bayescale.cli.timings", folder, str(time.time())]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
                raise FitError(f"the timed fit failed: {reason}")
            found[name] = json.loads(done.stdout)
    return found


def table(found: dict[str, Any]) -> "Table":
    """Both processes, phase by phase."""
    from bayescale.tables import Table

    rows = []
    for phase in (*PHASES, "total"):
        cold, after = found["cold"][phase], found["next"][phase]
        cells = (cold["wall"], cold["cpu"], after["wall"], after["cpu"])
        rows.append([phase, *(f"{c:.2f}" for c in cells)])
    return Table(
        ["seconds", "empty cache", "CPU", "next process", "CPU"],
        rows,
        title="Fit of the shipped sweep (72 runs, chinchilla, 4 x 1,000 draws)",
        text=["seconds"],
    )


class Stopwatch:
    """Wall and CPU seconds by phase."""

    def __init__(self, started: float) -> None:
        self.started = started
        # what passed before this line: the interpreter's own start
        self.seconds = {"start and imports": [time.time() - started, time.process_time()]}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the time inside the block for ``name``."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            kept = self.seconds.setdefault(name, [0.0, 0.0])
            kept[0] += time.perf_counter() - wall
            kept[1] += time.process_time() - cpu

    def report(self) -> dict[str, dict[str, float]]:
        """All phases, and the whole process."""
        named = {k: {"wall": v[0], "cpu": v[1]} for k, v in self.seconds.items()}
        total = {"wall": time.time() - self.started, "cpu": time.process_time()}
        return {phase: named.get(phase, {"wall": 0.0, "cpu": 0.0}) for phase in PHASES} | {
            "total": total
        }


def timed_fit(folder: str, watch: Stopwatch) -> None:
    """Fit the shipped sweep and save the fit, phase by phase."""
    with watch.phase("start and imports"):
        from bayescale.data.simulate import simulated_sweep
        from bayescale.fitting import fit
        from bayescale.inference import sample

    class PhaseClock(sample.Clock):
        """The sampler's own clock counts wall seconds; this one tells the stopwatch too."""

        @contextmanager
        def phase(self, name: str) -> Iterator[None]:
            with watch.phase(name), super().phase(name):
                yield

    sample.Clock = PhaseClock
    with watch.phase("read runs"):
        runs, _ = simulated_sweep()
    inside = ("import jax", "trace, compile, load", "mode", "sample")
    with watch.phase("diagnostics"):
        fitted = fit("chinchilla", runs, progress=False)
    for k in range(2):  # what fit spent besides the phases of the sampler
        watch.seconds["diagnostics"][k] -= sum(watch.seconds[name][k] for name in inside)
    with watch.phase("save"):
        fitted.save(f"{folder}/fit.nc")


if __name__ == "__main__":
    stopwatch = Stopwatch(float(sys.argv[2]))
    timed_fit(sys.argv[1], stopwatch)
    json.dump(stopwatch.report(), sys.stdout)
