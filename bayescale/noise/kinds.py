"""Noises by name, and from their records."""

from collections.abc import Mapping
from typing import Any

from bayescale.noise.noise import Noise
from bayescale.prior_reading import prior_from_dict


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


def noise_from_dict(record: Mapping[str, Any]) -> Noise:
    """Build a noise from `Noise.to_dict`'s record."""
    kept: dict[str, Any] = {
        k: prior_from_dict(v) if isinstance(v, dict) else v for k, v in record.items()
    }
    return Noise(**kept)
