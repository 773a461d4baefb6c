"""Over-training: the same losses as Chinchilla's law with one exponent, and what that implies."""

import numpy as np

import bayescale as bs
from bayescale.data.simulate import simulate
from bayescale.law import call_with
from bayescale.laws import LAWS

LAW = LAWS["overtraining"]
VALUES = {"E": 1.8, "a_M": 180.0, "b_M": 400.0, "eta": 0.13}
N = np.geomspace(1e7, 1e11, 7)[:, None]
D = np.geomspace(1e8, 1e13, 8)


def derived():
    return {d.name: call_with(d.function, VALUES) for d in LAW.derived}


def test_it_is_chinchilla_with_one_exponent():
    also = derived()
    same = {k: also[k] for k in ("A", "B", "alpha")} | {"beta": also["alpha"], "E": VALUES["E"]}
    chinchilla = LAWS["chinchilla"].mean(**same, N=N, D=D)
    np.testing.assert_allclose(LAW.mean(**VALUES, N=N, D=D), chinchilla, rtol=1e-13)


def test_it_is_the_published_form_in_compute_and_tokens_per_parameter():
    C, M, eta = 6 * N * D, D / N, VALUES["eta"]
    published = VALUES["E"] + (VALUES["a_M"] * M**eta + VALUES["b_M"] * M**-eta) * C**-eta
    np.testing.assert_allclose(LAW.mean(**VALUES, N=N, D=D), published, rtol=1e-13)


def test_over_training_costs_the_same_factor_at_every_compute():
    best = derived()["M_opt"]
    C = np.array([1e18, 1e21, 1e24])

    def reducible(M):
        size = np.sqrt(C / (6 * M))
        return LAW.mean(**VALUES, N=size, D=M * size) - VALUES["E"]

    for factor in (1 / 16, 16, 256):
        waste = reducible(factor * best) / reducible(best)
        expected = (factor ** VALUES["eta"] + factor ** -VALUES["eta"]) / 2
        np.testing.assert_allclose(waste, expected, rtol=1e-12)


def test_parameters_come_back_from_a_simulated_grid():
    sizes, ratios = np.meshgrid(np.geomspace(1e7, 7e9, 7), (5, 20, 80, 320, 640))
    design = {"N": sizes.ravel(), "D": (sizes * ratios).ravel()}
    truth = VALUES | {"sigma": 0.004, "nu": 10.0}
    fit = bs.fit(LAW, simulate(LAW, truth, design, seed=3), seed=1, progress=False)
    assert fit.converged, fit.gate.headline()
    truth |= derived()
    for name in (*VALUES, "A", "B", "alpha", "M_opt"):
        draws = np.log(fit.draws(name))
        assert abs(draws.mean() - np.log(truth[name])) < 3.5 * draws.std(), name
    assert fit.record["gradients_per_draw"] < 15


def test_real_sweep_has_an_exponent_between_chinchillas_two(monkeypatch, data_dir):
    """The compiler's point fit of Chinchilla's law on RedPajama runs: .243 and .273."""
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    fit = bs.fit(LAW, "gadre-rpj", seed=1, progress=False)
    assert fit.converged, fit.gate.headline()
    assert 0.243 < fit.summary.loc["alpha", "median"] < 0.273
    assert fit.summary.loc["alpha", "q95"] - fit.summary.loc["alpha", "q05"] < 0.04
