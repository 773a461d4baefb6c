"""From loss to what a benchmark measures: a sigmoid of loss, and Gadre's exponential."""

from functools import cache
from typing import Any

from bayescale.arrays import namespace
from bayescale.law import Coordinate, Input, Law, Param, Reference
from bayescale.laws.plateau import (
    check_floor,
    inner_odds,
    odds_of,
    plateau,
    reach_of,
    risen,
    risen_latex,
)
from bayescale.noise import Noise
from bayescale.priors import Beta, LogNormal, Normal

LOSS = Input("loss", "validation loss", "nats/token", latex="L")
# benchmark scores scatter by a percent or two around a curve, and some runs fail
NOISE = Noise(on="response", sigma=LogNormal(0.01, 1.0), run_sd=LogNormal(0.01, 1.0))

WHY_STEEP = "a benchmark rises over a tenth of a nat to a few nats"
WHY_ODDS = "in the middle of the runs' losses the rise is between 2% and 98% done"
WHY_MIDDLE = "means over tasks lie between .3 and .95 of errors"
WHY_GAIN = "small models are 5 to 40 points better than guessing"
WHY_DECAY = "published about .7 to .76 over 17 tasks; two prior SDs: .36 to 1.8"


@cache
def loss_to_accuracy(floor: float = 0.0) -> Law:
    r"""Accuracy falls with loss along a sigmoid, from a plateau to what guessing gives.

    .. math:: P = f + \frac{(1 - f) h}{1 + e^{-k (L_0 - L)}}

    Parameters
    ----------
    floor : float
        f, the accuracy of guessing: 0.25 for four choices, 0 for free answers. It is given, since
        runs that sit at it say nothing of the rest of the curve.

    Returns
    -------
    Law
        Response ``accuracy``, a fraction; reads ``loss``.

    References
    ----------
    Llama 3, arXiv:2407.21783, section 3.2.1 (compute to loss to accuracy); Ruan et al. 2024,
    arXiv:2405.10938, for the plateau h.
    """
    check_floor(floor)

    def mean(h: Any, k: Any, L_0: Any, loss: Any) -> Any:
        """P = f + (1 - f) h / (1 + exp(-k (L_0 - L)))."""
        return risen(floor, h, k * (L_0 - loss))

    at_centre = Coordinate(
        "odds",
        lambda odds, reach, k, loss_ref: loss_ref + inner_odds(odds, reach) / k,
        lambda h, L_0, k, loss_ref: odds_of(h, k * (L_0 - loss_ref)),
        "log odds of the rise at the data's geometric mean of loss",
    )
    rise = Coordinate(
        "rise",
        lambda rise, h, reach: rise * h / reach,
        lambda k, h, L_0, loss_ref: k * reach_of(h, k * (L_0 - loss_ref)) / h,
        "fall of the log odds of the rise per nat, at the data's geometric mean of loss",
        "per nat",
    )
    prior, why, middle = Normal(0.0, 2.0), WHY_ODDS, "loss of half the rise"
    return Law(
        name="loss-to-accuracy" + (f"-{floor:g}" if floor else ""),
        title="Accuracy from loss: a sigmoid",
        inputs=(LOSS,),
        params=(
            plateau(lambda h, L_0, k, loss_ref: reach_of(h, k * (L_0 - loss_ref))),
            Param(
                "k", LogNormal(3.0, 1.0), "steepness", "per nat", "k", coordinate=rise,
                why=WHY_STEEP,
            ),
            Param("L_0", prior, middle, "nats/token", "L_{0}", coordinate=at_centre, why=why),
        ),
        mean=mean,
        equation=risen_latex(floor, r"\left(L - L_{0}\right) k"),
        reference=Reference("Llama 3, section 3.2.1", "2407.21783"),
        response="accuracy",
        response_unit="",
        noise=NOISE,
        design=design,
    )  # fmt: skip


def mean_error(epsilon: Any, k: Any, gamma: Any, loss: Any) -> Any:
    """Error = epsilon - k exp(-gamma L)."""
    return epsilon - k * namespace(gamma, loss).exp(-gamma * loss)


def design() -> dict[str, Any]:
    """Forty losses, 2 to 4 nats."""
    return {"loss": [2 + 2 * i / 39 for i in range(40)]}


_GAIN = Coordinate(
    "gain",
    lambda gain, gamma, loss_ref: gain * namespace(gamma).exp(gamma * loss_ref),
    lambda k, gamma, loss_ref: k * namespace(gamma).exp(-gamma * loss_ref),
    "error below epsilon at the data's geometric mean of loss",
)
_MIDDLE = Coordinate(
    "level",
    lambda level, gain: level + gain,
    lambda epsilon, k, gamma, loss_ref: epsilon - k * namespace(gamma).exp(-gamma * loss_ref),
    "error at the data's geometric mean of loss",
)
_WORST, _DECAY = "error of a model of endless loss", "decay of the gain with loss"
LOSS_TO_ERROR = Law(
    name="loss-to-error",
    title="Error over downstream tasks from loss: an exponential",
    inputs=(LOSS,),
    params=(
        Param(
            "epsilon", Beta(4.0, 2.0), _WORST, "", r"\epsilon", coordinate=_MIDDLE, why=WHY_MIDDLE
        ),
        Param("k", LogNormal(0.15, 0.6), "gain at L = 0", "", "k", coordinate=_GAIN, why=WHY_GAIN),
        Param("gamma", LogNormal(0.8, 0.4), _DECAY, "per nat", r"\gamma", why=WHY_DECAY),
    ),
    slopes=(("gamma", "gain"),),
    mean=mean_error,
    equation=r"Err = \epsilon - k \exp{\left(-\gamma L \right)}",
    reference=Reference("Gadre et al. 2024", "2403.08540"),
    response="error",
    response_unit="",
    noise=NOISE,
    design=design,
    note="Fit it to the mean error over many tasks, as in the paper: single tasks sit at chance.",
)
