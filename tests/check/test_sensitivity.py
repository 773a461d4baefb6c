"""Sensitivity on sampled fits: what must move moves, what can't doesn't, weights equal refits."""

import json

import arviz_stats
import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale import tree
from bayescale.check import influence, perturb, power_scaling
from bayescale.check.sensitivity import likelihood
from bayescale.check.sensitivity.quantities import Watch
from bayescale.priors import LogNormal

FACTS = {"E": 1.8, "A": 0.35, "B": 0.3, "alpha": 0.34, "beta": 0.36}  # at N = 1e9, D = 2e10
DRAWS = 500  # a chain
TOLERANCE = 4.0  # standard errors of Monte Carlo


def sweep(rows, seed=0, sigma=0.01):
    """Chinchilla runs over three decades of N and D with log-normal noise."""
    rng = np.random.default_rng(seed)
    N, D = 10 ** rng.uniform(7.5, 10.5, rows), 10 ** rng.uniform(8.8, 11.8, rows)
    f = FACTS
    mean = f["E"] + f["A"] * (N / 1e9) ** -f["alpha"] + f["B"] * (D / 2e10) ** -f["beta"]
    loss = mean * np.exp(sigma * rng.standard_normal(rows))
    family = np.resize(["x", "y", "z"], rows)
    return pd.DataFrame({"N": N, "D": D, "loss": loss, "family": family})


def largest(table):
    return int(np.argmax(table["N"] * table["D"]))


def fitted(table, **options):
    """A fit by the program that makes the refits too, so that it compiles once."""
    found = bs.fit_many("chinchilla", {"base": table}, draws=DRAWS, progress=False, **options)
    return found["base"]


@pytest.fixture(scope="module")
def good():
    return fitted(sweep(60))


@pytest.fixture(scope="module")
def odd():
    """A small sweep with log-normal noise, whose largest run is 5% off."""
    table = sweep(40, seed=3)
    table.loc[largest(table), "loss"] *= 1.05
    return fitted(table, noise=bs.log_normal())


def test_power_scaling_is_arviz_s_on_a_small_fit(good):
    found = power_scaling(good, targets=[*good.variables]).to_frame().set_index("name")
    expected = arviz_stats.psense_summary(good.tree, round_to=12)
    assert set(found.index) == set(expected.index)
    for column in ("prior", "likelihood"):
        np.testing.assert_allclose(found[column], expected[column][found.index], atol=1e-9)


def test_one_prior_by_itself_is_arviz_s(good):
    found = power_scaling(good, targets="E")["E"].by_prior
    for site in ("E", "size_term", "sigma"):
        expected = arviz_stats.psense(good.tree, var_names=["E"], group_var_names=[site])
        assert found[site] == pytest.approx(float(expected["E"]), abs=1e-9)


def test_no_draw_is_left_out_where_the_tree_thins(good, monkeypatch):
    before = power_scaling(good)
    monkeypatch.setattr(tree, "MAX_ELEMENTS", 20_000)
    monkeypatch.setattr(likelihood, "PIECE", 7_000)
    thinned = arviz_stats.psense_summary(tree.build_tree(good))
    assert thinned["likelihood"].isna().any()  # the limitation that this mends
    after = power_scaling(good)
    for one, other in zip(before.quantities, after.quantities, strict=True):
        assert other.likelihood == pytest.approx(one.likelihood, rel=1e-6)
        assert np.isfinite(other.likelihood)


def test_total_likelihood_is_the_sum_of_the_tree_s(good):
    whole = good.tree["log_likelihood"]["loss"].sum("row").to_numpy()
    np.testing.assert_allclose(likelihood.total_log_likelihood(good), whole, rtol=1e-12)


def test_default_priors_decide_nothing_on_a_good_sweep(good):
    found = power_scaling(good, C="1e24")
    assert {q.name for q in found.quantities} >= {"E", "a", "L_opt(1.00e24)", "N_opt(1.00e24)"}
    assert [q.name for q in found.quantities if q.diagnosis != "fine"] == []
    assert all(q.likelihood > found.threshold for q in found.quantities)


def test_a_strong_wrong_prior_is_told_with_its_parameter():
    wrong = {"alpha": LogNormal(0.9, 0.05)}
    fit = fitted(sweep(60), priors=wrong)
    found = power_scaling(fit, at={"N": "70B", "D": "1.4T"})
    for name in ("alpha", "a", "E"):
        assert found[name].diagnosis == "possible prior-data conflict", name
    assert found["alpha"].leading == "alpha"
    assert found["loss(N = 70B, D = 1.4T)"].diagnosis == "possible prior-data conflict"
    text = " ".join(str(found).split())
    assert "alpha ~ LogNormal(0.9, 0.05)" in text
    assert "E, A, " in text  # quantities with the same advice share a line


def test_few_runs_leave_it_to_the_prior():
    few = sweep(60).query("N < 6e7").head(8)
    fit = fitted(few)
    found = power_scaling(fit)
    assert found["alpha"].diagnosis == "strong prior or weak likelihood"
    assert found.warnings == fit.warnings
    assert found.warnings  # the gate doesn't pass such a fit, and every answer says so


