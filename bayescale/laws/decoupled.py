"""Decoupled laws: an objective each, text and multimodal, some of which vary with the mixture."""

from typing import Any

from bayescale.law import Law, Reference
from bayescale.laws import decoupled_params as params_of
from bayescale.laws.common import N
from bayescale.laws.decoupled_options import checked, plain_design
from bayescale.laws.decoupled_parts import (
    Parts,
    data_mean,
    frontier_mean,
    table_check,
)
from bayescale.laws.memoised import memoised
from bayescale.noise import Noise
from bayescale.signature import taking


@memoised
def decoupled(
    objectives: tuple[str, ...] = ("text", "multimodal"),
    varying: tuple[str, ...] = ("multimodal",),
    varies: tuple[str, ...] | None = None,
    composition: str = "ratio",
    centre: float = 0.2,
    at: tuple[float, ...] = (0.1, 0.2, 0.3),
    sources: tuple[str, ...] | None = None,
    size: bool = True,
) -> Law:
    r"""Several objectives of one model, each with a Chinchilla law of its own tokens.

    At composition r, with :math:`C = 6 N D` of an objective's own tokens D,

    .. math:: L = E + a (N/N_c)^{-\gamma/a} + (1-a) (6 N_c D/C_c)^{-\gamma/(1-a)},

    so that N_opt = N_c (C/C_c)^a and L*(C) = E + (C_c/C)^gamma: Chinchilla's law about the optimum
    whose reducible loss is 1. An invariant objective has constants; of a varying one logit a,
    ln C_c and ln N_c are linear in r. What is sampled are Chinchilla's exponents and its terms at
    the centre of the data, and the slopes of logit a and of the reducible loss K and size N0 of
    the optimum at the budget there, 6 N D.

    Parameters
    ----------
    objectives : tuple of str
    varying : tuple of str
        Objectives whose law varies with the composition; () for none.
    varies : tuple of str, optional
        What varies, of ``a``, ``K``, ``N0``, ``gamma``; default: all but gamma. With a and
        without N0 the frontiers of all compositions meet where the reducible loss is 1. Without a
        size term of ``B`` and ``beta``; default: B.
    composition : {"ratio", "share"}
        Tokens of an objective over those of the first source (of the first itself: all others'
        over its own), or over all.
    centre : float
        Composition at which the constants of a varying objective are reported.
    at : tuple of float
        Compositions at which a and b are reported.
    sources : tuple of str, optional
        All that the models are trained on, where that is more than the objectives.
    size : bool
        False for runs of one size: L = E + B D^-beta.

    Raises
    ------
    LawError
        An objective, variation or composition is unknown.
    """
    from bayescale.families.family import recipe_of

    recipe = recipe_of(
        "decoupled", objectives=objectives, varying=varying, varies=varies,
        composition=composition, centre=centre, at=at, sources=sources, size=size,
    )  # fmt: skip
    parts = Parts(objectives, sources or objectives, varying, composition, centre)
    varies = checked(parts, varies, size)
    params = (params_of.frontier_params if size else params_of.data_params)(varies, parts.at)
    names = [p.name for p in params]
    inputs = ((N,) if size else ()) + (params_of.D, params_of.OBJECTIVE)
    turns = "a_slope" in names
    labels: dict[str, Any] = {"objective": objectives, "source": parts.sources}
    labels |= {"varying": varying} if varying else {}
    labels |= {"composition": tuple(f"{r:g}" for r in at)} if turns and at else {}
    return Law(
        name="decoupled" if size else "decoupled-data",
        title="Objectives of one model, each with its own tokens, by composition",
        inputs=inputs,
        params=params,
        mean=taking(
            [*names, *(i.name for i in inputs)], (frontier_mean if size else data_mean)(parts)
        ),
        terms=("E", *(("size_term",) if size else ()), "data_term"),
        slopes=(*((("alpha", "size_term"),) if size else ()), ("beta", "data_term")),
        equation=params_of.equation(size, names),
        reference=Reference("text and multimodal objectives apart", "2607.22043", "C_o = 6 N D_o"),
        derived=params_of.frontier_derived(at, centre, parts.at, turns)
        if size
        else params_of.data_derived(varies, parts.at),
        labels=labels,
        noise=Noise(by="objective") if len(objectives) > 1 else None,
        check=table_check(parts),
        design=lambda: plain_design(parts, size),
        signs=tuple(n for n in names if n.endswith("_slope")),
        recipe=recipe,
        note="The compute of an objective is that on its own tokens, C = 6 N D.",
    )
