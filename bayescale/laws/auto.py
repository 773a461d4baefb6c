"""The law to extrapolate with: coupled, its noise changing with compute, and with drift."""

from dataclasses import replace

from bayescale.drift import Drift
from bayescale.laws.coupled import COUPLED
from bayescale.noise import Noise

AUTO = replace(
    COUPLED,
    name="auto",
    title="For extrapolation: coupled, noise that changes with compute, and drift",
    noise=Noise(varies_with="C"),
    drift=Drift(),
    note="Its intervals widen beyond the runs, since no law is exact there; to reproduce a "
    "published fit take chinchilla.",
)
