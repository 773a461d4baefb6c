"""The envelope of training curves: what is known of it, what it refuses, what it says."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.answers.approach import Approach
from bayescale.answers.envelope.crossings import Crossings
from bayescale.answers.envelope.curves import curve_draws
from bayescale.answers.envelope.line import fit_line
from bayescale.answers.envelope.reading import read_curves, read_table
from bayescale.errors import DataError, FitError

from .envelope_curves import LAW, A, curves_of, design


def best_size(C, law=LAW):
    alpha, beta = law["alpha"], law["beta"]
    G = (alpha * law["A"] / (beta * law["B"])) ** (1 / (alpha + beta))
    return G * (np.asarray(C) / 6) ** (beta / (alpha + beta))


@pytest.fixture(scope="module")
def answer():
    return bs.envelope(curves_of(), C=["1e21", "1e24"], draws=1000)


def test_truth_lies_inside_and_the_answer_is_an_approach(answer):
    assert isinstance(answer, Approach)
    low, high = np.quantile(answer.exponents["a"], [0.01, 0.99])
    assert low < A < high
    np.testing.assert_allclose(answer.exponents["a"] + answer.exponents["b"], 1)
    for C in (1e21, 1e24):
        size = answer.n_opt(C)[:, 0]
        low, high = np.quantile(size, [0.01, 0.99])
        assert low < best_size(C) < high
        np.testing.assert_allclose(6 * size * answer.d_opt(C)[:, 0], C)


def test_noiseless_crossings_give_the_exponent_back():
    """The bias of taking crossings at the geometric mean is the same for all pairs."""
    for law in (LAW, {"E": 1.8, "A": 70.7, "B": 1.13e4, "alpha": 0.25, "beta": 0.45}):
        a = law["beta"] / (law["alpha"] + law["beta"])
        curves = curves_of(run_sd=0.0, sigma=0.0, law=law)
        found = bs.envelope(curves, draws=400)
        line = np.median(found.exponents["a"])
        assert abs(line - a) < 0.004  # of an interval of .05: the prior of runs' scatter
        C = found.size.C0
        gamma = law["alpha"] * a
        h = np.log(60) / 7
        shift = gamma * h**2 * (1 - 2 * a) / (24 * a * (1 - a))
        middle = np.log(np.median(found.n_opt(C)) / best_size(C, law))
        assert abs(middle - shift) < 0.006


def test_ninety_percent_intervals_hold_the_truth():
    """16 simulated tables of 6 sizes: at most 4 misses of a (P = .02 at 90%), not all vacuous."""
    table = design(sizes=6, checkpoints=20)
    inside, width = 0, []
    for seed in range(16):
        a = bs.envelope(curves_of(seed, table=table), draws=300, seed=seed).exponents["a"]
        low, high = np.quantile(a, [0.05, 0.95])
        inside += low < A < high
        width.append(high - low)
    assert inside >= 12
    assert np.median(width) < 0.15


def test_curve_posterior_against_the_model_on_a_grid():
    """E and T of one run, sigma and memory known: the closed form against brute force."""
    from bayescale.answers.envelope import curves as module

    frame = curves_of(3, table=design(sizes=3, checkpoints=12))
    table, columns = read_table(frame, None, {})
    data, _ = read_curves(table, columns, "D", None, 40)
    drawn, _ = curve_draws(data, 4000, 0)
    own = data.code == 1
    d, y = data.log_d[own] - drawn.log_ref[1], data.loss[own]
    s, m, beta = np.median(drawn.sigma), np.median(drawn.memory), 0.366
    gap = np.abs(data.log_d[own][:, None] - data.log_d[own])
    cov = s**2 * np.exp(-gap / m)
    term = np.exp(-beta * d)
    E, T = np.meshgrid(np.linspace(1.5, 2.6, 300), np.linspace(0.2, 1.2, 300), indexing="ij")
    z = (E[..., None] + T[..., None] * term) / y - 1
    log_p = -0.5 * np.einsum("abi,ij,abj->ab", z, np.linalg.inv(cov), z)
    middle = y.mean()
    for value, centre in ((E, module.MIDDLE[0]), (T, module.MIDDLE[1])):
        log_p -= 0.5 * ((value - centre * middle) / (module.SD * middle)) ** 2
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    sums = module._sums(
        data, drawn.log_ref, np.full((3, 1), beta), np.array([m]), np.ones(len(data.code))
    )
    mean = np.bincount(data.code, data.loss) / np.bincount(data.code)
    centre, precision, _ = module._gaussian(sums.xx[:, 0, 0], sums.xy[:, 0, 0], np.full(3, s), mean)
    assert (p * E).sum() == pytest.approx(centre[1, 0], abs=2e-3)
    assert (p * T).sum() == pytest.approx(centre[1, 1], abs=2e-3)
    sd = np.sqrt((p * (E - (p * E).sum()) ** 2).sum())
    assert sd == pytest.approx(np.sqrt(np.linalg.inv(precision)[1, 0, 0]), rel=0.02)


def test_line_gives_back_offsets_that_were_put_in():
    """Crossings moved by runs' offsets: intervals of a hold it in 90% of many sets."""
    rng = np.random.default_rng(5)
    log_n = np.log(np.geomspace(1e8, 1e10, 7))
    h, a, kappa, tau = np.diff(log_n), 0.55, 0.02, 0.004
    draws = 300
    z = tau * rng.standard_normal((draws, 7))
    middle = (log_n[1:] + log_n[:-1]) / 2
    log_c = 48 + (middle - middle.mean()) / a + np.diff(z, axis=1) / (kappa * h)
    pair = np.broadcast_to(np.stack([np.arange(6), np.arange(1, 7)], -1), (draws, 6, 2))
    steep = np.broadcast_to(kappa * h, (draws, 6))
    none = np.zeros((draws, 1))
    found = Crossings(log_c, steep, pair, none, np.zeros(1), none)
    first = [fit_line(found, log_n, seed).a for seed in range(25)]
    rank = np.mean(np.array(first) < a, axis=0)  # of the truth among 25 draws a set
    inside = np.mean((rank > 0.05) & (rank < 0.95))
    assert 0.9 - 4 * np.sqrt(0.09 / draws) < inside < 0.9 + 4 * np.sqrt(0.09 / draws) + 0.02


