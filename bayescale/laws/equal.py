"""A law with two of its parameters tied, such as size and data exponent alpha = beta."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bayescale.errors import LawError
from bayescale.law import Law
from bayescale.signature import taking


def tied(law: Law, keep: str, drop: str) -> Law:
    """The law in which ``drop`` is always equal to ``keep``, with the prior of ``keep``.

    Parameters
    ----------
    law : Law
    keep, drop : str
        Names of parameters with the same axes.

    Returns
    -------
    Law

    Raises
    ------
    LawError
        There is no such parameter, or their axes differ.
    """
    kept, lost = law.param(keep), law.param(drop)
    if keep == drop or (kept.dims, kept.by) != (lost.dims, lost.by):
        raise LawError(
            f"law '{law.name}': '{drop}' can't be tied to '{keep}': they differ in axes."
        )

    def as_kept(name: str) -> str:
        return {drop: keep, lost.site: kept.site}.get(name, name)

    params = []
    for p in law.params:
        if p.name == drop:
            continue
        if p.coordinate is None:
            params.append(p)
            continue
        both = {
            side: _rerouted(getattr(p.coordinate, side), drop, keep)
            for side in ("to_param", "from_param")
        }
        params.append(replace(p, coordinate=replace(p.coordinate, **both)))
    told = [replace(d, function=_rerouted(d.function, drop, keep)) for d in law.derived]
    return replace(
        law,
        name=f"{law.name} with {drop} = {keep}",
        params=tuple(params),
        mean=_rerouted(law.mean, drop, keep),
        derived=tuple(d for d in told if not _constant(d.function, keep)),
        slopes=tuple((as_kept(exponent), term) for exponent, term in law.slopes),
        sums=tuple(pair for pair in law.sums if drop not in pair),
        tied=tuple(pair for pair in law.tied if drop not in pair),
        signs=tuple(name for name in law.signs if name != drop),
        equation=law.equation.replace(lost.latex, kept.latex) if lost.latex else law.equation,
        recipe=None,
    )


def _rerouted(function: Callable[..., Any], drop: str, keep: str) -> Callable[..., Any]:
    """The function with ``keep`` for both."""
    names = list(inspect.signature(function).parameters)
    if drop not in names:
        return function
    asked = list(dict.fromkeys(keep if n == drop else n for n in names))
    called = taking(asked, lambda v: function(**{n: v[keep if n == drop else n] for n in names}))
    called.__doc__ = function.__doc__
    return called


def _constant(function: Callable[..., Any], keep: str) -> bool:
    """Whether a quantity of the kept parameter alone is a number: a = 1/2 where alpha = beta."""
    if set(inspect.signature(function).parameters) != {keep}:
        return False
    return function(**{keep: 0.25}) == function(**{keep: 0.5})
