"""Capability laws: the paper's equations, absorption that stays above zero, tables, answers."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.answers.backbones import predict_backbones
from bayescale.data.scores import capability_scores
from bayescale.data.simulate import simulate
from bayescale.families.capability import arrange
from bayescale.inference.model import make_model
from bayescale.laws.backbones import Backbones
from bayescale.laws.capability import capability
from bayescale.laws.capability_loss import capability_loss
from bayescale.pooling import Pooling
from bayescale.signature import call_with

NO_ROLES = {"loss": "", "N": "", "C": ""}


@cache
def benchmarks(models: int = 16) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    skills = rng.normal(size=(models, 3)) * [0.3, 0.12, 0.08]
    loads = np.linalg.qr(rng.normal(size=(9, 3)) + [2.0, 0, 0])[0].T
    table = np.clip(0.5 + skills @ loads + 0.005 * rng.normal(size=(models, 9)), 0.02, 0.98)
    frame = pd.DataFrame(table, columns=[f"text_{k}" for k in range(9)])
    frame.insert(0, "model", [f"m{k}" for k in range(models)])
    return frame


@cache
def backbones(families: bool = False) -> Backbones:
    scores = capability_scores(benchmarks().iloc[:12], components=3)
    family = {m: f"f{k % 3}" for k, m in enumerate(scores.models)} if families else None
    return Backbones.of(scores, families=family)


def drawn(law: bs.Law, count: int = 200, seed: int = 1) -> dict[str, np.ndarray]:
    """Parameters from their priors, with an axis of one row; for laws without coordinates."""
    rng = np.random.default_rng(seed)
    shapes = {p.name: [len(law.axes[d]) for d in p.dims] for p in law.params}
    return {p.name: p.prior.sample(rng, (count, 1, *shapes[p.name])) for p in law.params}


def derived(law: bs.Law, params: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {d.name: call_with(d.function, params) for d in law.derived}


def test_it_is_equations_7_and_8_of_the_paper():
    known = backbones()
    law = capability(known, absorption="falling", centre=25e9, reference=1e9)
    params = drawn(law)
    found = derived(law, params)
    scores, tokens = known.array[[3, 5, 7]], np.array([1e9, 2e10, 4e11])
    got = law.mean(**params, S=scores, D=tokens)
    capable = (scores * known.direction(params["tilt"])).sum(-1)
    rate = found["B0"] - found["Bm"] * capable
    level = params["P0"] + found["B0"] * np.log(1e9 / 25e9)
    expected = found["A_ref"] * capable + rate * np.log(tokens / 1e9) + level
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
    mean_rate = found["B_hat"].mean(axis=-1)
    np.testing.assert_allclose(mean_rate, params["B_bar"], rtol=1e-9)


@pytest.mark.parametrize("pooled", [("A", "B_bar", "phi"), ("phi",), ()])
def test_each_family_has_the_papers_coefficients_whatever_is_pooled(pooled):
    known = backbones(True)
    law = capability(known, centre=25e9, reference=1e9)
    model = make_model(law, None, Pooling.of({n: bs.independent("family") for n in pooled}))
    count, rng = len(known.family_names), np.random.default_rng(6)
    shapes = {"tilt": (2,)} | {n: (count,) for n in pooled}
    named = [p for p in model.params if p.name != "run_offset"]
    drawn = {p.name: p.prior.sample(rng, (50, *shapes.get(p.name, ()))) for p in named}
    drawn["run_offset"] = np.zeros((50, 12))
    found = model.derived_by_label(drawn, {}, law.axes)
    assert set(found) == {"A_ref", "B0", "Bm"}
    assert all(v.shape == (50, count) for v in found.values())
    place = np.array([known.family_names.index(f) for f in known.families])
    params = model.by_row(drawn, {"family": place})
    rows = {"S": known.array, "family": np.eye(count)[place], "D": np.full(12, 1e11)}
    along = (known.array * known.direction(drawn["tilt"])[:, None, :]).sum(-1)
    A, B0, Bm = (found[n][:, place] for n in ("A_ref", "B0", "Bm"))
    level = params["P0"] + B0 * np.log(1e9 / 25e9)
    expected = A * along + (B0 - Bm * along) * np.log(1e11 / 1e9) + level
    np.testing.assert_allclose(law.mean(**params, **rows), expected, rtol=1e-9, atol=1e-12)


def test_transfer_coefficients_of_all_benchmarks_have_length_one():
    law = capability(backbones(), absorption="none")
    found = derived(law, drawn(law))
    np.testing.assert_allclose((found["w"] ** 2).sum(-1), 1, rtol=1e-12)
    np.testing.assert_allclose((found["lambda"] ** 2).sum(-1), 1, rtol=1e-9)


def test_direction_and_tilt_are_inverse_and_the_prior_is_of_about_45_degrees():
    known = backbones()
    w = np.random.default_rng(2).normal(size=(50, 3))
    w[:, 0] = np.abs(w[:, 0])
    unit = w / np.linalg.norm(w, axis=1, keepdims=True)
    np.testing.assert_allclose(known.direction(known.tilt(w)), unit, atol=1e-12)
    tilt = known.tilt_prior.sample(np.random.default_rng(3), (20000, 2))
    angle = np.degrees(np.arccos(known.direction(tilt)[:, 0]))
    assert 40 < np.median(angle) < 50


@pytest.mark.parametrize("families", [False, True])
def test_no_observed_backbone_absorbs_less_than_nothing(families):
    """On prior draws, and with families by each family's own parameters."""
    known = backbones(families)
    law = capability(known, absorption="falling")
    params = drawn(law)
    rows = {"S": known.array}
    if families:
        rows["family"] = np.array([[f == g for g in known.family_names] for f in known.families])
        rows["family"] = rows["family"].astype(float)
    one, more = (law.mean(**params, **rows, D=np.full(12, d)) for d in (1e10, 1e11))
    assert np.all(more - one > -1e-12)
    free = capability(known, absorption="free")
    wild = drawn(free)
    one, more = (free.mean(**wild, **rows, D=np.full(12, d)) for d in (1e10, 1e11))
    assert np.any(more - one < 0)


