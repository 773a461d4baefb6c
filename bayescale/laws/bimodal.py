"""Bimodal law: what two modalities do to each other beside the mean of their own laws."""

from bayescale.errors import LawError
from bayescale.law import Derived, Law, Reference
from bayescale.laws.bimodal_parts import (
    ALONE,
    MODALITY,
    PLUS,
    TARGET,
    TOGETHER,
    D,
    Pairs,
    law_mean,
    plain_design,
    table_check,
)
from bayescale.laws.common import N
from bayescale.laws.memoised import memoised
from bayescale.signature import taking


@memoised
def bimodal(
    modalities: tuple[str, ...] = ("text", "speech"), pairs: Pairs = (("text", "speech"),)
) -> Law:
    r"""Runs on one modality alone and on pairs of them, with one loss a run.

    A run on one modality has Chinchilla's loss :math:`L_i = E_i + A_i N^{-\alpha_i} + B_i
    D_i^{-\beta_i}`; one on two has the mean of theirs, less the gain of training them together,
    plus what their competition for parameters and tokens costs:

    .. math:: L_{ij} = (L_i + L_j)/2 - C_{ij} + A_{ij} N^{-\alpha_{ij}}
              + B_{ij} (D_i + D_j)^{-\beta_{ij}}

    Parameters
    ----------
    modalities : tuple of str
    pairs : tuple of (str, str)
        Modalities that were trained together, two at a time.

    Raises
    ------
    LawError
        A pair names a modality that isn't there, or one twice.
    """
    from bayescale.families.family import recipe_of

    for pair in pairs:
        if len(set(pair)) != 2 or not set(pair) <= set(modalities):
            raise LawError(
                f"law 'bimodal': the pair {pair!r} is not two of {', '.join(modalities)}."
            )
    params = (*ALONE, *(TOGETHER if pairs else ()))
    both = tuple(PLUS.join(pair) for pair in pairs)
    costs = (("alpha_pair", "size_cost"), ("beta_pair", "data_cost")) if pairs else ()
    return Law(
        name="bimodal",
        title="Two modalities trained together: synergy and competition",
        inputs=(N, D, TARGET),
        params=params,
        mean=taking([*(p.name for p in params), "N", "D", "target"], law_mean(modalities, pairs)),
        terms=("E", "size_term", "data_term"),
        slopes=(("alpha", "size_term"), ("beta", "data_term"), *costs),
        equation=(
            r"L = \frac{L_i + L_j}{2} - C_{ij} + \frac{A_{ij}}{N^{\alpha_{ij}}}"
            r" + \frac{B_{ij}}{(D_i + D_j)^{\beta_{ij}}}, \quad"
            r" L_i = E_i + \frac{A_i}{N^{\alpha_i}} + \frac{B_i}{D_i^{\beta_i}}"
        ),
        reference=Reference("Aghajanyan et al. 2023", "2301.03728", "bimodal law"),
        derived=(
            Derived(
                "a",
                lambda alpha, beta: beta / (alpha + beta),
                "allocation exponent of N for one modality",
                "",
                "a",
                MODALITY,
            ),
        ),
        labels={
            "modality": modalities,
            "target": (*modalities, *both),
            **({"pair": both} if pairs else {}),
        },
        check=table_check(modalities, pairs),
        design=lambda: plain_design(modalities, pairs),
        signs=("C_pair",) if pairs else (),
        recipe=recipe_of("bimodal", modalities=modalities, pairs=pairs),
        note="C, A and B of a pair are told apart by how its loss bends in N and D alone.",
    )
