"""Compute multiplier between two fits."""

import dataclasses

import numpy as np
import pytest

from bayescale.answers.multiplier import compute_multiplier
from bayescale.answers.surface import surface
from bayescale.errors import FitError
from bayescale.pooling import partial
from bayescale.priors import HalfNormal
from tests.answers.conftest import made_up


def scaled(fit, name, factor):
    """The same fit with a parameter's draws multiplied."""
    site = {"A": "size_term", "B": "data_term"}[name]
    changed = dict(fit.variables)
    for key in (name, site):
        v = changed[key]
        changed[key] = dataclasses.replace(v, values=v.values * factor)
    return dataclasses.replace(fit, variables=changed)


def test_against_the_closed_form(sweep):
    """With A and B both f times larger the reducible loss is: C_ref/C = f^(1/gamma)."""
    fit = made_up("chinchilla", sweep, spread=1e-9)
    worse = scaled(scaled(fit, "A", 1.1), "B", 1.1)
    answer = compute_multiplier(fit, worse, [1e21, 1e23])
    np.testing.assert_allclose(answer.draws, 1.1 ** (1 / fit.draws("gamma")[0]), rtol=1e-4)
    assert answer.to_dict()["multipliers"][0]["probability_above_1"] == 1.0


def test_a_fit_against_itself_is_one_in_the_middle(chinchilla):
    answer = compute_multiplier(chinchilla, chinchilla, 1e22)
    finite = answer.draws[np.isfinite(answer.draws)]
    assert 0.3 < np.median(finite) < 3


def test_out_of_reach_is_told(sweep):
    fit = made_up("chinchilla", sweep, spread=1e-9)
    v = fit.variables["E"]
    worse = dataclasses.replace(
        fit, variables={**fit.variables, "E": dataclasses.replace(v, values=v.values * 2)}
    )
    record = compute_multiplier(fit, worse, 1e24).to_dict()["multipliers"][0]
    assert record["unreachable"] == 1.0
    assert record["multiplier"] is None


def test_laws_of_one_variable_are_refused(chinchilla, sweep):
    with pytest.raises(FitError, match="needs a law of N and D"):
        compute_multiplier(chinchilla, made_up("power-law-N", sweep), 1e22)


@pytest.fixture(scope="module")
def pooled(grouped):
    return made_up(
        "chinchilla", grouped, pooling={n: partial("corpus") for n in ("E", "A", "B")}, draws=20
    )


def groups_apart(fit, name):
    """One group of a pooled fit as a law of its own, by its parameters."""
    laws = surface(fit, {"corpus": name})
    return {k: laws.params[k] for k in ("E", "A", "B", "alpha", "beta")}


def test_groups_of_one_posterior_are_paired(pooled):
    """Closed form, draw by draw: C_ref(L) = 6 (K/(L - E))^(1/gamma)."""
    budgets = np.array([1e20, 1e22])
    found = compute_multiplier(pooled, "web", budgets)
    assert found.recipes == ("code", "books")
    ref = groups_apart(pooled, "web")
    for j, name in enumerate(found.recipes):
        own = groups_apart(pooled, name)
        for k, budget in enumerate(budgets):
            loss = own["E"] + reducible(own)[0] * (budget / 6) ** -reducible(own)[1]
            K, gamma = reducible(ref)
            with np.errstate(invalid="ignore"):
                expected = 6 * (K / (loss - ref["E"])) ** (1 / gamma) / budget
            got = found.draws[:, j, k]
            seen = np.isfinite(got)
            assert np.isinf(got[loss <= ref["E"]]).all()
            assert seen.sum() >= 20
            np.testing.assert_allclose(got[seen], expected[seen], rtol=1e-5)


def reducible(p):
    """K and gamma of the Chinchilla frontier E + K (C/6)^-gamma."""
    alpha, beta = p["alpha"], p["beta"]
    G = (alpha * p["A"] / (beta * p["B"])) ** (1 / (alpha + beta))
    return p["A"] * G**-alpha + p["B"] * G**beta, alpha * beta / (alpha + beta)


def test_a_group_whose_parameters_are_shared_is_exactly_one(grouped):
    """What groups share cancels: with noise pooled alone every multiplier is 1, not around 1."""
    fit = made_up("chinchilla", grouped, pooling={"E": partial("corpus", HalfNormal(1e-9))})
    found = compute_multiplier(fit, "web", 1e21, groups="code")
    np.testing.assert_allclose(found.draws, 1.0, rtol=1e-4)


def test_probabilities_of_being_best_sum_to_one(pooled):
    found = compute_multiplier(pooled, "code", [1e20, 1e22])
    assert found.best.shape == (3, 2)
    np.testing.assert_allclose(found.best.sum(axis=0), 1.0)
    record = found.to_dict()
    assert record["reference"] == "code"
    first = record["multipliers"][0]
    assert {"recipe", "C", "probability_above_1", "probability_best", "unreachable"} <= set(first)
    assert found.dataset["multiplier"].dims == ("draw", "recipe", "budget")
    assert len(found.to_frame()) == 4
    assert "Compute multiplier against code" in str(found)


def test_several_fits_at_once(sweep):
    fit = made_up("chinchilla", sweep, spread=1e-9)
    worse = scaled(scaled(fit, "A", 1.1), "B", 1.1)
    found = compute_multiplier({"same": fit, "worse": worse}, fit, 1e22)
    factor = 1.1 ** (1 / fit.draws("gamma")[0])
    np.testing.assert_allclose(found.draws[:, 0], 1.0, rtol=1e-4)
    np.testing.assert_allclose(found.draws[:, 1], 1 / factor, rtol=1e-4)


@pytest.mark.parametrize(
    ("reference", "options", "words"),
    [
        ("wed", {}, "corpus 'wed' is not in the fit; known: web, code, books. Did you mean 'web'"),
        ("web", {"groups": "web"}, "compare corpus 'web' with other groups"),
        ("web", {"groups": ["code", "x"]}, "corpus 'x' is not in the fit"),
        ("web", {"by": "corpse"}, "groups aren't by 'corpse'"),
    ],
)
def test_unknown_groups_are_refused(pooled, reference, options, words):
    with pytest.raises(FitError, match=words):
        compute_multiplier(pooled, reference, 1e22, **options)


def test_fits_without_groups_and_mixed_questions_are_refused(chinchilla, pooled):
    with pytest.raises(FitError, match="this fit has no groups"):
        compute_multiplier(chinchilla, "web", 1e22)
    with pytest.raises(FitError, match="give one pooled fit, not several"):
        compute_multiplier({"a": pooled}, "web", 1e22)
    with pytest.raises(FitError, match="give the reference as a group's name"):
        compute_multiplier(pooled, pooled, 1e22, groups="code")
