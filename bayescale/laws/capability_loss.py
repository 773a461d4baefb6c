"""Capability-driven law of loss: the size term of Chinchilla with capability in place of size."""

from typing import Any

from bayescale.arrays import namespace, power
from bayescale.law import Coordinate, Input, Law, Param, Reference
from bayescale.laws.backbones import Backbones
from bayescale.laws.capability_derived import direction_quantities
from bayescale.laws.common import (
    TERM,
    WHY_TERM,
    D,
    coefficient,
    exponent,
    irreducible_loss,
)
from bayescale.laws.memoised import memoised
from bayescale.noise import Noise
from bayescale.priors import LogNormal
from bayescale.signature import taking

WHY_SENSITIVITY = (
    "scores spread over .2 to .4 in accuracy, and the term changes by a factor e or so over them"
)
WHY_TILT = "more text capability helps: half of all directions within about 45 degrees of it"


@memoised
def capability_loss(backbones: Backbones, *, offsets: bool = True) -> Law:
    r"""Training loss from the backbone's text scores and the multimodal data.

    .. math:: L = E + A e^{-\alpha S} + \frac{B}{D^{\beta}}, \quad
              S = w^\top s, \; \lVert w \rVert = 1

    (arXiv:2608.00013, eq. 6). A is sampled as its term at the mean score of the observed
    backbones, B as its term at the data's centre.

    Parameters
    ----------
    backbones : Backbones
        Observed models with their scores.
    offsets : bool
        Whether checkpoints of one model share an offset of log loss (column ``model``).

    Returns
    -------
    Law
        Reads S_1 to S_K and D; response ``loss`` in nats per token.
    """
    from bayescale.families.family import recipe_of

    middle = backbones.array.mean(axis=0)
    tilted = ("tilt",) if backbones.count > 1 else ()

    def at_middle(v: Any) -> Any:
        """exp(-alpha S) at the mean score."""
        along = (backbones.direction(v.get("tilt")) * middle).sum(-1)
        return namespace(v["alpha"], along).exp(-v["alpha"] * along)

    def mean(v: Any) -> Any:
        """L = E + A exp(-alpha S) + B D^-beta."""
        along = (v["S"] * backbones.direction(v.get("tilt"))).sum(-1)
        xp = namespace(v["alpha"], along)
        size = v["A"] * xp.exp(-v["alpha"] * along)
        return v["E"] + size + v["B"] * power(v["D"], -v["beta"])

    term = Coordinate(
        "capability_term",
        taking(
            ("capability_term", "alpha", *tilted), lambda v: v["capability_term"] / at_middle(v)
        ),
        taking(("A", "alpha", *tilted), lambda v: v["A"] * at_middle(v)),
        "loss due to finite capability at the backbones' mean score",
        "nats/token",
    )
    sensitive, why = LogNormal(1.5, 0.8), WHY_SENSITIVITY
    params = [
        irreducible_loss(),
        Param(
            "A", TERM, "capability term at S = 0", "nats/token", "A", coordinate=term, why=WHY_TERM
        ),
        coefficient("B", "data_term", "beta", "D", "data term at D = 1", "loss due to finite data"),
        Param("alpha", sensitive, "decay of the term per unit of S", "", r"\alpha", why=why),
        exponent("beta", "data exponent", r"\beta"),
    ]
    if tilted:
        prior, meaning = backbones.tilt_prior, "tilt of w off the first component"
        params.append(Param("tilt", prior, meaning, "", "t", ("tilted",), why=WHY_TILT))
    S = Input("S", "capability score of the backbone", "accuracy", ("component",), positive=False)
    labels = {"component": backbones.components} | (
        {"tilted": backbones.components[1:]} if tilted else {}
    )
    if backbones.scores:
        labels["benchmark"] = backbones.scores.benchmarks
    return Law(
        name="capability-loss",
        title="Multimodal loss from a backbone's text benchmarks and data",
        inputs=(S, D),
        params=tuple(params),
        mean=taking([x.name for x in (*params, S, D)], mean),
        terms=("E", "capability_term", "data_term"),
        slopes=(("alpha", "capability_term"), ("beta", "data_term")),
        equation=r"L = E + A \exp{\left(-\alpha S \right)} + \frac{B}{D^{\beta}}",
        reference=Reference("Capability-driven multimodal scaling law", "2608.00013", "eq. 6"),
        derived=direction_quantities(backbones),
        labels=labels,
        noise=Noise(runs="model" if offsets else None),
        design=backbones.design,
        signs=("lambda",) if backbones.scores else (),
        recipe=recipe_of("capability-loss", backbones=backbones.to_dict(), offsets=offsets),
    )
