"""Chinchilla whose size term grows where a model is wider or deeper than its best shape."""

from typing import Any

import numpy as np

from bayescale.arrays import namespace, power
from bayescale.law import Coordinate, Derived, Input, Law, Param, Reference
from bayescale.laws.chinchilla import CHINCHILLA
from bayescale.laws.common import TERM, WHY_TERM
from bayescale.priors import LogNormal, Normal

WIDTH = Input("width", "width of the residual stream", "units")
DEPTH = Input("depth", "number of layers", "layers")


def mean(
    E: Any, A: Any, B: Any, alpha: Any, beta: Any, kappa: Any, R: Any, rho: Any,
    N: Any, D: Any, width: Any, depth: Any,
) -> Any:  # fmt: skip
    """L = E + A N^-alpha exp(kappa ln^2(width/(depth R N^rho))) + B D^-beta."""
    xp = namespace(N, width, E)
    off = xp.log(width / depth) - xp.log(R) - rho * xp.log(N)
    return E + A * power(N, -alpha) * xp.exp(kappa * off**2) + B * power(D, -beta)


def _shift(R: Any, rho: Any, width_ref: Any, depth_ref: Any, N_ref: Any) -> Any:
    """Log of the best width over depth, over that of the data's geometric means."""
    return namespace(R).log(R * N_ref**rho * depth_ref / width_ref)


# of the size term at the best shape, which may lie outside the data, these say less
_SIZE_TERM = Coordinate(
    "size_term",
    lambda size_term, alpha, kappa, shape_shift, N_ref: (
        size_term * N_ref**alpha * namespace(kappa).exp(-kappa * shape_shift**2)
    ),
    lambda A, alpha, kappa, R, rho, N_ref, width_ref, depth_ref: (
        A * N_ref**-alpha
        * namespace(R).exp(kappa * _shift(R, rho, width_ref, depth_ref, N_ref) ** 2)
    ),
    "loss due to finite size at the data's geometric means of N, width and depth",
    "nats/token",
)  # fmt: skip

WIDTH_DEPTH = Law(
    name="width-depth",
    title="Loss from parameters, tokens and the shape of the model",
    inputs=(*CHINCHILLA.inputs, WIDTH, DEPTH),
    params=(
        *(p for p in CHINCHILLA.params if p.name != "A"),
        Param(
            "A", TERM, "size term at N = 1 of the best shape", "nats/token", "A",
            coordinate=_SIZE_TERM, why=WHY_TERM,
        ),
        Param(
            "kappa", LogNormal(0.03, 1.0), "what a shape off its best costs", "", r"\kappa",
            why="one e-fold off the best shape costs 3% of the size term, two 13%, three 31%",
        ),
        Param(
            "R", Normal(0.0, 1.5), "best width over depth at N = 1", "units/layer", "R",
            coordinate=Coordinate(
                "shape_shift",
                lambda shape_shift, rho, width_ref, depth_ref, N_ref: (
                    width_ref / depth_ref * namespace(shape_shift).exp(shape_shift) * N_ref**-rho
                ),
                _shift,
                "log of the best width over depth, over that of the data's geometric means",
            ),
            why="the best shape lies within a factor of 20 of the centre of those trained",
        ),
        Param(
            "rho", Normal(0.0, 0.3), "exponent of N in the best width over depth", "", r"\rho",
            why="0: one shape for all sizes; 1/2: larger models are wider, none deeper",
        ),
    ),  # fmt: skip
    terms=CHINCHILLA.terms,
    slopes=CHINCHILLA.slopes,
    mean=mean,
    equation=(
        r"L = E + \frac{A \cdot \exp{\left(\kappa \cdot \left(\ln{\frac{\mathit{width}}"
        r"{R \cdot \mathit{depth} \cdot N^{\rho}}}\right)^{2}\right)}}{N^{\alpha}}"
        r" + \frac{B}{D^{\beta}}"
    ),
    reference=Reference(
        "Chinchilla with a penalty on shape, for the models of McLeish et al. 2025", "2502.06857"
    ),
    derived=(
        *CHINCHILLA.derived,
        Derived(
            "best_shape", lambda R, rho, N_ref: R * N_ref**rho,
            "best width over depth at the data's geometric mean of N", "units/layer", "R^*",
        ),
    ),
    signs=("rho",),
    may_rise=("N",),  # at a fixed shape, where the best one moves with size
    design=lambda: _design(),
    note="a, b and gamma hold along the best shape. N, width and depth are tied: N at a fixed "
    "width and depth doesn't change by itself.",
)  # fmt: skip


def _design() -> dict[str, np.ndarray]:
    """Four sizes in four shapes each, at four token counts; 12 depth width^2 parameters."""
    size, shape, tokens = np.meshgrid(
        np.geomspace(5e7, 2e9, 4), np.geomspace(3, 200, 4), np.geomspace(1e10, 1e11, 4)
    )
    depth = (size / 12 / shape**2) ** (1 / 3)
    columns = {"N": size, "D": tokens, "width": depth * shape, "depth": depth}
    return {name: column.ravel() for name, column in columns.items()}
