"""Laws with experts: published values, limits, recovery, and what a design can't tell apart."""

import numpy as np
import pytest

import bayescale as bs
from bayescale.data.simulate import simulate
from bayescale.errors import DataError
from bayescale.laws import LAWS
from bayescale.laws.clark import LOG10, saturated

CLARK, ABNAR, KRAJEWSKI = (LAWS[name] for name in ("clark", "abnar", "krajewski"))
S_BASE = {  # Clark et al., table 3; c and d there are for logarithms to base 10
    "a_N": -0.082, "b_E": -0.108, "c_NE": 0.009 / LOG10, "d": 1.104 * LOG10,
    "E_start": 1.847, "E_max": 314.478,
}  # fmt: skip
PAPER_ABNAR = {  # Abnar et al., table 3
    "E": 0.94, "A": 16612.50, "B": 5455.67, "c": 0.4598, "d": 17.26, "alpha": 0.5962,
    "beta": 0.3954, "gamma_N": 0.1595, "lambda_S": -0.1666, "delta_S": 0.1603,
}  # fmt: skip
PAPER_KRAJEWSKI = {  # Krajewski et al., table 1
    "E": 0.47, "A": 18.1, "g": 2.1, "B": 30.8, "alpha": 0.115, "beta": 0.147, "gamma_G": 0.58,
}  # fmt: skip


def scattered(law, params, **changed):
    """Runs of the law's own design, some of its columns changed."""
    design = law.design() | changed
    return simulate(law, {**params, "sigma": 0.004, "nu": 6.0}, design, seed=3)


def reasons(fit, check):
    return " ".join(p.message for p in fit.gate.problems if p.check == check)


def test_experts_saturate_between_start_and_most():
    start, most = 1.847, 314.478
    assert saturated(1.0, start, most) == pytest.approx(start)
    assert saturated(1e12, start, most) == pytest.approx(most, rel=1e-6)
    counts = 2.0 ** np.arange(10)
    assert np.all(np.diff(saturated(counts, start, most)) > 0)
    by_hand = 1 / (counts - 1 + 1 / (1 / start - 1 / most)) + 1 / most
    np.testing.assert_allclose(saturated(counts, start, most), 1 / by_hand, rtol=1e-12)


def test_published_routing_law_meets_the_measured_losses(data_dir):
    """Table 3 with natural logarithms: within 3% of each S-Base run, 1.5% in the mean square."""
    import pandas as pd

    runs = pd.read_csv(data_dir / "routing_moe" / "routing_moe.csv")
    runs = runs.query(
        "is_final and k == 1 and routing_frequency == 0.5 and router_type == 'S-Base'"
    )
    found = CLARK.mean(
        **S_BASE,
        N=runs["dense_parameter_count"].to_numpy(),
        experts=runs["num_experts"].to_numpy(float),
    )
    error = np.log(found / runs["loss_validation"])
    assert len(runs) == 53
    assert np.abs(error).max() < 0.03
    assert np.sqrt(np.mean(error**2)) < 0.015


def test_routing_stops_helping_at_the_published_size():
    """Beyond exp(-b/c), 1e12 by the rounded values (the paper: 937B), more experts do harm."""
    cut_off = np.exp(-S_BASE["b_E"] / S_BASE["c_NE"])
    few, many = (CLARK.mean(**S_BASE, N=cut_off, experts=e) for e in (2.0, 512.0))
    assert few == pytest.approx(many, rel=1e-12)
    assert CLARK.mean(**S_BASE, N=cut_off / 9, experts=512.0) < CLARK.mean(
        **S_BASE, N=cut_off / 9, experts=2.0
    )
    assert np.log10(cut_off) == pytest.approx(np.log10(937e9), abs=0.03)


def test_one_expert_is_a_power_law_of_the_dense_size():
    sizes = np.geomspace(1e7, 1e10, 5)
    slopes = np.diff(np.log(CLARK.mean(**S_BASE, N=sizes, experts=1.0))) / np.diff(np.log(sizes))
    dense = S_BASE["a_N"] + S_BASE["c_NE"] * np.log(S_BASE["E_start"])
    np.testing.assert_allclose(slopes, dense, rtol=1e-9)
    assert -dense == pytest.approx(0.078, abs=0.002)  # what the paper finds for dense models


def test_sparse_law_without_sparsity_is_chinchilla():
    """At S = 0 with d = 0 it is Chinchilla with floor E + c; so is Krajewski's with g = 0."""
    N, D = np.geomspace(1e8, 1e11, 4), np.geomspace(1e12, 1e10, 4)
    p = PAPER_ABNAR | {"d": 0.0}
    plain = LAWS["chinchilla"].mean
    own = {k: p[k] for k in ("A", "B", "alpha", "beta")}
    np.testing.assert_allclose(
        ABNAR.mean(**p, N=N, D=D, S=0.0), plain(E=p["E"] + p["c"], **own, N=N, D=D), rtol=1e-12
    )
    q = PAPER_KRAJEWSKI | {"g": 0.0}
    own = {k: q[k] for k in ("E", "A", "B", "alpha", "beta")}
    np.testing.assert_allclose(
        KRAJEWSKI.mean(**q, N=N, D=D, G=4.0), plain(**own, N=N, D=D), rtol=1e-12
    )
    finest = KRAJEWSKI.mean(**PAPER_KRAJEWSKI, N=N, D=D, G=1e12)
    np.testing.assert_allclose(finest, plain(**own, N=N, D=D), rtol=1e-6)


