"""Files written whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from bayescale.errors import FitError


def write_atomic(path: Path, content: bytes) -> None:
    """Write bytes to a temporary file beside ``path``, then rename it into place."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    replace_atomic(path, write)


def replace_atomic(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it into place.

    Whatever goes wrong, an older file at ``path`` stays as it was.

    Raises
    ------
    FitError
        The folder is missing or can't be written, or the disk is full.
    """
    path = Path(path)
    _check_kind(path)
    temporary = _temporary_beside(path)
    try:
        write(temporary)
        with temporary.open("rb+") as done:
            os.fsync(done.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as problem:
        raise FitError(_cannot_write(path, problem)) from None
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(path: str | Path) -> None:
    """Raise unless a file can be written at ``path``: before long work, not after it.

    Raises
    ------
    FitError
        It is a folder or a device, or its folder is missing or can't be written.
    """
    _check_kind(Path(path))
    _temporary_beside(Path(path)).unlink()  # permissions don't tell all; trying does


def _check_kind(path: Path) -> None:
    if path.is_dir():
        raise FitError(f"cannot write {path}: it is a folder; give a file name.")
    if not path.parent.is_dir():
        raise FitError(f"cannot write {path}: the folder {path.parent} does not exist; make it.")
    if path.exists() and not path.is_file():
        raise FitError(f"cannot write {path}: it is a device or pipe; give a file name.")


def _temporary_beside(path: Path) -> Path:
    """A new empty file in the folder of ``path``."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as problem:
        raise FitError(_cannot_write(path, problem)) from None
    os.close(handle)
    return Path(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _cannot_write(path: Path, problem: OSError) -> str:
    reason = problem.strerror or str(problem)
    return (
        f"cannot write {path}: {reason}; nothing there was changed. Choose another place with -o."
    )
