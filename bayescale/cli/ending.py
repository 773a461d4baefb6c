"""How a command ends when it doesn't end well: one line, and an exit code."""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def fail(problem: Any, code: int) -> int:
    """Say an error in one line on standard error, and as JSON where JSON was asked for."""
    message = str(problem) if isinstance(problem, str) else _usage(problem)
    if "--json" in sys.argv[1:]:
        try:
            print(json.dumps({"error": message}, ensure_ascii=False), flush=True)
        except OSError:  # a full disk or a closed pipe: the line below still says it
            _silence()
    print(f"error: {message}", file=sys.stderr)
    return code


def stopped() -> int:
    """Say that Ctrl-C was heard; files are written whole or not at all, so none is half done."""
    if sys.stderr.isatty():
        print(file=sys.stderr)  # the terminal shows ^C at the end of a line
    print("stopped; nothing was written", file=sys.stderr)
    return 130


@contextmanager
def heard() -> Iterator[None]:
    """See to it that Ctrl-C is heard.

    Python drops an exception that is raised inside a callback of its garbage collector, and JAX
    has such a callback, so a KeyboardInterrupt can vanish. It is raised again every second until
    it has ended the block.
    """
    usable = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if not usable or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # a thread, Windows, or a parent that had interrupts ignored
        return

    def interrupt(*_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        raise KeyboardInterrupt

    def dropped(unraisable: Any) -> None:
        if unraisable.exc_type is not KeyboardInterrupt:
            sys.__unraisablehook__(unraisable)

    signal.signal(signal.SIGINT, interrupt)
    before = signal.signal(signal.SIGALRM, interrupt)
    sys.unraisablehook = dropped
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        sys.unraisablehook = sys.__unraisablehook__
        signal.signal(signal.SIGALRM, before)
        signal.signal(signal.SIGINT, signal.default_int_handler)


def broken_pipe() -> int:
    """Leave quietly when the reader of a pipe has gone (``| head``)."""
    _silence()
    return 1


def _silence() -> None:
    """Point standard output at nothing, so that Python's own flush at exit can't fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(problem: Any) -> str:
    """The message of a wrong command line, and where help is to be found."""
    message = str(problem.format_message()).strip()
    message = message[:1].lower() + message[1:]
    context = getattr(problem, "ctx", None)
    path = context.command_path if context else "bayescale"
    return f"{message.rstrip('.')}{'' if message.endswith('?') else '.'} See `{path} --help`."
