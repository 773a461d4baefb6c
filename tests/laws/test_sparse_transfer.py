"""Transfers under the horseshoe: its scale, and the direction that the sampler moves along."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayescale as bs
from bayescale.assembling import _moments
from bayescale.inference.centring import choose_scaled
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.laws.mixture import mixture
from bayescale.laws.mixture_sparse import SLAB, spread
from bayescale.pooling import Pooling, independent

DOMAINS = ("web", "code", "books")


def made(transfer, pooling=None):
    law = mixture(DOMAINS, transfer=transfer, sparse=True, repetition=False)
    model = Model(law, law.default_noise, Pooling.of(pooling))
    labels = {**law.axes, "corpus": ("a", "b")}
    return Packing.of(model, labels)


def test_spread_is_the_papers_and_shrinkage_has_its_distribution():
    local = np.abs(np.random.default_rng(3).standard_cauchy(9))
    squared = SLAB**2 * local**2 / (SLAB**2 + 0.3**2 * local**2)
    np.testing.assert_allclose(spread(local, np.array(0.3), SLAB), 0.3 * np.sqrt(squared))
    kappa = mixture(DOMAINS, sparse=True).param("kappa")
    scale = kappa.prior.sample(np.random.default_rng(4), (20_000,))
    shrinkage = kappa.coordinate.to_param(local=scale)
    assert stats.kstest(shrinkage, stats.beta(0.5, 0.5).cdf).pvalue > 1e-3


@pytest.mark.parametrize(("transfer", "name"), [("exponential", "v"), ("additive", "tau")])
def test_in_full_the_vector_holds_the_transfer_itself(transfer, name):
    packing = made(transfer)
    sites = packing.sample_prior(np.random.default_rng(1), 20)
    full = {z: np.ones_like(c) for z, c in packing.no_centring().items()}
    held = packing.cut(packing.join(sites, full))[f"{name}_z"]
    slab = SLAB if name == "v" else 1.0
    own = sites[f"{name}_z"] * spread(sites["local"], sites["g"], slab)
    np.testing.assert_allclose(held if name == "v" else np.exp(held), own, rtol=1e-10)


@pytest.mark.parametrize("transfer", ["exponential", "additive"])
def test_a_change_of_coordinates_there_and_back_with_its_jacobian(transfer):
    packing, rng = made(transfer), np.random.default_rng(2)
    centring = {z: rng.uniform(0, 1, c.shape) for z, c in packing.no_centring().items()}
    sites = {k: v[0] for k, v in packing.sample_prior(rng, 1).items()}
    vector = packing.join(sites, centring)
    for name, values in packing.constrain(vector, centring).items():
        np.testing.assert_allclose(values, sites[name], rtol=1e-10)
    moves = 1e-6 * np.eye(packing.size)
    plain = [packing.join(packing.constrain(vector + m, centring)) for m in (*moves, *-moves)]
    slopes = (np.array(plain[: packing.size]) - plain[packing.size :]) / 2e-6
    found = packing.log_jacobian(packing.split(vector, centring), centring)
    assert float(found) == pytest.approx(np.linalg.slogdet(slopes)[1], abs=1e-5)


def test_transfers_that_differ_by_corpus_stay_in_units_of_their_scale():
    assert made("additive").scales
    assert made("additive", {"tau": independent("corpus")}).scales == ()


def test_a_transfer_is_centred_as_far_as_the_data_tell_it():
    """Of two pairs the data see one sharply; a worth, which is positive, is centred anyway."""
    packing = made("exponential")
    values = {k: v[0] for k, v in packing.sample_prior(np.random.default_rng(6), 1).items()}
    start = packing.join(values)
    precision = np.ones(packing.size)
    precision[packing.slice_of("v_z")] = [1, 1, 1, 1, 1, 100]

    def gradient(vector, centring):
        off = vector - start
        return float(-(precision * off**2).sum() / 2), -precision * off

    found, starts = choose_scaled(gradient, packing, packing.no_centring(), start[None])
    np.testing.assert_allclose(found["v_z"], [0, 0, 0, 0, 0, 0.99], atol=1e-6)
    np.testing.assert_allclose(packing.join(values, found), starts[0])
    worths = made("additive")
    middle = worths.join(worths.sample_prior(np.random.default_rng(0), 1))
    assert (choose_scaled(gradient, worths, worths.no_centring(), middle)[0]["tau_z"] == 1).all()


def test_sharp_worths_are_sampled_with_short_trajectories():
    """Eighteen mixtures of three domains, noise of .2%: two worths are seen, four are not."""
    law = mixture(DOMAINS, transfer="additive", sparse=True, repetition=False, size=False)
    rng = np.random.default_rng(5)
    shares = rng.dirichlet((1, 1, 1), 18)
    tokens = {f"D_{d}": shares[:, k] * 1e10 for k, d in enumerate(DOMAINS)}
    worth = {(0, 2): 0.5, (2, 0): 0.3}
    own = [
        sum(worth.get((k, m), 1.0 * (k == m)) * shares[:, k] for k in range(3)) for m in range(3)
    ]
    loss = (2 + 30 * (1e10 * np.concatenate(own)) ** -0.2) * np.exp(0.002 * rng.normal(size=54))
    runs = {"target": np.repeat(DOMAINS, 18), "loss": loss}
    runs |= {name: np.tile(values, 3) for name, values in tokens.items()}
    fit = bs.fit(law, pd.DataFrame(runs), seed=3, draws=500, warmup=300, progress=False)
    assert fit.summary["rhat"].max() < 1.02
    assert fit.record["gradients_per_draw"] < 60
    tau = fit.summary.loc[["tau[web→books]", "tau[books→web]"]]
    assert ((tau["q05"] < [0.5, 0.3]) & (tau["q95"] > [0.5, 0.3])).all()


@pytest.mark.parametrize(("transfer", "name"), [("exponential", "v"), ("additive", "tau")])
def test_the_gate_compares_transfers_themselves_with_their_prior(transfer, name):
    """All scales a hundredth of the prior's: coordinates are as before, transfers are not."""
    law = mixture(DOMAINS, transfer=transfer, sparse=True, repetition=False)
    packing = made(transfer)
    sites = packing.sample_prior(np.random.default_rng(7), 4000)
    vectors = packing.join(sites | {"g": sites["g"] / 100})[None]
    drawn = SimpleNamespace(vectors=vectors, centring=packing.no_centring())
    found = _moments(Model(law, law.default_noise), packing, law.axes, drawn, seed=1)
    mean, sd, after, narrow = found[f"{name}[web→code]"]
    if name == "v":
        assert narrow < 0.3 * sd
    else:
        assert after - mean < -3  # of ln(100), and the slab takes some
    assert "kappa" in law.nuisance
    assert not [n for n in found if n.startswith("kappa")]
