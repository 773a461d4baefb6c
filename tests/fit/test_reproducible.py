"""The same seed gives the same draws, whatever else the process or JAX is set to."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest

import bayescale as bs


def run_python(code, settings=None):
    """Run code in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **(settings or {})},
    )
    assert done.returncode == 0, done.stderr


def same_draws(one, two):
    return all(np.array_equal(v.values, two.variables[k].values) for k, v in one.variables.items())


def test_same_seed_same_draws(chinchilla, fit):
    again = chinchilla(0, seed=0)
    assert same_draws(fit, again)
    for name, values in fit.stats.items():
        np.testing.assert_array_equal(values, again.stats[name])


def test_other_seed_other_draws_same_posterior(chinchilla, fit):
    other = chinchilla(0, seed=77)
    assert not same_draws(fit, other)
    assert_same_posterior(fit, other)


def assert_same_posterior(one, two):
    """Means and SDs agree within five Monte Carlo standard errors."""
    for name in ("E", "size_term", "data_term", "alpha", "beta", "a", "sigma", "nu"):
        a, b = one.summary.loc[name], two.summary.loc[name]
        assert abs(a["mean"] - b["mean"]) < 5 * np.hypot(a["mcse"], b["mcse"]), name
        # the SD of an SD is at most about sd / sqrt(ESS) for these shapes
        assert abs(a["sd"] - b["sd"]) < 6 * np.hypot(a["mcse"], b["mcse"]), name


def test_chains_differ(fit):
    values = fit.variables["alpha"].values
    assert len({chain.tobytes() for chain in values}) == len(values)


def test_order_of_rows_does_not_matter(chinchilla, fit, table):
    shuffled = chinchilla(table.sample(frac=1, random_state=4), seed=0)
    assert_same_posterior(fit, shuffled)


def test_unit_of_the_loss_is_taken_up_by_the_law(chinchilla, fit, table):
    """Loss in bits: E, A and B scale by 1 / ln 2, exponents and noise stay (to prior's effect)."""
    bits = chinchilla(table.assign(loss=table["loss"] / np.log(2)), seed=3)
    for name, factor in {"E": 1 / np.log(2), "alpha": 1, "beta": 1, "sigma": 1, "a": 1}.items():
        sd = fit.summary.loc[name, "sd"]
        assert bits.summary.loc[name, "mean"] / factor == pytest.approx(
            fit.summary.loc[name, "mean"], abs=0.3 * sd
        )


def test_global_settings_stay_as_they_were(chinchilla):
    import jax
    import matplotlib as mpl
    import rich.console  # noqa: F401  # takes a random number when it is imported

    def state():
        return {
            "jax": dict(jax.config.values),
            "x64": jax.config.jax_enable_x64,
            "errors": np.geterr(),
            "numpy": np.random.get_state()[1].tolist(),  # noqa: NPY002
            "random": random.getstate(),
            "style": dict(mpl.rcParams),
        }

    before = state()
    fitted = chinchilla(0, chains=4, draws=50)
    fitted.tree  # noqa: B018
    str(fitted)
    assert state() == before
    assert jax.numpy.asarray(1.0).dtype == np.float32


def test_draws_do_not_depend_on_double_precision_outside(chinchilla, fit):
    import jax

    with jax.enable_x64(True):
        assert same_draws(fit, chinchilla(0, seed=0))
    jax.config.update("jax_enable_x64", True)
    try:
        assert same_draws(fit, chinchilla(0, seed=0))
        assert jax.config.jax_enable_x64
    finally:
        jax.config.update("jax_enable_x64", False)


def test_draws_do_not_depend_on_how_jax_is_set(fit, table, tmp_path):
    """Another kind of random keys, NaN checks and double precision outside; compiled anew."""
    table.to_csv(tmp_path / "runs.csv", index=False)
    code = (
        "import jax, numpy as np, bayescale as bs\n"
        f"fit = bs.fit('chinchilla', {str(tmp_path / 'runs.csv')!r}, seed=0)\n"
        "assert set(fit.record['compiled'].values()) == {'compiled'}\n"
        "assert jax.config.jax_default_prng_impl == 'rbg'\n"
        f"np.save({str(tmp_path / 'E.npy')!r}, fit.variables['E'].values)\n"
    )
    settings = {
        "BAYESCALE_CACHE": "off",
        "JAX_DEFAULT_PRNG_IMPL": "rbg",
        "JAX_THREEFRY_PARTITIONABLE": "0",
        "JAX_DEBUG_NANS": "1",
        "JAX_ENABLE_X64": "1",
    }
    run_python(code, settings)
    np.testing.assert_array_equal(np.load(tmp_path / "E.npy"), fit.variables["E"].values)


def test_draws_do_not_depend_on_other_random_numbers(chinchilla, fit):
    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    assert same_draws(fit, chinchilla(0, seed=0))


def test_draws_do_not_depend_on_fits_in_between(chinchilla, fit):
    chinchilla(1, seed=9, draws=50)
    assert same_draws(fit, chinchilla(0, seed=0))


def test_more_draws_begin_with_the_same_ones(chinchilla, fit):
    longer = chinchilla(0, seed=0, draws=1100)
    if longer.record["settings"]["target_accept"] == fit.record["settings"]["target_accept"]:
        np.testing.assert_array_equal(
            longer.variables["E"].values[:, :1000], fit.variables["E"].values
        )


def test_import_is_light_and_changes_nothing():
    code = (
        "import sys, bayescale as bs\n"
        "bs.Noise(), bs.get_law('chinchilla').text(), bs.partial('x')\n"
        "heavy = {'jax', 'numpyro', 'arviz_base', 'arviz_stats', 'xarray', 'matplotlib'}\n"
        "heavy |= {'pandas', 'scipy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "import jax\n"
        "before = dict(jax.config.values)\n"
        "from bayescale.inference import sample, density, nuts, cache, gate, diagnostics\n"
        "import bayescale.fitting, bayescale.saving\n"
        "assert dict(jax.config.values) == before\n"
        "assert not jax.config.jax_enable_x64\n"
    )
    run_python(code)


def test_next_process_loads_and_gives_the_same_draws(fit, compile_cache, table, tmp_path):
    """Nothing is traced there, and the draws are the same to the last bit."""
    table.to_csv(tmp_path / "runs.csv", index=False)
    code = (
        "import sys, numpy as np, bayescale as bs\n"
        f"fit = bs.fit('chinchilla', {str(tmp_path / 'runs.csv')!r}, seed=0)\n"
        "assert set(fit.record['compiled'].values()) == {'loaded'}, fit.record['compiled']\n"
        f"np.save({str(tmp_path / 'E.npy')!r}, fit.variables['E'].values)\n"
    )
    run_python(code)
    np.testing.assert_array_equal(np.load(tmp_path / "E.npy"), fit.variables["E"].values)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None, True])
def test_seed_must_be_a_whole_number(seed, table):
    with pytest.raises(bs.errors.FitError, match="seed is .*; expected a whole number"):
        bs.fit("chinchilla", table, seed=seed)
