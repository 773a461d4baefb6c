"""The vocabulary of a scaling law: inputs, parameters, one mean function, derived quantities.

Everything here is a frozen value. Sampling, prediction, simulation and plots read the same
`Law`; nothing is registered and nothing is subclassed.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bayescale.arrays import namespace
from bayescale.errors import LawError, nearest
from bayescale.priors import POSITIVE, Prior, Support

__all__ = ["Coordinate", "Derived", "Input", "Law", "Param", "Reference", "namespace"]


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


@dataclass(frozen=True)
class Law:
    """A scaling law: a frozen value that every part of the package reads.

    Parameters
    ----------
    name, title : str
        Short name for the shell, and a line for people.
    inputs : tuple of Input
        Columns that the mean reads.
    params : tuple of Param
        Parameters in the field's own terms, with priors.
    mean : callable
        ``mean(**params, **inputs)``: the expected response. It broadcasts and uses operators
        and functions of `namespace` only, so it runs on NumPy and JAX arrays alike.
    equation : str
        The same equation in LaTeX, right-hand side included.
    reference : Reference
        Where it stands.
    derived : tuple of Derived
        Quantities reported beside the parameters.
    terms : tuple of str
        Parameters or coordinates that add up to the response at the centre of the data, such as
        E, size_term and data_term. The data fix their sum far better than each of them, so the
        sampler moves along the sum and the terms' ratios.
    slopes : tuple of (exponent, term)
        Pairs of sampled positive quantities whose product the data see (alpha times size_term is
        the slope of the loss in ln N at the centre); the sampler moves along the product.
    response : str
        Column that the law explains.
    response_unit : str
        Its unit.
    note : str
        What a user should know before using it.

    Raises
    ------
    LawError
        The mean's arguments differ from the declared parameters and inputs, or a derived
        quantity or coordinate asks for an undeclared name.
    """

    name: str
    inputs: tuple[Input, ...]
    params: tuple[Param, ...]
    mean: Callable[..., Any]
    title: str = ""
    equation: str = ""
    reference: Reference = field(default_factory=lambda: Reference("user-defined"))
    derived: tuple[Derived, ...] = ()
    terms: tuple[str, ...] = ()
    slopes: tuple[tuple[str, str], ...] = ()
    response: str = "loss"
    response_unit: str = "nats/token"
    note: str = ""

    def __post_init__(self) -> None:
        for part in ("inputs", "params", "derived", "terms"):  # a list would not be a value
            object.__setattr__(self, part, tuple(getattr(self, part)))
        names = [p.name for p in self.params] + [i.name for i in self.inputs]
        sampled = [p.site for p in self.params if p.coordinate]
        _check_unique(self.name, names + sampled + [d.name for d in self.derived])
        _check_signature(self.name, "mean", self.mean, set(names), exact=True)
        refs = {f"{i.name}_ref" for i in self.inputs}
        params = {p.name for p in self.params}
        sites = {p.site for p in self.params}
        for p in self.params:
            if p.coordinate:
                label = f"coordinate '{p.coordinate.name}'"
                known = (params - {p.name}) | refs | sites
                _check_signature(self.name, label, p.coordinate.to_param, known)
                _check_signature(self.name, label, p.coordinate.from_param, params | refs)
        for name in (*self.terms, *(n for pair in self.slopes for n in pair)):
            if self.param(name).prior.support != POSITIVE:
                raise LawError(
                    f"law '{self.name}': '{name}' in its terms or slopes isn't positive."
                )
        for d in self.derived:
            _check_signature(self.name, f"derived '{d.name}'", d.function, params | refs)

    def param(self, name: str) -> Param:
        """The parameter of this name (or of this coordinate's name).

        Raises
        ------
        LawError
            There is none; the message gives the nearest name.
        """
        for p in self.params:
            if name in (p.name, p.site):
                return p
        known = [p.name for p in self.params] + [p.site for p in self.params if p.coordinate]
        raise LawError(
            f"law '{self.name}' has no parameter '{name}'; it has {', '.join(known)}."
            + nearest(name, known)
        )

    def with_priors(self, priors: Mapping[str, Prior]) -> "Law":
        """The law with some priors replaced, by parameter or coordinate name.

        Raises
        ------
        LawError
            An unknown parameter, or a prior whose support leaves the parameter's.
        """
        if not isinstance(priors, Mapping):
            raise LawError(f"priors are {priors!r}; expected a mapping from parameter to prior.")
        params = {p.name: p for p in self.params}
        for name, prior in priors.items():
            if not isinstance(prior, Prior):
                raise LawError(
                    f"the prior of '{name}' is {prior!r}; expected a prior such as LogNormal(1, 1)."
                )
            p = self.param(name)
            if p.name != p.site and p.name in priors and p.site in priors:
                raise LawError(
                    f"priors of both '{p.name}' and its coordinate '{p.site}'; give one."
                )
            params[p.name] = params[p.name].with_prior(prior, name)
        self._check_lost(params)
        positive = {p.site for p in params.values() if p.prior.support == POSITIVE}
        return replace(
            self,
            params=tuple(params.values()),
            terms=self.terms if positive.issuperset(self.terms) else (),
            slopes=tuple(pair for pair in self.slopes if positive.issuperset(pair)),
        )

    def _check_lost(self, params: Mapping[str, Param]) -> None:
        """A prior on a parameter takes its coordinate away, which another may lean on."""
        lost = {p.site: p.name for p in self.params} | {p.site: "" for p in params.values()}
        for p in params.values():
            asked = inspect.signature(p.coordinate.to_param).parameters if p.coordinate else ()
            for site in asked:
                if name := lost.get(site):
                    raise LawError(
                        f"law '{self.name}': a prior on {name} itself takes away {site}, from "
                        f"which {p.name} is computed; set the prior of {site}, or of {name} and "
                        f"{p.name} both."
                    )

    def latex(self) -> str:
        """The equation that `mean` computes, in LaTeX.

        The declared equation; for a law without one, `mean` is traced with symbols (SymPy).
        """
        from bayescale.equation import traced_latex

        return self.equation or traced_latex(self)

    def text(self) -> str:
        """The equation in plain text, for terminals; the law's name where it can't be traced."""
        from bayescale.equation import plain_text

        try:
            return plain_text(self.latex())
        except LawError:
            return f"{self.response} = {self.name}({', '.join(i.name for i in self.inputs)})"


def call_with(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Call a function with those of ``values`` that its arguments name."""
    return function(**{name: values[name] for name in inspect.signature(function).parameters})


def renamed(function: Callable[..., Any], **names: str) -> Callable[..., Any]:
    """``function`` with some arguments under other names: ``renamed(mean, x="N")``."""
    back = {new: old for old, new in names.items()}
    signature = inspect.signature(function)

    def call(**values: Any) -> Any:
        return function(**{back.get(name, name): value for name, value in values.items()})

    parameters = [p.replace(name=names.get(p.name, p.name)) for p in signature.parameters.values()]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__doc__ = function.__doc__
    return call


def _check_unique(law: str, names: list[str]) -> None:
    double = sorted({n for n in names if names.count(n) > 1})
    if double:
        raise LawError(f"law '{law}' declares {', '.join(double)} more than once.")


def _check_signature(
    law: str, what: str, function: Callable[..., Any], known: set[str], exact: bool = False
) -> None:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise LawError(
            f"law '{law}': {what} is {function!r}; expected a function with named arguments."
        ) from None
    unnamed = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    )
    if any(p.kind in unnamed for p in parameters.values()):
        raise LawError(f"law '{law}': {what} must name its arguments, without *, ** or /.")
    asked = set(parameters)
    unknown = sorted(asked - known)
    missing = sorted(known - asked) if exact else []
    if unknown or missing:
        problems = []
        if unknown:
            problems.append(f"takes {', '.join(unknown)}, which the law does not declare")
        if missing:
            problems.append(f"lacks {', '.join(missing)}, which the law declares")
        raise LawError(
            f"law '{law}': {what} {' and '.join(problems)}. "
            "Make its arguments and the declared parameters and inputs the same."
        )
