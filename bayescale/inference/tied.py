"""Quantities of a law that stand in for each other in a posterior, as the law says they may."""

from collections.abc import Iterator, Mapping

import numpy as np

from bayescale.inference.gate import Problem
from bayescale.inference.model import Model
from bayescale.inference.posterior import Variable, scalars

STRONG = 0.9  # posterior correlation from which two quantities count as one
WIDE = 0.2  # SD over prior SD of the wider of the two, below which both are known anyway
MOST = 3  # pairs that are named

Moments = Mapping[str, tuple[float, float, float, float]]


def tied_problems(
    model: Model,
    found: Mapping[str, Variable],
    labels: Mapping[str, tuple[str, ...]],
    moments: Moments,
) -> list[Problem]:
    """Pairs that `Law.tied` declares and whose posterior correlation is strong.

    Parameters
    ----------
    found, labels
        Draws of all quantities, and the labels of their axes.
    moments : mapping
        Parameter -> (prior mean, prior SD, posterior mean, posterior SD).
    """
    problems = []
    params = {p.site: p.name for p in model.law.params}  # moments are listed by parameter
    for one, other in model.law.tied:
        if one not in found or other not in found:
            continue
        first, second = (scalars({n: found[n]}, labels) for n in (one, other))
        strong = [
            (abs(r), r, a, b)
            for a, b in _pairs(first, second)
            if abs(r := float(np.corrcoef(first[a].ravel(), second[b].ravel())[0, 1])) > STRONG
            and max(_share(moments, a, params), _share(moments, b, params)) > WIDE
        ]
        if strong:
            strong.sort(reverse=True)
            shown = ", ".join(f"{a} with {b} ({r:+.2f})" for _, r, a, b in strong[:MOST])
            more = f" and {len(strong) - MOST} more" if len(strong) > MOST else ""
            problems.append(
                Problem(
                    "tied",
                    f"{one} and {other} stand in for each other; posterior correlations: "
                    f"{shown}{more}. What they do together is known, how it is split is not.",
                    f"runs that move one without the other, a law without {one}, or a prior on it; "
                    "compare the variants by LOO (bs.compare)",
                )
            )
    return problems


def _share(moments: Moments, name: str, params: Mapping[str, str]) -> float:
    """Posterior SD over prior SD; 1 where the prior's isn't known."""
    own, bracket, label = name.partition("[")
    key = params.get(own, own) + bracket + label
    return moments[key][3] / moments[key][1] if key in moments else 1.0


def _pairs(first: Mapping[str, object], second: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Elements whose labels go together: the same label, or a transfer ``k→m`` with its end m."""
    for a in first:
        for b in second:
            one, other = _label(a), _label(b)
            ends = {one.rpartition("→")[2], other.rpartition("→")[2]}
            if one == other or (len(ends) == 1 and ("→" in one) != ("→" in other)):
                yield a, b


def _label(name: str) -> str:
    return name.partition("[")[2].rstrip("]")
