"""Chinchilla with what a learning rate and a batch size off their optimum cost."""

from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.law import Input, Law, Param, Reference
from bayescale.laws.chinchilla import CHINCHILLA
from bayescale.laws.chinchilla import mean as best_loss
from bayescale.laws.common import grid
from bayescale.laws.optimum import moving, optimum
from bayescale.priors import LogNormal, Normal

LR = Input("lr", "peak learning rate", "per step")
BS = Input("bs", "batch size", "sequences or tokens")

_CURVATURE = LogNormal(0.03, 1.0)
_WHY_CURVATURE = "a factor of 4 off the optimum costs .03 nats: a hundredth of the loss"
_MOVE = Normal(0.0, 0.5)
_WHY_MOVE = "published -.71 and .31 (learning rate), 0 and .57 (batch size); either sign"


def mean(
    E: Any, A: Any, B: Any, alpha: Any, beta: Any, h_lr: Any, h_bs: Any, s: Any, k: Any,
    lr_1: Any, lr_N: Any, lr_D: Any, bs_1: Any, bs_N: Any, bs_D: Any,
    N: Any, D: Any, lr: Any, bs: Any,
) -> Any:  # fmt: skip
    """L = E + A N^-alpha + B D^-beta + h_lr (e^(s u) - 1 - s u)/s^2 + h_bs v^2/2.

    v = ln bs/(bs_1 N^bs_N D^bs_D) and u = ln lr/(lr_1 N^lr_N D^lr_D) - k v.
    """
    xp = namespace(N, D, E)
    size, data = xp.log(N), xp.log(D)
    v = xp.log(bs) - xp.log(bs_1) - bs_N * size - bs_D * data
    u = xp.log(lr) - xp.log(lr_1) - lr_N * size - lr_D * data - k * v
    penalty = h_lr * (xp.exp(s * u) - 1 - s * u) / s**2 + 0.5 * h_bs * v**2
    return best_loss(E, A, B, alpha, beta, N, D) + penalty


STEP_LAW = Law(
    name="step-law",
    title="Loss from parameters, tokens, learning rate and batch size",
    inputs=(*CHINCHILLA.inputs, LR, BS),
    params=(
        *CHINCHILLA.params,
        Param("h_lr", _CURVATURE, "curvature in ln lr", "nats/token", "h_{l}", why=_WHY_CURVATURE),
        Param("h_bs", _CURVATURE, "curvature in ln bs", "nats/token", "h_{b}", why=_WHY_CURVATURE),
        Param("s", LogNormal(0.5, 0.5), "how much worse too high a learning rate is", "", "s",
              why="s = 0 is a parabola; too high a rate ends in divergence, too low costs less"),
        Param("k", Normal(0.5, 0.5), "exponent of bs in the best lr off the best bs", "", "k",
              why="the square-root rule is .5, the linear one 1"),
        optimum("lr", "learning rate", "per step", "l_{1}"),
        Param("lr_N", _MOVE, "exponent of N in the best lr", "", "l_{N}", why=_WHY_MOVE),
        Param("lr_D", _MOVE, "exponent of D in the best lr", "", "l_{D}", why=_WHY_MOVE),
        optimum("bs", "batch size", "sequences or tokens", "b_{1}"),
        Param("bs_N", _MOVE, "exponent of N in the best bs", "", "b_{N}", why=_WHY_MOVE),
        Param("bs_D", _MOVE, "exponent of D in the best bs", "", "b_{D}", why=_WHY_MOVE),
    ),
    terms=CHINCHILLA.terms,
    slopes=CHINCHILLA.slopes,
    mean=mean,
    equation=(
        r"L = E + \frac{A}{N^{\alpha}} + \frac{B}{D^{\beta}} + \frac{h_{l}}{s^{2}} \cdot \left("
        r"\left(\frac{\mathit{lr} \cdot \left(\frac{b_{1} \cdot N^{b_{N}} \cdot D^{b_{D}}}"
        r"{\mathit{bs}}\right)^{k}}{l_{1} \cdot N^{l_{N}} \cdot D^{l_{D}}}\right)^{s} - 1"
        r" - s \cdot \ln{\frac{\mathit{lr} \cdot \left(\frac{b_{1} \cdot N^{b_{N}} \cdot"
        r" D^{b_{D}}}{\mathit{bs}}\right)^{k}}{l_{1} \cdot N^{l_{N}} \cdot D^{l_{D}}}}\right)"
        r" + \frac{h_{b}}{2} \cdot \left(\ln{\frac{\mathit{bs}}{b_{1} \cdot N^{b_{N}} \cdot"
        r" D^{b_{D}}}}\right)^{2}"
    ),
    reference=Reference(
        "Chinchilla around the optimal learning rate and batch size of Li et al. 2025",
        "2503.04715", "eq. 1",
    ),
    derived=(
        *CHINCHILLA.derived,
        *moving("lr", "learning rate", "per step", "l"),
        *moving("bs", "batch size", "sequences or tokens", "b"),
    ),
    signs=("lr_N", "lr_D", "bs_N", "bs_D"),
    may_rise=("N", "D"),  # the best learning rate and batch size move away
    design=lambda: grid(
        N=np.geomspace(2e8, 1e9, 3), D=np.geomspace(4e9, 1e11, 3),
        lr=np.geomspace(5e-4, 1.6e-2, 4), bs=np.geomspace(32, 2048, 4),
    ),
    note="Leave diverged runs out (where=): a parabola in ln lr doesn't reach them. bs_1 has the "
    "unit of bs; the published .58 D^.571 counts tokens.",
)  # fmt: skip
