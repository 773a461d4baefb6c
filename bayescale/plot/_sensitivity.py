"""Sensitivity of a fit: to priors and likelihood, to perturbed inputs, to single runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayescale.check.sensitivity.influences import Influence
from bayescale.check.sensitivity.perturbation import Perturbation
from bayescale.check.sensitivity.scaling import PowerScaling
from bayescale.errors import FitError
from bayescale.plot._sensitivity_inputs import forest, forest_size
from bayescale.plot._sensitivity_prior import dots, dots_size
from bayescale.plot._sensitivity_runs import SIZE, shifts

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


def sensitivity(
    result: Any,
    *,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
    figure: "Figure | SubFigure | None" = None,
    quantities: Sequence[str] | None = None,
    title: str | None = None,
) -> "np.ndarray":
    """Draw what a sensitivity check found.

    Of `perturb` (and `influence` by groups): a panel a quantity, a line for each fit made again
    with its median and 90% interval, over the band of the base fit. Of `influence`: the shift
    against compute when a run is left out, the largest named by their row. Of `power_scaling`:
    sensitivity to prior and likelihood, a line a quantity, with the threshold.

    Parameters
    ----------
    result : Perturbation, GroupInfluence, Influence or PowerScaling
    ax : matplotlib Axes, one for each panel, optional
        Where to draw; default: a new figure.
    figure : matplotlib Figure or SubFigure, optional
        Where to make the panels.
    quantities : sequence of str, optional
        What to show (``"a"``, ``"L_opt"``, …); default: a and L*, or what the law has; of
        power-scaling all.
    title : str, optional
        Title of the first panel.

    Returns
    -------
    array of matplotlib Axes

    Raises
    ------
    FitError
        Not a result of these checks, an unknown quantity, or axes of another number than panels.
    """
    draw: dict[type, Any] = {PowerScaling: dots, Influence: shifts, Perturbation: forest}
    for kind, function in draw.items():
        if isinstance(result, kind):
            return function(result, ax, figure, quantities, title)
    raise FitError(
        f"plot.sensitivity draws results of power_scaling, perturb and influence, not a "
        f"{type(result).__name__}."
    )


def picture_size(result: Any) -> tuple[float, float]:
    """Width and height in inches of a result's picture."""
    if isinstance(result, PowerScaling):
        return dots_size(result)
    return forest_size(result) if isinstance(result, Perturbation) else SIZE
