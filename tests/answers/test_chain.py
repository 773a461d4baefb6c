"""A chain of laws: accuracy by way of loss, with the uncertainty of both."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.answers.chain import Chain

FEW = {"chains": 2, "draws": 300, "progress": False}


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    """A sweep with losses of a Chinchilla law and errors that follow them."""
    rng = np.random.default_rng(6)
    n, d = (v.ravel() for v in np.meshgrid(np.geomspace(3e7, 3e9, 7), np.geomspace(1e9, 1e11, 6)))
    loss = 1.8 + 400 * n**-0.34 + 420 * d**-0.29
    loss = loss * np.exp(rng.normal(0, 0.004, len(n)))
    error = 0.8 - 2.0 * np.exp(-0.8 * loss) + rng.normal(0, 0.004, len(n))
    return pd.DataFrame({"N": n, "D": d, "loss": loss, "error": error})


@pytest.fixture(scope="module")
def chain(runs) -> Chain:
    loss = bs.fit("chinchilla", runs[["N", "D", "loss"]], **FEW)
    return Chain(loss, bs.fit("loss-to-error", runs[["loss", "error"]], **FEW))


def test_intervals_hold_the_truth_and_carry_both_laws(chain):
    size, tokens = 1e10, 2e11
    found = chain.predict(N=size, D=tokens)
    truth = 0.8 - 2.0 * np.exp(-0.8 * (1.8 + 400 * size**-0.34 + 420 * tokens**-0.29))
    low, high = np.quantile(found.loss, [0.01, 0.99])
    assert low < truth < high
    assert found.response == "error"
    assert found.new_run.std() > found.loss.std()
    fixed = chain.accuracy.predict(loss=float(np.median(chain.loss.predict(N=size, D=tokens).loss)))
    assert found.loss.std() > fixed.loss.std()  # the first law's spread is in it
    assert "loss" in found.reach


def test_draw_by_draw_it_is_the_second_law_at_the_first_laws_loss(chain):
    """With one draw of either law, the chain is their composition."""
    found = chain.predict(N=[1e9, 2e9], D=3e10, seed=3)
    mean = chain.loss.predict(N=[1e9, 2e9], D=3e10, seed=3).loss
    second = {k: chain.accuracy.draws(k) for k in ("epsilon", "k", "gamma")}
    order = np.random.default_rng([chain.loss.seed, 3, 31]).permutation(len(mean))
    expected = second["epsilon"][:, None] - second["k"][:, None] * np.exp(
        -second["gamma"][:, None] * mean[order]
    )
    np.testing.assert_allclose(found.loss, expected, rtol=1e-12)
    assert sorted(order) == list(range(len(mean)))


def test_a_new_run_scatters_by_both_noises(chain):
    found = chain.predict(N=3e8, D=1e10)
    slope = 2.0 * 0.8 * np.exp(-0.8 * np.median(chain.loss.predict(N=3e8, D=1e10).loss))
    loss_sd = 0.004 * np.median(chain.loss.predict(N=3e8, D=1e10).loss)
    expected = np.hypot(0.004, slope * loss_sd)
    spread = np.diff(np.quantile(found.new_run, [0.25, 0.75]))[0] / 1.349
    assert spread == pytest.approx(expected, rel=0.35)


def test_it_is_shown_and_needs_a_law_that_reads_the_loss(chain):
    assert "loss-to-error" in str(chain)
    assert "chinchilla" in str(chain.predict(N=1e9, D=1e10))
    with pytest.raises(bs.FitError, match="reads N, D, not the loss"):
        Chain(chain.loss, chain.loss)
    with pytest.raises(bs.FitError, match="unknown argument 'M'"):
        chain.predict(N=1e9, D=1e10, M=3)
