"""Capability-driven law of accuracy: transfer from the backbone, absorption of data."""

from bayescale.errors import LawError
from bayescale.law import Input, Law, Param, Reference
from bayescale.laws.backbones import Backbones
from bayescale.laws.capability_derived import derived_quantities
from bayescale.laws.capability_mean import Mean
from bayescale.laws.memoised import memoised
from bayescale.noise import Noise
from bayescale.priors import LogNormal, Normal, Uniform
from bayescale.signature import taking

PAPER = "Capability-driven multimodal scaling law"
ABSORPTIONS = ("falling", "free", "constant", "none")
WHY_LEVEL = "benchmarks sit between chance and full marks; two prior SDs: 0 to 1"
WHY_TRANSFER = "published .21 to .36 per unit of score; a factor e either way"
WHY_TILT = "more text capability helps: half of all directions within about 45 degrees of it"
WHY_ABSORPTION = "published .012 to .021 an e-fold of data; a factor e either way"
WHY_DECAY = "below 1 no observed backbone loses accuracy with data; published .2 to .7"
WHY_EFFECT = "instruction tuning moves accuracy by a few percent either way"
LINKS = {"identity": 1.0, "logit": 4.0}  # log odds move four times as fast as accuracy at a half


@memoised
def capability(
    backbones: Backbones,
    *,
    link: str = "identity",
    absorption: str = "falling",
    effects: tuple[str, ...] = (),
    centre: float = 25e9,
    reference: float = 1e9,
    offsets: bool = True,
) -> Law:
    r"""Accuracy after multimodal training from the backbone's text scores and the data.

    .. math:: P = P_0 + \hat A S + \hat B \ln\frac{D}{D_0}, \quad
              \hat B = \bar B \left(1 - \phi \frac{S - \bar S}{S_{max} - \bar S}\right), \quad
              S = w^\top s, \; \lVert w \rVert = 1

    which is P = A S + (B0 - Bm S) ln D + P0 (arXiv:2608.00013, eq. 7 and 8) with ln D centred and
    Bm = phi B_bar/(S_max - mean S): phi between 0 and 1 is the share of the mean absorption that
    the strongest observed backbone has lost, so that no observed backbone absorbs less than 0.

    Parameters
    ----------
    backbones : Backbones
        Observed models with their scores; with families, mean and maximum of S are the family's
        own. Pool ``P0``, ``A``, ``B_bar`` and ``phi`` over "family"; w is shared.
    link : {"identity", "logit"}
        Whether the equation is of the accuracy or of its log odds.
    absorption : {"falling", "free", "constant", "none"}
        phi in (0, 1); any phi, so that P(B_hat < 0) is asked of the data; phi = 0; no data term.
    effects : tuple of str
        Columns of numbers with an additive effect, such as chat (0 or 1) or date.
    centre : float
        D0 in tokens: P0 and A are those of a backbone trained on so many.
    reference : float
        Tokens at which A is reported beside; the paper's numbers most likely count billions.
    offsets : bool
        Whether checkpoints of one model share an offset (column ``model``).

    Returns
    -------
    Law
        Response ``accuracy``, a fraction; reads S_1 to S_K, D, family and the effects' columns.
    """
    from bayescale.families.family import recipe_of

    if link not in LINKS or absorption not in ABSORPTIONS:
        raise LawError(
            f"capability law with link '{link}', absorption '{absorption}'; expected one of "
            f"{', '.join(LINKS)} and one of {', '.join(ABSORPTIONS)}."
        )
    mean = Mean(backbones, link, absorption, tuple(effects), float(centre))
    inputs, params = _inputs(mean), _params(mean, LINKS[link])
    options = {"link": link, "absorption": absorption, "effects": effects, "centre": centre}
    return Law(
        name="capability",
        title="Accuracy from a backbone's text benchmarks and multimodal data",
        inputs=inputs,
        params=params,
        mean=taking([x.name for x in (*params, *inputs)], mean),
        equation=mean.equation(),
        reference=Reference(PAPER, "2608.00013", "eq. 7 and 8"),
        derived=derived_quantities(mean, float(reference)),
        response="accuracy",
        response_unit="",
        labels=_labels(mean),
        noise=_noise(LINKS[link], link, offsets),
        design=mean.design,
        signs=("lambda",) + (("B_hat",) if absorption == "free" else ()),
        recipe=recipe_of(
            "capability",
            backbones=backbones.to_dict(),
            reference=reference,
            offsets=offsets,
            **options,
        ),
        note=f"P0 and A are at D = {centre:.3g} tokens." if absorption != "none" else "",
    )


def _inputs(mean: Mean) -> tuple[Input, ...]:
    listed = [
        Input("S", "capability score of the backbone", "accuracy", ("component",), positive=False)
    ]
    if mean.absorption != "none":
        # a number, since ln(D/D0) has tokens in it: in another unit it would be another law
        D = Input("D", "multimodal training tokens", "tokens", positive=False, at_least=1.0)
        listed.append(D)
    if mean.backbones.families and mean.falls:
        listed.append(Input("family", "family of the backbone", "name", ("family",), kind="label"))
    listed += [Input(n, f"covariate {n}", "as given", positive=False) for n in mean.effects]
    return tuple(listed)


def _params(mean: Mean, unit: float) -> tuple[Param, ...]:
    at = " at D0" if mean.absorption != "none" else ""
    level = Normal(0.5, 0.25) if mean.link == "identity" else Normal(0.0, 1.5)
    listed = [
        Param("P0", level, f"accuracy at S = 0{at}", mean.unit, "P_{0}", why=WHY_LEVEL),
        Param("A", LogNormal(0.25 * unit, 1.0), f"transfer{at}", mean.unit, "A", why=WHY_TRANSFER),
    ]
    if mean.backbones.count > 1:
        prior, meaning = mean.backbones.tilt_prior, "tilt of w off the first component"
        listed.append(Param("tilt", prior, meaning, "", "t", ("tilted",), why=WHY_TILT))
    if mean.absorption != "none":
        prior, meaning = LogNormal(0.015 * unit, 1.0), "mean absorption over backbones"
        listed.append(Param("B_bar", prior, meaning, mean.unit, "B_{mean}", why=WHY_ABSORPTION))
    if mean.falls:
        prior = Uniform(0.0, 1.0) if mean.absorption == "falling" else Normal(0.0, 1.0)
        meaning = "share of B_bar that the strongest backbone has lost"
        listed.append(Param("phi", prior, meaning, "", r"\phi", why=WHY_DECAY))
    for name in mean.effects:
        prior, latex = Normal(0.0, 0.05 * unit), rf"\delta_{{{name}}}"
        meaning = f"effect of {name}"
        listed.append(Param(f"effect_{name}", prior, meaning, mean.unit, latex, why=WHY_EFFECT))
    return tuple(listed)


def _labels(mean: Mean) -> dict[str, tuple[str, ...]]:
    known, found = mean.backbones, {"component": mean.backbones.components}
    if known.count > 1:
        found["tilted"] = known.components[1:]
    if known.families and mean.falls:
        found["family"] = known.family_names
    if known.scores:
        found["benchmark"] = known.scores.benchmarks
    return found | ({"backbone": known.names} if mean.falls and not known.families else {})


def _noise(unit: float, link: str, offsets: bool) -> Noise:
    """Scatter of a percent or so, and as much between models."""
    prior = LogNormal(0.01 * unit, 1.0)
    on = "response" if link == "identity" else "logit"
    return Noise(on=on, sigma=prior, run_sd=prior, runs="model" if offsets else None)
