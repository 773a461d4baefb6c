"""What the gate says: each reason not to trust the fit, with the next thing to try."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayescale.inference.gate import MAX_RHAT, MIN_EBFMI, MIN_ESS
from bayescale.reporting.blocks import Block, Bullets, Grid, Heading, Words

if TYPE_CHECKING:
    from bayescale.inference.gate import Gate
    from bayescale.reporting.study import Study


def gate(study: "Study") -> Iterator[Block]:
    """Blocks of the section."""
    verdict = study.fit.gate
    if verdict.converged:
        yield Words("Passed: nothing stands against reading answers off this fit.", "good")
    else:
        yield Words(f"FAILED. {verdict.headline()}", "bad")
    yield _numbers(study)
    for remedy, messages in _by_remedy(verdict).items():
        for message in messages:
            yield Words(message, "bad")
        yield Words(f"Next thing to try: {remedy}.")
    remarks = [*study.fit.remarks, *study.warnings]
    if remarks:
        yield Heading("What the answers warn of")
        yield Bullets(list(dict.fromkeys(remarks)), "note")


def _by_remedy(verdict: "Gate") -> dict[str, list[str]]:
    """What was seen, by what to try next: several signs of one trouble together."""
    found: dict[str, list[str]] = {}
    for p in verdict.problems:
        found.setdefault(p.remedy.rstrip("."), []).append(f"{p.check}: {p.message}")
    return found


def _numbers(study: "Study") -> Grid:
    found = study.fit.gate
    rows = [
        ["R-hat, largest", f"{found.max_rhat:.3f}", f"below {MAX_RHAT}"],
        ["bulk ESS, smallest", f"{found.min_ess_bulk:,.0f}", f"{MIN_ESS} or more"],
        ["tail ESS, smallest", f"{found.min_ess_tail:,.0f}", f"{MIN_ESS} or more"],
        ["divergent transitions", f"{found.divergences}", "0"],
        ["E-BFMI, smallest", f"{found.min_ebfmi:.2f}", f"{MIN_EBFMI} or more"],
    ]
    return Grid(["check", "found", "wanted"], rows, "How well the sampler did.", ["check"])
