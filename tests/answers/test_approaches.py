"""The three approaches side by side: numbers, disagreement, refusals, one call from runs."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest

import bayescale as bs
from bayescale.answers.approach import PowerLaw
from bayescale.answers.approaches.parametric import parametric
from bayescale.answers.approaches.result import Difference, larger
from bayescale.answers.approaches.slices import cut_slices, has_budgets
from bayescale.errors import DataError, FitError

from .envelope_curves import A, curves_of, design


@dataclass(frozen=True)
class Stated:
    """An approach with stated draws."""

    exponents: dict
    name: str = "isoflop"
    unit: str = "nats/token"
    converged: bool = True
    warnings: tuple = field(default=())

    def n_opt(self, C):
        a = self.exponents["a"]
        return PowerLaw(np.full(len(a), np.log(1e9)), a, 1e20).at(C)

    def d_opt(self, C):
        return np.asarray([float(C[0])]) / (6 * self.n_opt(C))


def stated(middle, sd=0.01, draws=900, seed=0, **options):
    a = middle + sd * np.random.default_rng(seed).standard_normal(draws)
    return Stated({"a": a, "b": 1 - a}, **options)


@pytest.fixture(scope="module")
def envelope():
    return bs.envelope(curves_of(table=design(sizes=6)), draws=400)


@pytest.fixture(scope="module")
def three(envelope):
    return bs.approaches(envelope=envelope, isoflop=stated(0.7), C=["1e22"])


def test_parametric_is_the_laws_own_optimum(chinchilla):
    found = parametric(chinchilla)
    np.testing.assert_allclose(found.exponents["a"], chinchilla.draws("a"))
    alone = chinchilla.allocate("1e23")
    np.testing.assert_allclose(found.n_opt("1e23"), alone.draws["N_opt"])
    np.testing.assert_allclose(found.d_opt("1e23"), alone.draws["D_opt"])


def test_probability_of_a_difference_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    for _ in range(20):
        one, other = rng.integers(0, 9, 40) / 3, rng.integers(0, 9, 31) / 3
        pairs = one[:, None] - other
        expected = (pairs > 0).mean() + 0.5 * (pairs == 0).mean()
        assert larger(one, other) == pytest.approx(expected)
        assert larger(other, one) == pytest.approx(1 - expected)


def test_disagreement_is_flagged(three):
    (found,) = [d for d in three.differences if d.quantity == "a"]
    assert found.disagree
    assert found.probability > 0.99
    assert "P(a of isoflop > envelope) = " in str(three)
    assert "they disagree" in str(three)
    close = bs.approaches(envelope=three.answers["envelope"], isoflop=stated(A), C="1e22")
    assert not any(d.disagree for d in close.differences if d.quantity == "a")
    assert Difference("x", "y", "a", None, 0.951).disagree
    assert not Difference("x", "y", "a", None, 0.949).disagree


def test_one_table_for_two_and_three(chinchilla, envelope):
    found = bs.approaches(fit=chinchilla, isoflop=stated(0.5), envelope=envelope, C="1e24")
    text = str(found)
    for name in ("parametric", "isoflop", "envelope"):
        assert name in text
    record = json.loads(json.dumps(found.to_dict()))
    assert [r["approach"] for r in record["approaches"]] == ["parametric", "isoflop", "envelope"]
    assert len([d for d in record["differences"] if d["quantity"] == "a"]) == 3
    assert record["approaches"][2]["budgets"][0]["N_opt"]["median"] > 1e9
    frame = found.to_frame()
    assert set(frame["quantity"]) == {"a", "b", "N_opt", "D_opt"}
    assert found.dataset["N_opt"].sel(approach="envelope").sizes == {"budget": 1, "quantile": 5}


def test_a_fit_that_failed_is_told(envelope):
    bad = stated(0.5, converged=False, warnings=("rhat: too high",))
    found = bs.approaches(isoflop=bad, envelope=envelope, C="1e22")
    assert found.converged is False
    assert "isoflop: rhat: too high" in found.warnings


def test_refusals(envelope, chinchilla):
    with pytest.raises(FitError, match="two or three answers and got 1"):
        bs.approaches(envelope=envelope, C="1e22")
    with pytest.raises(FitError, match="envelope= is Fit"):
        bs.approaches(envelope=chinchilla, isoflop=stated(0.5), C="1e22")
    with pytest.raises(FitError, match="isoflop= is Envelope"):
        bs.approaches(isoflop=envelope, envelope=envelope, C="1e22")
    with pytest.raises(DataError, match="C"):
        bs.approaches(envelope=envelope, isoflop=stated(0.5), C=-1)
    runs = curves_of(table=design(sizes=5))
    with pytest.raises(DataError, match="no column 'nothing'"):
        bs.approaches(runs, run="nothing", C="1e22")


def test_slices_of_curves_lie_on_the_curves():
    frame = curves_of(run_sd=0.0, sigma=0.0, table=design(sizes=9, start=0.003))
    runs = bs.read_runs(frame, curves=bs.Curves("run"))
    assert not has_budgets(runs)
    found = cut_slices(runs, ("run",))
    assert has_budgets(bs.read_runs(found[["N", "D", "C", "loss"]]))
    assert (found.groupby("C")["N"].nunique() >= 4).all()
    np.testing.assert_allclose(6 * found["N"] * found["D"], found["C"])
    exact = 1.8169 + 482.01 * found["N"] ** -0.34781 + 2085.43 * found["D"] ** -0.36585
    np.testing.assert_allclose(
        found["loss"], exact, rtol=4e-3
    )  # linear in ln C between checkpoints


def test_many_checkpoints_are_no_budgets():
    table = design(sizes=20, checkpoints=200)
    assert not has_budgets(bs.read_runs(curves_of(table=table)))


def test_slices_need_sizes():
    frame = curves_of(table=design(sizes=3))
    with pytest.raises(DataError, match="give no IsoFLOP slices"):
        cut_slices(bs.read_runs(frame, curves=bs.Curves("run")), ("run",))


def test_from_runs_as_far_as_they_allow(monkeypatch, chinchilla):
    """IsoFLOP slices and envelope from curves; of runs that just end the envelope is refused."""
    seen = []

    def isoflop(runs, **settings):
        seen.append(bs.read_runs(runs))
        return stated(0.5)

    monkeypatch.setattr("bayescale.answers.isoflop.run.isoflop", isoflop)
    frame = curves_of(table=design(sizes=9, checkpoints=12, start=0.003))
    found = bs.approaches(frame, run="run", fit=chinchilla, C="1e22")
    assert list(found.answers) == ["parametric", "isoflop", "envelope"]
    assert has_budgets(seen[0])
    low, high = np.quantile(found.answers["envelope"].exponents["a"], [0.005, 0.995])
    assert low < A < high
    ends = frame.groupby("run").tail(1).drop(columns="run")
    part = bs.approaches(ends, fit=chinchilla, C="1e22")
    assert list(part.answers) == ["parametric", "isoflop"]
    assert len(seen[1]) == len(ends)
    assert "names the training run" in part.refused["envelope"]
    assert any(w.startswith("no envelope: ") for w in part.warnings)


def test_checkpoints_are_fitted_as_parts_of_runs(monkeypatch, chinchilla, envelope):
    """The law sees few checkpoints of each run, near the envelope, with memory."""
    seen = {}

    def fit(law, runs, **settings):
        seen.update(settings, law=law, runs=runs)
        return chinchilla

    monkeypatch.setattr("bayescale.fitting.fit", fit)
    frame = curves_of(table=design(sizes=6))
    options = {"isoflop": stated(0.5), "envelope": envelope, "C": "1e22"}
    bs.approaches(frame, run="run", law="coupled", draws=77, seed=3, **options)
    assert (seen["law"], seen["draws"], seen["seed"]) == ("coupled", 77, 3)
    assert seen["noise"] == bs.Noise(tail="normal", runs="curve_of", along="D", offset=False)
    counts = seen["runs"].table.groupby("curve_of").size()
    assert len(counts) == 6
    assert counts.max() <= 12
    ends = frame.groupby("run").tail(1)
    seen.clear()
    bs.approaches(ends, run="run", **options)
    assert "noise" not in seen  # one row a run: independent trainings
    assert len(seen["runs"]) == 6
