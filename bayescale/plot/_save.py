"""Plots by name, and pictures on disk, written whole or not at all."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bayescale.errors import FitError, nearest
from bayescale.files import replace_atomic
from bayescale.plot._allocation import allocation
from bayescale.plot._isoflop import isoflop
from bayescale.plot._loss_curves import loss_curves
from bayescale.plot._overview import SIZE as OVERVIEW_SIZE
from bayescale.plot._overview import overview
from bayescale.plot._prior_posterior import prior_posterior
from bayescale.plot._residuals import residuals
from bayescale.plot._tokens_per_param import tokens_per_param
from bayescale.plot.canvas import HEIGHT, WIDTH

if TYPE_CHECKING:
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
SUFFIXES = ("png", "pdf", "svg")
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
    name, path = kind.replace("-", "_"), Path(path)
    if name not in PLOTS:
        raise FitError(
            f"there is no plot '{kind}'; known: {', '.join(PLOTS)}." + nearest(name, list(PLOTS))
        )
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in SUFFIXES:
        raise FitError(
            f"cannot write {path}: a picture's name ends in .{', .'.join(SUFFIXES)}, "
            f"not '{path.suffix}'."
        )
    if {"ax", "figure"} & options.keys():
        raise FitError("save makes a figure of its own; call the plot itself to draw into yours.")
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or SIZES.get(name, (WIDTH, HEIGHT)), layout="constrained")
    where = {"figure": figure} if name in SIZES else {"ax": figure.add_subplot()}
    PLOTS[name](fit, **where, **options)
    replace_atomic(path, lambda temporary: figure.savefig(temporary, format=suffix, dpi=dpi))
    return path
