"""Where plots are drawn: axes and figures, given or new, and the size of text on them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescale.errors import FitError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

COLUMNS = 2  # panels side by side
WIDTH, HEIGHT = 6.0, 4.3  # inches of a plot of one panel
FULL = 4.2  # inches of axes at which text has its full size


def new_axes(ax: "Axes | None", size: tuple[float, float] = (WIDTH, HEIGHT)) -> "Axes":
    """The axes given, or those of a new pyplot figure, which notebooks show."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.figure(figsize=size, layout="constrained").add_subplot()


def new_figure(
    figure: "Figure | SubFigure | None", size: tuple[float, float]
) -> "Figure | SubFigure":
    """The figure given, or a new pyplot figure, which notebooks show."""
    if figure is not None:
        return figure
    import matplotlib.pyplot as plt

    return plt.figure(figsize=size, layout="constrained")


def panels(
    count: int,
    ax: "Axes | Sequence[Axes] | np.ndarray | None",
    figure: "Figure | SubFigure | None",
    what: str,
    columns: int = COLUMNS,
    size: tuple[float, float] = (4.4, 3.2),
) -> "tuple[np.ndarray, Figure | SubFigure | None]":
    """Axes for several panels: those given, or new ones in a figure.

    Returns
    -------
    axes : array of Axes, shape (count,)
    figure
        The figure whose layout is ours to use; None where axes were given.

    Raises
    ------
    FitError
        The number of axes given is not the number of panels.
    """
    if ax is not None:
        given = np.array(ax, dtype=object).ravel()
        if len(given) != count:
            raise FitError(
                f"this plot has {count} panels ({what}), and ax gives {len(given)} axes; give as "
                "many, or none."
            )
        return given, None
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = new_figure(figure, (size[0] * columns, size[1] * rows))
    made = np.array(figure.subplots(rows, columns, squeeze=False), dtype=object).ravel()
    for spare in made[count:]:
        spare.set_axis_off()
    return made[:count], figure


def figure_width(figure: "Figure | SubFigure") -> float:
    """Width in inches of a figure or a part of one."""
    return float(figure.bbox.width / figure.dpi)


def axes_width(ax: "Axes") -> float:
    """Width of axes in inches, before a layout engine has moved them."""
    return ax.get_position().width * root_of(ax).get_figwidth()


def axes_height(ax: "Axes") -> float:
    """Height of axes in inches, before a layout engine has moved them."""
    return ax.get_position().height * root_of(ax).get_figheight()


def root_of(ax: "Axes") -> "Figure":
    root = ax.get_figure(root=True)
    assert root is not None
    return root


def scale(ax: "Axes") -> float:
    """Factor on text, lines and markers: below 1 on axes too small for the full size."""
    return float(np.clip(axes_width(ax) / FULL, 0.6, 1.0))


def text_size(ax: "Axes", share: float = 1.0) -> float:
    """Size of text in points: the user's own base size, scaled to the axes."""
    from matplotlib import rcParams

    return max(5.0, float(rcParams["font.size"]) * 0.95 * share * scale(ax))
