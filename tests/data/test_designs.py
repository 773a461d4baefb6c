"""The simulated designs are those of the papers, and say what is published and what isn't."""

import numpy as np
import pytest

from bayescale.data.designs import backbones, capability, mixture_grid, text_multimodal
from bayescale.data.designs.truth import Known, Truth
from bayescale.errors import DataError

ALL = (capability, mixture_grid, text_multimodal)


@pytest.mark.parametrize("design", ALL, ids=lambda d: d.__name__.split(".")[-1])
def test_every_value_has_a_source_or_is_called_a_stand_in(design):
    truth = design.truth()
    kinds = {truth.known(name).stand_in for name in truth}
    assert kinds == {True, False}
    assert all(truth.known(name).source for name in truth)
    assert "stand-in" in str(truth)


def test_a_value_without_a_source_and_an_unknown_name_are_errors():
    with pytest.raises(DataError, match="no source"):
        Known(1.0, "")
    with pytest.raises(DataError, match=r"no 'alfa'.*Did you mean 'alpha'"):
        Truth("t", (("alpha", Known(0.3, "here")),))["alfa"]


# text/multimodal


def test_the_grid_has_six_sizes_and_text_alone_at_ratio_zero():
    table = text_multimodal.design()
    assert sorted(table["N"].unique()) == [71e6, 128e6, 340e6, 590e6, 874e6, 3e9]
    np.testing.assert_allclose(table["D_multimodal"], table["r"] * table["D_text"])
    assert table["D_text"].max() == 250e9
    assert table["D_multimodal"].max() == pytest.approx(75e9)
    assert set(table.loc[table["r"] == 0, "objective"]) == {"text"}
    assert table["run"].nunique() == 6 * 4 * 7


@pytest.mark.parametrize(
    ("objective", "ratio", "published"),
    [("text", 0.1, 0.67775), ("multimodal", 0.1, 0.709), ("multimodal", 0.2, 0.679),
     ("multimodal", 0.3, 0.643)],
)  # fmt: skip
def test_the_optimum_of_the_simulated_losses_grows_as_published(objective, ratio, published):
    p = text_multimodal.chinchilla_at(text_multimodal.truth(), objective, ratio)
    budgets, N = np.array([1e20, 1e21]), np.exp(np.linspace(np.log(1e7), np.log(1e11), 400_001))
    best = []
    for C in budgets:
        loss = p["A"] * N ** -p["alpha"] + p["B"] * (C / 6 / N) ** -p["beta"]
        best.append(N[np.argmin(loss)])
    assert np.log(best[1] / best[0]) / np.log(10) == pytest.approx(published, abs=1e-4)


def test_simulated_losses_scatter_as_stated_and_differ_by_seed():
    one, two = (text_multimodal.simulate_text_multimodal(seed)["loss"] for seed in (0, 1))
    ratio = np.log(one / two)  # two independent scatters
    assert np.std(ratio) == pytest.approx(np.sqrt(2) * 0.003, rel=4 / np.sqrt(2 * 294))


# mixtures


@pytest.mark.parametrize(
    ("width", "total", "active"),
    [(384, 0.457e9, None), (2048, 8.3e9, 2.6e9), (2560, 12.6e9, 3.8e9)],
)
def test_parameter_counts_follow_from_the_architecture(width, total, active):
    found = mixture_grid.n_params(width)
    assert found[0] == pytest.approx(total, rel=0.005)
    assert active is None or found[1] == pytest.approx(active, rel=0.02)


def test_the_grid_has_268_runs_as_listed():
    table = mixture_grid.design()
    runs = table.drop_duplicates("run")
    assert len(runs) == 268
    assert runs["N"].nunique() == 6
    assert len(mixture_grid.mixtures()) == 42
    three = runs[runs["kind"] == "three-way"]
    assert set(three["D_text"]) == {100e9}
    np.testing.assert_allclose(three[["D_text", "D_vision", "D_audio"]].sum(axis=1), 150e9)
    repeated = runs[runs["kind"] == "repeated vision"]
    assert sorted((repeated["D_vision"] / repeated["U_vision"]).unique()) == [1, 2, 3, 4, 5]
    assert all(row[f"D_{row['target']}"] > 0 for row in table.to_dict("records"))


def test_the_papers_worth_of_epochs_and_capacity_follow_from_the_truth():
    known = mixture_grid.truth()

    def worth(modality, epoch):
        star = known[f"R_star[{modality}]"]
        return star * (np.exp(-(epoch - 2) / star) - np.exp(-(epoch - 1) / star))

    vision = [worth("vision", epoch) for epoch in (2, 3, 5)]
    audio = [worth("audio", epoch) for epoch in (3, 5)]
    np.testing.assert_allclose(vision, [0.63, 0.23, 0.03], atol=0.005)
    np.testing.assert_allclose(audio, [0.43, 0.14], atol=0.005)
    left = [np.exp(0.9 * known[f"c[{m}]"]) for m in mixture_grid.MODALITIES]
    np.testing.assert_allclose(left, [0.66, 0.47, 0.19], atol=0.005)


