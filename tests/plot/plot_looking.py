"""What a picture shows, read off its artists."""

import numpy as np


def legend_texts(ax):
    return [t.get_text() for t in ax.get_legend().get_texts()]


def runs_drawn(ax):
    """Positions of all filled points, shape (point, 2)."""
    from matplotlib.collections import PathCollection

    drawn = [
        np.asarray(c.get_offsets())
        for c in ax.collections
        if isinstance(c, PathCollection) and len(c.get_facecolors())
    ]
    return np.concatenate(drawn)


def bands_at(ax, x, colour=None):
    """Lower and upper edge at x of every band that spans it, the widest first."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgb

    found = []
    for collection in ax.collections:
        if not isinstance(collection, PolyCollection):
            continue
        if colour and not np.allclose(collection.get_facecolor()[0][:3], to_rgb(colour)):
            continue
        corners = collection.get_paths()[0].vertices
        ys = corners[np.isclose(corners[:, 0], x, rtol=1e-9), 1]
        if len(ys) >= 2:
            found.append((ys.min(), ys.max()))
    return sorted(found, key=lambda edges: edges[0] - edges[1])


def line_of(ax, colour, style="-"):
    """Points of the first line of a colour and style."""
    return next(
        np.asarray(line.get_xydata())
        for line in ax.lines
        if line.get_color() == colour
        and line.get_linestyle() == style
        and len(line.get_xydata()) > 2
    )


def texts(ax):
    return [t.get_text() for t in ax.texts]
