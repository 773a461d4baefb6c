"""Capability scores: what PCA promises, missing scores, new models, and tables that can't be."""

import json

import numpy as np
import pandas as pd
import pytest

from bayescale.data.scores import Scores, capability_scores
from bayescale.data.scores.reading import read_accuracies
from bayescale.errors import DataError


def made(models: int = 30, tests: int = 12, noise: float = 0.01, seed: int = 0) -> pd.DataFrame:
    """Accuracies of three latent skills."""
    rng = np.random.default_rng(seed)
    skills = rng.normal(size=(models, 3)) * [0.25, 0.1, 0.05]
    loads = np.linalg.qr(rng.normal(size=(tests, 3)) + [2.0, 0, 0])[0].T
    level = rng.uniform(0.35, 0.65, tests)
    table = np.clip(level + skills @ loads + noise * rng.normal(size=(models, tests)), 0.01, 0.99)
    frame = pd.DataFrame(table, columns=[f"b{k}" for k in range(tests)])
    frame.insert(0, "model", [f"m{k}" for k in range(models)])
    return frame


FRAME = made()


def test_loadings_are_orthonormal_and_scores_are_centred():
    scores = capability_scores(FRAME)
    loads = scores.loading_array
    np.testing.assert_allclose(loads @ loads.T, np.eye(len(loads)), atol=1e-12)
    np.testing.assert_allclose(scores.array.mean(axis=0), 0, atol=1e-12)
    assert np.all(loads.sum(axis=1) > 0)
    table = FRAME.iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(scores.array, (table - table.mean(axis=0)) @ loads.T, atol=1e-12)


@pytest.mark.parametrize("explained", [0.6, 0.9, 0.95, 0.999])
def test_as_few_components_as_explain_the_variance(explained):
    scores = capability_scores(FRAME, explained)
    values = np.linalg.eigvalsh(np.cov(FRAME.iloc[:, 1:].to_numpy().T))[::-1]
    shares = np.cumsum(values) / values.sum()
    count = len(scores.components)
    assert shares[count - 1] >= explained
    assert count == 1 or shares[count - 2] < explained
    assert scores.explained[:3] == pytest.approx(np.diff(shares, prepend=0)[:3])


def test_percent_and_fractions_give_the_same_scores_and_it_is_said():
    percent = FRAME.copy()
    percent.iloc[:, 1:] *= 100
    mixed = FRAME.copy()
    mixed["b3"] *= 100
    one, two, both = (capability_scores(f) for f in (FRAME, percent, mixed))
    np.testing.assert_allclose(two.array, one.array, atol=1e-12)
    np.testing.assert_allclose(both.array, one.array, atol=1e-12)
    assert one.notes == ()
    assert "divided by 100" in two.notes[0]
    assert "'b3'" in both.notes[0]


def test_long_tables_and_repeated_models_are_the_same_table():
    long = FRAME.melt("model", var_name="benchmark", value_name="score")
    assert capability_scores(long) == capability_scores(FRAME)
    assert capability_scores(pd.concat([FRAME, FRAME.iloc[:4]])) == capability_scores(FRAME)


def test_missing_scores_are_filled_from_the_others_and_listed():
    rng = np.random.default_rng(3)
    holes = FRAME.copy()
    cells = rng.random(holes.iloc[:, 1:].shape) < 0.08
    holes.iloc[:, 1:] = holes.iloc[:, 1:].mask(cells)
    scores, full = capability_scores(holes, components=3), capability_scores(FRAME, components=3)
    assert len(scores.filled) == cells.sum()
    assert f"{cells.sum()} missing scores filled by regression" in str(scores)
    ours = scores.array @ scores.loading_array + scores.centre
    truth = FRAME.iloc[:, 1:].to_numpy()
    filled = np.sqrt(np.mean((ours - truth)[cells] ** 2))
    by_mean = np.sqrt(np.mean((truth - truth.mean(axis=0))[cells] ** 2))
    assert filled < by_mean / 3
    assert np.corrcoef(scores.array[:, 0], full.array[:, 0])[0, 1] > 0.995


def test_new_models_are_projected_without_refitting():
    scores = capability_scores(FRAME.iloc[:20])
    before = scores.to_dict()
    new = scores.project(FRAME.iloc[20:])
    table = FRAME.iloc[20:, 1:].to_numpy()
    expected = (table - np.array(scores.centre)) @ scores.loading_array.T
    np.testing.assert_allclose(new.array, expected, atol=1e-12)
    assert new.models == tuple(FRAME["model"].iloc[20:])
    assert scores.to_dict() == before
    assert new.loadings == scores.loadings
    np.testing.assert_allclose(scores.project(FRAME.iloc[:20]).array, scores.array, atol=1e-12)


def test_a_new_model_with_a_hole_is_filled_by_the_fitted_models():
    holes = FRAME.iloc[:24].copy()
    holes.loc[2, "b1"] = np.nan
    scores = capability_scores(holes, components=3)
    np.testing.assert_allclose(scores.project(holes).array, scores.array, atol=1e-12)
    asked = FRAME.iloc[24:].copy()
    asked.loc[25, "b4"] = np.nan
    new, full = scores.project(asked), scores.project(FRAME.iloc[24:])
    assert new.filled == (("m25", "b4"),)
    np.testing.assert_allclose(new.array, full.array, atol=0.03)


