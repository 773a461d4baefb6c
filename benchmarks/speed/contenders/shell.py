"""bayescale from the shell: read the runs, fit, print the table, save the fit."""

from pathlib import Path

from benchmarks.speed.job import Job


def command(program: str, job: Job, job_file: Path, out: Path) -> list[str]:
    """The command as a user types it."""
    sizes = ["--chains", str(job.chains), "--draws", str(job.draws)]
    return [program, "fit", "chinchilla", job.csv, "-o", str(out / "fit.nc"), *sizes]