def test_a_family_of_close_models_has_a_least_reach_and_a_new_family_the_spread_of_all():
    plain = backbones()
    along = plain.array @ (w := plain.direction(np.array([0.3, -0.2])))
    close = np.argsort(along)[4:6]  # neighbours, and a family with one model
    families = tuple("close" if k in close else "lone" if k == 0 else "big" for k in range(12))
    known = Backbones(plain.names, plain.points, families)
    mean, reach = plain.spread(w)
    assert np.ptp(along[close]) < reach / 4
    names = known.family_names
    rows = np.array([[float(f == n) for n in names] for f in ("lone", "close", "big", "new")])
    means, reaches = known.spread(w, rows)
    own = {n: along[[f == n for f in families]] for n in names}
    big = own["big"].max() - own["big"].mean()
    assert means == pytest.approx([own[n].mean() for n in ("lone", "close", "big")] + [mean])
    assert reaches == pytest.approx([reach / 4, reach / 4, big, reach])


def test_log_odds_stay_between_0_and_1_and_effects_add_up():
    known = backbones()
    law = capability(known, link="logit", effects=("chat",))
    params = drawn(law)
    base, chat = (
        law.mean(**params, S=known.array, D=np.full(12, 1e11), chat=np.full(12, c))
        for c in (0.0, 1.0)
    )
    assert np.all((base > 0) & (base < 1))
    change = np.log(chat / (1 - chat)) - np.log(base / (1 - base))
    expected = np.broadcast_to(params["effect_chat"], change.shape)
    sane = (base > 1e-6) & (base < 1 - 1e-6) & (chat > 1e-6) & (chat < 1 - 1e-6)
    np.testing.assert_allclose(change[sane], expected[sane], atol=1e-6)


def test_one_component_needs_no_direction():
    known = Backbones(("a", "b", "c"), ((-0.2,), (0.1,), (0.3,)))
    law = capability(known)
    assert [p.name for p in law.params] == ["P0", "A", "B_bar", "phi"]
    got = law.mean(P0=0.5, A=0.3, B_bar=0.02, phi=0.5, S=known.array, D=np.full(3, 25e9 * np.e))
    middle, reach = 0.2 / 3, 0.3 - 0.2 / 3
    rates = 0.02 * (1 - 0.5 * (known.array[:, 0] - middle) / reach)
    assert got == pytest.approx(0.5 + 0.3 * known.array[:, 0] + rates)


def test_the_loss_form_is_equation_6():
    known = backbones()
    law = capability_loss(known)
    w = known.direction(np.array([0.2, 0.1]))
    values = {"E": 0.6, "A": 0.4, "alpha": 1.3, "B": 300.0, "beta": 0.3}
    got = law.mean(**values, tilt=np.array([0.2, 0.1]), S=known.array, D=np.full(12, 1e10))
    expected = 0.6 + 0.4 * np.exp(-1.3 * known.array @ w) + 300 * 1e10**-0.3
    assert got == pytest.approx(expected, rel=1e-12)


