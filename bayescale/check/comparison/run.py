"""``compare``: several laws fitted to the same runs, ranked and weighed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayescale.check.comparison.comparable import check_comparable
from bayescale.check.comparison.loo import MAX_REFITS, loo_of
from bayescale.check.comparison.naming import named
from bayescale.check.comparison.result import Comparison, ranked
from bayescale.check.comparison.units import find_units
from bayescale.check.comparison.weights import pseudo_bma_weights, stacking_weights

if TYPE_CHECKING:
    from bayescale.fitted import Fit


def compare(
    fits: "Mapping[str, Fit] | Sequence[Fit]",
    *,
    by: str | None = None,
    refit: Literal["exact", "never"] = "exact",
    max_refits: int = MAX_REFITS,
    seed: int = 0,
    workers: int | None = None,
    executor: Any = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare laws by how well they predict runs that they were not shown.

    Parameters
    ----------
    fits : mapping of str to Fit, or sequence of Fit
        Two or more fits of one response to the same runs; those of a sequence are named by their
        law. Their noise may differ.
    by : str, optional
        What is left out in turn; see `bayescale.check.loo`. Rows of one run are left out
        together.
    refit : {"exact", "never"}
        Whether the fit is made again where importance weights don't serve.
    max_refits : int
        At most so many for each law.
    seed : int
        Seed of the bootstrap of the pseudo-BMA+ weights, and of the stack's draws.
    workers, executor, progress
        As for `bayescale.fit_many`, for the refits.

    Returns
    -------
    Comparison
        Best first; ``comparison.stack`` predicts as the weighted mixture.

    Raises
    ------
    FitError
        Fits of different runs or responses, draws or densities that are not finite, or runs that
        look like checkpoints without a column that names them.
    """
    fits = named(fits)
    check_comparable(fits)
    units = find_units(fits, by)
    options = {"workers": workers, "executor": executor, "progress": progress}
    loos = {n: loo_of(f, n, units, refit, max_refits, options) for n, f in fits.items()}
    order = ranked(loos)
    table = np.stack([loos[n].elpd_i for n in order], axis=1)
    stacking = dict(zip(order, stacking_weights(table).tolist(), strict=True))
    bma = dict(zip(order, pseudo_bma_weights(table, seed).tolist(), strict=True))
    return Comparison({n: fits[n] for n in order}, {n: loos[n] for n in order}, stacking, bma, seed)
