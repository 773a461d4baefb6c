"""What an answer is worth, in one plain sentence or two."""

from typing import TYPE_CHECKING

from bayescale.answers.beyond import beyond_warning

if TYPE_CHECKING:
    from bayescale.check.predictive.result import PredictiveChecks
    from bayescale.reporting.study import Study

FAR = 100.0  # times the largest run


def worth_of(study: "Study") -> str:
    """What the answer is worth: by the gate first, then reach, then checks and hold-out."""
    if not study.fit.converged:
        kinds = ", ".join(dict.fromkeys(p.check for p in study.fit.gate.problems))
        return (
            f"What it is worth: nothing yet. The fit failed its gate ({kinds}), so don't decide by "
            "these numbers; what to try next stands under Gate."
        )
    parts = [_reach(study)]
    if study.checks.answer is not None:
        parts.append(_checks(study.checks.answer))
    if study.held.answer is not None:
        parts.append(held_line(study))
    return "What it is worth: " + " ".join(part for part in parts if part)


def _reach(study: "Study") -> str:
    if not study.outside:
        return (
            "the answer lies inside the runs, so the interval rests on runs nearby, and on the law "
            "describing them."
        )
    far = (
        f"{study.reach:.3g} times beyond the largest run" if study.reach > 1 else "outside the runs"
    )
    warning = beyond_warning(study.fit.model.drift is not None)
    more = " At such a reach nobody has measured intervals." if study.reach > FAR else ""
    return f"the answer lies {far}. {warning}{more}"


def _checks(found: "PredictiveChecks") -> str:
    count, flagged = len(found.quantities), len(found.flagged)
    if not flagged:
        return f"None of {count} checks of the law against its own runs was flagged."
    return f"Of {count} checks of the law against its own runs {flagged} were flagged (see Checks)."


def held_line(study: "Study") -> str:
    """What the hold-out found, in a sentence."""
    held = study.held.answer
    if held is None:
        return ""
    scores = held.overall[held.labels[0]]
    inside, count = scores["coverage"]["90"], scores["n_test"]
    return (
        f"Held out by {study.holdout}, {round(inside * count)} of {count} runs fell into their 90% "
        f"intervals ({inside:.0%})."
    )
