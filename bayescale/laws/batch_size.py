"""Best batch size against the composite score: doubling by doubling, known to a grid."""

import math
from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.errors import LawError
from bayescale.law import Coordinate, Input, Law, Param, Reference
from bayescale.laws.memoised import memoised
from bayescale.noise import Noise
from bayescale.priors import LogNormal, Normal

GRID = (128.0, 256.0, 512.0, 1024.0, 2048.0)  # that of the paper
PAPER = "Capability-driven multimodal scaling law"
WHY_LEVEL = "whoever chose the grid expected the best inside it; two prior SDs: twice its width"
WHY_SLOPE = "a typical change of Z moves the best by two doublings either way, or not at all"
WHY_SIGMA = (
    "losses of neighbouring batch sizes differ by little, so the best of them is one step off now "
    "and then: half a doubling; two prior SDs: .14 to 2"
)


@memoised
def batch_size_law(grid: tuple[float, ...] = GRID, spread: float = 0.05) -> Law:
    r"""Best batch size of a run: a power of two that is linear in the composite score.

    .. math:: b = 2^{c_0 + c_1 Z}, \quad Z = \hat P - P_0 = \hat A S + \hat B \ln D

    (arXiv:2608.00013, section 4.3). What a study sees is the best of the sizes tried: the true
    optimum lies between the middles (of the logarithm) to that size's neighbours, or beyond the
    grid's end. So the noise is normal in ln b and known to the grid (`Noise.grid`): the
    likelihood of a row is the probability of its size, and one that is always the grid's largest
    says no more than that.

    Parameters
    ----------
    grid : tuple of float
        Batch sizes tried, rising.
    spread : float
        A typical change of Z between runs, by which the prior of c1 is scaled; 0.05 is one
        sixth of the range of published accuracies.

    Returns
    -------
    Law
        Response ``batch_size``; reads ``Z``.

    Raises
    ------
    LawError
        The spread isn't positive.
    """
    from bayescale.families.family import recipe_of

    if not 0 < spread < math.inf:
        raise LawError(f"spread is {spread!r}; expected a positive number, a typical change of Z.")
    noise = Noise(tail="normal", grid=grid, sigma=LogNormal(0.5 * math.log(2), 0.7))
    values = noise.grid
    assert values
    low, high = math.log2(values[0]), math.log2(values[-1])

    def mean(c0: Any, c1: Any, Z: Any) -> Any:
        """Best size 2^(c0 + c1 Z)."""
        return namespace(c0, c1, Z).exp(math.log(2) * (c0 + c1 * Z))

    middle = Coordinate(
        "c_mid",
        lambda c_mid, c1, Z_ref: c_mid - c1 * Z_ref,
        lambda c0, c1, Z_ref: c0 + c1 * Z_ref,
        "doublings of the best batch size at the data's mean Z",
        "doublings",
    )
    level = Normal((low + high) / 2, (high - low) / 2)
    slope = Normal(0.0, 2.0 / spread)
    return Law(
        name="batch-size",
        title="Best batch size from the composite score",
        inputs=(Input("Z", "composite score, accuracy above P0", "accuracy", positive=False),),
        params=(
            Param(
                "c0", level, "doublings at Z = 0", "doublings", "c_{0}", coordinate=middle,
                why=WHY_LEVEL,
            ),
            Param("c1", slope, "doublings per unit of Z", "doublings", "c_{1}", why=WHY_SLOPE),
        ),
        mean=mean,
        equation=r"b = 2^{c_{0} + c_{1} Z}",
        reference=Reference(PAPER, "2608.00013", "section 4.3"),
        response="batch_size",
        response_unit="",
        noise=noise,
        design=lambda: {"Z": np.repeat(spread * np.linspace(-1.5, 1.5, 12), 2)},
        signs=("c1",),
        recipe=recipe_of("batch-size", grid=list(values), spread=spread),
        note=f"The best of {', '.join(f'{v:g}' for v in values)}; sigma is in e-folds: divide by "
        "0.693 for doublings.",
    )  # fmt: skip
