"""What a law declares: references, inputs, parameters with coordinates, derived quantities."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from bayescale.errors import LawError
from bayescale.priors import Prior
from bayescale.support import Support


@dataclass(frozen=True)
class Reference:
    """Where an equation stands: a citation, its arXiv id, the equation's number."""

    text: str
    arxiv: str = ""
    equation: str = ""

    def __str__(self) -> str:
        parts = [self.text]
        if self.arxiv:
            parts.append(f"arXiv:{self.arxiv}")
        if self.equation:
            parts.append(self.equation)
        return ", ".join(parts)


@dataclass(frozen=True)
class Input:
    """A column that a law reads, such as N.

    Parameters
    ----------
    name : str
        Argument of the law's mean and column of the run table.
    meaning, unit : str
        Said in tables and plots.
    dims : tuple of str
        Named axes behind the axis of runs, such as ``("source",)``.
    positive : bool
        Whether the input is positive; such an input has a reference ``<name>_ref``, its
        geometric mean over the data, else its mean.
    """

    name: str
    meaning: str = ""
    unit: str = ""
    dims: tuple[str, ...] = ()
    positive: bool = True


@dataclass(frozen=True)
class Coordinate:
    """What is sampled in place of a parameter: a quantity that the data see directly.

    A of the Chinchilla law is the size term at N = 1, seventy e-folds from any run, and moves
    with every change of alpha; the size term at the data's centre does not.

    Parameters
    ----------
    name, meaning, unit : str
        As for a parameter.
    to_param : callable
        Gives the parameter from the coordinate, other coordinates or parameters, and input
        references (arguments by name: ``size_term, alpha, N_ref``).
    from_param : callable
        The inverse: the coordinate from the parameters and references (arguments by name).
    """

    name: str
    to_param: Callable[..., Any]
    from_param: Callable[..., Any]
    meaning: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Param:
    """A parameter of a law or of a noise, with its prior.

    Parameters
    ----------
    name : str
        Argument of the law's mean.
    prior : Prior
        Prior of the parameter, or of its coordinate where there is one.
    meaning, unit, latex : str
        Said in tables, plots and equations.
    dims : tuple of str
        Named axes, such as ``("modality",)``; empty for a scalar.
    support : Support, optional
        Where the law accepts the parameter; a prior must stay within it. Default: the
        prior's own support.
    coordinate : Coordinate, optional
        What is sampled in place of the parameter.
    why : str
        The reason for the default prior; shown by ``bayescale laws NAME``.
    """

    name: str
    prior: Prior
    meaning: str = ""
    unit: str = ""
    latex: str = ""
    dims: tuple[str, ...] = ()
    support: Support | None = None
    coordinate: Coordinate | None = None
    why: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.prior, Prior):
            raise LawError(
                f"the prior of '{self.name}' is {self.prior!r}; expected a prior such as "
                "LogNormal(1, 1)."
            )
        allowed = self.allowed
        if self.coordinate is None and not allowed.contains(self.prior.support):
            raise LawError(
                f"parameter '{self.name}' is {allowed}, but its prior {self.prior} is "
                f"{self.prior.support}; use a prior with support inside it."
            )

    @property
    def allowed(self) -> Support:
        """Support of the parameter."""
        return self.support or self.prior.support

    @property
    def site(self) -> str:
        """Name of what is sampled: the coordinate's, or the parameter's own."""
        return self.coordinate.name if self.coordinate else self.name

    def with_prior(self, prior: Prior, name: str) -> "Param":
        """The parameter with another prior, on its coordinate or (by its name) on itself."""
        if self.coordinate and name == self.coordinate.name:
            if not self.prior.support.contains(prior.support):
                raise LawError(
                    f"'{name}' is {self.prior.support}, but the prior {prior} is {prior.support}."
                )
            return replace(self, prior=prior, support=self.allowed, why="")
        return replace(self, prior=prior, support=self.allowed, coordinate=None, why="")


@dataclass(frozen=True)
class Derived:
    """A quantity computed from parameters (and input references), such as a = β/(α+β)."""

    name: str
    function: Callable[..., Any]
    meaning: str = ""
    unit: str = ""
    latex: str = ""
