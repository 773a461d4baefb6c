"""Families of laws whose labels come from a table: one file each, one line here."""

from bayescale.families.batch_size import BATCH_SIZE
from bayescale.families.bimodal import BIMODAL
from bayescale.families.broken import BROKEN
from bayescale.families.capability import CAPABILITY, CAPABILITY_LOSS
from bayescale.families.decoupled import DECOUPLED
from bayescale.families.family import Family
from bayescale.families.isoflop import ISOFLOP
from bayescale.families.mixture import MIXTURE
from bayescale.families.observational import OBSERVATIONAL

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        BATCH_SIZE,
        BIMODAL,
        BROKEN,
        CAPABILITY,
        CAPABILITY_LOSS,
        DECOUPLED,
        ISOFLOP,
        MIXTURE,
        OBSERVATIONAL,
    )
}
