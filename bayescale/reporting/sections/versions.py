"""How to make it again: versions, seed, settings, commands."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayescale.reporting.again import fit_lines
from bayescale.reporting.blocks import Block, Code, Facts, Words

if TYPE_CHECKING:
    from bayescale.reporting.study import Study


def versions(study: "Study") -> Iterator[Block]:
    """Blocks of the section."""
    record = study.fit.record
    settings = record["settings"]
    sampler = (
        f"{settings['chains']} chains of {settings['draws']:,} draws after "
        f"{settings['warmup']:,} of warmup, target acceptance {settings['target_accept']:g}"
    )
    listed = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    pairs = [("Seed", str(record["seed"])), ("Sampler", sampler), ("Device", str(record["device"]))]
    yield Facts([*pairs, ("Versions", listed)])
    lines, caveat = fit_lines(study.fit, study.path)
    yield Words("Commands that make the fit and this report again:")
    yield Code([*lines, *study.command])
    if caveat:
        yield Words(caveat, "note")
