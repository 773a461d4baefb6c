"""Mixtures of domains: shares of the training data, and a loss on each domain."""

from bayescale.data.catalog.record import NONE_STATED, RAW, DataSet
from bayescale.data.curves.options import Curves

_NO_LOSS = {"loss": ""}  # a loss a domain, none of them the loss


def _mixing(name: str, file: str, sha256: str, title: str, where: str | None = None) -> DataSet:
    return DataSet(
        name=name,
        title=title,
        file=f"mixinglaws/{file}",
        sha256=sha256,
        columns={"N": "n_params_nonembedding", "D": "n_tokens", **_NO_LOSS},
        where=where,
        curves=Curves(run="run_id", last=True),
        citation="Ye et al. (2024), arXiv:2403.16952",
        licence=NONE_STATED,
        note="The last checkpoint of each run; runs end at different steps. N is non-embedding.",
        laws=("mixture", "decoupled"),
    )


MIXTURES: tuple[DataSet, ...] = (
    DataSet(
        name="slimpajama-mixtures",
        title="61 mixtures of seven SlimPajama domains, 122M to 2.7B, loss on eight domains",
        file="slimpajama_mixtures/dmsl_llm_slimpajama.csv",
        sha256="9c950a9f96e058318cfcefde5835143525937186163f4c2345b030ef0ea0519f",
        url=f"{RAW}/meiqwq/Explaining-Data-Mixing-Scaling-Laws/"
        "c2bf1106e8e54b8d368cd6de2515d4804f1c8a36/data/dmsl_llm_slimpajama.csv",
        columns={"N": "model_size", "D": "n_tokens", **_NO_LOSS},
        curves=Curves(run=("weight_*", "model_size"), last=True),
        citation="runs appear to be those of Shukor et al. (2025), arXiv:2507.09404 (inferred: the "
        "repository does not say)",
        licence=NONE_STATED,
        note="The last checkpoint of each of 224 runs. openhermes is a target without a source.",
        laws=("mixture",),
    ),
    _mixing(
        "mixinglaws-two", "two_domain.csv",
        "2ece123b93f7c561e8e0ae634f57dddec3ae2f8e250eeef67c98591fd255b911",
        "GitHub and Pile-CC at several ratios, 70M and 160M",
    ),
    _mixing(
        "mixinglaws-three", "three_domain.csv",
        "ad136ac0a38f0b5612412f4b68181de6e647adc0961149a9e461eba44782e057",
        "GitHub, Books3 and Pile-CC, 70M to 410M",
    ),
    _mixing(
        "mixinglaws-five", "five_domain.csv",
        "59ceeb2cfdcf9b204db61c222c470e9a10768c6bc00be99700323a1ed3fe93cb",
        "five groups of the Pile, 70M to 410M, loss on 22 domains at 30,000 steps",
        where="step == 30000",
    ),
    DataSet(
        name="code-mix",
        title="C4 text mixed with Python code in ten shares, 4.2B parameters, 84B tokens",
        file="datablations_code_mix/code_mix.csv",
        sha256="81351cc79cf755d986b13350750fe0e25ed61c475356a5dae053d615a7dbc9a4",
        columns={"N": "n_params", "D": "n_tokens", **_NO_LOSS},
        citation="Muennighoff et al. (2023), arXiv:2305.16264",
        licence="Apache-2.0",
        note="One size and one budget: the size term and the irreducible loss are one constant. "
        "Only the loss on text is given.",
        laws=("mixture",),
    ),
    DataSet(
        name="bilingual",
        title="English with a clone of itself or with French, at several ratios, one size",
        file="bilingual_ratio/bilingual_ratio.csv",
        sha256="d5929f452e8d52d869da8634895ac2b9eddb4f699293e0816c1fbde5b6d3c47b",
        columns={"D": "n_tokens", **_NO_LOSS},
        where="n_languages == 2 and run_id != '21pdcxga'",
        citation="Schaefer et al. (2024), arXiv:2404.07982",
        licence="Apache-2.0",
        note="One size (GPT-2 small), so no size term. Run 21pdcxga forgot English and is left "
        "out. Vocabulary and schedule differ between runs.",
        laws=("decoupled",),
    ),
)  # fmt: skip
