"""How a parameter is shared between groups of runs: shared, partially pooled, independent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bayescale.errors import LawError
from bayescale.prior_reading import prior_from_dict
from bayescale.priors import HalfNormal, Prior

Kind = Literal["partial", "independent"]


@dataclass(frozen=True)
class Pool:
    """One parameter's pooling over a grouping column.

    Parameters
    ----------
    kind : {"partial", "independent"}
        ``partial``: group values are spread around a common one, on the unconstrained scale
        of the parameter (log for a positive one), with a learnt standard deviation
        (non-centred). ``independent``: each group has the parameter's prior to itself.
    column : str
        Column of the run table that names the groups.
    scale : Prior
        Prior of the standard deviation between groups (``partial`` only).
    """

    kind: Kind
    column: str
    scale: Prior = field(default_factory=lambda: HalfNormal(0.3))

    def __post_init__(self) -> None:
        if self.kind not in ("partial", "independent"):
            raise LawError(f"pooling '{self.kind}' is unknown; expected partial or independent.")
        if not isinstance(self.column, str) or not self.column:
            raise LawError(f"pooling over {self.column!r}: expected the name of a column.")
        if not isinstance(self.scale, Prior):
            raise LawError(
                f"the scale of pooling over '{self.column}' is {self.scale!r}; expected a prior "
                "such as HalfNormal(0.3)."
            )
        if self.scale.support.lower < 0:
            raise LawError(f"the scale of pooling over '{self.column}' needs a positive prior.")

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {"kind": self.kind, "column": self.column, "scale": self.scale.to_dict()}


def partial(column: str, scale: Prior | None = None) -> Pool:
    """Partial pooling over a column, with 30% spread between groups a priori."""
    return Pool("partial", column, HalfNormal(0.3) if scale is None else scale)


def independent(column: str) -> Pool:
    """A value of its own for each group."""
    return Pool("independent", column)


@dataclass(frozen=True)
class Pooling:
    """Pooling of all parameters; a parameter that is not named is shared by all runs."""

    by_param: tuple[tuple[str, Pool], ...] = ()

    @classmethod
    def of(cls, pooling: "Pooling | Mapping[str, Pool] | None") -> "Pooling":
        """Read what a user passes to ``fit``: a mapping from parameter to `Pool`."""
        if isinstance(pooling, Pooling):
            return pooling
        if pooling is not None and not isinstance(pooling, Mapping):
            raise LawError(
                f"pooling is {pooling!r}; expected a mapping such as {{'E': partial('corpus')}}."
            )
        for name, pool in (pooling or {}).items():
            if not isinstance(pool, Pool):
                raise LawError(
                    f"pooling of '{name}' is {pool!r}; expected partial('column') or "
                    "independent('column')."
                )
        return cls(tuple((pooling or {}).items()))

    def get(self, name: str) -> Pool | None:
        """Pooling of one parameter, or None where it is shared."""
        return dict(self.by_param).get(name)

    @property
    def columns(self) -> tuple[str, ...]:
        """Grouping columns in the order of their first use."""
        return tuple(dict.fromkeys(pool.column for _, pool in self.by_param))

    def to_dict(self) -> dict[str, Any]:
        """A plain record that `pooling_from_dict` reads back."""
        return {name: pool.to_dict() for name, pool in self.by_param}


def pooling_from_dict(record: Mapping[str, Any]) -> Pooling:
    """Build a pooling from `Pooling.to_dict`'s record."""
    return Pooling(
        tuple(
            (name, Pool(r["kind"], r["column"], prior_from_dict(r["scale"])))
            for name, r in record.items()
        )
    )


def parse_pool(text: str) -> Pool:
    """Read a pooling as written in the shell: ``partial:corpus``, ``independent:corpus``.

    Raises
    ------
    LawError
        The text has another form.
    """
    kind, _, column = text.partition(":")
    if kind == "partial" and column:
        return partial(column)
    if kind == "independent" and column:
        return independent(column)
    raise LawError(f"pooling '{text}' is not of the form partial:COLUMN or independent:COLUMN.")
