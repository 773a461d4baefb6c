"""The 268-run grid of text, vision and audio mixtures with repetition.

From the paper "Scaling Laws for Multimodal Data Mixtures" (text, vision and audio; MoE models of
457M to 8.3B parameters). Its text lists 42 runs at each of six sizes, 252 in all. What the other 16
are it doesn't say; here they repeat eight runs at the smallest and the largest size.
"""

from itertools import product
from typing import TYPE_CHECKING

from bayescale.data.designs.truth import Truth, by_label, published, stand_ins

if TYPE_CHECKING:
    import pandas as pd

MODALITIES = ("text", "vision", "audio")
WIDTHS = (384, 512, 768, 1024, 1536, 2048)  # the ends are the paper's, the rest stand-ins
REPEATED = ((20, 0, 0), (40, 0, 0), (0, 15, 0), (0, 25, 0), (0, 0, 15), (0, 0, 25),
            (25, 25, 0), (25, 0, 25))  # fmt: skip
SMALL = (5, 10, 15, 20, 25)
THREE_WAY = ((45, 5), (41.5, 8.5), (37.5, 12.5), (33, 17), (25, 25))
B = 1e9

Tokens = tuple[float, float, float]


def n_params(width: int) -> tuple[float, float]:
    """Total and active parameters of a model of this width, from the architecture in the paper.

    32 layers, 16 attention heads and 4 key-value heads (2.5 d^2), 17 SwiGLU experts of hidden size
    d (3 d^2 each) of which 3 are active, and untied embeddings of 131K + 131K + 4K tokens. Gives
    the paper's 457M at d = 384 and 8.3B with 2.6B active at d = 2048.
    """
    embeddings = 2 * (2 * 131_072 + 4_096) * width
    total = 32 * (2.5 + 3 * 17) * width**2 + embeddings
    active = 32 * (2.5 + 3 * 3) * width**2 + embeddings
    return total, active


def mixtures() -> list[tuple[str, Tokens, Tokens]]:
    """Kind, sampled and unique tokens (in billions) of text, vision, audio: 42 runs a size."""
    once: list[tuple[str, Tokens]] = [("text alone", (t, 0, 0)) for t in (10, 20, 40, 100)]
    once += [("vision alone", (0, v, 0)) for v in SMALL]
    once += [("audio alone", (0, 0, a)) for a in SMALL]
    once += [("text and vision", (100 - v, v, 0)) for v in SMALL]
    once += [("text and audio", (100 - a, 0, a)) for a in SMALL]
    once += [("balanced", (25, 25, 0)), ("balanced", (25, 0, 25)), ("balanced", (0, 25, 25))]
    once += [("three-way", (100, v, a)) for v, a in THREE_WAY]
    found: list[tuple[str, Tokens, Tokens]] = [(kind, tokens, tokens) for kind, tokens in once]
    for seen in (5 * epochs for epochs in (1, 2, 3, 4, 5)):
        found.append(("repeated vision", (100 - seen, seen, 0), (100 - seen, 5, 0)))
        found.append(("repeated audio", (100 - seen, 0, seen), (100 - seen, 0, 5)))
    return found


def design() -> "pd.DataFrame":
    """Inputs of the 268 runs, one row for each modality that a run trains on.

    Returns
    -------
    DataFrame
        ``run``, ``kind``, ``N`` (total parameters), ``N_active``, ``D_<modality>`` sampled and
        ``U_<modality>`` unique tokens, ``target`` (the modality whose loss a row will hold).
    """
    import pandas as pd

    rows = []
    for (size, width), (place, mixture) in product(enumerate(WIDTHS, 1), enumerate(mixtures(), 1)):
        kind, sampled, unique = mixture
        total, active = n_params(width)
        twice = size in (1, len(WIDTHS)) and sampled in REPEATED
        for copy in ("", "-again")[: 1 + twice]:
            record = {"run": f"m{size}-{place:02d}{copy}", "kind": kind}
            record |= {"N": total, "N_active": active}
            record |= {f"D_{m}": d * B for m, d in zip(MODALITIES, sampled, strict=True)}
            record |= {f"U_{m}": u * B for m, u in zip(MODALITIES, unique, strict=True)}
            rows += [record | {"target": m} for m, d in zip(MODALITIES, sampled, strict=True) if d]
    return pd.DataFrame(rows)


def truth() -> Truth:
    """The published coefficients, and stand-ins for E, A, B and what else isn't published.

    Returns
    -------
    Truth
        ``E, A, B, alpha, beta, c`` by modality (``alpha[text]``), ``R_star`` of vision and audio
        (text is repeated in no run), ``v[source→target]``, ``sigma``.
    """
    alpha = {"text": 0.34, "vision": 0.50, "audio": 0.32}
    beta = {"text": 0.34, "vision": 0.51, "audio": 0.52}
    size_term = {"text": 0.30, "vision": 0.35, "audio": 0.30}
    data_term = {"text": 0.35, "vision": 0.45, "audio": 0.30}
    A = {m: size_term[m] * 2e9 ** alpha[m] for m in MODALITIES}
    tokens = {"text": 40 * B, "vision": 15 * B, "audio": 15 * B}
    big_b = {m: data_term[m] * tokens[m] ** beta[m] for m in MODALITIES}
    v = {
        "v[vision→text]": -0.558,
        "v[text→vision]": -0.583,
        "v[vision→audio]": -0.795,
        "v[text→audio]": -0.102,
        "v[audio→text]": 0.146,
        "v[audio→vision]": 0.130,
    }
    paper = "Scaling Laws for Multimodal Data Mixtures"
    values = [
        *stand_ins(
            "the order of token losses with vocabularies of 131K and 4K",
            by_label("E", {"text": 1.6, "vision": 3.2, "audio": 2.4}),
        ),
        *stand_ins("a size term of .30 to .35 nats at N = 2B", by_label("A", A)),
        *stand_ins("a data term of .30 to .45 nats at 40B text, 15B other", by_label("B", big_b)),
        *published(f"{paper}, Table 1", by_label("alpha", alpha) | by_label("beta", beta)),
        *published(
            f"{paper}, section 5",
            by_label("c", {"text": -0.46, "vision": -0.85, "audio": -1.87}),
        ),
        *published(f"{paper}, section 5", by_label("R_star", {"vision": 1.00, "audio": 1.76})),
        *published(f"{paper}, Figure 3", v),
        *stand_ins("the paper's spread between seeds is below .3%", {"sigma": 0.002}),
    ]
    return Truth("268 runs of text, vision and audio mixtures", tuple(values))


def simulate_mixture_grid(seed: int = 0) -> "pd.DataFrame":
    """Simulate the 268 runs with the mixture law as the paper has it.

    Parameters
    ----------
    seed : int

    Returns
    -------
    DataFrame
        Columns of `design` and ``loss`` (nats/token); noise is normal on log loss.
    """
    from bayescale.data.simulate import simulate
    from bayescale.laws.mixture import mixture
    from bayescale.noise import log_normal

    known, table = truth(), design()
    law = mixture(MODALITIES, repetition=("vision", "audio"))
    noise = log_normal(by="target")
    params: dict[str, object] = {"sigma": known["sigma"]}
    for param in law.params:
        labels = law.axes[param.by or param.dims[0]]
        params[param.name] = {label: known[f"{param.name}[{label}]"] for label in labels}
    inputs = {str(c): table[c].to_numpy() for c in table}
    return simulate(law, params, inputs, noise=noise, seed=seed)
