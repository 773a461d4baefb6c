"""A law as a function of an unconstrained vector: what point estimators minimise over."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.inference.batch import Layout
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.inference.posterior import scalars, variables
from bayescale.law import Law
from bayescale.noise import Noise
from bayescale.scatter import SCALES, Scale


def plain_model(law: Law) -> Model:
    """A law without what only sampling needs; the noise says on which scale residuals are."""
    return Model(law, Noise(tail="normal", on=law.default_noise.on))


@dataclass(frozen=True)
class Curve:
    """A law as a function of an unconstrained vector: its coordinates on the real line.

    Parameters
    ----------
    model : Model
        From `plain_model`.
    packing : Packing
        The law's sites only; noise has no part in a point estimate.
    layout : Layout
        Holds input references and labels.
    """

    model: Model
    packing: Packing
    layout: Layout

    @classmethod
    def of(cls, model: Model, layout: Layout) -> "Curve":
        """The curve of a law whose parameters aren't pooled."""
        own = {p.site for p in model.law.params}
        sites = tuple(s for s in model.sites if s.name in own)
        shapes = tuple(tuple(len(layout.labels[d]) for d in s.dims) for s in sites)
        return cls(model, Packing(sites, shapes), layout)

    @property
    def scale(self) -> Scale:
        """Scale on which residuals are: log, log odds, or the response itself."""
        return SCALES[self.model.noise.on]

    @property
    def possible(self) -> str:
        """What a fitted value must be for its residual to be finite."""
        between = {"log": "positive, finite", "logit": "finite and between 0 and 1"}
        return between.get(self.model.noise.on, "finite")

    def mean(self, vectors: Any, batch: Mapping[str, Any]) -> Any:
        """The law's mean, shape (..., row), from vectors of shape (..., size).

        Parameters
        ----------
        batch : mapping
            ``inputs``, ``index`` and ``refs`` of the rows, as from `make_batch`.
        """
        at_rows = self.model.by_row(self._coordinates(vectors), batch["index"])
        return self.model.mean(
            self.model.to_params(at_rows, batch["refs"]), batch["inputs"], batch.get("drift")
        )

    def fitted(self, vectors: Any, batch: Mapping[str, Any]) -> Any:
        """`mean` on the scale of the residuals."""
        return self.scale.forward(self.mean(vectors, batch))

    def _coordinates(self, vectors: Any) -> dict[str, Any]:
        """Site values; the noise's, which take no part, are one."""
        known = self.packing.constrain(vectors)
        one = namespace(vectors).ones(vectors.shape[:-1])
        return {p.site: known.get(p.site, one) for p in self.model.params}

    def quantities(self, vectors: np.ndarray) -> dict[str, np.ndarray]:
        """Parameters and derived quantities, shape (...), from vectors of shape (..., size)."""
        with np.errstate(all="ignore"):
            sites = self._coordinates(vectors)
            found = variables(self.model, self.layout, self.packing, sites)
        own = {k: v for k, v in found.items() if v.kind in ("param", "derived")}
        labels = {**self.layout.labels, self.layout.cell_dim: self.layout.cells}
        shape, lead = vectors.shape[:-1], vectors.ndim - 1
        listed = scalars(own, labels, lead)
        return {k: np.broadcast_to(v, shape).astype(float) for k, v in listed.items()}

    def parameter_names(self) -> list[str]:
        """The parameter that each element of the vector is of, with its label."""
        listed, of = [], {p.site: p.name for p in self.model.law.params}
        for site, shape in zip(self.packing.sites, self.packing.shapes, strict=True):
            axes = [self.layout.labels[d] for d in site.dims]
            for at in np.ndindex(*shape):
                where = ",".join(labels[k] for labels, k in zip(axes, at, strict=True))
                listed.append(f"{of[site.name]}[{where}]" if where else of[site.name])
        return listed

    def starts(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Prior medians, then prior draws: shape (count, size)."""
        pairs = zip(self.packing.sites, self.packing.shapes, strict=True)
        middle = {s.name: np.full((1, *shape), s.prior.middle()) for s, shape in pairs}
        drawn = self.packing.sample_prior(rng, count)
        return np.concatenate([self.packing.join(middle), self.packing.join(drawn)])[:count]

    def bounds(self, tail: float) -> np.ndarray:
        """Prior quantiles ``tail`` and 1 - ``tail`` of each coordinate, shape (size, 2)."""
        listed = []
        for site, shape in zip(self.packing.sites, self.packing.shapes, strict=True):
            ends = np.asarray(site.prior.scipy().ppf([tail, 1 - tail]), dtype=float)
            ends = np.asarray(site.prior.support.unconstrain(ends))
            listed.append(np.tile(ends, (int(np.prod(shape)), 1)))
        return np.concatenate(listed)
