"""``sbc``: simulate from a law's own prior, fit, and rank the truth among the posterior."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.check.calibration.design import make_design
from bayescale.check.calibration.ranks import Ranked, rank_fits, ranked_names
from bayescale.check.calibration.result import Calibration, count_gates
from bayescale.check.calibration.simulator import DataSets, Simulator
from bayescale.choosing import choose, example, find_family
from bayescale.drift import Drift
from bayescale.errors import FitError, LawError
from bayescale.inference.model import Model, make_model
from bayescale.law import Law
from bayescale.many.job import stream_fits
from bayescale.noise import Noise
from bayescale.pooling import Pool, Pooling
from bayescale.priors import Prior

if TYPE_CHECKING:
    from bayescale.fitted import Fit

FEWEST, CHAINS = 20, 4
Simulate = Mapping[str, Prior | Noise] | Noise


def sbc(
    law: Law | str,
    *,
    fits: int = 200,
    design: Any = None,
    noise: Noise | None = None,
    pooling: Mapping[str, Pool] | Pooling | None = None,
    priors: Mapping[str, Prior] | None = None,
    drift: Drift | bool | None = None,
    simulate: Simulate | None = None,
    around: "Fit | None" = None,
    draws: int = 250,
    ranks: int = 100,
    seed: int = 0,
    quantities: Sequence[str] | None = None,
    level: float = 0.01,
    workers: int | None = None,
    executor: Any = None,
    folder: str | Path | None = None,
    progress: bool | None = None,
) -> Calibration:
    r"""Check by simulation that a law's posteriors hold what they say.

    Truths :math:`\theta^*` are drawn from the prior, data from :math:`p(y \mid \theta^*)`, and
    each data set is fitted as any other. If priors, density, coordinates and sampler agree, then
    :math:`(\theta^*, \theta_1, \ldots, \theta_L)` are exchangeable given the data, and the rank of
    :math:`f(\theta^*, y)` among posterior draws is uniform for every quantity f (Talts et al.
    2018, arXiv:1804.06788). All parameters, coordinates and derived quantities are ranked, and
    the joint log likelihood, which sees errors that cancel in single parameters (Modrák et al.
    2023, arXiv:2211.02383). Ranks are tested by their ECDF with simultaneous bands (Säilynoja et
    al. 2022, arXiv:2103.10522), and by their spread.

    With ``around``, truths are draws of a posterior, and each simulated data set is fitted
    together with the data that this posterior came from: the truth is then a draw of what is
    fitted, and ranks are uniform just as well (posterior SBC, Säilynoja et al. 2025,
    arXiv:2502.03279). This checks the fit where the data are, not over the whole prior.

    Parameters
    ----------
    law : Law or str
    fits : int
        Data sets to simulate, at least 20.
    design : Runs, DataFrame, path or data set name, optional
        Inputs and groups of the runs; responses are replaced. Default: 8 x 5 points of N and D,
        or 40 of N, D or C alone, for each of three groups of a pooled model.
    noise, pooling, priors, drift
        The model, as for `bayescale.fit`.
    simulate : mapping or Noise, optional
        Where the simulator differs from the model that is fitted: other priors by name, and
        another noise as ``"noise"`` (or a `Noise` alone). Ranks are then not expected to be
        uniform: this shows what a wrong prior or noise does, and that the check can fail.
    around : Fit, optional
        Truths are this fit's draws; model and design are its own.
    draws : int
        Posterior draws a chain (4 chains).
    ranks : int
        Possible ranks: each truth is ranked among ``ranks`` - 1 evenly thinned draws.
    seed : int
    quantities : sequence of str, optional
        Rank only these, ``log_likelihood`` among them.
    level : float
        Probability of at most which a right law fails.
    workers, executor, folder, progress
        See `bayescale.fit_many`; an interrupted check goes on from its ``folder``.

    Returns
    -------
    Calibration

    Raises
    ------
    FitError
        An argument is out of range, a quantity is unknown, or no data set could be fitted.
    DataError
        The design lacks an input or a group.
    LawError
        The simulator names a parameter that the model doesn't have.
    """
    begin = time.perf_counter()
    _check(fits, draws, ranks, seed, level)
    law, design = _arranged(law, design)
    model, source = _models(law.with_drift(drift), noise, pooling, priors, simulate, around, design)
    runs, said = make_design(model, around.runs if around is not None else design)
    simulator = Simulator(model, source, runs, int(seed), around)
    names, unranked = ranked_names(simulator, quantities)
    given = {"workers": workers, "executor": executor, "folder": folder, "progress": progress}
    outcomes = stream_fits(
        model.law,
        DataSets(simulator, fits),
        noise=model.noise,
        pooling=model.pooling,
        seed=int(seed),
        chains=CHAINS,
        draws=draws,
        **{name: value for name, value in given.items() if value is not None},
    )
    found = sorted(rank_fits(simulator, outcomes, names, ranks), key=lambda one: one.nth)
    numbers = {"bins": ranks, "level": level, "fits": fits, "seed": int(seed)}
    about = {"design": said, "truth": _truth(source, model, around), "unranked": tuple(unranked)}
    seconds = {"seconds": round(time.perf_counter() - begin, 2)}
    return _result(simulator, names, found, numbers | about | seconds)


def _arranged(law: Law | str, design: Any) -> tuple[Law, Any]:
    """The law, of a family the one that the design's labels ask for, and the design."""
    if find_family(law) and design is not None:
        return choose(law, design, {})
    return example(law), design


