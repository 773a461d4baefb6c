"""Transfer tax: coefficients of benchmarks, those that are sure, laws that know none."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.families.capability import arrange, arrange_loss
from tests.answers.conftest import made_up

NO_ROLES = {"loss": "", "N": "", "C": ""}


def table(benchmarks: int = 7, models: int = 9) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    skill = rng.normal(size=(models, 3)) * [0.25, 0.15, 0.1]
    towards = np.where(np.arange(benchmarks) == 4, -1.5, 1.0)  # one loads the other way
    loads = np.linalg.qr(0.3 * rng.normal(size=(benchmarks, 3)) + towards[:, None] * [1, 0, 0])[0].T
    loads *= np.sign(loads[:, :1])
    scores = np.clip(0.5 + skill @ loads + 0.01 * rng.normal(size=(models, benchmarks)), 0.02, 0.98)
    frame = pd.DataFrame(scores, columns=[f"text_{k}" for k in range(benchmarks)])
    frame["model"] = [f"m{k}" for k in range(models)]
    return frame.assign(accuracy=0.5 + 0.2 * skill[:, 0], D=2e10)


def fit_of(components: int = 3, **options) -> bs.Fit:
    runs = bs.read_runs(table(), columns=NO_ROLES)
    law, runs = arrange(runs, benchmarks="text_*", components=components, **options)
    return made_up(law, runs, law.default_noise, seed=2, draws=200, spread=0.4)


def test_lambda_is_the_direction_times_the_loadings_and_has_length_one():
    fit = fit_of()
    found = bs.transfer_tax(fit)
    loadings = np.array(bs.answers.backbones.backbones_of(fit).scores.loadings)
    expected = fit.draws("w") @ loadings
    np.testing.assert_allclose(found.draws, expected, rtol=1e-9)
    np.testing.assert_allclose((found.draws**2).sum(axis=1), 1, rtol=1e-9)


def test_a_tax_is_below_zero_with_more_than_95_percent():
    found = bs.transfer_tax(fit_of())
    for k, name in enumerate(found.benchmarks):
        share = np.mean(found.draws[:, k] < 0)
        assert (name in found.tax) == (share > 0.95)
        assert (name in found.positive) == (np.mean(found.draws[:, k] > 0) > 0.95)
        record = next(r for r in found.records() if r["benchmark"] == name)
        assert record["below_zero"] == share
    assert found.tax == ("text_4",)
    medians = [r["lambda"]["median"] for r in found.records()]
    assert medians == sorted(medians, reverse=True)
    assert f"transfer tax with probability above 95%: {', '.join(found.tax)}" in str(found)
    assert found.to_dict()["tax"] == list(found.tax)
    assert found.dataset["lambda"].dims == ("draw", "benchmark")
    assert len(found.to_frame()) == len(found.benchmarks)


def test_with_one_component_lambda_is_its_loading():
    fit = fit_of(components=1)
    found = bs.transfer_tax(fit)
    assert np.ptp(found.draws, axis=0).max() == 0
    assert any("accuracy says nothing about it" in n for n in found.notes)
    np.testing.assert_allclose((found.draws**2).sum(axis=1), 1, rtol=1e-9)


def test_the_loss_form_has_one_too():
    frame = table().assign(loss=1.5)
    runs = bs.read_runs(frame, columns={"N": "", "C": ""})
    law, runs = arrange_loss(runs, benchmarks="text_*", components=2)
    found = bs.transfer_tax(made_up(law, runs, law.default_noise))
    np.testing.assert_allclose((found.draws**2).sum(axis=1), 1, rtol=1e-9)


def test_laws_that_know_no_benchmarks_are_refused(chinchilla):
    with pytest.raises(bs.FitError, match="law 'chinchilla' is no capability law: it has no back"):
        bs.transfer_tax(chinchilla)
    frame = table().drop(columns=[f"text_{k}" for k in range(7)])
    runs = bs.read_runs(frame.assign(S_1=np.linspace(-1, 1, 9), S_2=0.1), columns=NO_ROLES)
    law, runs = arrange(runs)
    with pytest.raises(bs.FitError, match="without the benchmarks behind them, so nothing is kno"):
        bs.transfer_tax(made_up(law, runs, law.default_noise))
