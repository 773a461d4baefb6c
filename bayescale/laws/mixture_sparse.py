r"""Transfers shrunk towards none: the regularised horseshoe.

Most domains don't act on each other, a few do strongly. Piironen & Vehtari 2017 (arXiv:1707.01694,
eq. 2.8 and 3.12): :math:`v_p = z_p \, g \tilde\lambda_p`,
:math:`\tilde\lambda_p^2 = s^2 \lambda_p^2 / (s^2 + g^2 \lambda_p^2)`, with z standard normal and
:math:`\lambda` half-Cauchy. Reported is the shrinkage that a scale stands for,
:math:`\kappa = 1/(1 + \lambda^2)`, 1 where a transfer is shrunk to nothing. Of a transfer that the
data show, they show v itself: the sampler moves along it (`Coordinate.scale`). Measured on seven
sources and eight targets, 100 gradients and more a draw in z and 23 to 31 so.
"""

from dataclasses import replace
from typing import Any

from bayescale.arrays import namespace
from bayescale.param import Coordinate, Param
from bayescale.priors import HalfCauchy, HalfNormal, Normal
from bayescale.signature import renamed
from bayescale.support import UNIT

SLAB = 2.0  # scale of a transfer that is not shrunk; of a token's worth 1
GLOBAL = HalfNormal(0.5)
WHY_GLOBAL = "a fraction of the slab: most transfers are small beside those that matter"


def spread(local: Any, g: Any, slab: float) -> Any:
    """Scale of each transfer: g lambda, at most about the slab's."""
    xp = namespace(local)
    squared = (namespace(g).expand_dims(g, axis=-1) * local) ** 2
    return slab * xp.sqrt(squared / (slab**2 + squared))


def shrunk(param: Param, positive: bool) -> list[Param]:
    """A vector of transfers under the horseshoe, with its global scale and shrinkages.

    Parameters
    ----------
    param : Param
        The transfers; their own prior is replaced.
    positive : bool
        Whether they are worths of tokens, which can't be negative: half normal then.
    """
    site, slab = f"{param.name}_z", 1.0 if positive else SLAB
    prior = HalfNormal(1.0) if positive else Normal(0.0, 1.0)
    coordinate = Coordinate(
        site,
        to_param=renamed(lambda z, local, g: z * spread(local, g, slab), z=site),
        from_param=renamed(
            lambda value, kappa, g: value / spread(_local(kappa), g, slab), value=param.name
        ),
        meaning="transfer in units of its own scale",
        scale=lambda local, g: spread(local, g, slab),
    )
    why = "regularised horseshoe (arXiv:1707.01694)"
    local = Coordinate(
        "local",
        to_param=lambda local: 1 / (1 + local**2),
        from_param=_local,
        meaning="scale of a transfer in units of all transfers' scale",
    )
    return [
        replace(param, prior=prior, coordinate=coordinate, why=why),
        Param("g", GLOBAL, "scale of all transfers", "", "g", why=WHY_GLOBAL),
        Param(
            "kappa", HalfCauchy(1.0), "shrinkage of a transfer: 1 leaves nothing of it", "",
            r"\kappa", support=UNIT, coordinate=local, dims=param.dims, why=why,
        ),
    ]  # fmt: skip


def _local(kappa: Any) -> Any:
    """Local scale lambda of a transfer from its shrinkage."""
    return namespace(kappa).sqrt(1 / kappa - 1)