def _check(fits: int, draws: int, ranks: int, seed: int, level: float) -> None:
    """Raise where a number is out of range."""
    for name, value, least in (
        ("fits", fits, FEWEST), ("draws", draws, 10), ("ranks", ranks, 10), ("seed", seed, 0),
    ):  # fmt: skip
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or value < least:
            raise FitError(f"{name} is {value!r}; expected a whole number of at least {least}.")
    if ranks > CHAINS * draws:
        raise FitError(
            f"ranks is {ranks}, more than the {CHAINS * draws} posterior draws; fewer ranks, or "
            "more draws."
        )
    if not 0 < level <= 0.5:
        raise FitError(f"level is {level!r}; expected a probability up to 0.5, such as 0.01.")


def _models(
    law: Law,
    noise: Noise | None,
    pooling: Any,
    priors: Mapping[str, Prior] | None,
    simulate: Simulate | None,
    around: "Fit | None",
    design: Any,
) -> tuple[Model, Model]:
    """The model that is fitted, and the one that simulates."""
    if around is None:
        model = make_model(law, noise, Pooling.of(pooling), priors)
        return model, _simulating(model, simulate)
    given = {"noise": noise, "pooling": pooling, "priors": priors, "design": design}
    for name, value in (given | {"simulate": simulate}).items():
        if value is not None:
            raise FitError(f"around a fit, {name} is the fit's own; leave {name}= out.")
    if law.name != around.law.name:
        raise FitError(f"the fit to check around is of law '{around.law.name}', not '{law.name}'.")
    return around.model, around.model


def _simulating(model: Model, simulate: Simulate | None) -> Model:
    if simulate is None:
        return model
    if not isinstance(simulate, Mapping | Noise):
        raise LawError(
            f"simulate is {simulate!r}; expected a mapping from parameter to prior (and 'noise' "
            "to a noise), or a noise."
        )
    changes: dict[str, Any] = {"noise": simulate} if isinstance(simulate, Noise) else {**simulate}
    noise = changes.pop("noise", None) or model.noise
    return make_model(model.law, noise, model.pooling, changes)


def _truth(source: Model, model: Model, around: "Fit | None") -> str:
    """Where truths come from, in words."""
    if around is not None:
        return f"posterior draws of {around.law.name}, data added to its {len(around.runs)} runs"
    if source == model:
        return "the model's own priors"
    own = {p.name: p for p in model.params}
    changed = [
        f"{p.site} ~ {p.prior}" for p in source.params
        if p.name not in own or (p.site, p.prior) != (own[p.name].site, own[p.name].prior)
    ]  # fmt: skip
    if source.noise != model.noise:
        changed.append(f"noise {source.noise.describe()}")
    return f"another model than the one fitted ({'; '.join(changed)})"


def _result(
    simulator: Simulator, names: list[str], found: list[Ranked], known: Mapping[str, Any]
) -> Calibration:
    fitted = [one for one in found if one.ranks is not None]
    errors = {one.nth: one.error for one in found if one.ranks is None}
    if not fitted:
        raise FitError(f"none of the {len(found)} data sets could be fitted: {errors[0]}")
    table = np.stack([one.ranks for one in fitted if one.ranks is not None], axis=1)
    warnings = []
    if errors:
        first = next(iter(errors.items()))
        warnings.append(
            f"{len(errors)} of {len(found)} data sets could not be fitted and are not ranked; "
            f"number {first[0]}: {first[1]}"
        )
    if simulator.model.noise.varies_with == "loss":
        warnings.append(
            "noise that changes with loss is centred at each data set's own mean, which no truth "
            "knows before: ranks are only nearly uniform."
        )
    return Calibration(
        law=simulator.model.law.name,
        ranks=dict(zip(names, table, strict=True)),
        errors=errors,
        gates=count_gates([one.problems for one in fitted]),
        not_converged=sum(not one.converged for one in fitted),
        not_identified=sum(bool(one.problems) and one.converged for one in fitted),
        redrawn=sum(simulator.simulate(one.nth).redrawn for one in found),
        warnings=tuple(warnings),
        **known,
    )
