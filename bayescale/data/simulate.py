"""Runs simulated from a law with known parameters, and the sweep that ships with the package."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from bayescale.data.runs import Runs
    from bayescale.law import Law
    from bayescale.noise import Noise
    from bayescale.param import Input


def simulate(
    law: "Law | str",
    params: Mapping[str, Any],
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
        (sigma, nu, …). A parameter with labels is a mapping from label to value (nested where
        there are two), one array in their order, or one number for all.
    inputs : mapping
        Columns of the law's inputs and any others, arrays of shape (run,) or single values;
        inputs with an axis as ``D_text``, ``D_image``, labels as names.
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

    from bayescale.data.curves.chains import chains
    from bayescale.laws import get_law

    law = get_law(law)
    noise = law.default_noise if noise is None else noise
    needed = [p.name for p in (*law.params, *noise.params()) if p.name != "run_offset"]
    columns = list(dict.fromkeys((*law.columns, *law.label_columns)))
    missing = [n for n in needed if n not in params]
    missing += [c for c in columns if c not in inputs]
    if missing:
        raise DataError(f"simulating '{law.name}' needs {', '.join(missing)}.")
    table = pd.DataFrame({c: np.atleast_1d(v) for c, v in _one_length(inputs).items()})
    by = {p.name: p.by for p in law.params} | ({"sigma": noise.by, "nu": noise.by})
    values = {n: _at_rows(law, n, params[n], by.get(n) or "", table) for n in needed}
    arrays = {i.name: _as_input(law, i, table) for i in law.inputs}
    mean = np.asarray(law.mean(**{p.name: values[p.name] for p in law.params}, **arrays))
    mean = np.broadcast_to(mean, len(table))
    rng = np.random.default_rng(seed)
    extra: dict[str, Any] = {"centre": np.mean(np.log(mean)) if noise.on == "log" else 0.0}
    if noise.varies_with not in (None, "loss"):
        x = np.log(np.asarray(inputs[str(noise.varies_with)], float))
        extra["noise_x"] = x - x.mean()
    if noise.known_sd:
        extra["known_sd"] = table[noise.known_sd].to_numpy(float)
    if noise.offsets:
        names, index = np.unique(table[noise.runs].to_numpy(), return_inverse=True)
        values["run_offset"] = rng.standard_normal(len(names))[index]
    extra |= chains(noise, table, law.label_columns)
    response = noise.draw(rng, mean, values, extra)
    first = [*columns, *(c for c in table if c not in columns)]
    return table[first].assign(**{law.response: response})


def _one_length(inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    columns = {k: np.atleast_1d(np.asarray(v)) for k, v in inputs.items()}
    if len({len(v) for v in columns.values()} - {1}) > 1:
        sizes = ", ".join(f"{k} has {len(v)}" for k, v in columns.items())
        raise DataError(f"inputs to simulate differ in length: {sizes}.")
    longest = max(len(v) for v in columns.values())
    return {k: v if len(v) == longest else np.repeat(v, longest) for k, v in columns.items()}


def _at_rows(law: "Law", name: str, given: Any, by: str, table: "pd.DataFrame") -> np.ndarray:
    """A parameter as the law's mean takes it: each row its own, axes of its own behind."""
    dims = next((p.dims for p in law.params if p.name == name), ())
    rows = [str(label) for label in table[by]] if by else []
    labels = law.axes | ({by: tuple(dict.fromkeys(rows))} if by and by not in law.axes else {})
    value = _by_label(law, name, given, [labels[a] for a in ([by] if by else []) + list(dims)])
    if not by:
        return value[None] if dims else value
    return value[[labels[by].index(label) for label in rows]]


def _by_label(law: "Law", name: str, given: Any, axes: Sequence[Sequence[str]]) -> np.ndarray:
    """Values on axes with these labels, from nested mappings of labels or from an array."""
    if isinstance(given, Mapping) and axes:
        if lacking := [label for label in axes[0] if label not in given]:
            raise DataError(f"simulating '{law.name}': {name} lacks '{lacking[0]}'.")
        return np.stack([_by_label(law, name, given[x], axes[1:]) for x in axes[0]])
    return np.broadcast_to(np.asarray(given, float), [len(labels) for labels in axes])


def _as_input(law: "Law", item: "Input", table: "pd.DataFrame") -> np.ndarray:
    if item.kind == "label":
        labels = law.axes[item.dims[0]]
        return np.eye(len(labels))[[labels.index(str(v)) for v in table[item.name]]]
    found = table[list(law.columns_of(item))].to_numpy(float)
    return found if item.dims else found[:, 0]


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
