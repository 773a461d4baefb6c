"""Pictures on disk, written whole or not at all."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescale.errors import FitError
from bayescale.files import check_writable, replace_atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = ("png", "pdf", "svg")


def check_picture(path: str | Path) -> None:
    """Raise unless a picture can be written at ``path``: before long work, not after it.

    Raises
    ------
    FitError
        An unknown suffix, or a place that can't be written.
    """
    _format(Path(path))
    check_writable(path)


def write_picture(
    path: str | Path,
    draw: "Callable[[Figure], Any]",
    size: tuple[float, float],
    dpi: float = 200,
) -> Path:
    """Let ``draw`` fill a figure of its own, and write it; an older file survives any failure.

    Parameters
    ----------
    path : str or Path
        Where to write: ``.png``, ``.pdf`` or ``.svg``.
    draw : callable
        Gets the figure.
    size : (float, float)
        Width and height in inches.
    dpi : float
        Dots per inch (PNG only).

    Raises
    ------
    FitError
        An unknown suffix, or a place that can't be written.
    """
    path = Path(path)
    suffix = _format(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure)
    replace_atomic(path, lambda temporary: figure.savefig(temporary, format=suffix, dpi=dpi))
    return path


def _format(path: Path) -> str:
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in SUFFIXES:
        raise FitError(
            f"cannot write {path}: a picture's name ends in .{', .'.join(SUFFIXES)}, "
            f"not '{path.suffix}'."
        )
    return suffix
