"""Sensitivity without sampling: what is perturbed and how, bad inputs, the shell, pictures."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.check import influence, perturb, power_scaling
from bayescale.check.sensitivity.changes import WHAT, Sizes, changes
from bayescale.check.sensitivity.power import log_priors
from bayescale.check.sensitivity.quantities import make_watch
from bayescale.check.sensitivity.sizes import NotApplicable, counts_embeddings, other_count
from bayescale.data import read_runs
from bayescale.errors import DataError, FitError
from bayescale.laws.power_law import power_law
from bayescale.many.result import Failure
from bayescale.plot import sensitivity
from tests.answers.conftest import made_up

ROWS = 24


def table(**more):
    rng = np.random.default_rng(2)
    N, D = 10 ** rng.uniform(8, 10, ROWS), 10 ** rng.uniform(9.5, 11.5, ROWS)
    loss = 1.8 + 0.3 * (N / 1e9) ** -0.35 + 0.3 * (D / 2e10) ** -0.35
    return pd.DataFrame({"N": N, "D": D, "loss": loss, **more})


@pytest.fixture(scope="module")
def plain():
    return made_up("chinchilla", read_runs(table()), draws=100, spread=0.05)


def made(fit, *what, **sizes):
    return changes(fit, list(what), Sizes(**sizes))


@pytest.fixture
def unsampled(plain, monkeypatch):
    """Fits made again are the plain one, without sampling."""

    def refits(fit, runs, **_):
        yield from ((key, plain) for key in runs)

    for name in ("perturb", "influence"):
        monkeypatch.setattr(f"bayescale.check.sensitivity.{name}.refits", refits)


def one(fit, key, *what, **sizes):
    return next(c for c in made(fit, *what, **sizes)[0] if c.key == key)


def test_c_that_was_computed_follows_n_and_one_that_was_read_stays(plain):
    change = one(plain, "N_factor_up", "N_factor", error=0.2).runs
    np.testing.assert_allclose(change.table["N"], 1.2 * plain.runs.table["N"])
    np.testing.assert_allclose(change.table["C"], 1.2 * plain.runs.table["C"])
    read = read_runs(table(C=6e20 * np.ones(ROWS)))
    kept = one(made_up("chinchilla", read), "N_factor_up", "N_factor").runs
    np.testing.assert_array_equal(kept.table["C"], 6e20)


def test_d_that_came_from_compute_follows_n():
    given = table()
    given["C"] = 6 * given.N * given.D
    fit = made_up("chinchilla", read_runs(given.drop(columns="D")))
    change = one(fit, "N_bias_up", "N_bias", bias=0.1).runs
    ratio = change.table["N"] / fit.runs.table["N"]
    assert ratio.max() / ratio.min() > 1.3
    np.testing.assert_allclose(change.table["D"] * ratio, fit.runs.table["D"])
    np.testing.assert_array_equal(change.table["C"], fit.runs.table["C"])


def test_a_bias_leaves_the_middle_and_scatter_differs_by_try(plain):
    N = plain.runs.column("N")
    biased = one(plain, "N_bias_down", "N_bias", bias=0.05).runs.column("N")
    assert np.mean(np.log(biased / N)) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(np.polyfit(np.log(N), np.log(biased), 1)[0], 0.95)
    tries = [c.runs.column("D") for c in made(plain, "D_scatter", error=0.2, scatters=2)[0]]
    ratios = [np.log(d / plain.runs.column("D")) for d in tries]
    assert not np.allclose(*ratios)
    assert np.std(ratios) == pytest.approx(np.log(1.2), rel=0.35)
    again = [c.runs.column("D") for c in made(plain, "D_scatter", error=0.2, scatters=2)[0]]
    np.testing.assert_array_equal(tries, again)


def test_changed_runs_have_a_hash_of_their_own(plain):
    listed, _ = made(plain, "N_factor", "loss_offset", "D_bias")
    assert len({plain.runs.sha256, *(c.runs.sha256 for c in listed)}) == len(listed) + 1


def test_parts_are_left_out_by_compute_and_by_size(plain):
    half = one(plain, "small_compute", "small_compute").runs
    assert len(half) == ROWS // 2
    assert half.column("C").min() >= np.median(plain.runs.column("C"))
    rest = one(plain, "smallest_size", "smallest_size").runs
    assert rest.column("N").min() > plain.runs.column("N").min()
    alike = read_runs(table().assign(N=1e9))
    _, skipped = made(made_up("chinchilla", alike), "smallest_size")
    assert "none would be left" in skipped["smallest_size"]


@pytest.mark.parametrize("tail", ["student_t", "normal"])
def test_the_other_noise(tail):
    noise = bs.student_t() if tail == "student_t" else bs.log_normal()
    fit = made_up("chinchilla", read_runs(table()), noise=noise)
    (change,), _ = made(fit, "noise")
    assert change.noise.tail != tail
    assert change.runs is fit.runs


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("n_params", True),
        ("N", True),
        ("params_with_embeddings", True),
        ("N_no_emb", False),
        ("n_params_nonembedding", False),
        ("Non-Embedding Params", False),
        ("N_noemb", False),
        ("params without embedding", False),
    ],
)
def test_what_names_say_of_embeddings(name, expected):
    assert counts_embeddings(name) == expected


def test_the_other_count_by_name_by_column_and_by_formula():
    given = table(width=512.0)
    less = given.N - 5e7
    named = other_count(read_runs(given.assign(N_no_emb=less)))
    assert named.label == "N without embeddings"
    np.testing.assert_allclose(named.values, less)
    bare = given.rename(columns={"N": "n_params_nonembedding"}).assign(n_params=given.N + 5e7)
    back = other_count(read_runs(bare, columns={"N": "n_params_nonembedding"}))
    assert back.label == "N with embeddings"
    np.testing.assert_allclose(back.values, given.N + 5e7)
    odd = other_count(read_runs(given.assign(small=less)), column="small")
    np.testing.assert_allclose(odd.values, less)
    formula = other_count(read_runs(given), vocabulary=50304)
    np.testing.assert_allclose(formula.values, given.N - 50304 * 512)
    assert formula.source == "N - 50304 x width"
    columns = other_count(read_runs(given.assign(vocab_size=1000)))
    np.testing.assert_allclose(columns.values, given.N - 1000 * 512)


def test_where_there_is_no_other_count():
    with pytest.raises(NotApplicable, match="size_column"):
        other_count(read_runs(table(N_no_emb_C=1e20)))
    with pytest.raises(NotApplicable, match="is N itself"):
        other_count(read_runs(table(same=table().N)), column="same")
    with pytest.raises(NotApplicable, match="not positive in row"):
        other_count(read_runs(table(width=1e6)), vocabulary=50304)
    with pytest.raises(DataError, match="no column 'sizee'.*Did you mean 'sized'"):
        other_count(read_runs(table(sized=1.0)), column="sizee")
    with pytest.raises(DataError, match="column 'bare' is -1.0 in row 1"):
        other_count(read_runs(table(bare=-1.0)), column="bare")
    with pytest.raises(DataError, match="vocabulary is -3"):
        other_count(read_runs(table(width=512.0)), vocabulary=-3)


def test_laws_of_one_input_have_what_applies_to_them():
    fit = made_up(power_law("N"), read_runs(table()))
    listed, skipped = made(fit, *WHAT)
    assert {"D_factor", "D_bias", "D_scatter", "embeddings"} == set(skipped)
    assert "reads nothing" in skipped["D_factor"] or "read nothing" in skipped["D_factor"]
    assert {c.kind for c in listed} == set(WHAT) - set(skipped)
    watch = make_watch(fit, None, None, {}, 0)
    assert watch.at == {"N": 10 * fit.runs.column("N").max()}
    assert set(watch.of(fit)) == {"E", "alpha", "loss"}
    with pytest.raises(FitError, match=r"reads N, so a budget C says nothing of it.*at=\{'N'"):
        perturb(fit, C="1e22")
    by_compute = made_up(power_law("C"), read_runs(table()))
    assert make_watch(by_compute, "1e24", None, {}, 0).at == {"C": 1e24}
    assert "C_factor" not in WHAT
    assert {c.kind for c in made(by_compute, "N_factor")[0]} == {"N_factor"}  # C follows N


def test_nothing_that_applies():
    fit = made_up(power_law("N"), read_runs(table()))
    with pytest.raises(FitError, match="no perturbation applies to this fit"):
        perturb(fit, what=["D_factor", "D_bias"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"what": "N_bais"}, "unknown perturbation 'N_bais'.*Did you mean 'N_bias'"),
        ({"C": ["1e22", "1e23"]}, "C has 2 values; give one"),
        ({"C": "-1e22"}, "C = -1e22"),
        ({"error": 0}, "error is 0; expected a number from 0 to 1"),
        ({"error": 1.5}, "error is 1.5"),
        ({"offset": float("nan")}, "offset is nan"),
        ({"scatters": 0}, "scatters is 0"),
        ({"scatters": 1.5}, "scatters is 1.5; expected a whole number"),
        ({"at": {"N": "7B"}}, "needs D"),
        ({"at": {"M": "7B"}}, "unknown argument 'M'"),
        ({"corpus": "c4"}, "unknown argument 'corpus'"),
    ],
)
def test_bad_questions(plain, options, message):
    with pytest.raises((FitError, DataError), match=message):
        perturb(plain, **options)


def test_bad_groups_and_thresholds(plain):
    with pytest.raises(DataError, match="no column 'familly'"):
        influence(plain, by="familly")
    alone = made_up("chinchilla", read_runs(table(family="x")))
    with pytest.raises(DataError, match="all 24 runs have the family 'x'"):
        influence(alone, by="family")
    with pytest.raises(FitError, match="threshold is 2"):
        power_scaling(plain, threshold=2)
    with pytest.raises(FitError, match="this fit has no 'alpa'.*Did you mean 'alpha'"):
        power_scaling(plain, targets="alpa")


@pytest.mark.parametrize("check", [power_scaling, perturb, influence])
def test_draws_that_are_not_finite(check):
    fit = made_up("chinchilla", read_runs(table()))
    fit.variables["beta"].values[1, 3] = np.nan
    with pytest.raises(FitError, match="1 of 100 draws of beta are not finite"):
        check(fit)


def test_a_budget_below_the_data_is_answered_and_said(plain, unsampled):
    found = influence(plain, C="1e17")
    assert any("below the data" in note for note in found.notes)
    assert np.isfinite(found.shift["L_opt"]).all()


def test_a_refit_that_fails_is_told_and_the_others_stand(plain, monkeypatch):
    def refits(fit, runs, **_):
        for key in runs:
            yield key, Failure(key, "the sampler broke") if key == "N_factor_up" else plain

    monkeypatch.setattr("bayescale.check.sensitivity.perturb.refits", refits)
    found = perturb(plain, what="N_factor")
    assert found.skipped == {"N_factor_up": "the sampler broke"}
    (refit,) = found.refits
    assert refit.moved["a"].shift == 0
    assert "the sampler broke" in str(found)


def test_pooled_fits_ask_for_their_group_and_keep_the_pooling_out_of_the_prior():
    runs = read_runs(table(corpus=["web", "code"] * (ROWS // 2)))
    pooling = {"E": bs.partial("corpus"), "A": bs.independent("corpus")}
    fit = made_up("chinchilla", runs, pooling=pooling, draws=100)
    assert "E_z" not in log_priors(fit)
    assert {"E_pop", "E_sd", "size_term"} <= set(log_priors(fit))
    names = {q.name for q in power_scaling(fit).quantities}
    assert {"E[web]", "E[code]", "A[web]", "alpha", "a"} <= names
    with pytest.raises(FitError, match="differs by 'corpus'"):
        power_scaling(fit, C="1e23")
    found = power_scaling(fit, C="1e23", corpus="web", targets="E")
    assert [q.name for q in found.quantities][:2] == ["E[web]", "E[code]"]
    with pytest.raises(FitError, match="differs by 'corpus'"):
        perturb(fit)


def test_draws_without_an_optimum_are_left_out(plain):
    watch = make_watch(plain, "1e24", None, {}, 0)
    q = watch.of(plain)["N_opt"]
    q.draws[0, :5] = np.nan
    assert q.scaled.size == q.draws.size - 5
    assert np.isfinite(q.sd)


def test_pictures(plain, unsampled):
    from matplotlib.figure import Figure

    scaled, perturbed = power_scaling(plain), perturb(plain)
    for result, panels in ((scaled, 1), (perturbed, 2), (influence(plain), 2)):
        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = sensitivity(result, figure=figure)
        assert len(axes) == panels
        figure.canvas.draw()
        narrow = sensitivity(result, figure=Figure(figsize=(3.15, 5), layout="constrained"))
        assert len(narrow) == panels
    labels = [t.get_text() for t in sensitivity(perturbed, figure=Figure())[0].get_yticklabels()]
    assert labels[0] == perturbed.refits[0].label.split(" (")[0]
    (axes,) = sensitivity(scaled, quantities=["a"], figure=Figure())
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a"]
    with pytest.raises(FitError, match="no quantity 'l_opt'.*Did you mean 'L_opt'"):
        sensitivity(perturbed, quantities=["l_opt"])
    with pytest.raises(FitError, match="not a Fit"):
        sensitivity(plain)
