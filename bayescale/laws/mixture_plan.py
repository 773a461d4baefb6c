"""What a mixture law is made of: its sources, targets, and which sources act on which target."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayescale.errors import LawError, nearest

TRANSFERS = ("exponential", "additive", "none")
CAPACITIES = ("own", "directional", "none")
SHARES = ("all", "pairwise", "discounted")

Pair = tuple[str, str]


@dataclass(frozen=True)
class Plan:
    """Options of the mixture law, checked; see `bayescale.laws.mixture.mixture`.

    Raises
    ------
    LawError
        An unknown option, or options that don't go together.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    transfer: str = "exponential"
    capacity: str = "own"
    repeated: tuple[str, ...] = ()
    shares: str = "all"
    sparse: bool = False
    size: bool = True

    def __post_init__(self) -> None:
        self._check_names()
        for name, known in (("transfer", TRANSFERS), ("capacity", CAPACITIES), ("shares", SHARES)):
            if (value := getattr(self, name)) not in known:
                raise LawError(
                    f"mixture: {name} is {value!r}; expected {' or '.join(known)}."
                    + nearest(str(value), list(known))
                )
        if self.transfer == "none" and self.foreign:
            raise LawError(
                f"mixture: target '{self.foreign[0]}' is no source, so only transfer brings it "
                "tokens; leave the target out, or take transfer='exponential' or 'additive'."
            )
        if self.sparse and not self.pairs:
            raise LawError("mixture: sparse=True shrinks transfers, and this law has none.")

    def _check_names(self) -> None:
        for kind in ("sources", "targets"):
            names = getattr(self, kind)
            if not names or len(set(names)) < len(names) or not all(map(str, names)):
                raise LawError(f"mixture: {kind} are {names!r}; expected distinct names.")
        if unknown := [s for s in self.repeated if s not in self.sources]:
            raise LawError(
                f"mixture: '{unknown[0]}' in repetition is no source; there are "
                f"{', '.join(self.sources)}."
            )

    @cached_property
    def owned(self) -> tuple[str, ...]:
        """Targets that are sources themselves."""
        return tuple(t for t in self.targets if t in self.sources)

    @cached_property
    def foreign(self) -> tuple[str, ...]:
        """Targets that are no source: nothing but transfer brings them tokens."""
        return tuple(t for t in self.targets if t not in self.sources)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """(source, target) for the transfers to targets with tokens of their own."""
        if self.transfer == "none":
            return ()
        return tuple((k, m) for m in self.owned for k in self.sources if k != m)

    @cached_property
    def worths(self) -> tuple[Pair, ...]:
        """(source, target) for the targets without tokens of their own."""
        return tuple((k, m) for m in self.foreign for k in self.sources)

    @cached_property
    def diluted(self) -> tuple[Pair, ...] | tuple[str, ...]:
        """What capacity constants belong to: targets, or (source, target) pairs."""
        if self.capacity == "none" or not self.size or len(self.sources) == 1:
            return ()
        if self.capacity == "own":
            return self.owned
        return tuple((k, m) for m in self.owned for k in self.sources if k != m)

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Labels of all named axes."""
        named = {"target": self.targets, "source": self.sources, "repeated": self.repeated}
        named |= {"transfer": tuple(map(arrow, self.pairs))}
        named |= {"worth": tuple(map(arrow, self.worths))}
        named |= {"diluted": tuple(x if isinstance(x, str) else arrow(x) for x in self.diluted)}
        return {axis: labels for axis, labels in named.items() if labels}

    @cached_property
    def own(self) -> np.ndarray:
        """1 where a source is a target, shape (source, target)."""
        return np.array([[float(s == t) for t in self.targets] for s in self.sources])

    def spread(self, pairs: Any) -> np.ndarray:
        """Ones at each pair's place among sources and targets, shape (pair, source, target)."""
        found = np.zeros((len(pairs), len(self.sources), len(self.targets)))
        for p, (source, target) in enumerate(pairs):
            found[p, self.sources.index(source), self.targets.index(target)] = 1.0
        return found

    @cached_property
    def pick_owned(self) -> np.ndarray:
        """Ones that pick the targets with tokens of their own, shape (target, owned)."""
        return np.array([[float(t == o) for o in self.owned] for t in self.targets])


def arrow(pair: Pair) -> str:
    """The label of a transfer: ``vision→text``."""
    return f"{pair[0]}→{pair[1]}"
