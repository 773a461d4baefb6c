"""Optima of decoupled laws by composition: closed forms, what lies outside, what is no answer."""

import json

import numpy as np
import pandas as pd
import pytest

from bayescale.answers.composition import optima
from bayescale.choosing import choose
from bayescale.data import read_runs
from bayescale.errors import DataError, FitError

from .conftest import made_up


def grid():
    rows = [
        {"N": n, "D_text": d, "D_multimodal": r * d, "loss_text": 2.0, "loss_multimodal": 1.5}
        for n in (1e8, 1e9)
        for d in (1e10, 4e10)
        for r in (0.1, 0.2, 0.3)
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def fit():
    law, runs = choose("decoupled", grid(), {})
    return made_up(law, runs)


def test_the_optimum_minimises_the_law_at_every_draw(fit):
    budget, ratio = 3e20, 0.25
    found = optima(fit, budget, ratio)
    draw = 7
    params = {p.name: fit.draws(p.name)[draw][None] for p in fit.law.params}
    for place, objective in enumerate(("text", "multimodal")):
        best = found.draws["N_opt"][draw, place, 0, 0]
        N = best * np.exp(np.linspace(-0.3, 0.3, 601))
        own = budget / (6 * N)
        text = own if objective == "text" else own / ratio
        D = np.stack([text, ratio * text], axis=-1)
        loss = fit.law.mean(**params, N=N, D=D, objective=np.eye(2)[[place]])
        assert N[np.argmin(loss)] == pytest.approx(best, rel=2e-3)
        assert loss.min() == pytest.approx(found.draws["loss"][draw, place, 0, 0], rel=1e-9)
        tokens = found.draws["D_opt"][draw, place, 0, 0]
        assert 6 * best * tokens == pytest.approx(budget, rel=1e-12)


def test_a_and_b_are_the_optimum_s_slopes_and_those_that_the_law_reports(fit):
    found = optima(fit, [1e20, 1e21])
    np.testing.assert_allclose(found.composition, [0.1, 0.2, 0.3])
    grows = np.log(found.draws["N_opt"][..., 1] / found.draws["N_opt"][..., 0]) / np.log(10)
    np.testing.assert_allclose(grows, found.draws["a"][..., 0], rtol=1e-9)
    np.testing.assert_allclose(found.draws["a"] + found.draws["b"], 1.0, rtol=1e-12)
    np.testing.assert_allclose(found.draws["a"][:, 1, :, 0], fit.draws("a_at")[:, 0], rtol=1e-12)
    assert np.ptp(found.draws["N_opt"][:, 0], axis=1).max() == 0  # text doesn't vary


def test_an_invariant_objective_has_one_line_and_all_records(fit):
    found = optima(fit, "1e20")
    lines = [row[:2] for row in found.table().rows]
    assert lines == [["text", "any"], *(["multimodal", r] for r in ("0.1", "0.2", "0.3"))]
    record = json.loads(json.dumps(found.to_dict()))
    assert len(record["optima"]) == 6
    assert record["optima"][0]["N_opt"]["q05"] < record["optima"][0]["N_opt"]["q95"]
    assert len(found.to_frame()) == 6 * 5
    assert found.dataset.sizes == {"draw": 100, "objective": 2, "composition": 3, "budget": 1}


def test_what_lies_outside_the_data_is_said(fit):
    said = " ".join(optima(fit, "1e23", [0.2, 0.9]).warnings)
    assert "ratio 0.9 is outside the 0.1 to 0.3 of 'multimodal'" in said
    assert "times the compute of the largest run" in said
    assert not optima(fit, "1e19", 0.2).warnings


@pytest.mark.parametrize("composition", [-0.1, float("nan"), "much"])
def test_compositions_that_are_none_are_named(fit, composition):
    with pytest.raises(DataError, match="expected numbers of at least 0"):
        optima(fit, 1e20, composition)


def test_other_laws_have_no_such_optima():
    runs = read_runs(pd.DataFrame({"N": [1e8, 1e9], "D": [1e10, 2e10], "loss": [3.0, 2.5]}))
    with pytest.raises(FitError, match="law 'chinchilla' is no decoupled law"):
        optima(made_up("chinchilla", runs), 1e20)
    law, found = choose("decoupled", grid().assign(N=1e9), {})
    with pytest.raises(FitError, match="law 'decoupled-data' has no size term"):
        optima(made_up(law, found), 1e20)