def test_a_constant_factor_in_n_moves_what_it_must_and_nothing_else(good):
    C = 1e24
    found = perturb(good, what="N_factor", C=C, error=0.5, progress=False)
    assert {r.key for r in found.refits} == {"N_factor_up", "N_factor_down"}
    for key, factor in (("N_factor_up", 1.5), ("N_factor_down", 1 / 1.5)):
        moved = found[key].moved
        # C = 6 N D is computed, so that the same runs cost `factor` times as much: a budget C buys
        # what C / factor bought, in sizes that are called `factor` times larger
        elsewhere = Watch(C / factor, {}, {}, 0).of(good)
        expected = {"a": found.base["a"].middle()[0], "E": found.base["E"].middle()[0]}
        expected |= {"L_opt": elsewhere["L_opt"].middle()[0]}
        expected |= {"N_opt": factor * elsewhere["N_opt"].middle()[0]}
        for name, value in expected.items():
            q = found.base[name]
            gap = np.log(moved[name].median / value) if q.log else moved[name].median - value
            assert abs(gap) < TOLERANCE * moved[name].mc_error * q.sd, (key, name)
    size = found["N_factor_up"].moved["N_opt"]
    assert size.shift > 10 * size.mc_error  # a change would be seen


def test_where_d_came_from_compute_a_factor_in_n_leaves_losses_too():
    table = sweep(60)
    table["C"] = 6 * table.N * table.D
    fit = fitted(table.drop(columns="D"))
    found = perturb(fit, what="N_factor", error=0.5, progress=False)["N_factor_up"].moved
    for name in ("a", "E", "L_opt"):
        assert abs(found[name].shift) < TOLERANCE * found[name].mc_error, name
    assert found["N_opt"].change == pytest.approx(0.5, abs=TOLERANCE * found["N_opt"].mc_error)


def test_perturbations_of_all_kinds(good, tmp_path):
    table = sweep(60)
    found = perturb(good, scatters=2, folder=tmp_path, progress=False)
    assert set(found.skipped) == {"embeddings"}
    assert "size_column" in found.skipped["embeddings"]
    assert len(found.refits) == 17
    sizes = [r.size for r in found.refits]
    assert sizes == sorted(sizes, reverse=True)
    offset = found["loss_offset_up"].moved
    assert offset["E"].change == pytest.approx(
        0.01, abs=4 * offset["E"].mc_error * found.base["E"].sd
    )
    assert found["small_compute"].runs == 30
    assert found["smallest_size"].runs == len(table) - 1
    bias = found["N_bias_up"].moved["a"]
    assert bias.shift < -3 * bias.mc_error or bias.shift > 3 * bias.mc_error
    assert json.loads(json.dumps(found.to_dict()))["skipped"] == dict(found.skipped)
    frame = found.to_frame()
    assert len(frame) == 17 * len(found.base)
    assert {"median", "q05", "q95", "change", "shift", "mc_error"} <= set(frame.columns)
    text = " ".join(str(found).split())
    assert "left out: embeddings" in text
    assert "10x above the data" in text


def test_the_odd_run_is_the_most_influential_and_weights_equal_refits(odd):
    weighted = influence(odd, progress=False)
    far = largest(odd.runs.table)
    assert weighted.order[0] == far
    assert weighted.to_frame()["row"].iloc[0] == far + 1
    assert weighted.refitted[far]  # no weights lead from a fit with it to one without it
    exact = influence(odd, exact=True, seed=5, progress=False)
    assert exact.order[0] == far
    assert exact.refitted.all()
    fine = ~weighted.refitted
    assert fine.sum() > 30
    for name in weighted.base:
        gap = weighted.shift[name] - exact.shift[name]
        error = np.hypot(weighted.mc_error[name], exact.mc_error[name])
        assert (np.abs(gap[fine]) < TOLERANCE * error[fine]).all(), name
        assert np.sqrt(np.mean((gap[fine] / error[fine]) ** 2)) > 0.2  # nor are errors made large
    # and a shift is told from none
    assert (np.abs(weighted.shift["a"]) > TOLERANCE * weighted.mc_error["a"]).sum() > 10


def test_a_tail_of_the_noise_takes_the_odd_run_s_influence(odd):
    far = largest(odd.runs.table)
    before = influence(odd, progress=False).size[far]
    after = influence(fitted(odd.runs), progress=False).size[far]
    assert after < 0.7 * before


def test_groups_are_left_out_by_fits_made_again(odd):
    found = influence(odd, by="family", progress=False)
    assert {r.key for r in found.refits} == {"x", "y", "z"}
    home = str(odd.runs.table["family"][largest(odd.runs.table)])
    # with the odd run goes most of the noise: the floor falls by more than without another group
    falls = {r.key: r.moved["L_opt"].shift for r in found.refits}
    assert min(falls, key=lambda key: falls[key]) == home
    assert found[home].runs == 40 - int((odd.runs.table["family"] == home).sum())
    record = json.loads(json.dumps(found.to_dict()))
    assert record["by"] == "family"
    assert len(record["without"]) == 3


def test_real_sweep_with_both_counts_of_n(data_dir, monkeypatch):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    fit = fitted("gadre-rpj")
    found = perturb(fit, what="embeddings", progress=False)
    assert "n_params_nonembedding" in found["embeddings"].label
    moved = found["embeddings"].moved["a"]
    assert moved.shift > 10 * moved.mc_error  # Kaplan's count asks for larger models
