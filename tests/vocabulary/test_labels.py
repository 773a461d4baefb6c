"""Laws with labels: parameters by a column, vectors, label inputs, log-odds noise."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale import Derived, Input, Law, Param
from bayescale.arrays import namespace
from bayescale.data.simulate import simulate
from bayescale.errors import DataError, FitError, LawError
from bayescale.noise import Noise, logit_normal, student_t
from bayescale.priors import LogNormal, Normal

SOURCES, TARGETS = ("text", "image"), ("text", "speech")


def mean(E, B, w, D, target, gain):
    """L = E + B (1 + gain of the second target) exp(-w . D / 10)."""
    xp = namespace(D, E)
    reach = (w * D).sum(-1) / 10
    return E + B * (1 + gain * target[..., 1]) * xp.exp(-reach)


LAW = Law(
    "two-targets",
    (
        Input("D", "tokens", "tokens", dims=("source",), positive=False, at_least=0.0),
        Input("target", "what is measured", dims=("target",), kind="label"),
    ),
    (
        Param("E", LogNormal(1.0, 0.5), by="target"),
        Param("B", LogNormal(1.0, 0.5)),
        Param("w", Normal(0.5, 0.5), dims=("source",), by="target"),
        Param("gain", LogNormal(0.5, 0.5)),
    ),
    mean=mean,
    labels={"source": SOURCES, "target": TARGETS},
    derived=(
        Derived("ratio", lambda w: w[..., :1] / w, dims=("source",)),
        Derived("twice", lambda E: 2 * E),
    ),
    signs=("w",),
    noise=student_t(by="target"),
)
TRUTH = {
    "E": {"text": 1.0, "speech": 1.5},
    "B": 2.0,
    "w": {"text": {"text": 0.9, "image": 0.3}, "speech": {"text": -0.05, "image": 0.9}},
    "gain": 0.5,
    "sigma": {"text": 0.01, "speech": 0.03},
    "nu": 20.0,
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    tokens = rng.uniform(0, 40, (60, 2))
    tokens[:5, 1] = 0.0
    inputs = {
        "D_text": np.repeat(tokens[:, 0], 2),
        "D_image": np.repeat(tokens[:, 1], 2),
        "target": np.tile(TARGETS, 60),
        "run": np.repeat(np.arange(60), 2),
    }
    return simulate(LAW, TRUTH, inputs, seed=5)


@pytest.fixture(scope="module")
def fitted(table):
    return bs.fit(LAW, table, seed=1, draws=1000, progress=False)


def test_simulated_rows_follow_the_law_of_their_label(table):
    expected = []
    for row in table.itertuples():
        w, D = TRUTH["w"][row.target], {"text": row.D_text, "image": row.D_image}
        reach = sum(w[s] * D[s] / 10 for s in SOURCES)
        gain = TRUTH["gain"] if row.target == "speech" else 0.0
        expected.append(TRUTH["E"][row.target] + 2.0 * (1 + gain) * np.exp(-reach))
    error = np.log(table.loss) - np.log(expected)
    spread = {t: error[table.target == t].std() for t in TARGETS}
    assert abs(spread["text"] / 0.01 - 1) < 0.4
    assert abs(spread["speech"] / 0.03 - 1) < 0.4
    assert list(table.columns) == ["D_text", "D_image", "target", "run", "loss"]


def test_a_fit_recovers_labelled_parameters(fitted):
    assert fitted.converged, fitted.gate.headline()
    for target in TARGETS:
        for source in SOURCES:
            row = fitted.summary.loc[f"w[{target},{source}]"]
            assert abs(row["mean"] - TRUTH["w"][target][source]) < 4 * row["sd"]
        low, high = fitted.summary.loc[f"sigma[{target}]", ["q025", "q975"]]
        assert low < 1.2 * TRUTH["sigma"][target]
        assert high > 0.8 * TRUTH["sigma"][target]
    assert (
        fitted.summary.loc["sigma[speech]", "median"]
        > 1.5 * (fitted.summary.loc["sigma[text]", "median"])
    )
    assert fitted.tree["posterior"]["ratio"].dims == ("chain", "draw", "target", "source")
    np.testing.assert_allclose(
        fitted.tree["posterior"]["twice"], 2 * fitted.tree["posterior"]["E"], rtol=1e-12
    )


def test_signs_are_told(fitted):
    draws = fitted.tree["posterior"]["w"].sel(target="speech", source="text")
    assert fitted.summary.loc["w[speech,text]", "p_negative"] == float((draws < 0).mean())
    assert "P(< 0)" in str(fitted)


def test_predictions_for_every_label_or_one(fitted):
    both = fitted.predict(D={"text": 10, "image": [0, 20]})
    assert [r["target"] for r in both.records()] == ["text", "text", "speech", "speech"]
    one = fitted.predict(D_text=10, D_image=[0, 20], target="speech")
    np.testing.assert_array_equal(one.loss, both.loss[:, 2:])
    w = fitted.tree["posterior"]["w"].sel(target="speech").stack(s=("chain", "draw")).T.to_numpy()
    at = fitted.tree["posterior"]["E"].sel(target="speech").to_numpy().ravel()
    B = fitted.tree["posterior"]["B"].to_numpy().ravel()
    gain = fitted.tree["posterior"]["gain"].to_numpy().ravel()
    by_hand = at + B * (1 + gain) * np.exp(-(w * [1, 2]).sum(-1))
    np.testing.assert_allclose(np.sort(one.loss[:, 1]), np.sort(by_hand), rtol=1e-12)
    left_out = fitted.predict(D_text=10, target="speech")
    np.testing.assert_array_equal(left_out.loss[:, 0], one.loss[:, 0])


def test_saving_keeps_labels(fitted, tmp_path):
    fitted.save(tmp_path / "fit.nc")
    back = bs.load(tmp_path / "fit.nc", law=LAW)
    asked = {"D_text": 10, "D_image": 3}
    np.testing.assert_array_equal(back.predict(**asked).loss, fitted.predict(**asked).loss)


def test_partial_pooling_over_a_label(table):
    fit = bs.fit(LAW, table, pooling={"E": bs.partial("target")}, draws=100, progress=False)
    assert fit.tree["posterior"]["E"].dims == ("chain", "draw", "target")
    assert "E_sd" in fit.tree["posterior"]
    with pytest.raises(LawError, match=r"'E' .* differs by 'target'; pool it over that column"):
        bs.fit(LAW, table, pooling={"E": bs.partial("run")}, progress=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "text"}, "no row of DataFrame has target 'speech'"),
        ({"target": "smell"}, "no row of DataFrame has target 'text'"),
        ({"D_image": -1.0}, "column 'D_image' is -1.0 in row 1; a number of at least 0"),
        ({"D_image": None}, "column 'D_image' is None in row 1; a number of at least 0"),
    ],
)
def test_bad_tables(table, change, message):
    with pytest.raises(DataError, match=message):
        bs.fit(LAW, table.assign(**change), progress=False)
    with pytest.raises(DataError, match="'D_text'"):
        bs.fit(LAW, table.drop(columns="D_text"), progress=False)


def test_bad_questions(fitted):
    with pytest.raises(FitError, match="target 'smell' is not in the fit; known: text, speech"):
        fitted.predict(D_text=1, target="smell")
    with pytest.raises(FitError, match="needs D_text: give D_text="):
        fitted.predict(target="text")
    with pytest.raises(DataError, match=r"D_text = -3.* expected a number from 0"):
        fitted.predict(D_text=-3, target="text")


def test_bad_declarations():
    with pytest.raises(LawError, match="'E' lies on the axis 'corpus', which has no labels"):
        replace(LAW, params=(Param("E", LogNormal(1, 1), by="corpus"), *LAW.params[1:]))
    with pytest.raises(LawError, match="axis 'source' has twice the same label"):
        replace(LAW, labels={"source": ("a", "a"), "target": TARGETS})
    with pytest.raises(LawError, match="expected one, which names its labels"):
        Input("target", kind="label")


def test_a_laws_own_check_sees_the_arrays(table):
    seen = {}

    def check(columns, rows):
        seen.update({k: v.shape for k, v in columns.items()}, rows=len(rows))
        raise DataError("row 3: no.")

    with pytest.raises(DataError, match=r"row 3: no\."):
        bs.fit(replace(LAW, check=check), table, progress=False)
    assert seen == {"D": (120, 2), "target": (120, 2), "loss": (120,), "rows": 120}


def accuracy(slope, middle, x):
    """P = 1 / (1 + exp(-slope (x - middle)))."""
    return 1 / (1 + namespace(x).exp(-slope * (x - middle)))


ACCURACY = Law(
    "accuracy",
    (Input("x", "capability", positive=False),),
    (Param("slope", LogNormal(1.0, 0.5)), Param("middle", Normal(0.0, 1.0))),
    mean=accuracy,
    response="accuracy",
    response_unit="",
    noise=logit_normal(),
)


def test_scatter_of_log_odds():
    rng = np.random.default_rng(8)
    x = rng.normal(0, 1.5, 200)
    truth = {"slope": 1.3, "middle": 0.4, "sigma": 0.2}
    runs = simulate(ACCURACY, truth, {"x": x}, seed=2)
    assert runs.accuracy.between(0, 1).all()
    fit = bs.fit(ACCURACY, runs, draws=300, progress=False)
    for name, value in truth.items():
        row = fit.summary.loc[name]
        assert abs(row["mean"] - value) < 4 * row["sd"], name
    new = fit.predict(x=[-2.0, 3.0])
    assert ((new.new_run > 0) & (new.new_run < 1)).all()
    assert new.table().columns[1] == "accuracy"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (45.0, "column 'accuracy' is 45.0 in row 1; .*in percent"),
        (1.0, "column 'accuracy' is 1.0 in row 1; .*no log odds"),
        (-0.2, "column 'accuracy' is -0.2 in row 1"),
    ],
)
def test_accuracies_out_of_range(value, message):
    runs = pd.DataFrame({"x": np.linspace(-1, 1, 20), "accuracy": np.linspace(0.2, 0.8, 20)})
    with pytest.raises(DataError, match=message):
        bs.fit(ACCURACY, runs.assign(accuracy=[value, *runs.accuracy[1:]]), progress=False)


def test_noise_by_label_needs_a_column():
    with pytest.raises(LawError, match="noise by is 3"):
        Noise(by=3)
