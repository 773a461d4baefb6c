"""Finished fits in a folder, one file each, found again by all that they depend on."""

import io
import re
from pathlib import Path

import numpy as np

from bayescale.errors import FitError
from bayescale.files import check_writable, write_atomic
from bayescale.fitted import Fit
from bayescale.many.record import from_record, to_record
from bayescale.many.task import Job, Task


class Store:
    """A folder of finished fits.

    A file is named after its data set and the hash of law, noise, pooling, settings, seed, data
    and versions: a changed data set or setting is fitted anew, and several jobs may share a folder.

    Parameters
    ----------
    folder : Path
        Made where it is missing.

    Raises
    ------
    FitError
        The folder can't be made or written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise FitError(
                f"cannot make the folder {folder} for finished fits "
                f"({problem.strerror or problem}); give another folder."
            ) from None
        check_writable(self.folder / "fit.npz")

    def find(self, job: Job, task: Task) -> Fit | None:
        """The finished fit of a task, if it is there and whole."""
        file = self._file(job, task)
        if not file.exists():
            return None
        try:
            with np.load(file, allow_pickle=False) as found:
                return from_record(job.model, task, {name: found[name] for name in found.files})
        except Exception:  # a file that can't be read costs one fit
            return None

    def keep(self, job: Job, task: Task, fit: Fit) -> None:
        """Write a finished fit, whole or not at all."""
        content = io.BytesIO()
        np.savez(content, **to_record(fit))  # pyright: ignore[reportArgumentType]
        write_atomic(self._file(job, task), content.getvalue())

    def _file(self, job: Job, task: Task) -> Path:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", task.key)[:60]
        return self.folder / f"{name}.{task.digest(job)[:20]}.npz"
