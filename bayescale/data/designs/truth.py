"""What a simulated design is made with: values, each with a source or called a stand-in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescale.errors import DataError, nearest
from bayescale.tables import Shown, Table, quantity

STAND_IN = "stand-in"


@dataclass(frozen=True)
class Known:
    """A value and where it comes from.

    Parameters
    ----------
    value : float
    source : str
        Where it is published; a value that is published nowhere has ``stand-in: why this one``.
    """

    value: float
    source: str

    def __post_init__(self) -> None:
        if not self.source:
            raise DataError(f"the value {self.value} has no source; write where it is published.")

    @property
    def stand_in(self) -> bool:
        """Whether nobody has published it."""
        return self.source.startswith(STAND_IN)


@dataclass(frozen=True)
class Truth(Shown):
    """The parameters behind simulated runs, by name; a vector's are ``name[label]``.

    Parameters
    ----------
    title : str
    values : tuple of (str, Known)
    """

    title: str
    values: tuple[tuple[str, Known], ...]

    def __getitem__(self, name: str) -> float:
        return self.known(name).value

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.values)

    def __contains__(self, name: object) -> bool:
        return name in dict(self.values)

    def known(self, name: str) -> Known:
        """A value with its source.

        Raises
        ------
        DataError
            No value has that name.
        """
        found = dict(self.values)
        if name not in found:
            raise DataError(f"the truth has no '{name}'." + nearest(name, list(found)))
        return found[name]

    def vector(self, name: str, labels: tuple[str, ...]) -> np.ndarray:
        """Values of ``name[label]``, shape (label,)."""
        return np.array([self[f"{name}[{label}]"] for label in labels])

    def matrix(self, name: str, first: tuple[str, ...], second: tuple[str, ...]) -> np.ndarray:
        """Values of ``name[first,second]``, shape (first, second); what is not there is 0."""
        held = {n: k.value for n, k in self.values}
        return np.array([[held.get(f"{name}[{a},{b}]", 0.0) for b in second] for a in first])

    def table(self) -> Table:
        """Values with their sources."""
        rows = [[name, quantity(k.value, 4), k.source] for name, k in self.values]
        return Table(["", "value", "meaning"], rows, self.title)


def published(source: str, values: Mapping[str, float]) -> list[tuple[str, Known]]:
    """Values that stand in a paper."""
    return [(name, Known(float(v), source)) for name, v in values.items()]


def stand_ins(why: str, values: Mapping[str, float]) -> list[tuple[str, Known]]:
    """Values that are published nowhere, and why these were taken."""
    return published(f"{STAND_IN}: {why}", values)


def by_label(name: str, values: Mapping[str, Any]) -> dict[str, float]:
    """``{"text": .34}`` as ``{"alpha[text]": .34}``."""
    return {f"{name}[{label}]": float(v) for label, v in values.items()}