def test_scores_are_values_that_go_through_json(tmp_path):
    holes = FRAME.copy()
    holes.loc[3, "b2"] = np.nan
    scores = capability_scores(holes)
    assert Scores.from_dict(json.loads(json.dumps(scores.to_dict()))) == scores
    assert hash(scores) == hash(capability_scores(holes))
    scores.save(tmp_path / "scores.json")
    assert Scores.load(tmp_path / "scores.json") == scores
    with pytest.raises(DataError, match="can't read capability scores"):
        Scores.load(tmp_path / "none.json")
    with pytest.raises(DataError, match="no record of capability scores"):
        Scores.from_dict({"models": []})


def test_what_the_components_leave_is_told():
    scores = capability_scores(FRAME, components=2)
    table = FRAME.iloc[:, 1:].to_numpy()
    rest = table - scores.centre - scores.array @ scores.loading_array
    np.testing.assert_allclose(scores.unexplained, np.sqrt((rest**2).mean(axis=1)), atol=1e-12)
    frame = scores.to_frame()
    assert list(frame) == ["model", "S_1", "S_2", "unexplained", "filled"]


def changed(**cells):
    frame = FRAME.copy()
    for name, value in cells.items():
        frame.loc[1, name] = value
    return frame


BAD = {
    "no variance": (
        FRAME.assign(b5=0.25),
        {},
        ("'b5' has no variance", "all 30 models score 0.25"),
    ),
    "never scored": (FRAME.assign(b5=np.nan), {}, ("'b5' has no variance", "no scores")),
    "scored once": (FRAME.assign(b5=[0.3] + [np.nan] * 29), {}, ("'b5' has no variance",)),
    "model without scores": (
        changed(**{f"b{k}": np.nan for k in range(12)}),
        {},
        ("'m1' has no score", "'b0'"),
    ),
    "negative": (changed(b3=-0.2), {}, ("'m1' on 'b3' is -0.2", "between 0 and 1")),
    "above 100": (changed(b3=123.0), {}, ("'m1' on 'b3' is 123",)),
    "above 1 as fraction": (changed(b3=1.2), {"unit": "fraction"}, ("'m1' on 'b3' is 1.2",)),
    "mixed units": (changed(b3=44.0), {}, ("'b3' mixes units", "44 for 'm1'")),
    "text": (FRAME.assign(b3=["n.a."] * 30), {"benchmarks": ["b3"]}, ("'m0' on 'b3' is 'n.a.'",)),
    "two models": (FRAME.iloc[:2], {}, ("2 models", "3 or more")),
    "too many components": (FRAME.iloc[:4], {"components": 5}, ("components is 5", "3 at most")),
    "no such benchmark": (FRAME, {"benchmarks": ["b99"]}, ("no benchmark 'b99'", "Did you mean")),
    "no model column": (FRAME.rename(columns={"model": "name"}), {}, ("no column 'model'", "name")),
    "two scores": (
        pd.concat([FRAME, changed(b2=0.9).iloc[1:2]]),
        {},
        ("'m1' has two scores on 'b2'",),
    ),
    "explained": (FRAME, {"explained": 95}, ("explained is 95", "at most 1")),
    "components": (FRAME, {"components": 0}, ("components is 0",)),
    "unit": (FRAME, {"unit": "points"}, ("unit is 'points'", "fraction")),
    "unnamed model": (changed(model=None), {}, ("names no model in row 2",)),
}


@pytest.mark.parametrize("case", BAD, ids=BAD)
def test_bad_tables_are_named_in_one_line(case):
    frame, options, parts = BAD[case]
    with pytest.raises(DataError) as caught:
        capability_scores(frame, **options)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_new_models_need_the_same_benchmarks():
    scores = capability_scores(FRAME)
    with pytest.raises(DataError, match="no benchmark 'b0'"):
        scores.project(FRAME.drop(columns="b0"))
    with pytest.raises(DataError, match="no capability scores"):
        scores.of(["m0", "gpt-9"])


def test_real_base_models(data_dir):
    """SOURCE.md: the first component holds 76% of standardised variance; unscaled it is more."""
    names = ["MMLU", "ARC-C", "HellaSwag", "Winograd", "TruthfulQA", "GSM8K", "XWinograd"]
    path = data_dir / "obs_scaling" / "base_llm_benchmark_eval.csv"
    scores = capability_scores(path, model="Model", benchmarks=[*names, "HumanEval"])
    assert len(scores) == 148
    assert len(scores.filled) == 40
    assert len(scores.components) == 3
    assert 0.75 < scores.explained[0] < 0.9
    read = read_accuracies(path, "Model", [*names, "HumanEval"], "auto")
    known = {s: k for k, s in enumerate(scores.models)}
    big, small = (known[f"meta-llama/Llama-2-{s}-hf"] for s in ("70b", "7b"))
    assert scores.array[big, 0] > scores.array[small, 0]
    assert read.notes == ()
