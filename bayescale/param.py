"""What a law declares: references, inputs, parameters with coordinates, derived quantities."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

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
        At most one named axis behind the axis of runs, such as ``("source",)``: the mean gets
        an array of shape (row, source), read from the columns ``<name>_<label>``.
    positive : bool
        Whether the input is positive. References ``<name>_ref`` are geometric means over the
        data: of all values, or, with an axis, of the positive ones. An input that needn't be
        positive and has no axis has its mean.
    at_least, at_most : float, optional
        Bounds of an input that needn't be positive, such as a share.
    kind : {"number", "label"}
        A label input is a column of names; the mean gets it as ones and zeros on the axis
        ``dims``, so that ``(x * target).sum(-1)`` picks the row's own.
    latex : str
        Its symbol in the equation, where that isn't the name.
    usual : str
        Input whose value it has where a question leaves it out: unique tokens are all tokens.
    """

    name: str
    meaning: str = ""
    unit: str = ""
    dims: tuple[str, ...] = ()
    positive: bool = True
    at_least: float | None = None
    at_most: float | None = None
    kind: Literal["number", "label"] = "number"
    latex: str = ""
    usual: str = ""

    def __post_init__(self) -> None:
        if len(self.dims) > 1 or (self.kind == "label" and not self.dims):
            raise LawError(
                f"input '{self.name}' has the axes {self.dims!r}; expected "
                + ("one, which names its labels." if self.kind == "label" else "one at most.")
            )

    def columns(self, labels: tuple[str, ...] | None) -> tuple[str, ...]:
        """Columns of the run table that hold it, given the labels of its axis."""
        if self.kind == "label" or not self.dims:
            return (self.name,)
        return tuple(f"{self.name}_{label}" for label in labels or ())


@dataclass(frozen=True)
class Centre:
    """Where the data (of each label) lie, in a law's own terms: a reference for coordinates.

    References of inputs hold for the whole table. A target that is always trained with a tenth
    of its own tokens has its centre elsewhere than one with nine tenths, and a coordinate taken
    far from it is tied to all that acts in between.

    Parameters
    ----------
    name : str
        Argument of coordinates (and derived quantities).
    by : str
        Column of the run table for whose labels it is worked out apart; some parameter of the
        law differs by it. Empty: one number for all runs.
    function : callable
        From inputs (arguments by name, as the mean gets them) to a number, or to an array whose
        first axis is that of the labels. Coordinates get each row, or each label, its own.
    """

    name: str
    by: str
    function: Callable[..., Any]


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
    scale : callable, optional
        For a parameter that is the coordinate times a scale: the scale from other sampled
        quantities (arguments by name). Where the data show the parameter, the sampler moves along
        that and not along the coordinate (see `bayescale.inference.packing`).
    """

    name: str
    to_param: Callable[..., Any]
    from_param: Callable[..., Any]
    meaning: str = ""
    unit: str = ""
    scale: Callable[..., Any] | None = None


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
    by : str
        Column of the run table for whose labels the parameter differs, such as ``target``. Each
        label has the prior to itself, unless a user's pooling says otherwise; the mean gets each
        row its own.
    spread : Prior, optional
        With ``by``: labels are partially pooled around a common value by default, and this is the
        prior of the standard deviation between them. A user's pooling comes first.
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
    by: str = ""
    spread: Prior | None = None
    support: Support | None = None
    coordinate: Coordinate | None = None
    why: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.prior, Prior):
            raise LawError(
                f"the prior of '{self.name}' is {self.prior!r}; expected a prior such as "
                "LogNormal(1, 1)."
            )
        if self.spread is not None and not self.by:
            raise LawError(
                f"parameter '{self.name}' has a spread but no column by whose labels it differs; "
                "give by= too."
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
    """A quantity computed from parameters (and input references), such as a = β/(α+β).

    ``dims`` names the axes of its own that the function gives behind those of its arguments.
    ``by`` names a column of labels, for each of which it is worked out from the parameters of that
    label, whether or not they differ by it; under the column's name the function gets ones and
    zeros, as the mean does. Left out where parameters are pooled over another column.
    """

    name: str
    function: Callable[..., Any]
    meaning: str = ""
    unit: str = ""
    latex: str = ""
    dims: tuple[str, ...] = ()
    by: str = ""
