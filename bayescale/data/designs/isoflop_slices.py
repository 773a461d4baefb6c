"""IsoFLOP slices of the text/multimodal paper: each objective's loss at budgets on its own tokens.

The grid of `text_multimodal` crosses sizes and tokens; the paper's first estimator reads slices,
at C = 6 N D of an objective's own tokens D (arXiv:2607.22043).
"""

from typing import TYPE_CHECKING

import numpy as np

from bayescale.data.designs.text_multimodal import OBJECTIVES, chinchilla_at, truth
from bayescale.data.designs.truth import Known, Truth

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED = {
    "text": {0.0: 0.697, 0.1: 0.684, 0.2: 0.667, 0.3: 0.663},
    "multimodal": {0.1: 0.709, 0.2: 0.679, 0.3: 0.643},
}
JOINT = {0.1: 0.69, 0.3: 0.66}  # N against all compute
BUDGETS = tuple(float(f"{c:.3g}") for c in np.geomspace(3e18, 3e21, 7))
SIZES, WIDEST = 8, 5.0  # sizes of a slice, over a factor of five either way of a round guess


def exponent_truth(objective: str, ratio: float) -> Truth:
    """The truth of the grid, with an objective's own published exponent at a ratio.

    The grid has one exponent of text at all ratios, as a law that leaves text invariant needs;
    the paper's four differ a little.
    """
    known = dict(truth().values)
    name = "a[text]" if objective == "text" else f"a[multimodal,{ratio:g}]"
    known[name] = Known(PUBLISHED[objective][ratio], "arXiv:2607.22043, IsoFLOP")
    return Truth("text/multimodal slices", tuple(known.items()))


def slice_sizes(budget: float) -> np.ndarray:
    """Sizes tried at a budget: around 20 tokens a parameter, whatever the optimum is."""
    return np.sqrt(budget / 120) * np.geomspace(1 / WIDEST, WIDEST, SIZES)


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
    N = np.concatenate([slice_sizes(c) for c in BUDGETS])
    C = np.repeat(BUDGETS, SIZES)
    own = [seed, OBJECTIVES.index(objective), round(100 * ratio)]
    state = int(np.random.SeedSequence(own).generate_state(1)[0])
    inputs = {"N": N, "D": C / (6 * N), "C": C}
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

    N = np.concatenate([slice_sizes(c) for c in BUDGETS])
    C = np.repeat(BUDGETS, SIZES)
    table = {"N": N, "D": C / (6 * N), "C": C}
    share = {"text": 1 / (1 + ratio), "multimodal": ratio / (1 + ratio)}
    for place, objective in enumerate(OBJECTIVES):
        known = exponent_truth(objective, ratio)
        p = chinchilla_at(known, objective, ratio)
        own = share[objective] * table["D"]
        mean = p["E"] + p["A"] * N ** -p["alpha"] + p["B"] * own ** -p["beta"]
        rng = np.random.default_rng([seed, place, round(100 * ratio)])
        table[f"loss_{objective}"] = mean * np.exp(known["sigma"] * rng.standard_normal(len(N)))
    table["loss"] = sum(share[o] * table[f"loss_{o}"] for o in OBJECTIVES)
    return pd.DataFrame(table)
