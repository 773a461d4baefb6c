"""Priors: draws, densities and bijections against SciPy; records; messages."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayescale import priors
from bayescale.errors import LawError
from bayescale.prior_reading import FAMILIES, parse_prior, prior_from_dict
from bayescale.priors import Support

CASES = {
    "Normal": (priors.Normal(1.5, 2.0), stats.norm(1.5, 2.0)),
    "LogNormal": (priors.LogNormal(0.3, 0.7), stats.lognorm(0.7, scale=0.3)),
    "HalfNormal": (priors.HalfNormal(0.4), stats.halfnorm(scale=0.4)),
    "HalfCauchy": (priors.HalfCauchy(0.4), stats.halfcauchy(scale=0.4)),
    "Gamma": (priors.Gamma(2.0, 0.1), stats.gamma(2.0, scale=10.0)),
    "Beta": (priors.Beta(2.0, 5.0), stats.beta(2.0, 5.0)),
    "Uniform": (priors.Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
}
EACH_PRIOR = pytest.mark.parametrize(("prior", "law"), CASES.values(), ids=CASES.keys())
SUPPORTS = [Support(), Support(0.0), Support(2.0), Support(0.0, 1.0), Support(-1.0, 3.0)]


def test_every_family_is_tested():
    assert set(CASES) == set(FAMILIES)


@EACH_PRIOR
def test_draws_follow_the_distribution(prior, law):
    drawn = prior.sample(np.random.default_rng(1), (40, 50))
    assert drawn.shape == (40, 50)
    assert drawn.dtype == np.float64
    assert stats.kstest(drawn.ravel(), law.cdf).pvalue > 0.01


@EACH_PRIOR
def test_draws_follow_the_seed(prior, law):
    one, same, other = (prior.sample(np.random.default_rng(s), (5,)) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.any(one == other)
    assert np.shape(prior.sample(np.random.default_rng(1))) == ()


@EACH_PRIOR
def test_density_is_scipys_in_all_three_namespaces(prior, law):
    import jax

    x = law.ppf(np.array([0.01, 0.2, 0.5, 0.9, 0.999]))
    np.testing.assert_allclose(prior.scipy().logpdf(x), law.logpdf(x), rtol=1e-12)
    np.testing.assert_allclose(prior.log_density(x), law.logpdf(x), rtol=1e-10, atol=1e-12)
    with jax.enable_x64(True):
        x = jax.numpy.asarray(x)
        for density in (prior.numpyro().log_prob(x), prior.log_density(x)):
            np.testing.assert_allclose(density, law.logpdf(x), rtol=1e-10, atol=1e-12)


@EACH_PRIOR
def test_middle_is_the_median(prior, law):
    assert prior.middle() == pytest.approx(law.median(), rel=1e-9, abs=1e-12)


@EACH_PRIOR
def test_support_is_where_the_density_is(prior, law):
    assert (prior.support.lower, prior.support.upper) == law.support()


@EACH_PRIOR
def test_record_and_text_give_the_prior_back(prior, law):
    assert prior_from_dict(json.loads(json.dumps(prior.to_dict()))) == prior
    assert parse_prior(str(prior)) == prior


def test_numpy_numbers_become_plain_ones():
    prior = priors.Normal(np.float32(0.5), np.int64(2))
    assert prior == priors.Normal(0.5, 2.0)
    assert json.loads(json.dumps(prior.to_dict())) == {"family": "Normal", "loc": 0.5, "scale": 2}


real_line = st.floats(-30, 30)


@pytest.mark.parametrize("support", SUPPORTS, ids=str)
@given(u=real_line)
def test_constrain_and_unconstrain_are_inverse(support, u):
    x = support.constrain(np.float64(u))
    assert support.lower < x < support.upper
    assert support.constrain(support.unconstrain(x)) == pytest.approx(x, rel=1e-12)
    if abs(u) < 10:  # beyond, x - lower or upper - x has lost the digits of u
        assert support.unconstrain(x) == pytest.approx(u, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("support", SUPPORTS, ids=str)
@given(u=st.floats(-12, 12))
def test_log_jacobian_is_the_log_of_the_slope(support, u):
    step = 1e-5
    slope = (support.constrain(u + step) - support.constrain(u - step)) / (2 * step)
    assert support.log_jacobian(np.float64(u)) == pytest.approx(math.log(slope), abs=1e-4)


@pytest.mark.parametrize("support", SUPPORTS, ids=str)
@given(u=real_line)
def test_bijection_is_numpyros(support, u):
    import jax
    from numpyro.distributions import biject_to, constraints

    if math.isinf(support.lower):
        bijection = biject_to(constraints.real)
    elif math.isinf(support.upper):
        bijection = biject_to(constraints.greater_than(support.lower))
    else:
        bijection = biject_to(constraints.interval(support.lower, support.upper))
    with jax.enable_x64(True):
        u = jax.numpy.asarray(u)
        x = bijection(u)
        slope = float(bijection.log_abs_det_jacobian(u, x))
    assert float(support.constrain(np.asarray(u))) == pytest.approx(float(x), rel=1e-12)
    assert float(support.log_jacobian(np.asarray(u))) == pytest.approx(slope, rel=1e-9, abs=1e-9)


def test_support_says_what_it_is():
    assert str(Support()) == "real"
    assert str(Support(0.0)) == "positive"
    assert str(Support(1.0)) == "above 1"
    assert str(Support(0.0, 1.0)) == "between 0 and 1"
    assert Support(0.0).contains(Support(0.0, 1.0))
    assert not Support(0.0, 1.0).contains(Support(0.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Nromal(0, 1)", "unknown prior family 'Nromal'; known: Normal,.* Did you mean 'Normal'"),
        ("Normal", r"'Normal' is not of the form Family\(number"),
        ("", "is not of the form"),
        ("Normal(0, 1", "is not of the form"),
        ("Normal(a, b)", "numbers were expected"),
        ("Normal(loc=0, scale=1)", "numbers were expected"),
        ("Normal(0)", r"Normal takes 2 numbers \(loc, scale\)"),
        ("Normal(0, 1, 2)", r"Normal takes 2 numbers \(loc, scale\)"),
        ("HalfNormal()", r"HalfNormal takes 1 numbers? \(scale\)"),
        ("Normal(0, -1)", "Normal: scale is -1, a positive number"),
        ("Normal(nan, 1)", "Normal: loc is nan, a finite number"),
        ("LogNormal(0, 1)", "LogNormal: median is 0, a positive number"),
        ("Uniform(2, 1)", "low 2 must be below high 1"),
    ],
)
def test_parse_prior_says_what_is_wrong(text, message):
    with pytest.raises(LawError, match=message):
        parse_prior(text)


@pytest.mark.parametrize("value", ["1", None, True, math.inf, [1.0]])
def test_prior_takes_finite_numbers_only(value):
    with pytest.raises(LawError, match="prior Normal: loc is .* a finite number was expected"):
        priors.Normal(value, 1.0)


def test_record_errors():
    with pytest.raises(LawError, match="prior Normal takes loc, scale; got mu"):
        prior_from_dict({"family": "Normal", "mu": 1})
    with pytest.raises(LawError, match="unknown prior family ''"):
        prior_from_dict({})