def test_simulated_mixtures_scatter_around_the_papers_equation():
    table, known = mixture_grid.simulate_mixture_grid(3), mixture_grid.truth()
    expected = [paper_loss(known, row) for row in table.to_dict("records")]
    residual = np.log(table["loss"].to_numpy() / np.array(expected))
    assert np.std(residual) == pytest.approx(0.002, rel=4 / np.sqrt(2 * len(table)))
    assert abs(np.mean(residual)) < 4 * 0.002 / np.sqrt(len(table))


def paper_loss(known, row):
    """Loss of a row's target, written from the paper's equations alone."""
    m, D = row["target"], {k: row[f"D_{k}"] for k in mixture_grid.MODALITIES}
    h = {k: tokens / sum(D.values()) for k, tokens in D.items()}
    tokens = D[m]
    if m != "text":
        star, unique = known[f"R_star[{m}]"], row[f"U_{m}"]
        tokens = unique * (1 + star * (1 - np.exp(-(D[m] / unique - 1) / star)))
    tokens *= np.exp(sum(known[f"v[{k}→{m}]"] * h[k] for k in D if k != m))
    size = row["N"] * np.exp(known[f"c[{m}]"] * (1 - h[m]))
    of_size = known[f"A[{m}]"] * size ** -known[f"alpha[{m}]"]
    return known[f"E[{m}]"] + of_size + known[f"B[{m}]"] * tokens ** -known[f"beta[{m}]"]


# capability


def test_there_are_34_backbones_of_seven_families_and_40_benchmarks():
    models = backbones.backbones()
    counts = {f: sum(m[1] == f for m in models) for f in backbones.FAMILIES}
    assert counts == {"Qwen3": 10, "Qwen2.5": 2, "Falcon3": 8, "Llama-3.2": 4, "Gemma-2": 4,
                      "Mistral": 2, "DeepSeek": 4}  # fmt: skip
    assert len(models) == len({m[0] for m in models}) == 34
    assert len(backbones.TRANSFER) == 40
    assert sum(x > 0 for x in backbones.TRANSFER.values()) == 29
    assert capability.design()["model"].value_counts().eq(5).all()


def test_capability_lies_where_the_paper_says_and_no_backbone_absorbs_less_than_nothing():
    known, models = capability.truth(), backbones.backbones()
    S = capability.capabilities(known)
    size = np.array([m[3] for m in models])
    assert S[size <= 8e9].min() == pytest.approx(-0.369, abs=0.01)
    assert S[size <= 8e9].max() < 0.339
    assert (S[size > 7e10] > 0.6).all()
    absorbed = [
        known[f"B0[{m[1]}]"] - known[f"Bm[{m[1]}]"] * s for m, s in zip(models, S, strict=True)
    ]
    assert min(absorbed) > 0


@pytest.mark.parametrize("family", ["Llama-3.2", "Gemma-2", "Falcon3", "Qwen3"])
def test_simulated_accuracy_rises_with_tokens_as_published(family):
    table = capability.simulate_capability(5)
    own = table[table["family"] == family]
    x = np.log(own["D"] / 1e9)
    centred = own["accuracy"] - own.groupby("model")["accuracy"].transform("mean")
    x = x - x.groupby(own["model"]).transform("mean")
    slope, error = float((x * centred).sum() / (x**2).sum()), 0.005 / np.sqrt((x**2).sum())
    assert slope == pytest.approx(backbones.ACCURACY[family][3], abs=4 * error)


def test_scores_have_three_components_that_give_back_capability_and_its_transfer():
    known = capability.truth()
    scores = capability.simulate_scores(1)
    assert scores.to_numpy().min() >= 0
    assert scores.to_numpy().max() <= 1
    u, s, v = np.linalg.svd(scores.to_numpy() - scores.to_numpy().mean(axis=0), full_matrices=False)
    share = np.cumsum(s**2) / np.sum(s**2)
    assert share[1] < 0.95 < share[2]
    components, S = u[:, :3] * s[:3], capability.capabilities(known)
    weights, *_ = np.linalg.lstsq(np.column_stack([components, np.ones(34)]), S, rcond=None)
    transfer = v[:3].T @ weights[:3] / np.linalg.norm(weights[:3])
    assert np.corrcoef(transfer, known.vector("lambda", capability.BENCHMARKS))[0, 1] > 0.98


def test_missing_checkpoints_are_empty_and_the_rest_is_the_same():
    whole, holed = capability.simulate_capability(2), capability.simulate_capability(2, missing=0.1)
    there = holed["accuracy"].notna()
    assert 0.02 < 1 - there.mean() < 0.25
    np.testing.assert_array_equal(holed.loc[there, "accuracy"], whole.loc[there, "accuracy"])