def test_winners_as_steps_are_biased_where_crossings_are_not():
    """Of few sizes: the best size at each compute, regressed, against the crossings."""
    curves = curves_of(run_sd=0.0, sigma=0.0, table=design(sizes=4, checkpoints=60))
    found = bs.envelope(curves, draws=200)
    grid = found.crossings.grid
    loss = np.median(found.curves.at(grid), axis=0)
    best = found.curves.data.log_n[loss.argmin(axis=0)]
    steps = np.polyfit(grid, best, 1)[0]
    assert abs(np.median(found.exponents["a"]) - A) < 0.01
    assert abs(steps - A) > 0.02


def test_runs_never_on_the_envelope_are_named():
    table = design(sizes=6)
    bad = table[table["run"] == "r2"].assign(run="bad")
    frame = curves_of(table=pd.concat([table, bad], ignore_index=True))
    frame.loc[frame["run"] == "bad", "loss"] *= 1.03
    found = bs.envelope(frame, draws=300)
    assert found.never == ("bad",)
    assert "never on the envelope (P < 0.05): bad" in str(found)
    assert found.to_dict()["never_on_envelope"] == ["bad"]


def test_a_spike_in_a_curve_is_left_out():
    frame = curves_of(1)
    frame.loc[40, "loss"] *= 1.03
    found = bs.envelope(frame, draws=300)
    assert any("stand far apart" in w and "r1" in w for w in found.warnings)
    clean = bs.envelope(curves_of(1), draws=300)
    assert np.median(found.exponents["a"]) == pytest.approx(
        np.median(clean.exponents["a"]), abs=0.01
    )


def test_shown_in_every_way(answer):
    record = json.loads(json.dumps(answer.to_dict()))
    assert record["approach"] == "envelope"
    assert record["converged"] is True
    assert [b["C"] for b in record["budgets"]] == [1e21, 1e24]
    assert record["budgets"][0]["loss"]["median"] > LAW["E"]
    assert record["budgets"][1]["loss"] is None  # beyond the data there is no curve
    assert record["budgets"][1]["outside"]["factor"] > 10
    assert record["crossings"][0]["N_between"] > record["crossings"][0]["N"][0]
    assert {"q05", "median", "q95", "q025", "q975"} <= record["exponents"]["a"].keys()
    frame = answer.to_frame()
    assert set(frame["quantity"]) == {"a", "b", "N_opt", "D_opt", "tokens_per_param", "loss"}
    assert answer.dataset["N_opt"].dims == ("draw", "budget")
    text = str(answer)
    assert "cross at C" in text
    assert "a = " in text
    assert "the data: intervals" in text
    assert "<table>" in answer._repr_html_()


def test_loss_falls_along_compute_and_lies_on_the_curves(answer):
    grid = np.geomspace(*answer.span, 30)
    loss = answer.loss(grid[1:-1])
    assert (np.diff(loss, axis=1) <= 1e-12).all()
    truth = [
        min(
            LAW["E"] + LAW["A"] * n ** -LAW["alpha"] + LAW["B"] * (c / 6 / n) ** -LAW["beta"]
            for n in np.geomspace(5e7, 3e9, 8)
        )
        for c in grid[8:-8]
    ]
    np.testing.assert_allclose(np.median(answer.loss(grid[8:-8]), axis=0), truth, rtol=0.006)
    assert np.isnan(answer.loss(1e30)).all()


