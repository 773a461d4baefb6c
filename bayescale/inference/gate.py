"""The gate: may answers be read off these draws, and if not, what to try."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bayescale.inference.diagnostics import Diagnostics

MAX_RHAT = 1.01
MIN_ESS = 400
MIN_EBFMI = 0.3
PRIOR_SHARE = 0.8  # posterior SD over prior SD, on the real line, above which data said nothing
PRIOR_SHIFT = 0.5  # and the mean has moved by less than this many prior SDs


@dataclass(frozen=True)
class Problem:
    """One reason not to trust a fit.

    Parameters
    ----------
    check : str
        Short name: ``finite``, ``rhat``, ``ess_bulk``, ``ess_tail``, ``divergences``, ``ebfmi``,
        ``prior``, ``design``, ``tied``, ``outside`` (runs that the law can't describe).
    message : str
        What was seen.
    remedy : str
        The next thing to try.
    """

    check: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.message} Try: {self.remedy}"


@dataclass(frozen=True)
class Gate:
    """The verdict on a fit and the numbers behind it."""

    problems: tuple[Problem, ...]
    max_rhat: float
    min_ess_bulk: float
    min_ess_tail: float
    divergences: int
    min_ebfmi: float

    @property
    def converged(self) -> bool:
        """Whether nothing stands against reading answers off the fit."""
        return not self.problems

    def headline(self) -> str:
        """One line: converged and the numbers, or not and why."""
        numbers = (
            f"R-hat {self.max_rhat:.3f}, ESS bulk {self.min_ess_bulk:,.0f} tail "
            f"{self.min_ess_tail:,.0f}, divergences {self.divergences}, "
            f"E-BFMI {self.min_ebfmi:.2f}"
        )
        if self.converged:
            return f"converged ({numbers})"
        sampler = {"finite", "rhat", "ess_bulk", "ess_tail", "divergences", "ebfmi"}
        kinds = {p.check for p in self.problems}
        verdict = "NOT CONVERGED" if kinds & sampler else "NOT IDENTIFIED"
        verdict = "OUTSIDE THE LAW" if kinds == {"outside"} else verdict
        return f"{verdict}: {', '.join(sorted(kinds))} ({numbers})"

    def to_dict(self) -> dict[str, Any]:
        """A plain record, ``converged`` and ``reasons`` included."""
        record = asdict(self)
        reasons = record.pop("problems")
        return {"converged": self.converged, "reasons": list(reasons), **record}


def gate_from_dict(record: Mapping[str, Any]) -> Gate:
    """Build a gate from `Gate.to_dict`'s record."""
    numbers = {k: v for k, v in record.items() if k not in ("converged", "reasons")}
    return Gate(problems=tuple(Problem(**r) for r in record["reasons"]), **numbers)


def judge(
    diagnostics: Diagnostics,
    prior_moments: Mapping[str, tuple[float, float, float, float]],
    design: Iterable[Problem] = (),
) -> Gate:
    """Check draws against the thresholds.

    Parameters
    ----------
    diagnostics : Diagnostics
    prior_moments : mapping
        Parameter -> (prior mean, prior SD, posterior mean, posterior SD) on the real line.
    design : iterable of Problem
        What the design of the runs can't separate.
    """
    d = diagnostics
    problems = [*_sampler_problems(d), *_prior_problems(prior_moments), *design]
    return Gate(
        problems=tuple(problems),
        max_rhat=_extreme(np.nanmax, d.rhat),
        min_ess_bulk=_extreme(np.nanmin, d.ess_bulk),
        min_ess_tail=_extreme(np.nanmin, d.ess_tail),
        divergences=d.divergences,
        min_ebfmi=_extreme(np.nanmin, d.ebfmi),
    )


def _extreme(pick: Callable[[np.ndarray], Any], values: np.ndarray) -> float:
    """The worst of some numbers, leaving out those that a constant doesn't have."""
    return float(pick(values)) if np.any(~np.isnan(values)) else float("nan")


def _sampler_problems(d: Diagnostics) -> Iterable[Problem]:
    longer = "more draws (draws=4000 / --draws 4000); if that doesn't help, a simpler law"
    if not np.any(d.sd != 0):
        yield Problem("rhat", "The chains never moved: every draw is the same.", longer)
    if wild := [n for n, sd in zip(d.names, d.sd, strict=True) if not np.isfinite(sd)]:
        yield Problem(
            "finite",
            f"Draws of {', '.join(wild[:3])} overflow: they are no finite numbers.",
            "tighter priors on exponents and scales, or a simpler law",
        )
    if offenders := _worst(d, d.rhat, lambda x: ~(x < MAX_RHAT), largest=True):
        yield Problem("rhat", f"R-hat is not below {MAX_RHAT}: {offenders}.", longer)
    if offenders := _worst(d, d.ess_bulk, lambda x: x < MIN_ESS, largest=False):
        yield Problem("ess_bulk", f"Bulk ESS is below {MIN_ESS}: {offenders}.", longer)
    if offenders := _worst(d, d.ess_tail, lambda x: x < MIN_ESS, largest=False):
        yield Problem("ess_tail", f"Tail ESS is below {MIN_ESS}: {offenders}.", longer)
    if d.divergences:
        yield Problem(
            "divergences",
            f"{d.divergences} divergent transitions: the draws may miss part of the posterior.",
            "tighter priors (priors=…, --prior), or a simpler law",
        )
    if (ebfmi := _extreme(np.nanmin, d.ebfmi)) < MIN_EBFMI:
        yield Problem(
            "ebfmi",
            f"E-BFMI is {ebfmi:.2f}, below {MIN_EBFMI}: heavy tails are explored slowly.",
            "more warmup (warmup=1000 / --warmup 1000), or a tighter prior on scales",
        )


def _worst(
    d: Diagnostics, values: np.ndarray, bad: Callable[[np.ndarray], np.ndarray], largest: bool
) -> str:
    """The three worst offenders with their numbers, or an empty string."""
    marked = np.flatnonzero(bad(values) & (d.sd > 0))
    order = marked[np.argsort(-values[marked] if largest else values[marked])]
    form = "{:.3f}" if largest else "{:,.0f}"
    return ", ".join(f"{d.names[k]} {form.format(values[k])}" for k in order[:3])


def _prior_problems(
    moments: Mapping[str, tuple[float, float, float, float]],
) -> Iterable[Problem]:
    """One problem for each parameter, its labels together."""
    found: dict[str, dict[str, float]] = {}
    for name, (prior_mean, prior_sd, mean, sd) in moments.items():
        if sd > PRIOR_SHARE * prior_sd and abs(mean - prior_mean) < PRIOR_SHIFT * prior_sd:
            found.setdefault(name.partition("[")[0], {})[name] = sd / prior_sd
    for name, shares in found.items():
        listed = ", ".join(list(shares)[:4])
        more = f" and {len(shares) - 4} more" if len(shares) > 4 else ""
        yield Problem(
            "prior",
            f"The posterior of {listed}{more} is its prior (SD {max(shares.values()):.0%} of the "
            "prior's): these runs say nothing about it.",
            f"runs that vary what {name} acts on, or a law without it; answers that "
            f"depend on {name} repeat the prior",
        )
