"""The vocabulary of a scaling law: inputs, parameters, one mean function, derived quantities.

Everything here is a frozen value. Sampling, prediction, simulation and plots read the same
`Law`; nothing is registered and nothing is subclassed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bayescale.arrays import namespace
from bayescale.errors import LawError, nearest
from bayescale.law_checks import check_law, check_lost
from bayescale.param import Centre, Coordinate, Derived, Input, Param, Reference
from bayescale.priors import Prior
from bayescale.signature import call_with, frozen_labels, renamed
from bayescale.support import POSITIVE

if TYPE_CHECKING:
    from bayescale.drift import Drift
    from bayescale.noise import Noise

__all__ = [
    "Centre",
    "Coordinate",
    "Derived",
    "Input",
    "Law",
    "Param",
    "Reference",
    "call_with",
    "namespace",
    "renamed",
]

_LISTS = (
    "inputs", "params", "derived", "terms", "signs", "centres", "may_rise", "nuisance",
)  # fmt: skip


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
    sums : tuple of (exponent, exponent)
        Exponents in `slopes` of two terms that fall with one input: the data fix the sum of their
        products far better than each, so the sampler moves along the sum and their ratio.
    response : str
        Column that the law explains.
    response_unit : str
        Its unit.
    note : str
        What a user should know before using it.
    labels : mapping
        Labels of the law's own named axes, such as ``{"source": ("text", "image")}``. Columns
        named in a parameter's ``by`` or read as label inputs have theirs here too.
    noise : Noise, optional
        Noise that suits the response; default: Student-t on its logarithm.
    drift : Drift, optional
        How far the truth may wander from the law, unless a fit says otherwise.
    check : callable, optional
        ``check(columns, row_numbers)`` raises `DataError` for a table that makes no sense for
        the law; ``columns`` maps inputs to arrays as the mean gets them.
    design : callable, optional
        ``design()`` gives columns of a plain design to simulate on, where no table is given.
    signs : tuple of str
        Parameters or derived quantities whose sign is asked: P(< 0) is reported.
    tied : tuple of (str, str)
        Pairs of quantities (parameters, coordinates or derived ones) that may stand in for each
        other; the gate says where they do.
    centres : tuple of Centre
        References of the law's own, beside those of its inputs.
    may_rise : tuple of str
        Inputs among N, D and C of which more may raise the loss while the others stay: N at a
        learning rate that suited a smaller model. Of others more never does.
    nuisance : tuple of str
        Parameters on which no answer rests: the gate lets their posterior be their prior, as that
        of a slice's asymmetry is where the slice is narrow.
    recipe : tuple of (str, str)
        Factory's family and its options as JSON, by which a saved fit builds the law again.

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
    sums: tuple[tuple[str, str], ...] = ()
    response: str = "loss"
    response_unit: str = "nats/token"
    note: str = ""
    labels: Any = ()
    noise: "Noise | None" = None
    drift: "Drift | None" = None
    check: Callable[..., None] | None = None
    design: Callable[[], Mapping[str, Any]] | None = None
    signs: tuple[str, ...] = ()
    tied: tuple[tuple[str, str], ...] = ()
    centres: tuple[Centre, ...] = ()
    may_rise: tuple[str, ...] = ()
    nuisance: tuple[str, ...] = ()
    recipe: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        for part in _LISTS:
            object.__setattr__(self, part, tuple(getattr(self, part)))  # a list is no value
        object.__setattr__(self, "labels", frozen_labels(self.name, self.labels))
        check_law(self)

    @property
    def axes(self) -> dict[str, tuple[str, ...]]:
        """Labels of the law's own named axes."""
        return dict(self.labels)

    @property
    def default_noise(self) -> "Noise":
        """The noise that the law asks for, or Student-t on the log response."""
        from bayescale.noise import Noise

        return self.noise or Noise()

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the run table that its inputs are read from."""
        return tuple(c for i in self.inputs for c in self.columns_of(i))

    @property
    def number_columns(self) -> tuple[str, ...]:
        """Columns of numbers that its inputs are read from."""
        return tuple(c for i in self.inputs if i.kind == "number" for c in self.columns_of(i))

    @property
    def of_n_and_d(self) -> bool:
        """Whether it reads parameters and tokens, one number each, and nothing else."""
        return {i.name for i in self.inputs} == {"N", "D"} and not any(i.dims for i in self.inputs)

    @property
    def label_columns(self) -> tuple[str, ...]:
        """Columns of the run table that say which of the law's labels a row is of."""
        listed = [i.name for i in self.inputs if i.kind == "label"]
        return tuple(dict.fromkeys(listed + [p.by for p in self.params if p.by]))

    def columns_of(self, item: Input) -> tuple[str, ...]:
        """Columns that one input is read from."""
        return item.columns(self.axes[item.dims[0]] if item.dims else None)

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
        check_lost(self, params)
        positive = {p.site for p in params.values() if p.prior.support == POSITIVE}
        slopes = tuple(pair for pair in self.slopes if positive.issuperset(pair))
        return replace(
            self,
            params=tuple(params.values()),
            terms=self.terms if positive.issuperset(self.terms) else (),
            slopes=slopes,
            sums=tuple(pair for pair in self.sums if {e for e, _ in slopes}.issuperset(pair)),
        )

    def latex(self) -> str:
        """The equation that `mean` computes, in LaTeX.

        The declared equation; for a law without one, `mean` is traced with symbols (SymPy).
        """
        from bayescale.equation import traced_latex

        return self.equation or traced_latex(self)

    def with_drift(self, drift: "Drift | bool | None" = True) -> "Law":
        """The law with a drift (True: ``Drift()``), or without (False); None: as it is."""
        from bayescale.drift import Drift

        if drift is None:
            return self
        if not isinstance(drift, Drift | bool):
            raise LawError(f"drift is {drift!r}; expected a Drift such as Drift(), True or False.")
        return replace(self, drift=Drift() if drift is True else drift or None)

    def text(self) -> str:
        """The equation in plain text, for terminals; the law's name where it can't be traced."""
        from bayescale.equation import plain_text

        try:
            return plain_text(self.latex())
        except LawError:
            return f"{self.response} = {self.name}({', '.join(i.name for i in self.inputs)})"
