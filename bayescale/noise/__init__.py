"""Noise: how a run's response scatters around the law, as one frozen value."""

from bayescale.noise.kinds import (
    NOISES,
    log_normal,
    logit_normal,
    noise_from_dict,
    normal,
    student_t,
)
from bayescale.noise.noise import CHECKPOINT, Noise

__all__ = [
    "CHECKPOINT",
    "NOISES",
    "Noise",
    "log_normal",
    "logit_normal",
    "noise_from_dict",
    "normal",
    "student_t",
]