def test_best_sparsity_rises_with_total_size():
    """The paper's main finding at a fixed compute: larger models are best sparser."""
    S = np.linspace(0, 0.99, 100)
    best = []
    for N in (1e9, 1e10, 1e11):
        D = 1e21 / (6 * N * (1 - S))  # compute counts active parameters
        best.append(S[np.argmin(ABNAR.mean(**PAPER_ABNAR, N=N, D=D, S=S))])
    assert best[0] < best[1] < best[2]


@pytest.mark.parametrize(
    ("law", "truth"), [(CLARK, S_BASE), (KRAJEWSKI, PAPER_KRAJEWSKI)], ids=["clark", "krajewski"]
)
def test_recovers_the_published_law_from_its_design(law, truth):
    fit = bs.fit(law, scattered(law, truth), seed=4, progress=False)
    low, high = (fit.summary.loc[list(truth), q] for q in ("q025", "q975"))
    inside = (low <= list(truth.values())) & (high >= list(truth.values()))
    assert inside.sum() >= len(truth) - 1, fit.summary


@pytest.mark.parametrize(
    ("law", "truth", "changed", "named"),
    [
        (CLARK, S_BASE, {"experts": np.full(60, 64.0)}, ["b_E", "c_NE", "E_start", "E_max"]),
        (ABNAR, PAPER_ABNAR, {"S": np.full(72, 0.9)}, ["lambda_S", "delta_S"]),
        (KRAJEWSKI, PAPER_KRAJEWSKI, {"G": np.full(80, 8.0)}, ["gamma_G"]),
    ],
    ids=["one number of experts", "one sparsity", "one granularity"],
)
def test_gate_names_what_a_constant_input_leaves_open(law, truth, changed, named):
    runs = scattered(law, truth, **changed)
    fit = bs.fit(law, runs, seed=4, draws=200, max_tree_depth=7, retry=False, progress=False)
    assert not fit.converged
    said = reasons(fit, "prior")
    assert all(f"of {name} is its prior" in said for name in named), said
    if law is ABNAR:
        assert "E and sparsity_term stand in for each other" in reasons(fit, "tied")


@pytest.mark.parametrize(
    ("law", "column", "value", "said"),
    [
        (CLARK, "experts", 0.0, "column 'experts' is 0.0 in row 3; a number of at least 1"),
        (ABNAR, "S", 1.0, "column 'S' is 1.0 in row 3; a number from 0 to 0.999999"),
        (ABNAR, "S", 87.5, "column 'S' is 87.5 in row 3; a number from 0 to 0.999999"),
        (KRAJEWSKI, "G", -1.0, "column 'G' is -1.0 in row 3; a positive number"),
    ],
)
def test_impossible_inputs_are_named(law, column, value, said):
    truth = {"clark": S_BASE, "abnar": PAPER_ABNAR, "krajewski": PAPER_KRAJEWSKI}[law.name]
    runs = scattered(law, truth)
    runs.loc[2, column] = value
    with pytest.raises(DataError, match=said):
        bs.fit(law, runs, progress=False)


def test_usual_names_of_columns_are_read():
    runs = scattered(CLARK, S_BASE).rename(columns={"experts": "num_experts"})
    np.testing.assert_array_equal(bs.read_runs(runs).column("experts"), runs["num_experts"])
    with pytest.raises(DataError, match="law 'abnar' as set up here needs D"):
        bs.fit("abnar", runs, progress=False)


def test_two_exponents_of_one_input_are_sampled_as_a_sum_and_a_ratio():
    """A map there and back whose Jacobian is 1; its sum is the loss's slope in ln N."""
    import jax

    from bayescale.inference.model import Model
    from bayescale.inference.packing import Packing

    model = Model(ABNAR, ABNAR.default_noise)
    packing = Packing.of(model, {})
    sites = packing.sample_prior(np.random.default_rng(2), 6)
    vectors = packing.join(sites)
    for name, values in packing.constrain(vectors).items():
        np.testing.assert_allclose(values, sites[name], rtol=1e-10)
    fall = sites["alpha"] * sites["size_term"] + sites["gamma_N"] * sites["joint_term"]
    np.testing.assert_allclose(np.exp(vectors[:, packing.slice_of("gamma_N")][:, 0]), fall)

    def sampled(vector):
        parts = packing.split(vector)
        return jax.numpy.stack([parts[s.name] for s in packing.sites])

    with jax.enable_x64(True):
        for vector in vectors:
            found = np.linalg.det(np.asarray(jax.jacobian(sampled)(jax.numpy.asarray(vector))))
            assert abs(found) == pytest.approx(1)
