"""Runs simulated from a law with known parameters, and the sweep that ships with the package."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.data.runs import Runs
    from bayescale.law import Law
    from bayescale.noise import Noise


def simulate(
    law: "Law | str",
    params: Mapping[str, float],
    inputs: Mapping[str, Any],
    *,
    noise: "Noise | None" = None,
    seed: int = 0,
) -> "pd.DataFrame":
    """Simulate one run at each point of a design.

    Parameters
    ----------
    law : Law or str
    params : mapping
        The law's parameters in the field's terms (E, A, B, alpha, beta), and the noise's
        (sigma, nu, …).
    inputs : mapping
        The law's inputs, arrays of shape (run,).
    noise : Noise, optional
        Default: Student-t on log loss.
    seed : int

    Returns
    -------
    DataFrame
        Columns: the inputs, and the response (``loss``).

    Raises
    ------
    DataError
        A parameter or an input is missing, or inputs differ in length.
    """
    import pandas as pd

    from bayescale.laws import get_law
    from bayescale.noise import Noise

    law = get_law(law)
    noise = law.default_noise if noise is None else noise
    needed = [p.name for p in (*law.params, *noise.params()) if p.name != "run_offset"]
    missing = [n for n in needed if n not in params]
    missing += [i.name for i in law.inputs if i.name not in inputs]
    if missing:
        raise DataError(f"simulating '{law.name}' needs {', '.join(missing)}.")
    columns = {i.name: np.atleast_1d(np.asarray(inputs[i.name], float)) for i in law.inputs}
    if len({len(v) for v in columns.values()}) > 1:
        sizes = ", ".join(f"{k} has {len(v)}" for k, v in columns.items())
        raise DataError(f"inputs to simulate differ in length: {sizes}.")
    values = {k: np.asarray(float(params[k])) for k in needed}
    mean = np.asarray(law.mean(**{p.name: values[p.name] for p in law.params}, **columns))
    rng = np.random.default_rng(seed)
    extra: dict[str, Any] = {"centre": np.mean(np.log(mean)) if noise.on == "log" else 0.0}
    if noise.varies_with not in (None, "loss"):
        x = np.log(np.asarray(inputs[str(noise.varies_with)], float))
        extra["noise_x"] = x - x.mean()
    if noise.known_sd:
        extra["known_sd"] = np.asarray(inputs[noise.known_sd], float)
    if noise.runs:
        names, index = np.unique(np.asarray(inputs[noise.runs]), return_inverse=True)
        values["run_offset"] = rng.standard_normal(len(names))[index]
    response = noise.draw(rng, mean, values, extra)
    others = {k: v for k, v in inputs.items() if k not in columns}
    return pd.DataFrame({**columns, **others, law.response: response})


def simulated_sweep() -> "tuple[Runs, dict[str, float]]":
    """The simulated sweep that ships with the package, and the truth behind it.

    Returns
    -------
    runs : Runs
        IsoFLOP slices and over-trained runs of a Chinchilla law with Student-t noise; three runs
        failed (their loss is too high), as happens.
    truth : dict
        Parameter -> value: E, A, B, alpha, beta and the derived a, b, gamma.
    """
    from bayescale.data.public import load_dataset

    folder = files("bayescale.data") / "simulated"
    record = tomllib.loads((folder / "truth.toml").read_text())
    runs = load_dataset("simulated-sweep")
    truth = {k: float(v) for k, v in record["parameters"].items()}
    alpha, beta = truth["alpha"], truth["beta"]
    total = alpha + beta
    return runs, truth | {"a": beta / total, "b": alpha / total, "gamma": alpha * beta / total}


def make_sweep(record: Mapping[str, Any]) -> "pd.DataFrame":
    """Simulate the sweep that a record describes (``truth.toml``).

    Parameters
    ----------
    record : mapping
        ``design`` (budgets in FLOP, sizes a budget, how wide they range, over-trained sizes and
        their tokens per parameter), ``parameters``, ``noise``, ``failures`` (number of failed
        runs and how much higher their loss is), ``seed``.

    Returns
    -------
    DataFrame
        Columns run, n_params, n_tokens, loss.
    """
    design, rng = record["design"], np.random.default_rng(record["seed"])
    sizes, tokens = [], []
    for budget in design["budgets"]:
        best = np.sqrt(budget / 6 / 20)
        ratios = np.geomspace(1 / design["widest"], design["widest"], design["sizes_per_budget"])
        for n in best * ratios:
            sizes.append(float(f"{n:.3g}"))
            tokens.append(float(f"{budget / (6 * n):.3g}"))
    for n in design["overtrained_sizes"]:
        for ratio in design["overtrained_ratios"]:
            sizes.append(float(n))
            tokens.append(float(f"{ratio * n:.3g}"))
    values = record["parameters"] | record["noise"]
    runs = simulate("chinchilla", values, {"N": sizes, "D": tokens}, seed=record["seed"])
    failed = rng.choice(len(runs), record["failures"]["runs"], replace=False)
    runs.loc[failed, "loss"] *= 1 + np.asarray(record["failures"]["excess"])
    runs.insert(0, "run", [f"run-{k:03d}" for k in range(1, len(runs) + 1)])
    runs["loss"] = runs["loss"].round(4)
    return runs.rename(columns={"N": "n_params", "D": "n_tokens"})
