"""Functions whose arguments are names: called by name, renamed, checked against declarations."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from bayescale.errors import LawError


def call_with(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Call a function with those of ``values`` that its arguments name."""
    return function(**{name: values[name] for name in inspect.signature(function).parameters})


def renamed(function: Callable[..., Any], **names: str) -> Callable[..., Any]:
    """``function`` with some arguments under other names: ``renamed(mean, x="N")``."""
    back = {new: old for old, new in names.items()}
    signature = inspect.signature(function)

    def call(**values: Any) -> Any:
        return function(**{back.get(name, name): value for name, value in values.items()})

    parameters = [p.replace(name=names.get(p.name, p.name)) for p in signature.parameters.values()]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__doc__ = function.__doc__
    return call


def check_unique(law: str, names: list[str]) -> None:
    double = sorted({n for n in names if names.count(n) > 1})
    if double:
        raise LawError(f"law '{law}' declares {', '.join(double)} more than once.")


def check_signature(
    law: str, what: str, function: Callable[..., Any], known: set[str], exact: bool = False
) -> None:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise LawError(
            f"law '{law}': {what} is {function!r}; expected a function with named arguments."
        ) from None
    unnamed = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    )
    if any(p.kind in unnamed for p in parameters.values()):
        raise LawError(f"law '{law}': {what} must name its arguments, without *, ** or /.")
    asked = set(parameters)
    unknown = sorted(asked - known)
    missing = sorted(known - asked) if exact else []
    if unknown or missing:
        problems = []
        if unknown:
            problems.append(f"takes {', '.join(unknown)}, which the law does not declare")
        if missing:
            problems.append(f"lacks {', '.join(missing)}, which the law declares")
        raise LawError(
            f"law '{law}': {what} {' and '.join(problems)}. "
            "Make its arguments and the declared parameters and inputs the same."
        )
