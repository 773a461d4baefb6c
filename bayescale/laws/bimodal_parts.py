"""Parts of the bimodal law: inputs, parameters with priors, mean, check, a plain design."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from bayescale.arrays import namespace, power
from bayescale.errors import DataError
from bayescale.law import Coordinate, Input, Param
from bayescale.laws.common import coefficient, exponent, irreducible_loss
from bayescale.priors import LogNormal, Normal

Values = Mapping[str, Any]
Pairs = tuple[tuple[str, str], ...]
MODALITY, PAIR, PLUS = ("modality",), ("pair",), "+"
D = Input("D", "training tokens of each modality", "tokens", MODALITY, positive=False, at_least=0.0)
TARGET = Input("target", "modality or pair of a run", "name", ("target",), kind="label")
COST = LogNormal(0.03, 1.5)
LEAST = 1e-3  # nats: a prior draw's gain may exceed the whole loss, which no data's does
WHY_COST = "competition costs some hundredths of a nat at the centre; two prior SDs: .0015 to .6"

_ALONE = (
    irreducible_loss(),
    coefficient("A", "size_term", "alpha", "N", "size term at N = 1", "loss due to finite size"),
    coefficient("B", "data_term", "beta", "D", "data term at D = 1", "loss due to finite data"),
    exponent("alpha", "size exponent", r"\alpha"),
    exponent("beta", "data exponent", r"\beta"),
)
# the data see costs and gain as one number at their centre
_NET = Coordinate(
    "net_cost",
    to_param=lambda net_cost, size_cost, data_cost: size_cost + data_cost - net_cost,
    from_param=lambda C_pair, A_pair, alpha_pair, N_ref, B_pair, beta_pair, D_ref: (
        A_pair * power(N_ref, -alpha_pair) + B_pair * power(D_ref, -beta_pair) - C_pair
    ),
    meaning="costs less gain of training two together at the data's geometric means",
    unit="nats/token",
)
_TOGETHER = (
    Param("C_pair", Normal(0.0, 0.2), "largest gain of training two together", "nats/token",
          "C_{ij}", coordinate=_NET, why="joint training gains or costs a tenth of a nat or two"),
    replace(coefficient("A_pair", "size_cost", "alpha_pair", "N", "competition for size at N = 1",
                        "competition for size"), prior=COST, why=WHY_COST, latex="A_{ij}"),
    replace(coefficient("B_pair", "data_cost", "beta_pair", "D", "competition for data at D = 1",
                        "competition for data"), prior=COST, why=WHY_COST, latex="B_{ij}"),
    exponent("alpha_pair", "exponent of the competition for size", r"\alpha_{ij}"),
    exponent("beta_pair", "exponent of the competition for data", r"\beta_{ij}"),
)  # fmt: skip
ALONE = tuple(replace(p, dims=MODALITY) for p in _ALONE)
TOGETHER = tuple(replace(p, dims=PAIR) for p in _TOGETHER)


def membership(modalities: tuple[str, ...], pairs: Pairs) -> np.ndarray:
    """Which modalities a pair has, shape (pair, modality)."""
    held = [[float(m in pair) for m in modalities] for pair in pairs]
    return np.array(held).reshape(len(pairs), len(modalities))


def law_mean(modalities: tuple[str, ...], pairs: Pairs) -> Callable[[Values], Any]:
    """The law's mean as a function of a mapping of parameters and inputs."""
    member = membership(modalities, pairs)
    weight = np.concatenate([np.eye(len(modalities)), member / 2])

    def mean(v: Values) -> Any:
        """Mean of the modalities' own losses, less the gain and plus the costs of a pair."""
        xp = namespace(v["E"], v["D"])
        N, D = xp.expand_dims(v["N"], axis=-1), v["D"]
        tokens = xp.where(D > 0, D, 1.0)  # what a run lacks has no weight
        own = v["E"] + v["A"] * power(N, -v["alpha"]) + v["B"] * power(tokens, -v["beta"])
        loss = (own * (v["target"] @ weight)).sum(-1)
        if not pairs:
            return loss
        joint = D @ member.T
        joint = xp.where(joint > 0, joint, 1.0)
        of_size = v["A_pair"] * power(N, -v["alpha_pair"])
        of_data = v["B_pair"] * power(joint, -v["beta_pair"])
        of_pair = v["target"][..., len(modalities) :]
        loss = loss + ((of_size + of_data - v["C_pair"]) * of_pair).sum(-1)
        return xp.maximum(loss, LEAST)

    return mean


def table_check(
    modalities: tuple[str, ...], pairs: Pairs
) -> Callable[[Mapping[str, np.ndarray], np.ndarray], None]:
    """Runs have tokens of what their target names, and of nothing else."""
    has = np.concatenate([np.eye(len(modalities)), membership(modalities, pairs)]) > 0
    names = (*modalities, *(PLUS.join(pair) for pair in pairs))

    def check(columns: Mapping[str, np.ndarray], row_numbers: np.ndarray) -> None:
        target = columns["target"].argmax(axis=1)
        wrong = (columns["D"] > 0) != has[target]
        if not wrong.any():
            return
        row, at = (int(x) for x in np.argwhere(wrong)[0])
        name, modality = names[target[row]], modalities[at]
        lack = "no" if has[target[row], at] else f"{columns['D'][row, at]:.4g}"
        raise DataError(
            f"row {int(row_numbers[row])} is of '{name}' but has {lack} tokens of '{modality}' "
            f"(D_{modality}); the law is of one modality or two: correct the row or leave it out."
        )

    return check


def plain_design(modalities: tuple[str, ...], pairs: Pairs) -> dict[str, Any]:
    """Six sizes and five token counts, each modality alone and each pair half and half."""
    runs = [((m,), m) for m in modalities] + [(pair, PLUS.join(pair)) for pair in pairs]
    rows = []
    for n, tokens, (members, name) in product(
        np.geomspace(8e6, 3e10, 6), np.geomspace(2e9, 1e11, 5), runs
    ):
        held = {f"D_{m}": tokens / len(members) if m in members else 0.0 for m in modalities}
        rows.append({"N": n, **held, "target": name})
    return {name: [row[name] for row in rows] for name in rows[0]}
