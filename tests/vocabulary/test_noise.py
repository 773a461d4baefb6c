"""Noise: densities and random draws against SciPy, records, messages."""

import itertools
import json

import numpy as np
import pytest
from scipy import stats

import bayescale as bs
from bayescale import priors
from bayescale.errors import LawError
from bayescale.noise import NOISES, noise_from_dict

ROWS = 7
MEAN = np.linspace(1.5, 4.0, ROWS)
VALUES = {
    "sigma": np.array(0.05),
    "nu": np.array(3.5),
    "noise_slope": np.array(0.4),
    "run_sd": np.array(0.07),
    "run_offset": np.linspace(-1, 1, ROWS),
}
COLUMNS = {
    "known_sd": np.linspace(0.02, 0.2, ROWS),
    "noise_x": np.linspace(-2, 2, ROWS),
    "centre": np.array(0.9),
}
UNIFORM = np.linspace(-8, 8, 160_001)
KINDS = {
    f"{tail}, {on}, sigma {sigma}, known {known}, varies {varies}, runs {runs}": bs.Noise(
        tail=tail,
        on=on,
        sigma=priors.LogNormal(0.01, 1) if sigma else None,
        known_sd="sd" if known else None,
        varies_with=varies,
        runs="run" if runs else None,
    )
    for tail, on, sigma, known, varies, runs in itertools.product(
        ("normal", "student_t"),
        ("log", "response"),
        (True, False),
        (True, False),
        (None, "C", "loss"),
        (True, False),
    )
    if (sigma or known) and (sigma or not varies)
}
EACH_KIND = pytest.mark.parametrize("noise", KINDS.values(), ids=KINDS.keys())


def columns_of(noise):
    """What a batch holds for this noise."""
    names = {"centre"} | ({"known_sd"} if noise.known_sd else set())
    names |= {"noise_x"} if noise.varies_with not in (None, "loss") else set()
    return {k: v for k, v in COLUMNS.items() if k in names}


def by_hand(noise):
    """Centre, scale and SciPy distribution of the response (of its log with on="log")."""
    sigma = VALUES["sigma"] if noise.sigma else 0.0
    if noise.varies_with == "C":
        sigma = sigma * np.exp(0.4 * COLUMNS["noise_x"])
    if noise.varies_with == "loss":
        sigma = sigma * np.exp(0.4 * (np.log(MEAN) - 0.9))
    known = COLUMNS["known_sd"] if noise.known_sd else 0.0
    if noise.on == "log":
        known = known / MEAN
    scale = np.sqrt(sigma**2 + known**2)
    centre = np.log(MEAN) if noise.on == "log" else MEAN
    if noise.runs:
        centre = centre + 0.07 * VALUES["run_offset"]
    return stats.t(3.5, centre, scale) if noise.tail == "student_t" else stats.norm(centre, scale)


@EACH_KIND
def test_log_density_is_scipys(noise):
    y = MEAN * np.exp(np.linspace(-0.3, 0.3, ROWS))
    law = by_hand(noise)
    expected = law.logpdf(np.log(y)) - np.log(y) if noise.on == "log" else law.logpdf(y)
    density = noise.log_density(y, MEAN, VALUES, columns_of(noise))
    np.testing.assert_allclose(density, expected, rtol=1e-11)


@EACH_KIND
def test_density_is_of_the_response_itself(noise):
    """It integrates to 1 over the response, the Jacobian of the logarithm included."""
    grid = np.linspace(-40, 44, 84_001) if noise.on == "response" else np.exp(UNIFORM)
    row = 3
    pick = {k: np.asarray(v)[row : row + 1] if np.ndim(v) else v for k, v in VALUES.items()}
    columns = {k: v[row : row + 1] if np.ndim(v) else v for k, v in columns_of(noise).items()}
    density = np.exp(noise.log_density(grid, MEAN[row : row + 1], pick, columns))
    assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=2e-4)


@EACH_KIND
def test_draws_follow_the_density(noise):
    draws = 3000
    mean = np.broadcast_to(MEAN, (draws, ROWS))
    values = {k: np.broadcast_to(v, (draws, ROWS)) for k, v in VALUES.items()}
    drawn = noise.draw(np.random.default_rng(4), mean, values, columns_of(noise))
    assert drawn.shape == (draws, ROWS)
    law = by_hand(noise)
    uniform = law.cdf(np.log(drawn) if noise.on == "log" else drawn)
    smallest = min(stats.kstest(uniform[:, row], "uniform").pvalue for row in range(ROWS))
    assert smallest > 1e-3 / ROWS  # a level of .001 over all rows


