"""Factories that give the same law for the same options, however these are written."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from bayescale.law import Law


def memoised[**Options](factory: Callable[Options, Law]) -> Callable[Options, Law]:
    """Let a factory build each law once.

    A saved fit, a compiled program and ``is`` find the same object, whether options were given
    by position, by name, or left at their defaults (`functools.cache` tells these apart).

    Raises
    ------
    TypeError
        An option can't be hashed, such as a list.
    """
    signature, made = inspect.signature(factory), {}

    @wraps(factory)
    def build(*args: Any, **options: Any) -> Law:
        given = signature.bind(*args, **options)
        given.apply_defaults()
        key = tuple(given.arguments.items())
        if key not in made:
            # of two threads that come at once, the second takes what the first made
            made.setdefault(key, factory(*given.args, **given.kwargs))
        return made[key]

    return build
