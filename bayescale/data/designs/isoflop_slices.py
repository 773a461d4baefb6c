"""IsoFLOP slices of the text/multimodal paper: each objective's loss at budgets on its own tokens.

The grid of `text_multimodal` crosses sizes and tokens; the paper's first estimator reads slices,
at C = 6 N D of an objective's own tokens D (arXiv:2607.22043).
"""

from typing import TYPE_CHECKING

import numpy as np

from bayescale.data.designs.text_multimodal import BUDGET, OBJECTIVES, chinchilla_at, truth
from bayescale.data.designs.truth import Known, Truth

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED = {
    "text": {0.0: 0.697, 0.1: 0.684, 0.2: 0.667, 0.3: 0.663},
    "multimodal": {0.1: 0.709, 0.2: 0.679, 0.3: 0.643},
}
JOINT = {0.1: 0.69, 0.3: 0.66}  # N against all compute
SPAN, SLICES = 30.0, 7  # budgets over a factor of 30 either way of the grid's centre
SIZES, WIDEST = 8, 5.0  # sizes of a slice, over a factor of 5 either way of a guess
GUESS = 4e8, 0.6  # the guess at the grid's centre, and how it grows with compute


def exponent_truth(objective: str, ratio: float) -> Truth:
    """The truth of the grid, with an objective's own published exponent at a ratio.

    The grid has one exponent of text at all ratios, as a law that leaves text invariant needs;
    the paper's four differ a little.
    """
    known = dict(truth().values)
    name = "a[text]" if objective == "text" else f"a[multimodal,{ratio:g}]"
    known[name] = Known(PUBLISHED[objective][ratio], "arXiv:2607.22043, IsoFLOP")
    return Truth("text/multimodal slices", tuple(known.items()))


def slice_inputs(centre: float) -> dict[str, np.ndarray]:
    """N, D and C = 6 N D of slices around a budget, with sizes around a guess, not the optimum."""
    budgets = centre * np.geomspace(1 / SPAN, SPAN, SLICES)
    guess = GUESS[0] * (budgets / centre) ** GUESS[1]
    N = (guess[:, None] * np.geomspace(1 / WIDEST, WIDEST, SIZES)).ravel()
    C = np.repeat(budgets, SIZES)
    return {"N": N, "D": C / (6 * N), "C": C}


def simulate_slices(objective: str, ratio: float, seed: int = 0) -> "pd.DataFrame":
    """Simulate the slices of one objective at one ratio.

    Parameters
    ----------
    objective : {"text", "multimodal"}
    ratio : float
        Multimodal over text tokens, one of those published.
    seed : int

    Returns
    -------
    DataFrame
        N, D (the objective's own tokens), C = 6 N D, loss; normal noise on log loss.
    """
    from bayescale.data.simulate import simulate
    from bayescale.noise import log_normal

    known = exponent_truth(objective, ratio)
    params = chinchilla_at(known, objective, ratio) | {"sigma": known["sigma"]}
    own = [seed, OBJECTIVES.index(objective), round(100 * ratio)]
    state = int(np.random.SeedSequence(own).generate_state(1)[0])
    inputs = slice_inputs(BUDGET[objective])
    return simulate("chinchilla", params, inputs, noise=log_normal(), seed=state)


def simulate_joint(ratio: float, seed: int = 0) -> "pd.DataFrame":
    """Simulate both losses of models trained on all tokens at budgets of all compute.

    Returns
    -------
    DataFrame
        N, D (all tokens), C = 6 N D, loss_text, loss_multimodal, and ``loss``: their mean
        weighted by tokens.
    """
    import pandas as pd

    table = slice_inputs(BUDGET["text"])
    means = joint_means(ratio, table["N"], table["D"])
    for place, (objective, mean) in enumerate(means.items()):
        rng = np.random.default_rng([seed, place, round(100 * ratio)])
        noise = truth()["sigma"] * rng.standard_normal(len(mean))
        table[f"loss_{objective}"] = mean * np.exp(noise)
    text, other = (table[f"loss_{o}"] for o in OBJECTIVES)
    return pd.DataFrame(table | {"loss": (text + ratio * other) / (1 + ratio)})


def joint_means(ratio: float, N: np.ndarray, D: np.ndarray) -> dict[str, np.ndarray]:
    """Loss of each objective without noise, for models of N parameters on D tokens in all."""
    share = {"text": 1 / (1 + ratio), "multimodal": ratio / (1 + ratio)}
    found = {}
    for objective in OBJECTIVES:
        p = chinchilla_at(exponent_truth(objective, ratio), objective, ratio)
        own = share[objective] * D
        found[objective] = p["E"] + p["A"] * N ** -p["alpha"] + p["B"] * own ** -p["beta"]
    return found


def joint_exponent(ratio: float) -> float:
    """Exponent of the size with the least mean loss against all compute, without noise.

    How much each objective weighs depends on how steep its loss is, which is a stand-in here.
    """
    C = np.unique(slice_inputs(BUDGET["text"])["C"])[:, None]
    N = np.geomspace(1e6, 1e12, 60_001)
    text, other = joint_means(ratio, N, C / (6 * N)).values()
    best = N[np.argmin(text + ratio * other, axis=1)]
    return float(np.polyfit(np.log(C[:, 0]), np.log(best), 1)[0])
