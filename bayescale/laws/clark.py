"""Routed language models: a bilinear law in log size and log (saturating) number of experts."""

from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.law import Centre, Coordinate, Derived, Input, Law, Param, Reference
from bayescale.laws.common import N, grid
from bayescale.priors import LogNormal, Normal

EXPERTS = Input(
    "experts", "experts of a routed layer (1: dense)", "experts", positive=False, at_least=1.0
)
LOG10 = float(np.log(10.0))


def saturated(experts: Any, E_start: Any, E_max: Any) -> Any:
    """1/Ê = 1/(E - 1 + 1/(1/E_start - 1/E_max)) + 1/E_max: E_start at one expert, at most E_max."""
    return 1 / (1 / (experts - 1 + E_start * E_max / (E_max - E_start)) + 1 / E_max)


def mean(
    d: Any, a_N: Any, b_E: Any, c_NE: Any, E_start: Any, E_max: Any, N: Any, experts: Any
) -> Any:
    """Log of L: d + a_N ln N + b_E ln Ê + c_NE ln N ln Ê."""
    xp = namespace(N, experts, d)
    size, routed = xp.log(N), xp.log(saturated(experts, E_start, E_max))
    return xp.exp(d + a_N * size + (b_E + c_NE * size) * routed)


def _routed(experts: Any, E_start: Any, E_max: Any) -> Any:
    return _log(saturated(experts, E_start, E_max))


def _log(x: Any) -> Any:
    return namespace(x).log(x)


def _exp(x: Any) -> Any:
    return namespace(x).exp(x)


CLARK = Law(
    name="clark",
    title="Routed models: loss from dense size and number of experts",
    inputs=(N, EXPERTS),
    params=(
        Param(
            "d", LogNormal(2.5, 0.7), "log loss at N = 1 and Ê = 1", "log nats/token", "d",
            coordinate=Coordinate(
                "level",
                lambda level, a_N, b_E, c_NE, E_start, E_max, N_ref, experts_centre: (
                    _log(level) - a_N * _log(N_ref)
                    - (b_E + c_NE * _log(N_ref)) * _routed(experts_centre, E_start, E_max)
                ),
                lambda d, a_N, b_E, c_NE, E_start, E_max, N_ref, experts_centre: _exp(
                    d + a_N * _log(N_ref)
                    + (b_E + c_NE * _log(N_ref)) * _routed(experts_centre, E_start, E_max)
                ),
                "loss at the centre of the data", "nats/token",
            ),
            why="there is no irreducible loss: the whole loss, about 2.5 nats, is the level",
        ),
        Param(
            "a_N", LogNormal(0.08, 0.7), "exponent of N at Ê = 1", "", "a_{N}",
            coordinate=Coordinate(
                "size_slope",
                lambda size_slope, c_NE, E_start, E_max, experts_centre: (
                    -size_slope - c_NE * _routed(experts_centre, E_start, E_max)
                ),
                lambda a_N, c_NE, E_start, E_max, experts_centre: (
                    -a_N - c_NE * _routed(experts_centre, E_start, E_max)
                ),
                "fall of log loss per e-fold of N at the central number of experts",
            ),
            why="without irreducible loss slopes are .05 to .1; a dense model's is .078",
        ),
        Param(
            "b_E", Normal(0.03, 0.05), "exponent of Ê at N = 1", "", "b_{E}",
            coordinate=Coordinate(
                "expert_slope",
                lambda expert_slope, c_NE, N_ref: -expert_slope - c_NE * _log(N_ref),
                lambda b_E, c_NE, N_ref: -b_E - c_NE * _log(N_ref),
                "fall of log loss per e-fold of Ê at the data's geometric mean of N",
            ),
            why="a doubling of experts takes 1 to 3% off the loss; routing may also do harm",
        ),
        Param(
            "c_NE", Normal(0.0, 0.01), "interaction of ln N and ln Ê", "", "c_{NE}",
            why="published .004: eight e-folds of size eat up an expert slope of .03; either sign",
        ),
        Param(
            "E_start", LogNormal(2.0, 0.5), "Ê of a dense model", "experts", "E_{start}",
            why="published 1.8 to 4.2; one expert counts for about one",
        ),
        Param(
            "E_max", LogNormal(150.0, 1.0), "largest Ê", "experts", "E_{max}",
            coordinate=Coordinate(
                "headroom",
                lambda headroom, E_start: E_start * (1 + headroom),
                lambda E_max, E_start: E_max / E_start - 1,
                "largest Ê over a dense model's, less one",
            ),
            why="published 310 to 480, a ratio of 110 to 250; it must exceed E_start",
        ),
    ),
    mean=mean,
    equation=(
        r"L = \left(\exp{d}\right) \cdot N^{a_{N}} \cdot \left(\frac{1}{\mathit{experts} - 1"
        r" + \frac{E_{start} E_{max}}{E_{max} - E_{start}}} + \frac{1}{E_{max}}\right)"
        r"^{-b_{E} - c_{NE} \cdot \ln{N}}"
    ),
    centres=(Centre("experts_centre", "", lambda experts: np.exp(np.mean(np.log(experts)))),),
    reference=Reference("Clark et al. 2022", "2202.01169", "eq. 1"),
    derived=(
        Derived(
            "alpha_dense", lambda a_N, c_NE, E_start: -a_N - c_NE * _log(E_start),
            "exponent of N for dense models", "", r"\alpha_{dense}",
        ),
        Derived(
            "c_log10", lambda c_NE: LOG10 * c_NE, "c_NE with logarithms to base 10", "", "c_{10}"
        ),
        Derived("d_log10", lambda d: d / LOG10, "d with logarithms to base 10", "", "d_{10}"),
    ),
    signs=("c_NE", "b_E"),
    may_rise=("N",),  # beyond the cut-off, where more experts do harm
    design=lambda: grid(N=np.geomspace(1.5e7, 1.3e9, 6), experts=2.0 ** np.arange(10)),
    note="N is the dense model's size (parameters that one token sees), D the same for all runs. "
    "Published c and d are for logarithms to base 10: c_log10, d_log10.",
)  # fmt: skip
