"""Fits of changed runs with everything else as in a given fit."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.many.result import Failure
    from bayescale.noise import Noise

KEPT = ("chains", "draws", "warmup", "target_accept", "max_tree_depth")


def refits(
    fit: "Fit",
    datasets: Mapping[str, Any] | Iterator[Any],
    *,
    noise: "Noise | None" = None,
    seed: int = 0,
    **how: Any,
) -> "Iterator[tuple[str, Fit | Failure]]":
    """Fit data sets with a fit's law, priors, pooling, noise and sampler settings.

    Parameters
    ----------
    fit : Fit
    datasets : mapping or iterator
        As `bayescale.fit_many` takes them.
    noise : Noise, optional
        In place of the fit's.
    seed : int
        Seed of the sampler.
    **how
        Passed to `bayescale.fit_many` where given (not None): ``draws``, ``workers``, …

    Yields
    ------
    key : str
    outcome : Fit or Failure
    """
    from bayescale.many.job import stream_fits  # brings JAX, which weights alone don't need

    settings = fit.record.get("settings", {})
    options = {k: settings[k] for k in KEPT if k in settings}
    options |= {k: v for k, v in how.items() if v is not None}
    return stream_fits(
        fit.law,
        datasets,
        noise=noise or fit.model.noise,
        pooling=fit.model.pooling,
        seed=seed,
        **options,
    )