def test_same_seed_same_draws():
    frame = curves_of(2, table=design(sizes=5, checkpoints=10))
    one, two, other = (bs.envelope(frame, draws=200, seed=s).exponents["a"] for s in (1, 1, 2))
    assert (one == two).all()
    assert (one != other).any()


def test_compute_that_is_not_six_nd():
    """Compute per parameter and token that grows with size: b isn't 1 - a."""
    frame = curves_of(4)
    factor = 6 * (frame["N"] / 5e7) ** -0.05
    found = bs.envelope(frame.assign(C=factor * frame["N"] * frame["D"]), draws=400)
    a, b = (found.exponents[x] for x in "ab")
    np.testing.assert_allclose(b, 1 - a * 0.95)
    C = 1e22
    size, tokens = found.n_opt(C), found.d_opt(C)
    np.testing.assert_allclose(6 * (size / 5e7) ** -0.05 * size * tokens, C)


def test_one_curve_a_size_from_finished_runs():
    """Where the learning rate decays: last checkpoints, then run="N"."""
    rng = np.random.default_rng(0)
    table = design(sizes=6, checkpoints=9)
    frame = curves_of(table=table, run_sd=0.0, sigma=0.001)
    frame["run"] = [f"run{k}" for k in range(len(frame))]
    found = bs.envelope(frame.sample(frac=1, random_state=rng.integers(99)), run="N", draws=400)
    low, high = np.quantile(found.exponents["a"], [0.01, 0.99])
    assert low < A < high
    assert found.curves.data.names[0] in ("50M", "3B", "113M", "257M", "583M", "1.32B")


def test_a_learning_rate_that_decays_is_told():
    frame = curves_of(table=design(sizes=5))
    frame["lr"] = 1e-3 * (1 - 0.9 * frame.groupby("run")["D"].rank(pct=True))
    found = bs.envelope(frame, draws=200)
    assert any("learning rate ('lr') falls along 5 runs" in w for w in found.warnings)


def refused(error, frame, **options):
    with pytest.raises(error) as caught:
        bs.envelope(frame, draws=200, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_refusals():
    frame = curves_of(table=design(sizes=5, checkpoints=10))
    text = refused(DataError, frame.rename(columns={"run": "shape"}))
    assert "names the training run" in text
    assert "isoflop" in text
    last = frame.groupby("run").tail(1)
    assert "has one checkpoint" in refused(DataError, last)
    one = frame[frame["run"] == "r1"]
    assert "1 size of" in refused(DataError, one)
    assert "3 sizes" in refused(DataError, one)
    broken = frame.copy()
    broken.loc[3, "loss"] = np.nan
    assert "row 4" in refused(DataError, broken)
    assert "no column 'nothing'" in refused(DataError, frame, run="nothing")
    assert "needs" in refused(DataError, frame.drop(columns="D"))
    assert "near is" in refused(FitError, frame, near=-1.0)
    assert "thin is 2" in refused(FitError, frame, thin=2)
    assert "seed is" in refused(FitError, frame, seed=-1)
    assert "positive number" in refused(DataError, frame.assign(step=-1.0), along="step")


def test_draws_too_few_are_refused():
    with pytest.raises(FitError, match="draws is 5"):
        bs.envelope(curves_of(table=design(sizes=5)), draws=5)


def test_curves_that_do_not_overlap_are_refused_with_the_reason():
    parts = [
        pd.DataFrame({"run": f"r{k}", "N": n, "D": np.geomspace(1, 3, 12) * 5e9})
        for k, n in enumerate((1e8, 1e9, 1e10, 1e11))
    ]
    text = refused(FitError, curves_of(table=pd.concat(parts, ignore_index=True)))
    assert "fewer than three sizes lie on the envelope" in text
    assert "overlap in compute" in text
    assert "100M" in text
    assert "1B" in text


def test_compute_out_of_proportion_is_refused():
    frame = curves_of(table=design(sizes=5))
    text = refused(DataError, frame.assign(C=6 * frame["N"] * frame["D"] ** 1.1))
    assert "compute per token of run" in text
    assert "C': ''" in text


def test_two_sizes_that_cross_once_are_not_enough():
    frame = curves_of(table=design(sizes=2, span=(1e8, 8e8)))
    assert "2 sizes of" in refused(DataError, frame)


def test_real_curves(data_dir, monkeypatch):
    """Gemstones at a constant learning rate: 3,850 checkpoints of 22 shapes."""
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    found = bs.envelope("gemstones-curves", draws=500)
    low, high = np.quantile(found.exponents["a"], [0.05, 0.95])
    assert 0.5 < low < high < 0.66
    assert "768x3" in found.never
    assert "1536x50" not in found.never


def test_isoflop_data_have_no_envelope(data_dir, monkeypatch):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    for name in ("llama3-isoflop", "marin-dclm"):
        with pytest.raises(DataError, match="names the training run.*isoflop"):
            bs.envelope(name)