@EACH_KIND
def test_numpyro_distribution_is_the_same(noise):
    import jax

    y = MEAN * np.exp(np.linspace(-0.3, 0.3, ROWS))
    with jax.enable_x64(True):
        values = {k: jax.numpy.asarray(v) for k, v in VALUES.items()}
        mean = jax.numpy.asarray(MEAN)
        density = noise.distribution(mean, values, columns_of(noise)).log_prob(y)
    expected = noise.log_density(y, MEAN, VALUES, columns_of(noise))
    np.testing.assert_allclose(np.asarray(density), expected, rtol=1e-10)


@EACH_KIND
def test_record_gives_the_noise_back(noise):
    assert noise_from_dict(json.loads(json.dumps(noise.to_dict()))) == noise


@EACH_KIND
def test_declared_parameters_are_those_used(noise):
    declared = {p.name for p in noise.params()}
    used = set()

    class Recorder(dict):
        def __getitem__(self, key):
            used.add(key)
            return super().__getitem__(key)

    noise.log_density(MEAN, MEAN, Recorder(VALUES), columns_of(noise))
    assert used == declared
    assert all(p.meaning for p in noise.params())


def test_scale_of_a_measured_error_is_its_sd():
    """With no other noise a row's scale is its known SD, on log to first order sd / mean."""
    known = {"known_sd": COLUMNS["known_sd"]}
    on_response = bs.normal(sigma=None, known_sd="sd").scale(MEAN, {}, known)
    np.testing.assert_array_equal(on_response, COLUMNS["known_sd"])
    on_log = bs.log_normal(sigma=None, known_sd="sd").scale(MEAN, {}, known)
    np.testing.assert_allclose(on_log, COLUMNS["known_sd"] / MEAN)


def test_heavy_tails_never_overflow():
    noise = bs.student_t()
    values = {"sigma": np.array(5.0), "nu": np.array(0.3)}
    with np.errstate(all="raise"):
        drawn = noise.draw(np.random.default_rng(0), np.full((2000, 5), 2.0), values, {})
    assert np.all(np.isfinite(drawn.astype(np.float32)))
    assert np.all(drawn > 0)


def test_default_is_student_t_on_log_loss():
    assert bs.Noise() == bs.student_t() == NOISES["student_t"]()
    assert (bs.Noise().tail, bs.Noise().on) == ("student_t", "log")
    assert bs.Noise().describe() == "Student-t on log response"


def test_describe_says_all_parts():
    noise = bs.student_t(known_sd="sd", varies_with="C", runs="name")
    for part in ("Student-t", "'sd'", "C", "'name'"):
        assert part in noise.describe()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tail": "cauchy"}, "noise tail 'cauchy' is unknown; expected normal or student_t"),
        ({"on": "log2"}, "noise on 'log2' is unknown; expected log or logit or response"),
        ({"sigma": None}, "noise without sigma needs known_sd"),
        ({"sigma": priors.Normal(0, 1)}, r"'sigma' is positive; its prior Normal\(0, 1\) is not"),
        ({"nu": priors.Normal(4, 1)}, "'nu' is positive"),
        ({"runs": "run", "run_sd": priors.Uniform(-1, 1)}, "'run_sd' is positive"),
        ({"sigma": 0.01}, "noise parameter 'sigma' is 0.01; expected a prior"),
        ({"slope": 0.3}, "noise parameter 'noise_slope' is 0.3; expected a prior"),
        (
            {"sigma": None, "known_sd": "sd", "varies_with": "C"},
            "noise without sigma has nothing that varies with C",
        ),
        ({"runs": 3}, "noise runs is 3; expected the name of a column"),
        ({"known_sd": 0.01}, "noise known_sd is 0.01; expected the name of a column"),
    ],
)
def test_messages(options, message):
    with pytest.raises(LawError, match=message):
        bs.Noise(**options)


def test_priors_of_the_noise_are_replaced_by_name():
    from bayescale.inference.model import make_model
    from bayescale.laws import CHINCHILLA
    from bayescale.pooling import Pooling
    from bayescale.priors import HalfNormal, LogNormal, Normal

    changed = {"sigma": LogNormal(0.02, 0.3), "noise_slope": Normal(0, 1), "E": HalfNormal(2)}
    noise = bs.student_t(varies_with="C")
    model = make_model(CHINCHILLA, noise, Pooling(), changed)
    assert (model.noise.sigma, model.noise.slope) == (changed["sigma"], changed["noise_slope"])
    assert model.law.param("E").prior == changed["E"]
    assert model.noise.nu == noise.nu
    with pytest.raises(LawError, match="this noise .* has no parameter 'run_sd'; it has sigma, nu"):
        make_model(CHINCHILLA, noise, Pooling(), {"run_sd": LogNormal(0.1, 1)})
