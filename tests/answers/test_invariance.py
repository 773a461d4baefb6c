"""Invariance and equal exponents: probabilities by hand, tied laws, and what LOO says of them."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.answers.invariance.ask import _tied_laws, equal_exponents, invariance
from bayescale.choosing import choose
from bayescale.errors import DataError, FitError, LawError
from bayescale.law import call_with
from bayescale.laws import LAWS
from bayescale.laws.equal import tied
from bayescale.priors import LogNormal
from tests.answers.brute import designed
from tests.answers.conftest import made_up

FEW = {"chains": 2, "draws": 200, "warmup": 200, "progress": False, "seed": 1}
WITH_BOTH = [n for n, w in LAWS.items() if {"alpha", "beta"} <= {p.name for p in w.params}]


def grid():
    rows = [
        {"N": n, "D_text": d, "D_multimodal": r * d, "loss_text": 2.0, "loss_multimodal": 1.5}
        for n in (1e8, 1e9)
        for d in (1e10, 4e10)
        for r in (0.1, 0.2, 0.4)
    ]
    return pd.DataFrame(rows)


def decoupled(options=""):
    law, runs = choose(f"decoupled:{options}" if options else "decoupled", grid(), {})
    return made_up(law, runs, noise=law.default_noise)


@pytest.mark.parametrize("name", WITH_BOTH)
def test_a_tied_law_is_the_law_where_the_parameters_are_equal(name):
    law = LAWS[name]
    both = tied(law, "alpha", "beta")
    assert [p.name for p in both.params] == [p.name for p in law.params if p.name != "beta"]
    fit = made_up(both, designed(law), draws=10)
    params = {p.name: fit.draws(p.name)[:, None] for p in both.params}
    inputs = {i.name: fit.runs.column(i.name).astype(float) for i in law.inputs}
    expected = law.mean(**params, beta=params["alpha"], **inputs)
    np.testing.assert_allclose(both.mean(**params, **inputs), expected, rtol=1e-14)
    known = {**{k: v[:, 0] for k, v in params.items()}, **fit.layout.refs}
    for p in both.params:  # what is sampled leads to the parameters and back
        if p.coordinate:
            back = call_with(p.coordinate.from_param, known)
            np.testing.assert_allclose(back, fit.draws(p.site), rtol=1e-9)
    assert r"\beta" not in both.equation
    assert {"a", "b"} & {d.name for d in both.derived} == set()  # they are 1/2


def test_chinchilla_tied_is_the_overtraining_law():
    both, other = tied(LAWS["chinchilla"], "alpha", "beta"), LAWS["overtraining"]
    N, D, eta = np.array([1e8, 3e9]), np.array([1e10, 2e11]), 0.17
    ours = both.mean(E=1.7, A=300.0, B=500.0, alpha=2 * eta, N=N, D=D)
    theirs = other.mean(E=1.7, a_M=300.0 * 6**eta, b_M=500.0 * 6**eta, eta=eta, N=N, D=D)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_parameters_that_can_t_be_tied():
    with pytest.raises(LawError, match="no parameter 'bta'"):
        tied(LAWS["chinchilla"], "alpha", "bta")
    with pytest.raises(LawError, match="can't be tied"):
        tied(LAWS["chinchilla"], "alpha", "alpha")


def test_probabilities_of_equal_exponents_are_shares_of_draws(chinchilla):
    found = equal_exponents(chinchilla, delta=0.04, loo=False)
    apart = chinchilla.draws("alpha") - chinchilla.draws("beta")
    (change,) = found.changes
    assert change.below_zero == np.mean(apart < 0)
    assert change.equivalent == np.mean(np.abs(apart) < 0.04)
    record = json.loads(json.dumps(found.to_dict()))
    assert record["comparison"] is None
    assert record["changes"][0]["change"]["median"] == pytest.approx(np.median(apart))
    assert len(found.to_frame()) == 1
    assert found.dataset["alpha - beta"].dims == ("draw",)
    assert "delta: a smaller change is taken for none" in str(found)


def test_the_change_of_an_exponent_over_the_data_s_compositions():
    fit = decoupled()
    (change,) = invariance(fit, loo=False).changes
    a_at = fit.draws("a_at")[:, 0]
    np.testing.assert_allclose(change.draws, a_at[:, -1] - a_at[:, 0], atol=1e-15)
    assert change.where == {"objective": "multimodal", "compositions": [0.1, 0.4]}
    assert change.below_zero == np.mean(change.draws < 0)
    both = invariance(decoupled("varying=text+multimodal"), loo=False)
    assert [c.name for c in both.changes] == ["a of text", "a of multimodal"]


def test_the_tied_laws_tie_what_they_say():
    fit = decoupled()
    from bayescale.answers.composition import parts_of

    laws, meanings = _tied_laws(fit.law, parts_of(fit.law)[0])
    assert laws.keys() == meanings.keys() == {
        "as fitted", "all vary", "tied exponents", "invariant"
    }  # fmt: skip
    names = {k: {p.name for p in w.params} for k, w in laws.items() if w}
    assert "a_slope" not in names["tied exponents"]
    assert {"C_c_slope", "N_c_slope"} <= names["tied exponents"]
    assert not any(n.endswith("_slope") for n in names["invariant"])
    assert dict(laws["all vary"].labels)["varying"] == ("text", "multimodal")
    only_a = decoupled("varies=a")
    laws, _ = _tied_laws(only_a.law, parts_of(only_a.law)[0])
    assert "tied exponents" not in laws  # that would be the invariant law again


def test_loo_tells_tied_exponents_from_free_ones():
    """Simulated with alpha = .5 and beta = .25: the tied law predicts worse by far."""
    rng = np.random.default_rng(5)
    n, d = (v.ravel() for v in np.meshgrid(np.geomspace(3e7, 3e9, 6), np.geomspace(1e9, 1e11, 6)))
    loss = (1.8 + 6000 * n**-0.5 + 150 * d**-0.25) * np.exp(rng.normal(0, 0.003, len(n)))
    priors = {"alpha": LogNormal(0.35, 0.5)}
    runs = pd.DataFrame({"N": n, "D": d, "loss": loss})
    fit = bs.fit("chinchilla", runs, priors=priors, **FEW)
    found = equal_exponents(fit, refit="never", progress=False)
    assert found.changes[0].below_zero < 0.01
    assert found.changes[0].equivalent < 0.05
    assert found.comparison.names == ("free", "tied")
    size, error = found.comparison.difference("tied")
    assert size < -4 * error
    assert "alpha = beta, a = 1/2" in str(found)
    assert set(found.to_dict()["laws"]) == {"free", "tied"}
    other = found.comparison.fits["tied"]
    assert other.record["settings"]["draws"] == 200
    assert other.law.param("alpha").prior == priors["alpha"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("varying=none", "no allocation exponent varies with the composition"),
        ("varies=K+N0", "decoupled:varying=NAME:varies=a"),
    ],
)
def test_laws_in_which_nothing_varies_are_refused(options, words):
    with pytest.raises(FitError, match=words):
        invariance(decoupled(options), loo=False)


def test_other_laws_and_regions_are_refused(chinchilla, sweep):
    with pytest.raises(FitError, match="is no decoupled law"):
        invariance(chinchilla)
    with pytest.raises(FitError, match="has no exponents alpha and beta, one of size and one of"):
        equal_exponents(made_up("power-law-N", sweep))
    for delta in (0, -0.1, "wide", float("inf"), True):
        with pytest.raises(DataError, match="expected a number above 0, the change that is taken"):
            equal_exponents(chinchilla, delta=delta, loo=False)
