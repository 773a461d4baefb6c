"""The text/multimodal grid: six sizes, four ratios of multimodal to text tokens.

From arXiv:2607.22043: native multimodal pre-training with mixture-of-experts models of 71M to 3B
active parameters on up to 250B text and 75B multimodal tokens. The paper fits IsoFLOP slices, each
run's learning rate ending at its own budget, so a point here is a run of its own.
"""

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from bayescale.data.designs.truth import Truth, by_label, published, stand_ins

if TYPE_CHECKING:
    import pandas as pd

OBJECTIVES = ("text", "multimodal")
SIZES = (71e6, 128e6, 340e6, 590e6, 874e6, 3e9)
RATIOS = (0.0, 0.1, 0.2, 0.3)
TEXT_TOKENS = tuple(float(f"{d:.3g}") for d in np.geomspace(4e9, 250e9, 7))
BUDGET = {"text": 1e20, "multimodal": 2e19}  # FLOP on an objective's own tokens at the centre
CENTRE = 0.2  # ratio at which the stand-ins hold
PAPER = "arXiv:2607.22043"


def design() -> "pd.DataFrame":
    """Inputs of the grid, one row for each run and objective.

    Returns
    -------
    DataFrame
        ``run``, ``N`` (active, non-embedding parameters), ``r`` (multimodal over text tokens),
        ``D_text`` and ``D_multimodal`` (tokens), ``objective`` (whose loss a row will hold; text
        alone where r = 0).
    """
    import pandas as pd

    rows = []
    for number, (size, ratio, tokens) in enumerate(product(SIZES, RATIOS, TEXT_TOKENS), 1):
        record = {"run": f"run-{number:03d}", "N": size, "r": ratio}
        record |= {"D_text": tokens, "D_multimodal": ratio * tokens}
        rows += [record | {"objective": o} for o in OBJECTIVES[: 1 + (ratio > 0)]]
    return pd.DataFrame(rows)


def truth() -> Truth:
    """The published allocation exponents, and stand-ins for what isn't published.

    Returns
    -------
    Truth
        ``a[text]`` and ``a[multimodal,r]``; ``E, K, gamma, N0`` by objective at the budget of
        `BUDGET` and, where the ratio matters, at `CENTRE`; ``K_slope`` and ``N0_slope`` of ln K
        and ln N0 in r; ``sigma``.
    """
    at_ratio = {"multimodal,0.1": 0.709, "multimodal,0.2": 0.679, "multimodal,0.3": 0.643}
    values = [
        *published(
            f"{PAPER}, IsoFLOP; the mean of .697, .684, .667, .663 at r = 0, .1, .2, .3",
            {"a[text]": float(np.mean([0.697, 0.684, 0.667, 0.663]))},
        ),
        *published(f"{PAPER}, IsoFLOP", by_label("a", at_ratio)),
        *stand_ins(
            "losses of text and of image tokens", by_label("E", {"text": 1.7, "multimodal": 1.3})
        ),
        *stand_ins(
            "reducible loss of the optimum at the centre of the grid",
            by_label("K", {"text": 0.75, "multimodal": 0.65}),
        ),
        *stand_ins(
            "Chinchilla has .154 to .178", by_label("gamma", {"text": 0.16, "multimodal": 0.17})
        ),
        *stand_ins(
            "the size in the middle of the grid",
            by_label("N0", {"text": 4.0e8, "multimodal": 4.5e8}),
        ),
        *stand_ins(
            "more multimodal tokens help their loss, and favour data",
            {"K_slope[multimodal]": -0.4, "N0_slope[multimodal]": -1.0},
        ),
        *stand_ins("smoothed training losses", {"sigma": 0.003}),
    ]
    return Truth("text/multimodal grid", tuple(values))


def chinchilla_at(known: Truth, objective: str, ratio: float) -> dict[str, float]:
    """E, A, B, alpha and beta of one objective at one ratio.

    Written with nothing but Chinchilla and its well-conditioned form, so that a simulated table
    doesn't rest on the law that is fitted to it.
    """
    varies = objective == "multimodal"
    a = known[f"a[{objective},{ratio:g}]" if varies else f"a[{objective}]"]
    off = ratio - CENTRE
    slope = {name: known[f"{name}_slope[{objective}]"] if varies else 0.0 for name in ("K", "N0")}
    K = known[f"K[{objective}]"] * np.exp(slope["K"] * off)
    size = known[f"N0[{objective}]"] * np.exp(slope["N0"] * off)
    tokens = BUDGET[objective] / (6 * size)
    alpha, beta = known[f"gamma[{objective}]"] / a, known[f"gamma[{objective}]"] / (1 - a)
    return {
        "E": known[f"E[{objective}]"],
        "A": K * a * size**alpha,
        "B": K * (1 - a) * tokens**beta,
        "alpha": alpha,
        "beta": beta,
    }


def simulate_text_multimodal(seed: int = 0) -> "pd.DataFrame":
    """Simulate the grid.

    Parameters
    ----------
    seed : int

    Returns
    -------
    DataFrame
        Columns of `design` and ``loss`` (nats/token); noise is normal on log loss.
    """
    from bayescale.data.simulate import simulate
    from bayescale.noise import log_normal

    known, table = truth(), design()
    table["loss"] = np.nan
    cells = [(o, r) for o in OBJECTIVES for r in RATIOS if o == "text" or r > 0]
    for place, (objective, ratio) in enumerate(cells):
        rows = table[(table["objective"] == objective) & (table["r"] == ratio)]
        params = chinchilla_at(known, objective, ratio) | {"sigma": known["sigma"]}
        inputs = {"N": np.asarray(rows["N"]), "D": np.asarray(rows[f"D_{objective}"])}
        own = int(np.random.SeedSequence([seed, place]).generate_state(1)[0])
        drawn = simulate("chinchilla", params, inputs, noise=log_normal(), seed=own)
        table.loc[rows.index, "loss"] = np.asarray(drawn["loss"])
    return table
