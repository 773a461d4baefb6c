"""What commands print: tables for people, JSON for scripts."""

import json
import math
import os
import sys
from collections.abc import Callable
from typing import Any

PIPE_WIDTH = 110  # columns where nobody says how wide the reader is


def console(stderr: bool = False) -> Any:
    """A rich console as wide as the terminal; in a pipe without colours and wide."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    piped = not stream.isatty() and not os.environ.get("COLUMNS")
    return Console(file=stream, highlight=False, width=PIPE_WIDTH if piped else None)


def show(*items: Any) -> None:
    """Print tables, answers or plain lines (without reading markup in them)."""
    out = console()
    for item in items:
        out.print(item, markup=False)
    sys.stdout.flush()  # what was read must be seen before minutes of sampling, in a pipe too


def show_json(record: Any) -> None:
    """Print a record as JSON, and nothing else; numbers that are not finite become null."""
    json.dump(plain(record), sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def plain(value: Any) -> Any:
    """A value of plain JSON types."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if value is None or isinstance(value, bool | str | int):
        return value
    if hasattr(value, "tolist"):  # NumPy scalars and arrays
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)


def answer(result: Any, as_json: bool) -> None:
    """Print an answer: its table, or its record."""
    if as_json:
        show_json(result.to_dict())
    else:
        show(result)


def tell(
    result: Any,
    as_json: bool,
    path: str | None,
    draw: Callable[..., Any],
    wide: bool = False,
    size: Callable[[], tuple[float, float]] | None = None,
) -> None:
    """Print an answer, and draw its picture where one was asked for.

    Parameters
    ----------
    result
        With a table and ``to_dict``.
    as_json
        Whether its record is printed, and nothing else.
    path
        File of the picture, or None.
    draw
        ``draw(figure)``.
    wide
        Whether the picture has two panels.
    size
        Gives width and height of a picture that grows with the answer, in inches.
    """
    if not as_json:
        show(result)
    if path:
        from bayescale.plot.canvas import HEIGHT, WIDTH
        from bayescale.plot.intervals import SIZE
        from bayescale.plot.picture import write_picture

        write_picture(path, draw, size() if size else SIZE if wide else (WIDTH, HEIGHT))
    if as_json:
        show_json({**result.to_dict(), "plot": path})
    elif path:
        show(f"wrote {path}")


def check_place(path: str | None) -> None:
    """Refuse before the work what can't be drawn after it."""
    if path:
        from bayescale.plot.picture import check_picture

        check_picture(path)
