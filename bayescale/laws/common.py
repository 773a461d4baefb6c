"""Inputs and default priors that several loss laws share, with the reason for each."""

from bayescale.law import Input
from bayescale.priors import LogNormal

N = Input("N", "model parameters", "parameters")
D = Input("D", "training tokens", "tokens")
C = Input("C", "training compute", "FLOP")

# Irreducible loss: text in nats/token has 1.4 to 2.7 in the literature; a factor e either way
# also covers bits, per-byte losses, images and speech.
IRREDUCIBLE = LogNormal(1.5, 1.0)

# What finite size (or data, or compute) costs at the centre of the data. Small sweeps sit where
# each term is a few tenths of a nat; two prior SDs span 0.04 to 2.2.
TERM = LogNormal(0.3, 1.0)

# Published exponents run from .05 (Kaplan) to .7; two prior SDs span .16 to .78.
EXPONENT = LogNormal(0.35, 0.4)