TRUTH = {"P0": 0.51, "A": 0.21, "B_bar": 0.016, "phi": 0.6, "sigma": 0.003, "nu": 20.0}
TRUTH |= {"run_sd": 0.01}


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    """Twelve backbones, four checkpoints each, in percent, one accuracy missing."""
    known = backbones()
    law = capability(known, centre=30e9)
    each = np.repeat(np.arange(12), 4)
    columns = {
        "model": [known.names[k] for k in each],
        "D": np.tile([1.2e10, 2e10, 4e10, 8e10], 12),
    }
    columns |= {f"S_{c}": known.array[each, k] for k, c in enumerate(known.components)}
    made = simulate(law, TRUTH | {"tilt": known.tilt([0.8, 0.5, -0.33])}, columns, seed=5)
    frame = made[["model", "D", "accuracy"]].merge(benchmarks(), on="model")
    frame["accuracy"] *= 100
    frame.loc[7, "accuracy"] = np.nan
    return frame


@pytest.fixture(scope="module")
def fit(runs) -> bs.Fit:
    text = "capability:benchmarks=text_*:components=3:centre=3e10"
    return bs.fit(text, runs, chains=2, draws=400, seed=2, progress=False)


def test_a_fit_recovers_what_made_the_runs(fit):
    w = np.array([0.8, 0.5, -0.33]) / np.linalg.norm([0.8, 0.5, -0.33])
    truth = {k: TRUTH[k] for k in ("P0", "A", "B_bar", "phi", "run_sd")}
    truth |= {f"w[{k + 1}]": w[k] for k in range(3)}
    for name, value in truth.items():
        row = fit.summary.loc[name]
        assert abs(row["mean"] - value) < 3.3 * row["sd"] + 3 * row["mcse"], name
    assert fit.summary.loc["w[1]", "sd"] < 0.1
    assert fit.record["gradients_per_draw"] < 40


def test_percent_and_masked_checkpoints_are_in_the_record(fit):
    said = fit.runs.describe()
    assert "accuracy is in percent and was divided by 100" in said
    assert "1 checkpoints without accuracy are masked: row 8" in said
    assert "3 components explain" in said
    assert len(fit.runs) == 47


def test_a_saved_fit_builds_its_law_again_and_answers_alike(fit, tmp_path):
    fit.save(tmp_path / "fit.nc")
    again = bs.load(tmp_path / "fit.nc")
    assert again.law.derived == fit.law.derived
    assert again.law.mean is fit.law.mean
    new = benchmarks().iloc[12:]
    one, two = (predict_backbones(f, new, D="50B") for f in (fit, again))
    np.testing.assert_array_equal(one.accuracy, two.accuracy)


def test_new_backbones_are_predicted_from_their_text_scores(fit):
    new = benchmarks().iloc[12:14].copy()
    found = predict_backbones(fit, new, D=["20B", 6e10])
    assert found.models == ("m12", "m12", "m13", "m13")
    scores = fit.law.axes["component"]
    points = predict_backbones(fit, D="20B")
    plain = fit.predict(D=2e10, **{f"S_{c}": backbones().array[4, k] for k, c in enumerate(scores)})
    np.testing.assert_allclose(points.accuracy[:, 4], plain.loss[:, 0], rtol=1e-9)
    np.testing.assert_allclose(points.rate[:, 4], fit.draws("B_hat")[:, 4], rtol=1e-6)
    assert np.all(points.negative == 0)
    assert found.new_run.std(axis=0).min() > found.accuracy.std(axis=0).min()


def test_a_backbone_beyond_the_observed_ones_is_flagged(fit):
    strong = benchmarks().iloc[12:13].copy()
    strong.iloc[0, 1:] = 0.97
    found = predict_backbones(fit, strong, D="20B")
    assert found.negative[0] > 0.5
    assert any("B_hat may be below 0" in w and "m12" in w for w in found.warnings)
    assert "P(< 0)" in str(found)


def test_answers_name_what_is_missing(fit):
    with pytest.raises(bs.FitError, match="needs D"):
        predict_backbones(fit, benchmarks().iloc[12:])
    with pytest.raises(bs.FitError, match="unknown argument 'chat'"):
        predict_backbones(fit, D="20B", chat=1)
    with pytest.raises(bs.DataError, match="no benchmark 'text_3'"):
        predict_backbones(fit, benchmarks().drop(columns="text_3"), D="20B")


def read(frame: pd.DataFrame) -> bs.Runs:
    return bs.read_runs(frame, columns=NO_ROLES)


def test_which_terms_a_law_has_follows_from_the_table(runs):
    plain = runs.drop(columns="D")
    law, _ = arrange(read(plain), benchmarks="text_*")
    assert "B_bar" not in {p.name for p in law.params}
    one = runs.drop_duplicates("model")
    law, _ = arrange(read(one), benchmarks="text_*")
    assert law.default_noise.runs is None
    assert "phi" not in {p.name for p in law.params}  # one D: no absorption to see
    law, table = arrange(read(runs), benchmarks="text_*", families=False)
    assert law.default_noise.runs == "model"
    assert "at D = 2.9e+10 tokens" in law.note


