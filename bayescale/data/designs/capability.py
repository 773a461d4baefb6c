"""34 backbones of seven families, their text scores, and a vision-language model of each.

From arXiv:2608.00013: each backbone is scored on 40 text benchmarks and trained on the same
multimodal data, with checkpoints from 12.5B to 50B tokens. Scores come from a latent model of rank
three whose first axis is the published transfer vector, so that capability S is what they share
with it.
"""

from typing import TYPE_CHECKING

import numpy as np

from bayescale.data.designs.backbones import ACCURACY, FAMILIES, SIZES, TRANSFER, backbones
from bayescale.data.designs.truth import Truth, by_label, published, stand_ins

if TYPE_CHECKING:
    import pandas as pd

BENCHMARKS = tuple(TRANSFER)
CHECKPOINTS = (12.5e9, 20e9, 30e9, 40e9, 50e9)  # the ends are the paper's
PAPER = "arXiv:2608.00013"
OWN = tuple(f for f in FAMILIES if f in ACCURACY)  # families with coefficients of their own
OTHERS = tuple(f for f in FAMILIES if f not in ACCURACY)
UNKNOWN = {"Qwen2.5": 0.65, "Mistral": 0.05, "DeepSeek": -0.05}


def truth() -> Truth:
    """The published coefficients of each family, and stand-ins for what isn't published.

    Returns
    -------
    Truth
        Of accuracy: ``A, B0, Bm, P0`` by family (tokens in billions), ``instruct``,
        ``offset_sd``, ``accuracy_sigma``. Of the loss: ``ln_A, alpha, B, beta, E, loss_sigma``.
        Of the scores: ``S`` by family (mean capability), ``S_size`` (per e-fold of parameters),
        ``S_instruct``, ``score_sigma``, and ``lambda`` by benchmark (unit length).
    """
    pooled = np.mean([ACCURACY["base"], ACCURACY["instruct"]], axis=0)
    names = ("A", "B0", "Bm")
    own = {f"{n}[{f}]": ACCURACY[f][k] for f in OWN for k, n in enumerate(names)}
    rest = {f"{n}[{f}]": pooled[k] for f in OTHERS for k, n in enumerate(names)}
    # B-bar = B0 - Bm S-bar, so the tables imply each family's mean capability
    implied = {f: (ACCURACY[f][1] - ACCURACY[f][3]) / ACCURACY[f][2] for f in OWN}
    kinds = [ACCURACY["base"], ACCURACY["instruct"]]
    base, instruct = ((b0 - mean) / bm for _, b0, bm, mean in kinds)
    half = {"S_instruct": (instruct - base) / 2}
    length = float(np.sqrt(np.sum(np.square(list(TRANSFER.values())))))
    values = [
        *published(f"{PAPER}, Table 3", own),
        *stand_ins("the mean of Table 2's base and instruct fits", rest),
        *stand_ins("accuracies of .4 to .7", by_label("P0", {f: 0.5 for f in FAMILIES})),
        *stand_ins("a little below base models at the start", {"instruct": -0.01}),
        *stand_ins(
            "with accuracy_sigma, errors near Table 3's .6 to 1.3%",
            {"offset_sd": 0.010, "accuracy_sigma": 0.005},
        ),
        *stand_ins(
            "losses of 1.0 to 1.6 nats",
            {"ln_A": -1.2, "alpha": 1.2, "B": 1.5, "beta": 0.35, "E": 0.55},
        ),
        *stand_ins("errors near the published .0087 nats", {"loss_sigma": 0.010}),
        *published(f"{PAPER}, Tables 2 and 3: (B0 - mean B) / Bm", by_label("S", implied)),
        *published(f"{PAPER}, Table 2: half the difference of mean S", half),
        *stand_ins("72B lies above .6, 7B in the middle", by_label("S", UNKNOWN)),
        *stand_ins("the published range -.369 to .339 up to 8B", {"S_size": 0.22}),
        *stand_ins("three components hold 95% of the variance", {"score_sigma": 0.008}),
        *published(
            f"{PAPER}, Table 7, scaled to length 1",
            by_label("lambda", {b: x / length for b, x in TRANSFER.items()}),
        ),
    ]
    return Truth("34 backbones in 7 families", tuple(values))


