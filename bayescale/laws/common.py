"""Inputs and default priors that several loss laws share, with the reason for each."""

from bayescale.law import Input
from bayescale.priors import LogNormal

N = Input("N", "model parameters", "parameters")
D = Input("D", "training tokens", "tokens")
C = Input("C", "training compute", "FLOP")

IRREDUCIBLE = LogNormal(1.5, 1.0)
WHY_IRREDUCIBLE = (
    "text has 1.4 to 2.7 nats/token in the literature; a factor e either way also covers bits, "
    "per-byte losses, images and speech"
)

# what finite size (or data, or compute) costs at the centre of the data
TERM = LogNormal(0.3, 1.0)
WHY_TERM = "small sweeps sit where each term is a few tenths of a nat; two prior SDs: 0.04 to 2.2"

EXPONENT = LogNormal(0.35, 0.4)
WHY_EXPONENT = "published exponents run from .05 (Kaplan) to .7; two prior SDs: .16 to .78"
