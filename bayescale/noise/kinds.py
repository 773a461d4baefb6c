"""Noises by name."""

from typing import Any

from bayescale.noise.noise import Noise


def student_t(**options: Any) -> Noise:
    """Student-t on log loss with a learnt tail: the default (see `Noise` for options)."""
    return Noise(tail="student_t", **options)


def log_normal(**options: Any) -> Noise:
    """Normal scatter of log loss (see `Noise` for options)."""
    return Noise(tail="normal", **options)


def normal(**options: Any) -> Noise:
    """Normal scatter of the response itself (see `Noise` for options)."""
    return Noise(tail="normal", on="response", **options)


def logit_normal(**options: Any) -> Noise:
    """Normal scatter of the log odds of an accuracy (see `Noise` for options)."""
    return Noise(tail="normal", on="logit", **options)


NOISES = {
    "student_t": student_t,
    "log_normal": log_normal,
    "normal": normal,
    "logit_normal": logit_normal,
}
