"""``perturb``: what becomes of a fit's answers where its inputs are other than stated."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescale.check.sensitivity.changes import WHAT, Change, Sizes, changes
from bayescale.check.sensitivity.perturbation import Perturbation, Refit
from bayescale.check.sensitivity.quantities import Quantity, Watch, make_watch, moved
from bayescale.check.sensitivity.refit import refits
from bayescale.errors import BayescaleError, FitError

if TYPE_CHECKING:
    from bayescale.fitted import Fit
    from bayescale.many.result import Failure
    from bayescale.noise import Noise


def perturb(
    fit: "Fit",
    *,
    what: Sequence[str] | str | None = None,
    C: Any = None,
    at: Mapping[str, Any] | None = None,
    error: float = 0.1,
    bias: float = 0.05,
    offset: float = 0.01,
    scatters: int = 3,
    size_column: str | None = None,
    vocabulary: int | float | str | None = None,
    width: str | None = None,
    seed: int = 0,
    draws: int | None = None,
    workers: int | None = None,
    executor: Any = None,
    device: str | None = None,
    folder: str | Path | None = None,
    progress: bool | None = None,
    **group: Any,
) -> Perturbation:
    r"""Fit again with perturbed inputs, and say how exponents and extrapolated losses move.

    Each perturbation is a whole fit with the law, priors, pooling, noise and sampler settings of
    ``fit``:

    - ``embeddings``: N counted with embeddings where it is without, or the other way round;
    - ``N_factor``, ``D_factor``: times 1 + error, and divided by it. Exponents can't change: the
      priors lie at the data's centre, and only scales move;
    - ``N_bias``, ``D_bias``: :math:`N (N/N_{mid})^{\pm bias}`, N_mid the geometric mean;
    - ``N_scatter``, ``D_scatter``: each run times :math:`(1 + error)^z`, z standard normal,
      ``scatters`` times;
    - ``loss_offset``: loss plus and minus ``offset``;
    - ``small_compute``, ``smallest_size``: the lower half in C, or the smallest N, left out;
    - ``noise``: log-normal in place of Student-t, or the other way round.

    Of N, D and C the one that was computed from the others is computed again. A budget C means
    what it means in the perturbed table (C = 6 N D with the perturbed N).

    Parameters
    ----------
    fit : Fit
    what : str or several, optional
        Perturbations by name; default: all that the law and the runs can have.
    C : number or str, optional
        Budget in FLOP at which L* and N_opt are watched; default: ten times the largest compute
        of the data.
    at : mapping, optional
        Inputs of a point at which the loss is watched, ``{"N": "70B", "D": "1.4T"}``; for laws of
        one input by default ten times its largest value.
    error, bias, offset : float
        Sizes of the perturbations; offset in the unit of the loss.
    scatters : int
        Repeats of the random errors.
    size_column : str, optional
        Column with the other count of N; default: found by its name (``n_params_nonembedding``,
        ``N_no_emb``, …).
    vocabulary : number or str, optional
        Vocabulary (or its column), where N changes by vocabulary x width.
    width : str, optional
        Column of the model width; default: found by its name (``width``, ``d_model``, …).
    seed : int
        Seed of the random errors and of the sampler.
    draws : int, optional
        Kept draws a chain; default: those of the fit.
    workers, executor, device, folder, progress
        See `bayescale.fit_many`.
    **group
        For pooled fits, the group by its column (``corpus="c4"``).

    Returns
    -------
    Perturbation

    Raises
    ------
    FitError
        An unknown perturbation, a size out of range, draws that aren't finite, or nothing that
        applies to this law and these runs.
    DataError
        A named column is missing or holds something other than positive numbers.
    """
    sizes = Sizes(error, bias, offset, scatters, size_column, vocabulary, width, seed)
    watch = make_watch(fit, C, at, group, seed)
    base = watch.of(fit)
    names = list(WHAT) if what is None else [what] if isinstance(what, str) else list(what)
    listed, skipped = changes(fit, names, sizes)
    if not listed:
        reasons = "; ".join(f"{kind}: {why}" for kind, why in skipped.items())
        raise FitError(f"no perturbation applies to this fit ({reasons or 'none was asked for'}).")
    how = {
        "draws": draws,
        "workers": workers,
        "executor": executor,
        "device": device,
        "folder": folder,
    }
    found: dict[str, Refit] = {}
    for noise in dict.fromkeys(c.noise for c in listed):
        alike = {c.key: c for c in listed if c.noise == noise}
        refitted, failed = _refitted(
            fit, alike, noise, watch, base, seed, how | {"progress": progress}
        )
        found |= refitted
        skipped |= failed
    if not found:
        raise FitError("no perturbed fit could be made: " + "; ".join(skipped.values()))
    order = sorted(found.values(), key=lambda r: -r.size)
    return Perturbation(
        base=base,
        refits=tuple(order),
        skipped=skipped,
        watch=watch,
        title=f"Perturbed inputs: {fit.law.name} fitted to {len(fit.runs)} runs",
        notes=_notes(fit, watch, order),
        converged=fit.converged,
        warnings=fit.warnings,
    )


def _refitted(
    fit: "Fit",
    listed: Mapping[str, Change],
    noise: "Noise | None",
    watch: Watch,
    base: Mapping[str, Quantity],
    seed: int,
    how: Mapping[str, Any],
) -> tuple[dict[str, Refit], dict[str, str]]:
    """Fit perturbations that share a noise; what they give, and why some gave nothing."""
    found: dict[str, Refit] = {}
    failed: dict[str, str] = {}
    runs = {key: c.runs for key, c in listed.items()}
    for key, outcome in refits(fit, runs, noise=noise, seed=seed, **how):
        read = read_refit(outcome, key, listed[key].kind, listed[key].label, watch, base)
        if isinstance(read, str):
            failed[key] = read
        else:
            found[key] = read
    return found, failed


def read_refit(
    outcome: "Fit | Failure",
    key: str,
    kind: str,
    label: str,
    watch: Watch,
    base: Mapping[str, Quantity],
) -> Refit | str:
    """What a refit says of the watched quantities, or why it says nothing."""
    from bayescale.many.result import Failure

    if isinstance(outcome, Failure):
        return outcome.error
    try:
        now = watch.of(outcome)
    except BayescaleError as problem:
        return str(problem)
    shifts = {name: moved(base[name], now[name]) for name in base}
    verdict = outcome.gate.headline()
    return Refit(key, kind, label, len(outcome.runs), shifts, outcome.converged, verdict)


def _notes(fit: "Fit", watch: Watch, order: Sequence[Refit]) -> tuple[str, ...]:
    """What must be known to read the table."""
    kinds = {r.kind for r in order}
    notes = [watch.describe()] if watch.describe() else []
    if far := watch.reach(fit):
        notes.append(f"that is {far} the data")
    notes.append(
        "SD: change of the median in posterior SDs of the base fit, whose Monte Carlo error"
    )
    notes[-1] += f" is up to {max(m.mc_error for r in order for m in r.moved.values()):.2f}"
    if kinds & {"N_factor", "D_factor"}:
        notes.append(
            "a constant factor in N or D leaves exponents as they are: only scales move, and with "
            "them what a budget C buys"
        )
    if "loss_offset" in kinds:
        notes.append("an offset of the loss moves E and every loss by itself; look at a and N_opt")
    return tuple(notes)
