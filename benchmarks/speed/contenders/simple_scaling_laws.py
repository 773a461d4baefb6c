"""simple-scaling-laws' default fit of the same file from the shell: a bootstrap, so no ESS."""

from pathlib import Path

from benchmarks.speed.job import Job


def command(program: str, job: Job, job_file: Path, out: Path) -> list[str]:
    """Its own defaults; only the columns are named, so that it reads the same file."""
    roles = ("training_run_id=run", "model_size=N", "dataset_size=D", "test_loss=loss")
    named = [word for role in roles for word in ("--columns", role)]
    return [program, "fit", job.csv, "-o", str(out / "fit.slaw"), *named]
