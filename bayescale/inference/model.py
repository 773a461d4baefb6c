"""A law, its noise and its pooling as one probabilistic model, for NumPy and JAX alike.

The path from what is sampled to what a row expects is written once here:

    site values -> coordinates by group -> parameters in the field's terms -> mean -> noise

and serves the sampler's density, the NumPyro model, prediction and the stored log likelihood.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.drift import SCALE, STEP, Drift
from bayescale.errors import LawError, nearest
from bayescale.law import Law, Param, call_with
from bayescale.noise import Noise
from bayescale.noise.tails import STUDENT_CONSTANT, student_constant
from bayescale.pooling import Pool, Pooling, independent, partial
from bayescale.priors import Normal, Prior
from bayescale.scatter import SCALES

Values = Mapping[str, Any]
Index = Mapping[str, Any]  # grouping column -> position of each row's group


@dataclass(frozen=True)
class Site:
    """One sampled quantity: its prior and its named axes."""

    name: str
    prior: Prior
    dims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Model:
    """A law + noise + pooling.

    Parameters
    ----------
    law : Law
    noise : Noise
    pooling : Pooling

    Raises
    ------
    LawError
        A pooled parameter is unknown, or the law declares a name that noise or pooling need.
    """

    law: Law
    noise: Noise = field(default_factory=Noise)
    pooling: Pooling = field(default_factory=Pooling)

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Noise):
            raise LawError(f"noise is {self.noise!r}; expected a Noise such as student_t().")
        self._check_pooling()
        self._check_names()

    def _check_pooling(self) -> None:
        pooled = dict(self.pooling.by_param)
        known = [x for p in self.params for x in dict.fromkeys((p.name, p.site))]
        for name in pooled:
            if name not in known:
                raise LawError(
                    f"pooling names '{name}', which is no parameter of law '{self.law.name}' or "
                    f"its noise; known: {', '.join(known)}." + nearest(name, known)
                )
        for p in self.params:
            if p.coordinate and p.name in pooled and p.site in pooled:
                raise LawError(
                    f"pooling names both '{p.name}' and its coordinate '{p.site}'; name one."
                )
            asked = pooled.get(p.name) or pooled.get(p.site)
            if p.by and asked and asked.column != p.by:
                raise LawError(
                    f"'{p.name}' of law '{self.law.name}' differs by '{p.by}'; pool it over that "
                    f"column, not over '{asked.column}'."
                )

    def _check_names(self) -> None:
        names = [p.name for p in self.params] + [p.site for p in self.params if p.coordinate]
        names += [d.name for d in self.law.derived] + [i.name for i in self.law.inputs]
        for p in self.params:
            if (pool := self.pool(p)) and pool.kind == "partial":
                names += [f"{p.site}_{part}" for part in ("pop", "sd", "z")]
        double = sorted({n for n in names if names.count(n) > 1})
        if double:
            raise LawError(
                f"law '{self.law.name}' declares '{double[0]}', a name that its noise or pooling "
                "needs; rename the law's."
            )

    @cached_property
    def drift(self) -> Drift | None:
        """The law's drift, by the labels that its noise differs by unless it says otherwise."""
        drift, by = self.law.drift, self.law.default_noise.by
        return replace(drift, by=by) if drift and by and drift.by is None else drift

    @cached_property
    def params(self) -> tuple[Param, ...]:
        """Parameters of law and noise."""
        return self.law.params + self.noise.params() + (self.drift.params() if self.drift else ())

    def pool(self, param: Param) -> Pool | None:
        """Pooling of a parameter, named by itself or its coordinate, or by its own column."""
        own = {**self.noise.pools(), **(self.drift.pools() if self.drift else {})}.get(param.name)
        asked = own or self.pooling.get(param.name) or self.pooling.get(param.site)
        if asked or not param.by:
            return asked
        return partial(param.by, param.spread) if param.spread else independent(param.by)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Grouping columns of law and noise."""
        pools = (self.pool(p) for p in self.params)
        return tuple(dict.fromkeys(pool.column for pool in pools if pool))

    @cached_property
    def cell_columns(self) -> tuple[str, ...]:
        """Grouping columns of the law's parameters: their combinations have laws of their own."""
        pools = (self.pool(p) for p in self.law.params)
        return tuple(dict.fromkeys(pool.column for pool in pools if pool))

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """What is sampled, in order."""
        listed: list[Site] = []
        for p in self.params:
            pool = self.pool(p)
            if pool is None:
                listed.append(Site(p.site, p.prior, p.dims))
            elif pool.kind == "independent":
                listed.append(Site(p.site, p.prior, (pool.column, *p.dims)))
            else:
                listed.append(Site(f"{p.site}_pop", p.prior, p.dims))
                listed.append(Site(f"{p.site}_sd", pool.scale))
                listed.append(Site(f"{p.site}_z", Normal(0.0, 1.0), (pool.column, *p.dims)))
        return tuple(listed)

    def coordinates(self, values: Values) -> dict[str, Any]:
        """Site values with partially pooled ones put together: each has its group axis."""
        found: dict[str, Any] = {}
        for p in self.params:
            pool = self.pool(p)
            if pool is None or pool.kind == "independent":
                found[p.site] = values[p.site]
                continue
            support, rank = p.prior.support, len(p.dims)
            common = _new_axis(support.unconstrain(values[f"{p.site}_pop"]), rank)
            spread = _new_axis(values[f"{p.site}_sd"], 0)
            for _ in range(rank):
                spread = _new_axis(spread, 0)
            found[p.site] = support.constrain(common + spread * values[f"{p.site}_z"])
        return found

    def by_row(self, coordinates: Values, index: Index) -> dict[str, Any]:
        """Coordinates of each row (or of each cell): group axis picked, or an axis of one."""
        found: dict[str, Any] = {}
        for p in self.params:
            value, pool, rank = coordinates[p.site], self.pool(p), len(p.dims)
            if pool is None:
                found[p.site] = _new_axis(value, rank)
            elif pool.column in index:
                picked = index[pool.column]
                found[p.site] = value[(..., picked) + (slice(None),) * rank]
        return found

    def references(self, refs: Values, index: Index) -> dict[str, Any]:
        """References of each row (or of each cell): of a centre, the label's own."""
        picked = {c.name: refs[c.name][index[c.by]] for c in self.law.centres if c.by in index}
        return {**refs, **picked}

    def to_params(self, coordinates: Values, refs: Values) -> dict[str, Any]:
        """Parameters in the field's own terms, from coordinates of rows or cells.

        Parameters
        ----------
        coordinates : mapping
            From `by_row`; parameters without a coordinate are themselves in it.
        refs : mapping
            Input references, ``N_ref`` and so on, as from `references`.
        """
        known = {**refs, **coordinates}
        waiting = [p for p in self.params if p.coordinate and p.site in coordinates]
        while waiting:
            ready = [p for p in waiting if p.coordinate and _can_call(p.coordinate.to_param, known)]
            if not ready:
                names = ", ".join(p.name for p in waiting)
                raise LawError(f"law '{self.law.name}': coordinates of {names} need each other.")
            for p in ready:
                assert p.coordinate
                known[p.name] = call_with(p.coordinate.to_param, known)
            waiting = [p for p in waiting if p not in ready]
        return known

    def mean(self, params: Values, inputs: Values, hinges: Any = None) -> Any:
        """The law's mean at each row, moved by its drift where its hinges there are given."""
        arguments = {p.name: params[p.name] for p in self.law.params}
        mean = self.law.mean(**arguments, **{i.name: inputs[i.name] for i in self.law.inputs})
        if hinges is None:
            return mean
        moved = params[SCALE] * (hinges * params[STEP]).sum(-1)
        return self.moved(mean, moved)

    def moved(self, mean: Any, by: Any) -> Any:
        """A mean moved on the noise's scale."""
        return SCALES[self.noise.on].moved(mean, by)

    def derived(self, params: Values) -> dict[str, Any]:
        """Derived quantities from parameters (and references), save those of labels."""
        return {d.name: call_with(d.function, params) for d in self.law.derived if not d.by}

    def derived_by_label(
        self, coordinates: Values, refs: Values, labels: Mapping[str, tuple[str, ...]]
    ) -> dict[str, Any]:
        """Derived quantities that are of a label, shape (..., label, *dims)."""
        found: dict[str, Any] = {}
        for d in self.law.derived:
            if not d.by or set(self.cell_columns) - {d.by}:
                continue
            each = np.arange(len(labels[d.by]))
            index = {d.by: each}
            known = self.references(refs, index)
            params = self.to_params(self.by_row(coordinates, index), known)
            value = np.asarray(call_with(d.function, {**params, d.by: np.eye(len(each))}))
            axis = value.ndim - len(d.dims) - 1
            found[d.name] = value if value.shape[axis] > 1 else value.repeat(len(each), axis)
        return found

    def row_log_likelihood(self, values: Values, batch: Mapping[str, Any]) -> Any:
        """Log density of each row's response, shape (..., row)."""
        coordinates = self.coordinates(values)
        at_rows = self.by_row(coordinates, batch["index"])
        params = self.to_params(at_rows, batch["refs"])
        params |= self._tail_constant(coordinates, batch["index"])
        mean = self.mean(params, batch["inputs"], batch.get("drift"))
        return self.noise.log_density(batch["response"], mean, params, batch["noise"])

    def _tail_constant(self, coordinates: Values, index: Index) -> dict[str, Any]:
        """The tail's constant for each label of a nu that differs by one, not for each row.

        Two gamma functions a row were half of a gradient's time (470 rows, 3 labels: 128
        microseconds, and 67 without).
        """
        nu = next((p for p in self.params if p.name == "nu"), None)
        pool = self.pool(nu) if nu and self.noise.tail == "student_t" else None
        if pool is None:
            return {}
        of_labels = student_constant(coordinates["nu"])
        return {STUDENT_CONSTANT: of_labels[..., index[pool.column]]}


