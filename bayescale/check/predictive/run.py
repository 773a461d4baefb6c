"""``ppc`` and ``prior_ppc``: what a fit, or a law's prior, replicates of the runs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.predictive.quantity import Checked, Skipped
from bayescale.check.predictive.replicates import from_posterior, from_prior, thin
from bayescale.check.predictive.result import PredictiveChecks
from bayescale.check.predictive.select import chosen, posterior_checks, prior_checks
from bayescale.errors import DataError, FitError

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.law import Law
    from bayescale.noise import Noise
    from bayescale.pooling import Pool
    from bayescale.priors import Prior

LEAST_RUNS = 8  # with fewer, no quantity here says anything
LEAST_DRAWS, MOST_DRAWS = 100, 100_000


def ppc(
    fit: "Fit",
    *,
    checks: str | Sequence[str] | None = None,
    draws: int = 500,
    seed: int = 0,
    budgets: Any = None,
) -> PredictiveChecks:
    r"""Compare the runs of a fit with replicates of them, in what matters for scaling laws.

    Every check computes a test quantity :math:`T(y, \theta)` for the observed and for replicated
    runs under the same posterior draws; its p-value is
    :math:`P(T(y^{rep}, \theta) \ge T(y, \theta) \mid y)` (Gelman, Meng & Stern 1996, Statistica
    Sinica 6:733). Since the same runs made the fit, such p-values are conservative: they lie
    nearer to 0.5 than uniform ones (Bayarri & Berger 2000, doi:10.1080/01621459.2000.10474309).

    ======================  ===================================================================
    check                   what a flag suggests
    ======================  ===================================================================
    ``trend_N, _D``         slope or bend of residuals: law ``coupled``, or groups that differ
    ``trend_C``             the same along compute: law ``coupled``, noise varying with C
    ``trend_step``          the same within runs: checkpoints before the learning rate decayed
    ``tail``                look at the named run; Student-t noise
    ``isoflop_curvature``   slices bend otherwise than the law: law ``coupled``, fewer far sizes
    ``isoflop_minimum``     optimal sizes, or their exponent, differ: don't extrapolate N_opt
    ``calibration``         leave-one-out PIT not uniform: another noise, or a wrong law
    ``group:COLUMN``        groups with residuals of their own: pool a parameter over them
    ``spread``              noise that changes with compute: ``varies_with="C"``
    ======================  ===================================================================

    Parameters
    ----------
    fit : Fit
    checks : str or several, optional
        Names as above, or ``trend``, ``isoflop``, ``group`` for all of a kind; ``group:COLUMN``
        for any column. Default: all, with the columns of words that have 2 to 30 groups.
    draws : int
        Posterior draws, each with one replicate, evenly spaced; fewer for very many runs.
    seed : int
        Seed of the replicates.
    budgets : number, str or several, optional
        Compute of the IsoFLOP slices, FLOP; default: where runs cluster in compute. Runs within
        10% belong to a slice.

    Returns
    -------
    PredictiveChecks

    Raises
    ------
    FitError
        An unknown check, fewer than eight runs, or draws that are not finite.
    DataError
        A budget isn't a positive number.
    """
    _check_arguments(draws, seed, len(fit.runs), fit.runs.source)
    rng = np.random.default_rng([fit.seed, seed, 37])
    sites = thin(fit.sites, draws, len(fit.runs))
    seen = from_posterior(fit.model, fit.runs, fit.layout, sites, rng, fit.gate.min_ess_bulk)
    available = posterior_checks(seen, budgets, rng)
    done = [available[name]() for name in chosen(checks, available, seen)]
    return PredictiveChecks(
        kind="posterior",
        law=fit.law.name,
        source=fit.runs.source,
        runs=len(fit.runs),
        draws=seen.size,
        checks=tuple(c for c in done if isinstance(c, Checked)),
        skipped=tuple(c for c in done if isinstance(c, Skipped)),
        converged=fit.converged,
        warnings=fit.warnings,
        fit=fit,
    )


def prior_ppc(
    law: "Law | Fit | str",
    runs: Any = None,
    *,
    noise: "Noise | None" = None,
    pooling: "Mapping[str, Pool] | None" = None,
    priors: "Mapping[str, Prior] | None" = None,
    checks: str | Sequence[str] | None = None,
    draws: int = 500,
    seed: int = 0,
    budgets: Any = None,
    **reading: Any,
) -> PredictiveChecks:
    """Compare runs with what the prior of a law replicates at the same inputs.

    A prior should allow what was observed, not predict it: only p-values near 0 or 1 speak
    against it. Quantities are of the responses themselves (level, change and curvature with each
    input, IsoFLOP slices, scatter), since residuals from a prior draw would say nothing.

    Parameters
    ----------
    law : Law, Fit or str
        A law or its name, with ``runs``; or a fit, whose model and runs are taken.
    runs : Runs, DataFrame, path or data set name, optional
        For a law; the response has to be there.
    noise, pooling, priors
        As for `bayescale.fit`; for a law only.
    checks : str or several, optional
        ``level``, ``trend_N`` and so on, ``isoflop_curvature``, ``isoflop_minimum``, ``scatter``.
    draws, seed, budgets
        As for `ppc`.
    **reading
        Passed to `bayescale.read_runs`.

    Returns
    -------
    PredictiveChecks

    Raises
    ------
    FitError
        As `ppc`; or hardly any prior draw gives finite responses.
    DataError, LawError
        As `bayescale.fit`.
    """
    model, table, layout, packing, fit = _prior_model(law, runs, noise, pooling, priors, reading)
    _check_arguments(draws, seed, len(table), table.source)
    rng = np.random.default_rng([seed, 41])
    sites = thin(packing.sample_prior(rng, draws), draws, len(table))
    seen, wild = from_prior(model, table, layout, sites, rng)
    available = prior_checks(seen, budgets)
    done = [available[name]() for name in chosen(checks, available, seen)]
    warnings = (f"{wild} of {draws} prior draws give no finite response.",) if wild else ()
    return PredictiveChecks(
        kind="prior",
        law=model.law.name,
        source=table.source,
        runs=len(table),
        draws=seen.size,
        checks=tuple(c for c in done if isinstance(c, Checked)),
        skipped=tuple(c for c in done if isinstance(c, Skipped)),
        converged=True,
        warnings=warnings,
        fit=fit,
    )


def _prior_model(law: Any, runs: Any, noise: Any, pooling: Any, priors: Any, reading: Any) -> Any:
    """Model, runs, layout and packing of a law or of a fit."""
    from bayescale.choosing import choose
    from bayescale.fitted import Fit
    from bayescale.inference.batch import make_layout
    from bayescale.inference.model import make_model
    from bayescale.inference.packing import Packing
    from bayescale.pooling import Pooling

    if isinstance(law, Fit):
        if runs is not None or noise or pooling or priors or reading:
            raise FitError(
                "prior_ppc of a fit takes the fit's own runs and model; give the law's name to "
                "look at other runs, noise, pooling or priors."
            )
        return law.model, law.runs, law.layout, law.packing, law
    if runs is None:
        raise DataError("prior_ppc of a law needs runs: a table, a path or a data set's name.")
    law, table = choose(law, runs, reading)
    model = make_model(law, noise, Pooling.of(pooling), priors)
    layout = make_layout(model, table)
    return model, table, layout, Packing.of(model, layout.labels), None


def _check_arguments(draws: int, seed: int, runs: int, source: str) -> None:
    whole = isinstance(draws, int | np.integer) and not isinstance(draws, bool)
    if not whole or not LEAST_DRAWS <= draws <= MOST_DRAWS:
        raise FitError(
            f"draws is {draws!r}; expected a whole number from {LEAST_DRAWS} to {MOST_DRAWS:,}."
        )
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise FitError(f"seed is {seed!r}; expected a whole number of at least 0.")
    if runs < LEAST_RUNS:
        raise FitError(
            f"{source} has {runs} runs; predictive checks need at least {LEAST_RUNS} to tell a "
            "wrong law from noise."
        )
