"""What a shipped fit answers: every question put to it, in the middle of its data."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from bayescale.errors import BayescaleError, FitError

if TYPE_CHECKING:
    from bayescale.fitted import Fit

MOST_LOSSES = 3  # of a frontier


def answers_of(fit: "Fit", without: Collection[str] = ()) -> tuple[str, ...]:
    """Names of the answers that a fit gives; the others refuse it, and some aren't asked."""
    return tuple(n for n in QUESTIONS if n not in without and _answers(fit, n))


def _answers(fit: "Fit", name: str) -> bool:
    try:
        QUESTIONS[name](fit)
    except BayescaleError:
        return False
    return True


def middle(fit: "Fit") -> dict[str, float]:
    """One point in the middle of a fit's data."""
    there = fit.extent
    given = [c for c in fit.law.number_columns if c in there]
    return {c: there.span(c).median for c in given}


def _budget(fit: "Fit") -> float:
    """The largest compute of the runs."""
    there = fit.extent
    return there.span("compute" if "compute" in there else "C").high


def _mixed(fit: "Fit", ask: Callable[..., Any]) -> Any:
    """An answer about tokens of several sources, under the most that a run has."""
    there = fit.extent
    size = {"N": there.span("N").median} if "N" in there else {}
    return ask(fit, D=there.span("tokens").high, **size)


def _frontier(fit: "Fit") -> Any:
    """A frontier of few losses: of eight it had not ended after minutes of CPU time."""
    from bayescale.answers.objectives import objectives_of

    if len(objectives_of(fit).names) > MOST_LOSSES:
        raise FitError(f"a frontier of more than {MOST_LOSSES} losses isn't asked for.")
    return _mixed(fit, _asked("pareto"))


def _asked(name: str, **options: Any) -> Callable[..., Any]:
    def ask(fit: "Fit", **more: Any) -> Any:
        import bayescale

        return getattr(bayescale, name)(fit, **more, **options)

    return ask


def _at_budget(name: str, **options: Any) -> Callable[["Fit"], Any]:
    return lambda fit: _asked(name)(fit, C=_budget(fit), **options)


QUESTIONS: dict[str, Callable[["Fit"], Any]] = {
    "predict": lambda fit: fit.predict(**middle(fit)),
    "allocate": lambda fit: fit.allocate(_budget(fit)),
    "inference_optimum": _at_budget("inference_optimum", inference_tokens="1T"),
    "allocate_limited": lambda fit: _asked("allocate_limited")(
        fit, C=_budget(fit), unique_tokens=fit.extent.span("U").median
    ),
    "compute_multiplier": lambda fit: _asked("compute_multiplier")(
        fit, reference=fit, C=_budget(fit)
    ),
    "optima": _at_budget("optima"),
    "invariance": _asked("invariance", loo=False),
    "pareto": _frontier,
    "mix": lambda fit: _mixed(fit, _asked("mix", draws=50)),
    "worth": _asked("worth"),
    "transfer_tax": _asked("transfer_tax"),
    "batch_size": lambda fit: _asked("batch_size")(fit, Z=fit.extent.span("Z").median),
}
