"""Functions whose arguments are names: called by name, renamed, checked against declarations."""

import inspect
from collections.abc import Callable, Iterable, Mapping
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


def frozen_labels(law: str, labels: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Labels of named axes as a value: (axis, labels) pairs."""
    frozen = []
    for dim, names in dict(labels).items():
        names = tuple(str(n) for n in names)
        if not names or len(set(names)) < len(names):
            said = f"twice the same label in {', '.join(names)}" if names else "no labels"
            raise LawError(f"law '{law}': axis '{dim}' has {said}; expected distinct names.")
        frozen.append((str(dim), names))
    return tuple(frozen)


def check_axes(law: str, axes: Mapping[str, Any], items: Iterable[Any]) -> None:
    """Raise where an input, parameter or derived quantity lies on an axis without labels."""
    for item in items:
        for dim in (*item.dims, *([item.by] if getattr(item, "by", "") else [])):
            if dim not in axes:
                raise LawError(
                    f"law '{law}': '{item.name}' lies on the axis '{dim}', which has no labels; "
                    f"declare labels={{'{dim}': (…)}}."
                )


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


def taking(names: Iterable[str], function: Callable[[Mapping[str, Any]], Any]) -> Callable:
    """A function of one mapping as a function of named arguments, for laws of any length."""

    def call(**values: Any) -> Any:
        return function(values)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, keyword) for name in names]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__doc__ = function.__doc__
    return call
