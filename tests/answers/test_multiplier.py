"""Compute multiplier between two fits."""

import dataclasses

import numpy as np
import pytest

from bayescale.answers.multiplier import compute_multiplier
from bayescale.errors import FitError
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
