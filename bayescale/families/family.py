"""Laws whose labels come from a table: mixtures of domains, scores of benchmarks."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayescale.errors import LawError, nearest
from bayescale.law import Law

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


@dataclass(frozen=True)
class Family:
    """A factory of laws, and how a table of runs says which one it needs.

    Parameters
    ----------
    name, title : str
        As for a `Law`.
    build : callable
        ``build(**recipe)`` gives the law; memoised, so that the same recipe gives the same
        object. Recipes hold what JSON can: a list comes back as a tuple.
    arrange : callable
        ``arrange(runs, **options)`` finds labels in a table and gives ``(law, runs)``, the runs
        with one row a response.
    example : Law
        A member, for the contract of laws and for ``bayescale laws``.
    options : mapping
        Option -> what it chooses and its values, for people.
    reading : mapping
        What `read_runs` needs to be told of such tables, such as ``{"columns": {"loss": ""}}``.
    """

    name: str
    title: str
    build: Callable[..., Law]
    arrange: Callable[..., "tuple[Law, Runs]"]
    example: Law
    options: Mapping[str, str] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.name)

    def rebuild(self, recipe: str) -> Law:
        """The law of a recipe as it stands in `Law.recipe`."""
        return self.build(**{k: _frozen(v) for k, v in json.loads(recipe).items()})

    def parse(self, text: str) -> dict[str, Any]:
        """Options as written behind the family's name: ``transfer=additive:repetition=no``.

        A comma separates them too.

        Raises
        ------
        LawError
            An option that the family hasn't, or one without a value.
        """
        found: dict[str, Any] = {}
        for part in filter(None, (p.strip() for p in re.split("[,:]", text))):
            name, sign, value = (x.strip() for x in part.partition("="))
            if not sign or not value:
                raise LawError(f"'{part}' of '{self.name}:{text}' is not of the form option=value.")
            if name not in self.options:
                raise LawError(
                    f"'{self.name}' has no option '{name}'; it has {', '.join(self.options)}."
                    + nearest(name, list(self.options))
                )
            found[name] = _value(value)
        return found


def recipe_of(family: str, **recipe: Any) -> tuple[str, str]:
    """What a factory writes into `Law.recipe`."""
    return family, json.dumps(recipe, sort_keys=True)


def _value(text: str) -> Any:
    words = {"yes": True, "true": True, "no": False, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return tuple(text.split("+")) if "+" in text else text


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(v) for v in value)
    if isinstance(value, dict):
        return tuple((k, _frozen(v)) for k, v in value.items())
    return value
