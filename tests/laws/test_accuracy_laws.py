"""Laws of accuracy from loss and from capability: limits, published values, recovery, tables."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.data.simulate import simulate
from bayescale.families.observational import arrange
from bayescale.laws.loss_to_accuracy import LOSS_TO_ERROR, loss_to_accuracy
from bayescale.laws.observational import OBSERVATIONAL_COMPUTE, observational

FEW = {"chains": 2, "draws": 300, "progress": False}
NO_ROLES = {"loss": "", "N": "", "D": "", "C": ""}


@pytest.mark.parametrize("floor", [0.0, 0.25])
def test_accuracy_runs_from_guessing_to_its_plateau(floor):
    law = loss_to_accuracy(floor)
    value = {"h": 0.8, "k": 4.0, "L_0": 2.5}
    assert law.mean(**value, loss=50.0) == pytest.approx(floor)
    assert law.mean(**value, loss=-50.0) == pytest.approx(floor + (1 - floor) * 0.8)
    assert law.mean(**value, loss=2.5) == pytest.approx(floor + (1 - floor) * 0.4)
    losses = np.linspace(1.5, 4, 30)
    assert np.all(np.diff(law.mean(**value, loss=losses)) < 0)
    below, above = (law.mean(**value, loss=2.5 + d) for d in (-1e-4, 1e-4))
    assert (above - below) / 2e-4 == pytest.approx(-(1 - floor) * 0.8 * 4 / 4, rel=1e-6)


def test_gadres_published_law_of_redpajama():
    """arXiv:2403.08540: epsilon .857, k 2.21, gamma .715 over 17 tasks."""
    law = LOSS_TO_ERROR
    errors = law.mean(epsilon=0.857, k=2.21, gamma=0.715, loss=np.array([2.0, 3.0, 60.0]))
    assert errors == pytest.approx(0.857 - 2.21 * np.exp([-1.43, -2.145, -42.9]))
    assert errors[1] == pytest.approx(0.598, abs=5e-4)


def test_log_odds_are_linear_in_capability():
    law = observational(("1", "2"), floor=0.2)
    scores = np.array([[0.3, -0.1], [0.0, 0.0], [100.0, 0.0], [-100.0, 0.0]])
    got = law.mean(h=0.9, alpha=-0.5, beta=np.array([4.0, 2.0]), S=scores)
    odds = np.log((got[:2] - 0.2) / (0.2 + 0.8 * 0.9 - got[:2]))
    assert odds == pytest.approx([4 * 0.3 - 2 * 0.1 - 0.5, -0.5])
    assert got[2:] == pytest.approx([0.2 + 0.8 * 0.9, 0.2])


def test_a_family_gains_theta_for_each_e_fold_of_compute():
    gained = np.diff(
        OBSERVATIONAL_COMPUTE.mean(theta=0.06, nu_f=-2.9, C=1e21 * np.e ** np.arange(3))
    )
    assert gained == pytest.approx([0.06, 0.06])


def test_loss_to_error_recovers_its_truth():
    truth = {"epsilon": 0.8, "k": 1.9, "gamma": 0.75, "sigma": 0.004, "nu": 20.0}
    frame = simulate(LOSS_TO_ERROR, truth, {"loss": np.linspace(2.0, 4.2, 60)}, seed=2)
    fit = bs.fit("loss-to-error", frame, **FEW)
    assert fit.record["gradients_per_draw"] < 20
    for name in ("epsilon", "k", "gamma"):
        row = fit.summary.loc[name]
        assert abs(row["mean"] - truth[name]) < 3.5 * row["sd"] + 3 * row["mcse"], name


def test_observational_law_from_a_table_of_benchmarks():
    """From benchmarks to scores to a task, and to a task of models that were not fitted."""
    rng = np.random.default_rng(9)
    skill = rng.normal(size=(60, 2)) * [0.3, 0.1]
    loads = np.linalg.qr(rng.normal(size=(6, 2)) + [2.0, 0.0])[0].T
    frame = pd.DataFrame(0.5 + skill @ loads, columns=[f"text_{k}" for k in range(6)]).clip(0, 1)
    frame["model"] = [f"m{k}" for k in range(60)]
    odds = 5 * skill[:, 0] + 3 * skill[:, 1] - 0.3
    frame["task"] = 100 * (0.9 / (1 + np.exp(-odds)) + rng.normal(0, 0.01, 60)).clip(0, 1)
    frame.loc[11, "task"] = np.nan
    runs = bs.read_runs(frame.iloc[:45], columns=NO_ROLES)
    law, table = arrange(runs, benchmarks="text_*", response="task")
    assert law.recipe[0] == "observational"
    assert len(table) == 44
    assert "task is in percent" in table.describe()
    fit = bs.fit("observational:benchmarks=text_*:response=task", frame.iloc[:45], **FEW)
    assert fit.law.columns == tuple(f"S_{c}" for c in law.axes["component"])
    found = fit.predict(**{c: fit.runs.column(c)[:5].tolist() for c in fit.law.columns})
    assert np.median(found.loss, axis=0) == pytest.approx(frame["task"][:5] / 100, abs=0.04)


@pytest.mark.parametrize("floor", [1.0, -0.1, "chance", True])
def test_a_floor_is_a_share(floor):
    for factory in (loss_to_accuracy, lambda f: observational(("1",), f)):
        with pytest.raises(bs.LawError, match="floor is"):
            factory(floor)
