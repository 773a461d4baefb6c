"""From a model's TOML to a fit: the data set, its hash, the law and all that `fit` is told."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescale.errors import DataError, LawError, nearest
from bayescale.zoo.cards import Card, card

if TYPE_CHECKING:
    from bayescale.data.runs import Runs
    from bayescale.fitted import Fit
    from bayescale.noise import Noise


def refit(name: str | Path, seed: int | None = None, **settings: Any) -> "Fit":
    """Fit a model's law to its data, as its TOML says.

    Parameters
    ----------
    name : str or Path
        Name of a shipped model, or path of a TOML file.
    seed : int, optional
        In place of the model's own.
    **settings
        Passed to `bayescale.fit` in place of the model's: ``progress``, ``device``, ``draws``.

    Returns
    -------
    Fit

    Raises
    ------
    FitError, DataError, LawError
        The TOML is wrong, the data set isn't the one that it names, or what `bayescale.fit` raises.
    """
    return refit_card(card(name), str(name), seed, **settings)


def refit_card(told: Card, where: str, seed: int | None = None, **settings: Any) -> "Fit":
    """The same for a card that was read."""
    from bayescale.fitting import fit

    return fit(told.law, runs_of(told, where), **arguments(told, where, seed) | settings)


def runs_of(told: Card, where: str) -> "Runs":
    """The runs that a model was fitted to, in the form in which they are read from the file.

    Raises
    ------
    DataError
        The file isn't the one that the model was fitted to.
    """
    from bayescale.choosing import find_family
    from bayescale.data.curves import Curves
    from bayescale.data.public import lowest
    from bayescale.data.read import read_runs

    if told.data is None:
        return _simulated(told)
    data, family = told.data, find_family(told.law)
    runs = read_runs(data.name)
    if data.sha256 and runs.sha256 != data.sha256:
        raise DataError(
            f"{where}: data set '{data.name}' has sha256 {runs.sha256[:12]}…, and the model was "
            f"fitted to {data.sha256[:12]}…: another version of the file."
        )
    reading: dict[str, Any] = {"columns": dict(data.columns), "units": dict(data.units)}
    reading |= {"where": data.where, "drop_missing": data.drop_missing}
    reading["curves"] = (
        Curves(**data.curves.model_dump(exclude_defaults=True)) if data.curves else None
    )
    for name, value in (family.reading if family else {}).items():
        both = isinstance(value, Mapping)
        reading[name] = {**value, **reading[name]} if both else value
    return lowest(read_runs(runs, **{k: v for k, v in reading.items() if v}), data.best_per)


def _simulated(told: Card) -> "Runs":
    """Runs simulated from the law, on the stated grid or on the design of its own."""
    from dataclasses import replace
    from itertools import product

    import numpy as np

    from bayescale.choosing import example
    from bayescale.data.read import read_runs
    from bayescale.data.simulate import simulate

    spec, law = told.simulation, example(told.law)
    assert spec is not None
    if spec.grid:
        each = list(product(*spec.grid.values()))
        inputs = {n: np.array([row[k] for row in each]) for k, n in enumerate(spec.grid)}
    elif law.design is not None:
        inputs = dict(law.design())
    else:
        raise DataError(f"law '{law.name}' has no design of its own: give [simulation.grid].")
    frame = simulate(law, spec.parameters, inputs, seed=spec.seed)
    absent = {role: "" for role in ("N", "D", "C", "loss") if role not in frame}
    return replace(read_runs(frame, columns=absent), source=f"a simulation of {law.name}")


def arguments(told: Card, where: str, seed: int | None) -> dict[str, Any]:
    """What `bayescale.fit` is told besides law and runs.

    Raises
    ------
    LawError
        A noise, pool, prior or drift that can't be read.
    """
    from bayescale.drift import parse_drift
    from bayescale.pooling import parse_pool
    from bayescale.prior_reading import parse_prior

    sampler = told.sampler.model_dump(exclude={"keep"})
    if seed is not None:
        sampler["seed"] = seed
    try:
        return sampler | {
            "noise": _noise(told),
            "pooling": {k: parse_pool(v) for k, v in told.pooling.items()} or None,
            "priors": {k: parse_prior(v) for k, v in told.priors.items()} or None,
            "drift": parse_drift(told.drift),
        }
    except LawError as problem:
        raise LawError(f"{where}: {problem}") from None


def _noise(told: Card) -> "Noise | None":
    """The noise as stated; None where it is the law's own."""
    from dataclasses import replace

    from bayescale.choosing import example
    from bayescale.noise import NOISES

    if told.noise is None:
        return None
    columns = told.noise.model_dump(exclude={"name"}, exclude_none=True)
    if told.noise.name is None:
        return replace(example(told.law).default_noise, **columns)
    if told.noise.name not in NOISES:
        raise LawError(
            f"unknown noise '{told.noise.name}'; known: {', '.join(NOISES)}."
            + nearest(told.noise.name, list(NOISES))
        )
    return NOISES[told.noise.name](**columns)
