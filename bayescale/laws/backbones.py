"""The models that a capability law was set up for, and the direction in which they are compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.errors import LawError
from bayescale.priors import Normal, Prior

if TYPE_CHECKING:
    from bayescale.data.scores import Scores

LEAST_REACH = 0.25  # of a family, in terms of all models'


@dataclass(frozen=True)
class Backbones:
    """Observed models with their capability scores.

    Parameters
    ----------
    names : tuple of str
    points : tuple of tuple of float
        Scores, shape (model, component).
    families : tuple of str
        Family of each model; empty where families aren't told apart.
    scores : Scores, optional
        Where the points come from: gives transfer coefficients of benchmarks, and projects new
        models.
    """

    names: tuple[str, ...]
    points: tuple[tuple[float, ...], ...] = field(repr=False)
    families: tuple[str, ...] = ()
    scores: "Scores | None" = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if len(self.names) < 2 or len(self.points) != len(self.names):
            raise LawError(
                f"a capability law needs scores of two or more models; got {len(self.names)} "
                f"models and {len(self.points)} scores."
            )
        if self.families and len(self.families) != len(self.names):
            raise LawError("families must name one family for each model.")
        if len({len(p) for p in self.points}) > 1 or not np.isfinite(self.array).all():
            raise LawError("the scores of all models must be finite and equally many.")
        if np.ptp(self.array, axis=0).max() == 0:
            raise LawError("all models have the same scores: nothing tells them apart.")

    @classmethod
    def of(
        cls,
        scores: "Scores",
        models: Sequence[str] | None = None,
        families: Mapping[str, str] | None = None,
    ) -> "Backbones":
        """Backbones from capability scores.

        Parameters
        ----------
        scores : Scores
        models : sequence of str, optional
            Those that have runs; all by default.
        families : mapping, optional
            Model -> family.
        """
        names = tuple(dict.fromkeys(scores.models if models is None else models))
        points = tuple(tuple(float(x) for x in row) for row in scores.of(names))
        return cls(names, points, tuple(families[n] for n in names) if families else (), scores)

    @cached_property
    def array(self) -> np.ndarray:
        """Scores, shape (model, component)."""
        return np.array(self.points, dtype=float)

    @property
    def count(self) -> int:
        """Number of components K."""
        return len(self.points[0])

    @property
    def components(self) -> tuple[str, ...]:
        """Labels of the components: "1" to "K"."""
        return tuple(str(k + 1) for k in range(self.count))

    @property
    def family_names(self) -> tuple[str, ...]:
        """Families in the order of their first model."""
        return tuple(dict.fromkeys(self.families))

    @property
    def tilt_prior(self) -> Prior:
        """Prior of the tilt: half of all directions within 45 degrees of the first component."""
        return Normal(0.0, 1.0 / max(1, self.count - 1) ** 0.5)

    def direction(self, tilt: Any) -> Any:
        r"""Unit vector w, shape (..., component), from its tilt off the first component.

        Stereographic: :math:`w = (1 - q, t_2, \dots, t_K)/(1 + q)` with :math:`q = |t|^2/4`. A
        unit vector has one coordinate less than components; sampled so, it has neither a length
        to waste nor a sign to choose, and near the first component t is the angle.
        """
        if self.count == 1:
            return np.ones(1)
        xp = namespace(tilt)
        q = (tilt * tilt).sum(-1)[..., None] / 4
        return xp.concatenate([(1 - q) / (1 + q), tilt / (1 + q)], axis=-1)

    def tilt(self, w: Any) -> np.ndarray:
        """Inverse of `direction`; w needn't be of length 1."""
        unit = np.asarray(w, dtype=float)
        unit = unit / np.linalg.norm(unit, axis=-1, keepdims=True)
        return 2 * unit[..., 1:] / (1 + unit[..., :1])

    def spread(self, w: Any, family: Any = None) -> tuple[Any, Any]:
        """Mean capability of the observed models, and how far the strongest lies above it.

        Parameters
        ----------
        w : array, shape (..., component)
        family : array, shape (row, family), optional
            Ones and zeros; a row without a one is of a new family and gets the spread of all.

        Returns
        -------
        mean, reach : array
            Within the row's own family; the reach of one whose models lie close together (or
            that has one) is a quarter of all models'. Its data don't say how absorption falls, and
            a share lost over next to no capability would be a fall without bounds.
        """
        xp = namespace(w)
        along = xp.matmul(w, self.array.T)
        mean = along.mean(-1)
        reach = along.max(-1) - mean
        if family is None or not self.families:
            return mean, reach
        means, reaches = [], []
        for label in self.family_names:
            own = along[..., [k for k, f in enumerate(self.families) if f == label]]
            means.append(own.mean(-1))
            reaches.append(xp.maximum(own.max(-1) - own.mean(-1), LEAST_REACH * reach))
        known = family.sum(-1)
        picked = [(xp.stack(x, axis=-1) * family).sum(-1) for x in (means, reaches)]
        return picked[0] + (1 - known) * mean, picked[1] + (1 - known) * reach

    def design(self, centre: float = 25e9) -> dict[str, Any]:
        """Columns of a plain design: five checkpoints of each model, around so many tokens."""
        each = np.repeat(np.arange(len(self.names)), 5)
        columns: dict[str, Any] = {
            "model": [self.names[m] for m in each],
            "D": np.tile(centre * np.geomspace(0.5, 2.0, 5), len(self.names)),
        }
        columns |= {f"S_{c}": self.array[each, k] for k, c in enumerate(self.components)}
        if self.families:
            columns["family"] = [self.families[m] for m in each]
        return columns

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record that `from_dict` reads back."""
        record: dict[str, Any] = {"names": self.names, "points": self.points}
        record["families"] = self.families
        return record | {"scores": self.scores.to_dict() if self.scores else None}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Backbones":
        """Backbones from the record of `to_dict`, with tuples in place of lists."""
        from bayescale.data.scores import Scores

        scores = record["scores"]
        return cls(
            record["names"],
            record["points"],
            record["families"],
            Scores.from_dict(dict(scores)) if scores else None,
        )
