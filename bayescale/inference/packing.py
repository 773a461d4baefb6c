"""How site values lie in one flat vector, along directions that the data see."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from bayescale.arrays import namespace, softplus
from bayescale.drift import STEP
from bayescale.inference.frame import Frame, from_hinges, to_hinges
from bayescale.inference.model import Model, Site
from bayescale.support import POSITIVE

LEVEL = "run_level"  # beside the centrings: levels of runs that offsets are counted from


@dataclass(frozen=True)
class Packing:
    """How site values lie in one flat vector.

    Parameters
    ----------
    sites : tuple of Site
    shapes : tuple of tuple of int
        Shape of each site.
    terms : tuple of str
        Positive sites that add up to the response at the centre of the data. In place of their
        logarithms the vector holds the logarithm of the sum and log ratios, pair by pair:
        (ln a, ln b) -> (ln(a + b), ln a - ln b), a map whose Jacobian is 1 everywhere.
    slopes : tuple of (exponent, term)
        Positive sites whose product the data see: in place of the exponent's logarithm the
        vector holds the product's, a shear, whose Jacobian is 1 too.
    sums : tuple of (exponent, exponent)
        Products of two such pairs that the data see added: folded as terms are.
    pools : tuple of (z site, common site, spread site)
        Partially pooled parameters. In place of z = (u - common)/s the vector holds
        w = s^c z + c common: z itself for centring c = 0, the group's own value u for c = 1.
        Between them lies what the data know of each group (see `centring`). Offsets of runs
        have no common site; theirs is 0.
    scales : tuple of (site, callable)
        Coordinates in units of a scale s that other sites give. In place of z the vector holds
        s^c z, or ln z + c ln s of a positive one, whose Jacobian is 1.
    """

    sites: tuple[Site, ...]
    shapes: tuple[tuple[int, ...], ...]
    terms: tuple[str, ...] = ()
    slopes: tuple[tuple[str, str], ...] = ()
    sums: tuple[tuple[str, str], ...] = ()
    pools: tuple[tuple[str, str, str], ...] = ()
    # no part of the name that compiled functions are kept under: the model says it
    scales: tuple[tuple[str, Callable[..., Any]], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, model: Model, labels: Mapping[str, tuple[str, ...]]) -> "Packing":
        """Packing of a model whose named axes have these labels."""
        shapes = tuple(tuple(len(labels[d]) for d in site.dims) for site in model.sites)
        terms, slopes, sums = _folds(model, shapes)
        pools = tuple(
            (f"{p.site}_z", f"{p.site}_pop", f"{p.site}_sd")
            for p in model.params
            if (pool := model.pool(p)) and pool.kind == "partial"
        )
        if model.noise.offsets:
            pools += (("run_offset", "", "run_sd"),)
        return cls(model.sites, shapes, terms, slopes, sums, pools, _scales(model))

    @property
    def size(self) -> int:
        """Length of the flat vector."""
        return sum(int(np.prod(shape)) for shape in self.shapes)

    @property
    def centred(self) -> bool:
        """Whether there are coordinates whose centring is chosen for each data set."""
        return bool(self.pools or self.scales)

    @cached_property
    def frame(self) -> Frame | None:
        """How a drift is sampled, for models that have one."""
        shape_of = {s.name: shape for s, shape in zip(self.sites, self.shapes, strict=True)}
        if STEP not in shape_of:
            return None
        moving = shape_of.get("sigma") in ((), shape_of[STEP][:-1])
        return Frame(shape_of[STEP], "sigma" if moving else None)

    def no_centring(self) -> dict[str, np.ndarray]:
        """Centring 0 of every pooled parameter: the vector holds z itself."""
        shape_of = {s.name: shape for s, shape in zip(self.sites, self.shapes, strict=True)}
        found = {z: np.zeros(shape_of[z]) for z, _, _ in self.pools}
        found |= {z: np.zeros(shape_of[z]) for z, _ in self.scales}
        if self.frame:
            found |= self.frame.none(self.size)
        if "run_offset" in found:  # see `levels`; not a number: offsets are sampled as such
            found[LEVEL] = np.full(shape_of["run_offset"], np.nan)
        return found

    def slice_of(self, site: str) -> slice:
        """Where a site lies in the vector."""
        start = 0
        for s, shape in zip(self.sites, self.shapes, strict=True):
            if s.name == site:
                return slice(start, start + int(np.prod(shape)))
            start += int(np.prod(shape))
        raise KeyError(site)

    def split(self, vector: Any, centring: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Unconstrained site values from a vector of shape (..., size)."""
        parts = self.cut(vector)
        if centring and self.frame:
            weights = self.frame.turned(parts, centring)
            parts = self.cut(vector - self.frame.sheared(weights, parts, centring))
            parts[STEP] = to_hinges(weights, centring)
        for one, other in reversed(list(pairwise(self.terms))):
            parts[one], parts[other] = _unfold(parts[one], parts[other])
        for one, other in self.sums:
            parts[one], parts[other] = _unfold(parts[one], parts[other])
        for exponent, term in self.slopes:
            parts[exponent] = parts[exponent] - parts[term]
        for z, common, spread in self.pools if centring else ():
            c, middle, log_s = self._pooled(parts, z, common, spread, centring)
            parts[z] = (parts[z] - c * middle) * namespace(log_s).exp(-c * log_s)
        for z, log_s in self._scaled(parts, centring):
            parts[z] = (
                parts[z] - log_s if self.positive(z) else parts[z] / namespace(log_s).exp(log_s)
            )
        return parts

    def cut(self, vector: Any) -> dict[str, Any]:
        """The vector's own numbers by site."""
        parts, start = {}, 0
        for site, shape in zip(self.sites, self.shapes, strict=True):
            length = int(np.prod(shape))
            part = vector[..., start : start + length]
            parts[site.name] = part.reshape((*vector.shape[:-1], *shape))
            start += length
        return parts

    def _pooled(
        self, parts: Mapping[str, Any], z: str, common: str, spread: str, centring: Any
    ) -> tuple[Any, Any, Any]:
        """Centring, common value and log spread with an axis of groups, for one parameter."""
        c = centring[z]
        rank = len(c.shape) - 1
        log_s = parts[spread]
        for _ in range(rank + 1):
            log_s = log_s[..., None]
        if not common:
            return c, 0.0, log_s
        return c, namespace(log_s).expand_dims(parts[common], axis=-(rank + 1)), log_s

    def _scaled(self, parts: Mapping[str, Any], centring: Any) -> Iterator[tuple[str, Any]]:
        """Coordinates in units of a scale, with c ln s."""
        support = {s.name: s.prior.support for s in self.sites}
        for z, scale in self.scales if centring else ():
            asked = inspect.signature(scale).parameters
            s = scale(**{name: support[name].constrain(parts[name]) for name in asked})
            yield z, centring[z] * namespace(s).log(s)

    def scaled(self, parts: Mapping[str, Any], centring: Any) -> dict[str, Any]:
        """Coordinates in units of a scale s times s^c: for c = 1 the parameters themselves."""
        return {
            z: parts[z] + log_s if self.positive(z) else parts[z] * namespace(log_s).exp(log_s)
            for z, log_s in self._scaled(parts, centring)
        }

    def positive(self, site: str) -> bool:
        """Whether a site is sampled by its logarithm."""
        return next(s.prior.support for s in self.sites if s.name == site) == POSITIVE

    def log_jacobian(self, parts: Mapping[str, Any], centring: Mapping[str, Any]) -> Any:
        """Log Jacobian of the centring: dz/dw = s^-c, from unconstrained site values."""
        total: Any = 0.0
        for z, _, spread in self.pools:
            total = total - centring[z].sum() * parts[spread]
        for z, log_s in self._scaled(parts, centring):
            total = total - (0.0 if self.positive(z) else log_s.sum())
        if self.frame:
            total = total + self.frame.log_jacobian(parts, centring)
        return total

    def constrain(self, vector: Any, centring: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Site values on their supports from a vector of shape (..., size)."""
        parts = self.split(vector, centring)
        return {s.name: s.prior.support.constrain(parts[s.name]) for s in self.sites}

    def join(
        self, values: Mapping[str, np.ndarray], centring: Mapping[str, Any] | None = None
    ) -> np.ndarray:
        """The unconstrained vector of given site values; inverse of `constrain`."""
        parts = {
            s.name: np.asarray(s.prior.support.unconstrain(np.asarray(values[s.name])))
            for s in self.sites
        }
        for z, common, spread in self.pools if centring else ():
            c, middle, log_s = self._pooled(parts, z, common, spread, centring)
            parts[z] = parts[z] * np.exp(c * log_s) + c * middle
        parts |= self.scaled(parts, centring)
        for exponent, term in self.slopes:
            parts[exponent] = parts[exponent] + parts[term]
        for one, other in self.sums:
            parts[one], parts[other] = _fold(parts[one], parts[other])
        for one, other in pairwise(self.terms):
            parts[one], parts[other] = _fold(parts[one], parts[other])
        weights = None
        if centring and self.frame:
            weights = from_hinges(parts[STEP], centring)
            parts[STEP] = self.frame.untangled(weights, parts, centring)
        flat = [
            parts[s.name].reshape(*parts[s.name].shape[: parts[s.name].ndim - len(shape)], -1)
            for s, shape in zip(self.sites, self.shapes, strict=True)
        ]
        vector = np.concatenate(flat, axis=-1)
        if self.frame is None or weights is None or not centring:
            return vector
        return vector + self.frame.sheared(weights, parts, centring)

    def sample_prior(self, rng: np.random.Generator, draws: int) -> dict[str, np.ndarray]:
        """Prior draws of each site, shape (draws, ...)."""
        return {
            s.name: s.prior.sample(rng, (draws, *shape))
            for s, shape in zip(self.sites, self.shapes, strict=True)
        }

    def names(self) -> list[str]:
        """A name for each element of the vector, such as ``E_z[2]``."""
        listed = []
        for site, shape in zip(self.sites, self.shapes, strict=True):
            for position in np.ndindex(*shape):
                where = ",".join(str(k) for k in position)
                listed.append(f"{site.name}[{where}]" if shape else site.name)
        return listed


def _folds(
    model: Model, shapes: tuple[tuple[int, ...], ...]
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """The law's terms, slopes and their sums as sites, where those are sampled with one shape."""
    shape_of = {s.name: shape for s, shape in zip(model.sites, shapes, strict=True)}

    def sites(names: tuple[str, ...]) -> tuple[str, ...] | None:
        """Sites of these parameters (the common value of a pooled one), if alike in shape."""
        found = tuple(n if n in shape_of else f"{n}_pop" for n in names)
        alike = all(n in shape_of for n in found) and len({shape_of[n] for n in found}) == 1
        return found if alike else None

    def pairs(of: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple((p[0], p[1]) for pair in of if (p := sites(pair)))

    slopes = pairs(model.law.slopes)
    seen = {exponent for exponent, _ in slopes}
    sums = tuple(pair for pair in pairs(model.law.sums) if seen.issuperset(pair))
    return sites(model.law.terms) or (), slopes, sums


def _scales(model: Model) -> tuple[tuple[str, Callable[..., Any]], ...]:
    """Sites in units of a scale, where none of those that give it differs by group."""
    alone = {p.site for p in model.params if model.pool(p) is None}
    listed = [(p.site, p.coordinate.scale) for p in model.params if p.coordinate]
    return tuple(
        (site, scale)
        for site, scale in listed
        if scale and alone.issuperset((site, *inspect.signature(scale).parameters))
    )


def _fold(log_a: Any, log_b: Any) -> tuple[Any, Any]:
    """(ln a, ln b) -> (ln a - ln b, ln(a + b)); the sum goes on to the next pair."""
    return log_a - log_b, namespace(log_a).logaddexp(log_a, log_b)


def _unfold(ratio: Any, log_sum: Any) -> tuple[Any, Any]:
    """Inverse of `_fold`."""
    return log_sum - softplus(-ratio), log_sum - softplus(ratio)
