"""Noise that a run remembers: chains of checkpoints, draws along them, messages."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale import priors
from bayescale.data.curves.chains import chains
from bayescale.data.simulate import simulate
from bayescale.errors import DataError, LawError
from bayescale.noise import noise_from_dict
from bayescale.noise.memory import (
    FAR,
    accumulate,
    chain_columns,
    generations,
    innovations,
    take_chain,
)

MEMORY = bs.log_normal(runs="run", along="D", offset=False)
VALUES = {"sigma": np.array(0.02), "memory": np.array(1.5)}


def shuffled(runs=4, checkpoints=6, seed=2):
    table = pd.DataFrame(
        {
            "run": np.repeat([f"m{k}" for k in range(runs)], checkpoints),
            "D": np.concatenate([1e9 * 1.7 ** np.arange(checkpoints)] * runs),
        }
    )
    return table.sample(frac=1, random_state=seed, ignore_index=True)


def test_each_checkpoint_follows_the_one_before_it_in_its_run():
    table = shuffled()
    found = chains(MEMORY, table)
    for row, (run, D) in enumerate(zip(table["run"], table["D"], strict=True)):
        earlier = table[(table["run"] == run) & (table["D"] < D)]["D"]
        if earlier.empty:
            assert found["previous"][row] == row
            assert found["gap"][row] == FAR
        else:
            assert found["previous"][row] == earlier.idxmax()
            assert found["gap"][row] == pytest.approx(np.log(1.7))
    counted = chains(bs.log_normal(runs="run", along="checkpoint"), table)
    np.testing.assert_array_equal(counted["previous"], found["previous"])
    assert set(counted["gap"]) == {1.0, FAR}


def test_targets_of_one_checkpoint_are_chains_of_their_own():
    table = pd.concat([shuffled().assign(target=t) for t in ("text", "code")], ignore_index=True)
    with pytest.raises(DataError, match=r"run 'm\d' has D = .* in rows"):
        chains(MEMORY, table)
    found = chains(MEMORY, table, labels=("target",))
    before = found["previous"]
    assert (table["target"] == table["target"].to_numpy()[before]).all()
    by_noise = bs.log_normal(runs="run", along="D", by="target")
    np.testing.assert_array_equal(chains(by_noise, table)["previous"], before)


def test_innovations_and_residuals_are_each_others_inverse():
    columns = chains(MEMORY, shuffled())
    rng = np.random.default_rng(0)
    z = rng.standard_normal((3, len(columns["gap"])))
    memory = np.array([[0.3], [2.0], [500.0]])
    fresh, scale = innovations(z, columns, memory)
    assert (scale > 0).all()
    np.testing.assert_allclose(accumulate(fresh, columns, memory), z, rtol=1e-9)
    places = generations(columns["previous"])
    assert [len(rows) for rows in places] == [4] * 6


def test_some_rows_begin_anew_where_their_previous_one_is_left_out():
    columns = chain_columns(np.zeros(4, int), np.array([1.0, 2.0, 4.0, 8.0]), ordinal=False)
    part = take_chain(columns, np.array([1, 2]))
    np.testing.assert_array_equal(part["previous"], [0, 0])
    np.testing.assert_allclose(part["gap"], [FAR, np.log(2)])


def test_draws_have_the_stationary_scale_and_the_stated_correlation():
    table = shuffled(runs=3, checkpoints=5).sort_values(["run", "D"], ignore_index=True)
    columns = {"centre": np.array(0.0)} | chains(MEMORY, table)
    draws = 20_000
    mean = np.full((draws, len(table)), 2.0)
    log_y = np.log(MEMORY.draw(np.random.default_rng(1), mean, VALUES, columns)) - np.log(2)
    place = np.log(table["D"].to_numpy())
    same = table["run"].to_numpy()[:, None] == table["run"].to_numpy()
    expected = same * np.exp(-np.abs(place[:, None] - place) / 1.5)
    found = np.corrcoef(log_y.T)
    # standard error of a correlation r is (1 - r^2)/sqrt(draws)
    error = np.maximum(1 - expected**2, 1e-12) / np.sqrt(draws)
    assert (np.abs(found - expected) < 5 * error + 1e-9).all()
    spread = log_y.std(axis=0) / 0.02
    assert (np.abs(spread - 1) < 5 / np.sqrt(2 * draws)).all()
    alone = MEMORY.draw(np.random.default_rng(1), mean, VALUES, {"centre": np.array(0.0)})
    rest = np.corrcoef(np.log(alone).T) - np.eye(len(table))
    assert np.abs(rest).max() < 5 / np.sqrt(draws)  # new runs, not checkpoints of one


def test_numpyro_draws_as_numpy_does():
    import jax

    from bayescale.inference.remembered import Remembered

    table = shuffled(runs=2, checkpoints=4)
    columns = {"centre": np.array(0.0)} | chains(MEMORY, table)
    with jax.enable_x64(True):
        rows = Remembered(MEMORY, np.full(len(table), 2.0), VALUES, columns)
        drawn = np.log(np.asarray(rows.sample(jax.random.key(3), (20_000,)))) - np.log(2)
        density = float(rows.log_prob(rows.sample(jax.random.key(4))))
    place = np.log(table["D"].to_numpy())
    same = table["run"].to_numpy()[:, None] == table["run"].to_numpy()
    expected = 0.02**2 * same * np.exp(-np.abs(place[:, None] - place) / 1.5)
    error = np.sqrt((expected**2 + 0.02**4) / 20_000)
    assert (np.abs(np.cov(drawn.T) - expected) < 5 * error).all()
    assert np.isfinite(density)


def test_simulated_curves_remember():
    design = shuffled(runs=200, checkpoints=8).assign(N=1e8)
    truth = {"E": 1.8, "A": 400.0, "B": 1500.0, "alpha": 0.34, "beta": 0.36} | {
        "sigma": 0.02,
        "memory": 1.5,
    }
    made = simulate("chinchilla", truth, dict(design.items()), noise=MEMORY, seed=4)
    made["z"] = np.log(made["loss"]) - np.log(
        1.8 + 400 * made["N"] ** -0.34 + 1500 * made["D"] ** -0.36
    )
    wide = made.pivot(index="run", columns="D", values="z").to_numpy()
    r = np.corrcoef(wide[:, :-1].ravel(), wide[:, 1:].ravel())[0, 1]
    assert r == pytest.approx(np.exp(-np.log(1.7) / 1.5), abs=0.06)  # 1,400 pairs, SE .013


def test_parameters_records_and_words():
    noise = bs.Noise(runs="run", along="D", memory=priors.Gamma(2, 1), offset=False)
    assert [p.name for p in noise.params()] == ["sigma", "nu", "memory"]
    assert noise_from_dict(json.loads(json.dumps(noise.to_dict()))) == noise
    assert noise.describe() == "Student-t on log response, AR(1) along D in each 'run'"
    both = bs.Noise(runs="run", along="D", run_sd=priors.LogNormal(0.02, 1.0))
    assert [p.name for p in both.params()][2:] == ["run_sd", "run_offset", "memory"]
    assert not noise.offsets
    assert both.offsets
    changed = noise.with_priors({"memory": priors.LogNormal(1.0, 0.5)})
    assert changed.memory == priors.LogNormal(1.0, 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"along": "D"}, "needs the column that names the run"),
        ({"runs": "run", "memory": priors.LogNormal(1, 1)}, "memory only along a column"),
        ({"runs": "run", "offset": False}, "without offsets of runs needs their memory"),
        ({"runs": "run", "along": ""}, "along is ''; expected the name of a column"),
        ({"runs": "run", "along": "D", "memory": 2.0}, "'memory' is 2.0; expected a prior"),
        (
            {"runs": "run", "along": "D", "memory": priors.Normal(0, 1)},
            "'memory' is positive; its prior",
        ),
    ],
)
def test_bad_declarations_are_named(options, message):
    with pytest.raises(LawError, match=message):
        bs.Noise(**options)


def test_bad_tables_are_named():
    table = shuffled().assign(N=1e8, loss=2.5)
    table.loc[[3, 7], ["run", "D"]] = ["m1", 5e9]
    with pytest.raises(DataError, match=r"run 'm1' has D = 5e\+09 in rows (4 and 8|8 and 4)"):
        bs.fit("chinchilla", table, noise=MEMORY)
    steps = bs.Noise(runs="run", along="step")
    with pytest.raises(DataError, match="needs 'step'"):
        bs.fit("chinchilla", shuffled().assign(N=1e8, loss=2.5), noise=steps)
    with pytest.raises(DataError, match=r"column 'step' is 0 in row 1; noise along step needs"):
        bs.fit(
            "chinchilla",
            shuffled().assign(N=1e8, loss=2.5, step=np.arange(24)),
            noise=steps,
        )
