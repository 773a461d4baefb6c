"""Plots of a fit by name, into a file."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bayescale.errors import FitError, nearest
from bayescale.plot._allocation import allocation
from bayescale.plot._isoflop import isoflop
from bayescale.plot._loss_curves import loss_curves
from bayescale.plot._overview import SIZE as OVERVIEW_SIZE
from bayescale.plot._overview import overview
from bayescale.plot._prior_posterior import prior_posterior
from bayescale.plot._residuals import residuals
from bayescale.plot._tokens_per_param import tokens_per_param
from bayescale.plot.canvas import HEIGHT, WIDTH
from bayescale.plot.picture import write_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bayescale.fitted import Fit

PLOTS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "overview": overview,
        "loss_curves": loss_curves,
        "isoflop": isoflop,
        "residuals": residuals,
        "allocation": allocation,
        "tokens_per_param": tokens_per_param,
        "prior_posterior": prior_posterior,
    }
)
SIZES = {"overview": OVERVIEW_SIZE, "residuals": (9.0, 6.4), "prior_posterior": (9.0, 6.8)}


def save(
    fit: "Fit",
    kind: str,
    path: str | Path,
    *,
    size: tuple[float, float] | None = None,
    dpi: float = 200,
    **options: Any,
) -> Path:
    """Draw a plot into a file; an older file there survives any failure.

    Parameters
    ----------
    fit : Fit
    kind : str
        A key of `PLOTS`, such as ``"overview"``; ``loss-curves`` is taken for ``loss_curves``.
    path : str or Path
        Where to write: ``.png``, ``.pdf`` or ``.svg``.
    size : (float, float), optional
        Width and height in inches.
    dpi : float
        Dots per inch (PNG only).
    **options
        Passed to the plot (``extend=2``, ``corpus="c4"``).

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    FitError
        An unknown kind or suffix, a plot that this fit can't have, or a place that can't be
        written.
    """
    name = kind.replace("-", "_")
    if name not in PLOTS:
        raise FitError(
            f"there is no plot '{kind}'; known: {', '.join(PLOTS)}." + nearest(name, list(PLOTS))
        )
    if {"ax", "figure"} & options.keys():
        raise FitError("save makes a figure of its own; call the plot itself to draw into yours.")

    def draw(figure: "Figure") -> None:
        where = {"figure": figure} if name in SIZES else {"ax": figure.add_subplot()}
        PLOTS[name](fit, **where, **options)

    return write_picture(path, draw, size or SIZES.get(name, (WIDTH, HEIGHT)), dpi)