def capabilities(known: Truth) -> np.ndarray:
    """S of each of the `backbones`, shape (model,)."""
    found = []
    for _, family, kind, size in backbones():
        middle = float(np.mean([np.log(s * 1e9) for _, s in SIZES[family]]))
        own = known[f"S[{family}]"] + known["S_size"] * (np.log(size) - middle)
        found.append(own + known["S_instruct"] * (1 if kind == "instruct" else -1))
    return np.array(found)


def design() -> "pd.DataFrame":
    """Inputs: one row for each backbone and checkpoint.

    Returns
    -------
    DataFrame
        ``model``, ``family``, ``kind`` (base or instruct), ``instruct`` (0 or 1), ``N``
        (parameters), ``D`` (multimodal tokens).
    """
    import pandas as pd

    return pd.DataFrame(
        [
            {"model": name, "family": family, "kind": kind, "instruct": float(kind == "instruct"),
             "N": size, "D": tokens}
            for name, family, kind, size in backbones()
            for tokens in CHECKPOINTS
        ]
    )  # fmt: skip


def simulate_scores(seed: int = 0) -> "pd.DataFrame":
    """Simulate the text scores, between 0 and 1.

    Two more axes lie beside capability: general ability, which grows with size and which every
    benchmark rewards, and one without meaning.

    Returns
    -------
    DataFrame
        A row for each model (its index), a column for each benchmark.
    """
    import pandas as pd

    known, models = truth(), backbones()
    fixed, rng = np.random.default_rng(34), np.random.default_rng(seed)
    S = capabilities(known)
    log_size = np.array([np.log(size) for *_, size in models])
    ability = 0.15 * (log_size - log_size.mean()) + fixed.normal(0, 0.25, len(models))
    other = fixed.normal(0, 0.4, len(models))
    transfer = known.vector("lambda", BENCHMARKS)
    rest = np.column_stack([np.ones(len(BENCHMARKS)), fixed.normal(size=len(BENCHMARKS))])
    axes = np.linalg.qr(np.column_stack([transfer, rest]))[0]
    axes *= np.sign(np.sum(axes * np.column_stack([transfer, rest]), axis=0))
    middle = fixed.uniform(0.4, 0.65, len(BENCHMARKS))
    scores = middle + np.column_stack([S, ability, other]) @ axes.T
    scores += known["score_sigma"] * rng.standard_normal(scores.shape)
    index = pd.Index([name for name, *_ in models], name="model")
    return pd.DataFrame(np.clip(scores, 0.0, 1.0), index=index, columns=list(BENCHMARKS))


def simulate_capability(seed: int = 0, missing: float = 0.0) -> "pd.DataFrame":
    """Simulate accuracy and loss of every checkpoint, with the scores of its backbone.

    Accuracy is A S + (B0 - Bm S) ln(D / 1B) + P0 (eqs. 7 and 8 of the paper), the loss
    exp(ln A - alpha S) + B (D / 1B)^-beta + E (eq. 6), with normal noise of either and an offset
    of each model's accuracy. Written from the paper's equations and not from the laws here, so that
    a fit of a law is a check of it.

    Parameters
    ----------
    seed : int
    missing : float
        Share of checkpoints without an accuracy (NaN).

    Returns
    -------
    DataFrame
        Columns of `design`, ``S``, ``accuracy``, ``loss`` and ``text_<benchmark>`` scores.
    """
    known, table = truth(), design()
    rng = np.random.default_rng([seed, 1])
    names = [name for name, *_ in backbones()]
    place = np.array([names.index(m) for m in table["model"]])
    S, x = capabilities(known)[place], np.log(table["D"].to_numpy() / 1e9)
    by_family = {
        n: np.array([known[f"{n}[{f}]"] for f in table["family"]]) for n in ("A", "B0", "Bm", "P0")
    }
    offset = known["offset_sd"] * rng.standard_normal(len(names))[place]
    accuracy = by_family["A"] * S + (by_family["B0"] - by_family["Bm"] * S) * x + by_family["P0"]
    accuracy += known["instruct"] * table["instruct"].to_numpy() + offset
    loss = np.exp(known["ln_A"] - known["alpha"] * S) + known["B"] * np.exp(-known["beta"] * x)
    table["S"] = S
    table["accuracy"] = accuracy + known["accuracy_sigma"] * rng.standard_normal(len(table))
    table["loss"] = loss + known["E"] + known["loss_sigma"] * rng.standard_normal(len(table))
    if missing:
        table.loc[rng.random(len(table)) < missing, "accuracy"] = np.nan
    return table.join(simulate_scores(seed).add_prefix("text_"), on="model")