def test_base_and_chat_become_an_effect_and_a_family_with_one_model_is_said(runs):
    frame = runs.assign(kind=np.where(runs["model"] < "m2", "base", "chat"))
    frame["line"] = np.where(frame["model"] == "m3", "lone", "many")
    law, table = arrange(
        read(frame), benchmarks="text_*", effects="kind", families="line", absorption="falling"
    )
    assert set(table.table["kind"]) == {0.0, 1.0}
    assert "effect 'kind': base is 0, chat is 1" in table.describe()
    assert "family with one model: 'lone'" in table.describe()
    assert law.axes["family"] == ("many", "lone")
    assert "effect_kind" in {p.name for p in law.params}


def scored(**change) -> pd.DataFrame:
    frame = pd.DataFrame({"model": ["a", "a", "b", "b"], "D": [1e10, 2e10, 1e10, 2e10]})
    frame["accuracy"], frame["S_1"] = [0.3, 0.32, 0.4, 0.41], [-0.1, -0.1, 0.1, 0.1]
    return frame.assign(**change)


BAD = {
    "above 100": ({"accuracy": [30, 32, 140, 41]}, {}, ("'accuracy' is 140 in row 3", "0 and 100")),
    "negative": ({"accuracy": [0.3, -0.1, 0.4, 0.4]}, {}, ("'accuracy' is -0.1 in row 2",)),
    "mixed": ({"accuracy": [0.3, 32, 40, 41]}, {}, ("mixes units: 0.3 in row 1 and 32 in row 2",)),
    "no accuracy": ({"accuracy": [np.nan] * 4}, {}, ("'accuracy' of DataFrame has no number",)),
    "text": ({"accuracy": ["high", 0.3, 0.4, 0.4]}, {}, ("row 1: accuracy", "'high'")),
    "no column": ({}, {"response": "mmmu"}, ("mmmu",)),
    "no score": ({"S_1": [-0.1, -0.1, np.nan, 0.1]}, {}, ("'b' has no capability score in row 3",)),
    "two scores": (
        {"S_1": [-0.1, -0.2, 0.1, 0.1]},
        {},
        ("'a' has other capability scores in row 2",),
    ),
    "one model": ({"model": ["a"] * 4, "S_1": [0.1] * 4}, {}, ("runs of one model ('a')",)),
    "no model": ({"model": ["a", None, "b", "b"]}, {}, ("names no model in row 2",)),
    "benchmarks": ({}, {"benchmarks": "text_*"}, ("no benchmark 'text_*'",)),
    "nothing": ({"S_1": None}, {"drop": "S_1"}, ("no capability scores", "benchmarks=")),
    "effect": ({"kind": list("xyzx")}, {"effects": "kind"}, ("'kind' has the words x, y, z",)),
    "hole": ({"kind": [1, None, 1, 0]}, {"effects": "kind"}, ("'kind' is empty in row 2",)),
    "family": (
        {"family": list("ffgh")},
        {"families": True},
        ("'b' is of two families: 'g' and 'h'",),
    ),
}


@pytest.mark.parametrize("case", BAD, ids=BAD)
def test_bad_tables_are_named_in_one_line(case):
    change, options, parts = BAD[case]
    frame = scored(**change)
    options = dict(options)
    if drop := options.pop("drop", None):
        frame = frame.drop(columns=drop)
    with pytest.raises(bs.DataError) as caught:
        arrange(read(frame), **options)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_backbones_without_scores_or_all_alike_are_refused():
    scores = capability_scores(benchmarks())
    with pytest.raises(bs.DataError, match="model 'gpt-9' has no capability scores"):
        Backbones.of(scores, ["m0", "gpt-9"])
    with pytest.raises(bs.LawError, match="all models have the same scores"):
        Backbones(("a", "b"), ((0.1,), (0.1,)))
    with pytest.raises(bs.LawError, match="link 'probit'"):
        capability(backbones(), link="probit")
    with pytest.raises(bs.DataError, match="components is 12, but 4 models"):
        capability_scores(benchmarks().iloc[:4], components=12)


def test_the_papers_own_estimator_finds_the_truth_without_noise(runs):
    """Differential evolution, then L-BFGS-B, on accuracy (arXiv:2608.00013, algorithm 1)."""
    known = backbones()
    law = capability(known, centre=30e9)
    columns = law.design()
    quiet = TRUTH | {"tilt": known.tilt([0.8, 0.5, -0.33]), "sigma": 1e-9, "run_sd": 1e-12}
    frame = simulate(law, quiet, columns, seed=1)
    found = bs.fit_point(law, read(frame), search="evolution", starts=1)
    for name in ("P0", "A", "B_bar", "phi"):
        assert found.params[name] == pytest.approx(TRUTH[name], rel=1e-3), name
    assert "least Huber (delta 0.001) loss on accuracy" in found.headline()
