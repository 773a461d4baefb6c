"""What a law's declaration has to keep: names, signatures, and what leans on what."""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bayescale.errors import LawError
from bayescale.param import Param
from bayescale.signature import check_axes, check_signature, check_unique
from bayescale.support import POSITIVE

if TYPE_CHECKING:
    from bayescale.law import Law


def check_law(law: "Law") -> None:
    """Check a law as it is made.

    Raises
    ------
    LawError
        A function's arguments differ from what is declared, or a name is none of the law's.
    """
    check_axes(law.name, law.axes, (*law.inputs, *law.params, *law.derived))
    names = [p.name for p in law.params] + [i.name for i in law.inputs]
    sampled = [p.site for p in law.params if p.coordinate]
    check_unique(law.name, names + sampled + [d.name for d in law.derived])
    check_signature(law.name, "mean", law.mean, set(names), exact=True)
    _check_functions(law)
    _check_directions(law)
    _check_centres(law)
    _check_tied(law)
    for name in law.nuisance:
        law.param(name)


def check_lost(law: "Law", params: Mapping[str, Param]) -> None:
    """Check that priors on parameters take away no coordinate that another leans on.

    Parameters
    ----------
    law : Law
    params : mapping
        Its parameters by name, with the priors that they are to have.

    Raises
    ------
    LawError
        One does.
    """
    lost = {p.site: p.name for p in law.params} | {p.site: "" for p in params.values()}
    for p in params.values():
        asked = inspect.signature(p.coordinate.to_param).parameters if p.coordinate else ()
        for site in asked:
            if name := lost.get(site):
                raise LawError(
                    f"law '{law.name}': a prior on {name} itself takes away {site}, from "
                    f"which {p.name} is computed; set the prior of {site}, or of {name} and "
                    f"{p.name} both."
                )


def _check_functions(law: "Law") -> None:
    """Coordinates and derived quantities ask for what there is."""
    refs = {f"{i.name}_ref" for i in law.inputs} | {c.name for c in law.centres}
    params = {p.name for p in law.params}
    sites = {p.site for p in law.params}
    for p in law.params:
        if p.coordinate:
            label = f"coordinate '{p.coordinate.name}'"
            known = (params - {p.name}) | refs | sites
            check_signature(law.name, label, p.coordinate.to_param, known)
            check_signature(law.name, label, p.coordinate.from_param, params | refs)
            if p.coordinate.scale:
                check_signature(law.name, f"scale of {label}", p.coordinate.scale, sites - {p.site})
    for d in law.derived:
        own = {d.by} if d.by else set()
        check_signature(law.name, f"derived '{d.name}'", d.function, params | refs | own)


def _check_directions(law: "Law") -> None:
    """The sampler moves along sums and products of positive quantities only."""
    for name in (*law.terms, *(n for pair in law.slopes for n in pair)):
        if law.param(name).prior.support != POSITIVE:
            raise LawError(f"law '{law.name}': '{name}' in its terms or slopes isn't positive.")
    exponents = {exponent for exponent, _ in law.slopes}
    for name in (n for pair in law.sums for n in pair):
        if name not in exponents:
            raise LawError(f"law '{law.name}': '{name}' in its sums is no exponent of its slopes.")


def _check_centres(law: "Law") -> None:
    for c in law.centres:
        label, inputs = f"centre '{c.name}'", {i.name for i in law.inputs}
        check_signature(law.name, label, c.function, inputs)
        if c.by and c.by not in {p.by for p in law.params}:
            raise LawError(f"law '{law.name}': no parameter differs by '{c.by}', as {label}.")


def _check_tied(law: "Law") -> None:
    known = {x.name for x in (*law.params, *law.derived)} | {p.site for p in law.params}
    for name in (n for pair in law.tied for n in pair):
        if name not in known:
            raise LawError(f"law '{law.name}': '{name}' in tied is none of its quantities.")
