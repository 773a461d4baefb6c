"""``fit_many``: one law fitted to many data sets."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bayescale.errors import BayescaleError
from bayescale.fitted import Fit
from bayescale.fitting import fit
from bayescale.law import Law
from bayescale.many.result import Failure, ManyFits
from bayescale.noise import Noise
from bayescale.pooling import Pool, Pooling
from bayescale.priors import Prior


def fit_many(
    law: Law | str,
    datasets: Iterable[Any] | Mapping[str, Any],
    *,
    noise: Noise | None = None,
    pooling: Mapping[str, Pool] | Pooling | None = None,
    priors: Mapping[str, Prior] | None = None,
    seed: int = 0,
    chains: int = 4,
    draws: int = 250,
    warmup: int = 200,
    min_ess: int = 400,
    target_accept: float = 0.8,
    max_tree_depth: int = 10,
    device: str = "auto",
    workers: int | None = None,
    executor: Any = None,
    folder: str | Path | None = None,
    progress: bool | None = None,
    **reading: Any,
) -> ManyFits:
    return ManyFits(
        dict(
            stream_fits(
                law,
                datasets,
                noise=noise,
                pooling=pooling,
                priors=priors,
                seed=seed,
                chains=chains,
                draws=draws,
                warmup=warmup,
                target_accept=target_accept,
                **reading,
            )
        )
    )


def stream_fits(law: Any, datasets: Any, **options: Any) -> Iterator[tuple[str, Fit | Failure]]:
    pairs = datasets.items() if isinstance(datasets, Mapping) else enumerate(datasets)
    for key, runs in pairs:
        try:
            yield str(key), fit(law, runs, progress=False, **options)
        except BayescaleError as problem:
            yield str(key), Failure(str(key), str(problem))