NOISE_NAMES = ("sigma", "nu", "noise_slope", "run_sd", "memory")


def make_model(
    law: Law,
    noise: Noise | None,
    pooling: Pooling,
    priors: Mapping[str, Prior] | None = None,
    drift: Drift | bool | None = None,
) -> Model:
    """A model with some priors replaced, of law, noise or drift, by parameter name.

    Without a noise the law's own default is taken; drift as for `Law.with_drift`.

    Raises
    ------
    LawError
        A parameter that none has, or a prior outside its support.
    """
    law = law.with_drift(drift)
    noise = law.default_noise if noise is None else noise
    if not isinstance(priors, Mapping):
        return Model(law.with_priors({} if priors is None else priors), noise, pooling)
    own = {p.name for p in law.params} | {p.site for p in law.params}
    of_noise = {n: v for n, v in priors.items() if n in NOISE_NAMES and n not in own}
    of_law = {n: v for n, v in priors.items() if n not in of_noise}
    if law.drift and SCALE in of_law:
        law = law.with_drift(replace(law.drift, scale=of_law.pop(SCALE)))
    return Model(
        law.with_priors(of_law), noise.with_priors(of_noise) if of_noise else noise, pooling
    )


def _new_axis(value: Any, rank: int) -> Any:
    """Insert an axis of one in front of the last ``rank`` axes."""
    return namespace(value).expand_dims(value, axis=-(rank + 1))


def _can_call(function: Any, known: Values) -> bool:
    import inspect

    return all(name in known for name in inspect.signature(function).parameters)
