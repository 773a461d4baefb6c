"""Composition-invariance and equal exponents: posterior probabilities, and LOO of the tied law."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.answers.composition import optima, parts_of
from bayescale.answers.invariance.refits import compared
from bayescale.answers.invariance.result import Change, Invariance
from bayescale.answers.surface import surface
from bayescale.errors import DataError, FitError
from bayescale.law import Law
from bayescale.laws.decoupled_parts import Parts
from bayescale.laws.equal import tied

if TYPE_CHECKING:
    from bayescale.check.comparison.result import Comparison
    from bayescale.fitted import Fit

EXPONENT_DELTA = 0.02  # change of a that moves N_opt by a tenth over two decades of compute
EQUAL_DELTA = 0.05  # difference of alpha and beta that moves a by about .03 around 1/2


def invariance(
    fit: "Fit",
    *,
    delta: float = EXPONENT_DELTA,
    loo: bool = True,
    **comparing: Any,
) -> Invariance:
    """Ask whether the allocation exponent of an objective stays the same in all mixtures.

    For each varying objective the change of a from the data's smallest composition to the
    largest, with P(a falls) and P(abs(change) < delta). With ``loo`` four laws are compared by runs
    left out: all objectives vary; as fitted; with tied exponents (a constant, the rest free); and
    with nothing that varies.

    Parameters
    ----------
    fit : Fit
        Of the decoupled law with sizes, at least one of whose objectives varies in a.
    delta : float
        Half width of the region of practical equivalence for the change of a.
    loo : bool
        Whether tied laws are fitted and compared; takes as long as three fits.
    **comparing
        Of `bayescale.compare`: ``by``, ``refit``, ``max_refits``, ``workers``, ``progress``.

    Returns
    -------
    Invariance

    Raises
    ------
    FitError
        The fit is of another law, or nothing in it varies.
    """
    _check_delta(delta)
    parts, _ = parts_of(fit.law)
    if not parts.varying or "a_slope" not in fit.variables:
        raise FitError(
            f"in this fit of law '{fit.law.name}' no allocation exponent varies with the "
            "composition, so that it can't be asked whether it does: fit with "
            "decoupled:varying=NAME:varies=a+K+N0."
        )
    changes = tuple(_change(fit, parts, o, delta) for o in parts.varying)
    laws, meanings = _tied_laws(fit.law, parts)
    comparison = compared(fit, laws, comparing) if loo else None
    return _told(
        fit, "Does the allocation exponent depend on the mixture?", changes, comparison, meanings
    )


def _change(fit: "Fit", parts: Parts, objective: str, delta: float) -> Change:
    """How a of one objective changes over the compositions that its runs have."""
    seen = fit.extent.groups["objective"][objective][f"{parts.composition}:{objective}"]
    low, high = seen.low, seen.high
    if not high > low:
        raise FitError(f"all runs of '{objective}' have one composition, {low:.3g}.")
    place = parts.objectives.index(objective)
    found = optima(fit, 1e20, [low, high]).draws["a"][:, place, :, 0]
    kind = parts.composition
    return Change(
        name=f"a of {objective}",
        meaning=f"a at {kind} {high:.3g} minus a at {kind} {low:.3g}",
        draws=found[:, 1] - found[:, 0],
        delta=float(delta),
        where={"objective": objective, "compositions": [low, high]},
    )


def _tied_laws(law: Law, parts: Parts) -> tuple[dict[str, Law | None], dict[str, str]]:
    """The laws to compare, and what each means; those that would be the same law only once."""
    from bayescale.choosing import rebuild

    assert law.recipe is not None
    family, recipe = law.recipe[0], json.loads(law.recipe[1])
    varies = tuple(recipe["varies"] or ("a", "K", "N0"))
    rest = [v for v in varies if v != "a"]
    asked = {
        "all vary": ({"varying": list(parts.objectives)}, "every objective varies"),
        "tied exponents": ({"varies": rest}, "a is the same in all mixtures, the rest varies"),
        "invariant": ({"varying": []}, "nothing varies with the mixture"),
    }
    laws: dict[str, Law | None] = {"as fitted": None}
    meanings = {"as fitted": f"{', '.join(parts.varying)} varies in {', '.join(varies)}"}
    for name, (changed, meaning) in asked.items():
        if name == "all vary" and set(parts.varying) == set(parts.objectives):
            continue
        if name == "tied exponents" and not rest:
            continue  # nothing but a varies: tied, nothing does
        laws[name] = rebuild((family, json.dumps({**recipe, **changed})))
        meanings[name] = meaning
    return laws, meanings


def equal_exponents(
    fit: "Fit",
    *,
    delta: float = EQUAL_DELTA,
    loo: bool = True,
    seed: int = 0,
    group: dict[str, Any] | None = None,
    **comparing: Any,
) -> Invariance:
    """Ask whether loss falls equally fast with size and with data: alpha = beta, so a = 1/2.

    Parameters
    ----------
    fit : Fit
        Of a law with the parameters alpha and beta, such as ``chinchilla`` or ``repetition``.
    delta : float
        Half width of the region of practical equivalence for alpha - beta.
    loo : bool
        Whether the law with alpha = beta is fitted to the same runs and compared.
    seed : int
        Seed of the draws for groups that are not in the data.
    group : mapping, optional
        For pooled fits, the group by its column.
    **comparing
        Of `bayescale.compare`.

    Returns
    -------
    Invariance

    Raises
    ------
    FitError
        The law has no alpha and beta, one number each.
    """
    _check_delta(delta)
    names = {p.name for p in fit.law.params if not (p.dims or p.by)}
    if not ({"alpha", "beta"} <= names and {"N", "D"} <= {i.name for i in fit.law.inputs}):
        raise FitError(
            f"law '{fit.law.name}' has no exponents alpha and beta, one of size and one of data; "
            "ask a fit of chinchilla, coupled or repetition."
        )
    laws = surface(fit, group, seed)
    change = Change(
        name="alpha - beta",
        meaning="size exponent minus data exponent",
        draws=laws.params["alpha"] - laws.params["beta"],
        delta=float(delta),
        where=dict(group or {}),
    )
    named: dict[str, Law | None] = {"free": None, "tied": tied(fit.law, "alpha", "beta")}
    meanings = {"free": "alpha and beta apart", "tied": "alpha = beta, a = 1/2"}
    comparison = compared(fit, named, comparing) if loo else None
    return _told(fit, "Are size and data exponent equal?", (change,), comparison, meanings)


def _told(
    fit: "Fit",
    question: str,
    changes: tuple[Change, ...],
    comparison: "Comparison | None",
    meanings: dict[str, str],
) -> Invariance:
    warnings, converged = fit.warnings, fit.converged
    if comparison is not None:
        warnings = tuple(dict.fromkeys((*warnings, *comparison.warnings)))
        converged = converged and comparison.converged
    return Invariance(
        question=question,
        changes=changes,
        comparison=comparison,
        laws=meanings if comparison is not None else {},
        title=fit.title,
        converged=converged,
        warnings=warnings,
    )


def _check_delta(delta: float) -> None:
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 < delta < np.inf:
        raise DataError(
            f"delta is {delta!r}; expected a number above 0, the change that is taken for none."
        )
