"""Fits of other laws to the runs of a fit, as that fit was made, and their comparison."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayescale.law import Law

if TYPE_CHECKING:
    from bayescale.check.comparison.result import Comparison
    from bayescale.fitted import Fit

SETTINGS = ("chains", "draws", "warmup", "target_accept", "max_tree_depth")


def refitted(fit: "Fit", law: Law) -> "Fit":
    """Another law fitted to the same runs: noise, pooling, priors and settings as there."""
    from bayescale.fitting import fit as run
    from bayescale.pooling import Pooling

    names = {p.name for p in law.params} | {p.name for p in fit.model.noise.params()}
    pooling = Pooling(tuple(x for x in fit.model.pooling.by_param if x[0] in names))
    kept = {p.name: p for p in law.params}
    priors = {
        p.site: p.prior for p in fit.law.params if p.name in kept and kept[p.name].prior != p.prior
    }
    settings = {k: v for k, v in fit.record["settings"].items() if k in SETTINGS}
    return run(
        law, fit.runs, noise=fit.model.noise, pooling=pooling, priors=priors or None,
        seed=fit.seed, progress=False, **settings,
    )  # fmt: skip


def compared(
    fit: "Fit", laws: Mapping[str, Law | None], options: Mapping[str, Any]
) -> "Comparison":
    """The fit itself (None) beside other laws refitted, by leave-one-out.

    Parameters
    ----------
    fit : Fit
    laws : mapping
        Name -> law; None is the law of the fit.
    options : mapping
        Of `bayescale.compare`.
    """
    from bayescale.check.comparison.run import compare

    fits = {name: fit if law is None else refitted(fit, law) for name, law in laws.items()}
    return compare(fits, **options)
