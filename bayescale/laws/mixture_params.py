"""Parameters of the mixture law with their priors."""

from dataclasses import replace

from bayescale.laws import mixture_sparse
from bayescale.laws.common import TERM, WHY_TERM, exponent, irreducible_loss
from bayescale.laws.mixture_centres import data_coordinate, size_coordinate
from bayescale.laws.mixture_plan import Plan
from bayescale.param import Coordinate, Param
from bayescale.priors import LogNormal, Normal

TRANSFER = Normal(0.0, 2.0)
WHY_TRANSFER = (
    "published: -.8 to .15 between modalities; close domains of text reach 7. Two prior SDs: a "
    "mixture made of the source changes the target's tokens by a factor of 55 either way"
)
WORTH = LogNormal(0.2, 1.2)
WHY_WORTH = (
    "published: .05 to .6 of an own token between domains of text, .09 for code in text; two prior "
    "SDs: .02 to 2.2"
)
RELATIVE = LogNormal(1.0, 1.0)
WHY_RELATIVE = "sources differ by a factor of 4 on average, and by 17 in two prior SDs"
CAPACITY = Normal(0.0, 1.0)
WHY_CAPACITY = (
    "published: -.5 to -1.9; two prior SDs: a target with a tenth of the tokens has a sixth of "
    "the size, or six times it"
)
EPOCHS = LogNormal(4.0, 1.2)
WHY_EPOCHS = "published: 1.0 (vision), 1.8 (audio), 15 (text); two prior SDs: .4 to 44"


def parameters(plan: Plan) -> tuple[Param, ...]:
    """All parameters of the law: A, B and exponents by target, transfers, capacity, repetition."""
    return tuple(
        [replace(irreducible_loss(), by="target")]
        + (_size_term(plan) if plan.size else [])
        + _data_term(plan)
        + (_capacity(plan) if plan.diluted else [])
        + (_transfers(plan) if plan.pairs else [])
        + (_worths(plan) if plan.worths else [])
        + (_repetition() if plan.repeated else [])
    )


def _size_term(plan: Plan) -> list[Param]:
    size = Param(
        "A", TERM, "size term at N = 1", "nats/token", "A",
        by="target", coordinate=size_coordinate(plan), why=WHY_TERM,
    )  # fmt: skip
    return [size, replace(exponent("alpha", "size exponent", r"\alpha"), by="target")]


def _data_term(plan: Plan) -> list[Param]:
    data = Param(
        "B", TERM, "data term at D = 1", "nats/token", "B",
        by="target", coordinate=data_coordinate(plan), why=WHY_TERM,
    )  # fmt: skip
    return [data, replace(exponent("beta", "data exponent", r"\beta"), by="target")]


def _capacity(plan: Plan) -> list[Param]:
    of = "all other data" if plan.capacity == "own" else "a source"
    meaning = f"log change of the target's effective size per share of {of}"
    return [Param("c", CAPACITY, meaning, "", "c", dims=("diluted",), why=WHY_CAPACITY)]


def _transfers(plan: Plan) -> list[Param]:
    dims = ("transfer",)
    if plan.transfer == "additive":
        meaning = "worth of a token of the source in tokens of the target's own"
        own = Param("tau", WORTH, meaning, "", r"\tau", dims=dims, why=WHY_WORTH)
        return mixture_sparse.shrunk(own, positive=True) if plan.sparse else [own]
    meaning = "log change of the target's effective tokens per share of the source"
    own = Param("v", TRANSFER, meaning, "", "v", dims=dims, why=WHY_TRANSFER)
    return mixture_sparse.shrunk(own, positive=False) if plan.sparse else [own]


def _worths(plan: Plan) -> list[Param]:
    target = plan.spread(plan.worths).sum(1)  # (pair, target)
    same = target @ target.T / len(plan.sources)  # mean over the pairs of one target
    free = Coordinate(
        "w_free",
        to_param=lambda w_free: w_free / (w_free @ same),
        from_param=lambda w: w,  # any multiple of it gives w
        meaning="worth of a token up to a factor, which B takes up",
    )
    meaning = "worth of a token of the source in tokens drawn evenly from all sources"
    return [
        Param("w", RELATIVE, meaning, "", "w", dims=("worth",), coordinate=free, why=WHY_RELATIVE)
    ]


def _repetition() -> list[Param]:
    meaning = "epochs beyond the first that endless repetition is worth"
    return [
        Param("R_star", EPOCHS, meaning, "epochs", r"R^{*}", dims=("repeated",), why=WHY_EPOCHS)
    ]
