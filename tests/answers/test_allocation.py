"""The optimum against closed forms and brute force; regret and waste."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from bayescale.answers.allocation import allocate
from bayescale.answers.surface import best_size, compute_for_loss, surface
from bayescale.data.cost import SIX_ND, custom, six_nd
from bayescale.errors import DataError, FitError
from bayescale.laws.power_law import power_law
from tests.answers.conftest import made_up

C = 5.76e23


def closed_form(fit, budget):
    """Chinchilla: N_opt = G (C/6)^a, L* = E + K (C/6)^-gamma (arXiv:2203.15556, eq. 4)."""
    E, A, B, alpha, beta = (fit.draws(k) for k in ("E", "A", "B", "alpha", "beta"))
    total = alpha + beta
    G = (alpha * A / (beta * B)) ** (1 / total)
    size = G * (budget / 6) ** (beta / total)
    K = A * G**-alpha + B * G**beta
    return size, E + K * (budget / 6) ** (-alpha * beta / total)


@pytest.mark.parametrize("budget", [1e19, 1e21, C, 1e26])
def test_optimum_equals_the_closed_form(chinchilla, budget):
    answer = allocate(chinchilla, budget)
    size, loss = closed_form(chinchilla, budget)
    np.testing.assert_allclose(answer.draws["N_opt"][:, 0], size, rtol=2e-6)
    np.testing.assert_allclose(answer.draws["loss"][:, 0], loss, rtol=1e-12)
    np.testing.assert_allclose(answer.draws["D_opt"][:, 0], budget / 6 / size, rtol=2e-6)


def test_local_exponents_equal_the_laws(chinchilla):
    answer = allocate(chinchilla, C)
    for name in ("a", "b"):
        np.testing.assert_allclose(
            answer.draws[name][:, 0], chinchilla.draws(name), rtol=0, atol=5e-6
        )
        np.testing.assert_allclose(answer.exponents[name], chinchilla.draws(name))


@pytest.mark.parametrize("law", ["chinchilla", "kaplan", "coupled"])
def test_optimum_equals_brute_force(law, sweep):
    fit = made_up(law, sweep, draws=12)
    laws = surface(fit)
    _, loss = best_size(laws, SIX_ND, np.array(C), np.arange(laws.size))
    for k in range(laws.size):

        def at(log_n, k=k):
            n = np.exp(log_n)
            return float(laws.mean(k, N=n, D=C / 6 / n))

        brute = minimize_scalar(at, bounds=(10, 40), method="bounded", options={"xatol": 1e-10})
        assert loss[k] == pytest.approx(brute.fun, rel=1e-10)


def test_custom_cost_gives_the_same_as_its_closed_twin(chinchilla):
    own = custom(lambda n, d: 6.0 * n * d, "own six")
    ours = allocate(chinchilla, 1e22, cost=own).draws["N_opt"]
    np.testing.assert_allclose(ours, allocate(chinchilla, 1e22).draws["N_opt"], rtol=1e-6)
    dearer = allocate(chinchilla, 1e22, cost=six_nd(12.0)).draws["N_opt"]
    np.testing.assert_allclose(dearer, allocate(chinchilla, 0.5e22).draws["N_opt"], rtol=1e-6)


def test_compute_for_loss_inverts_the_frontier(chinchilla):
    laws = surface(chinchilla)
    _, loss = closed_form(chinchilla, 3e22)
    found = compute_for_loss(laws, SIX_ND, loss, 1e21)
    np.testing.assert_allclose(found, 3e22, rtol=1e-6)
    unreachable = compute_for_loss(laws, SIX_ND, 0.99 * chinchilla.draws("E"), 1e21)
    assert np.isinf(unreachable).all()


def test_regret_is_least_at_the_recommended_size(chinchilla):
    answer = allocate(chinchilla, C)
    best = answer.recommended[0]
    others = allocate(chinchilla, C, N=[best.N * f for f in (0.5, 0.9, 1.1, 2.0)]).choices
    assert all(best.expected_regret < o.expected_regret for o in others)
    assert (best.regret >= 0).all()
    assert pytest.approx(np.median(answer.draws["N_opt"]), rel=0.5) == best.N


def test_waste_is_compute_over_the_least_that_reaches_the_loss(chinchilla):
    choice = allocate(chinchilla, C, N="40B").choices[0]
    laws = surface(chinchilla)
    loss = laws.mean(np.arange(laws.size), N=40e9, D=C / 6 / 40e9)
    E, gamma = chinchilla.draws("E"), chinchilla.draws("gamma")
    _, at_c = closed_form(chinchilla, C)
    needed = C * ((at_c - E) / (loss - E)) ** (1 / gamma)  # L* - E is a power law of C
    np.testing.assert_allclose(choice.waste, C / needed, rtol=1e-5)
    assert pytest.approx(C / 6 / 40e9) == choice.D


def test_json_has_the_keys_that_scripts_read(chinchilla):
    record = json.loads(json.dumps(allocate(chinchilla, [1e21, "5.76e23"], N=1e9).to_dict()))
    assert [a["C"] for a in record["allocations"]] == [1e21, 5.76e23]
    first = record["allocations"][0]
    for name in ("N_opt", "D_opt", "tokens_per_param", "loss", "a", "b"):
        q = first[name]
        assert q["q025"] <= q["q05"] <= q["median"] <= q["q95"] <= q["q975"]
    assert first["choices"][0]["expected_regret"] >= 0
    assert set(record["exponents"]) == {"a", "b", "gamma"}
    assert record["converged"] is True


def test_frame_and_dataset_agree_with_the_draws(chinchilla):
    answer = allocate(chinchilla, [1e21, 1e22])
    row = answer.to_frame().query("quantity == 'N_opt' and C == 1e22")
    assert float(row["median"].iloc[0]) == pytest.approx(np.median(answer.draws["N_opt"][:, 1]))
    assert answer.dataset["N_opt"].dims == ("draw", "budget")


def test_budgets_beyond_the_data_are_told(chinchilla, sweep):
    inside = allocate(chinchilla, float(np.median(sweep.column("C"))))
    assert not any("beyond" in w or "above" in w for w in inside.warnings)
    outside = allocate(chinchilla, 100 * float(sweep.column("C").max()))
    assert any("C 100x above the data" in w for w in outside.warnings)
    assert outside.to_dict()["allocations"][0]["outside"]["inside_data"] is False


@pytest.mark.parametrize(
    ("budget", "words"),
    [("24", "too small"), ("much", "not a number"), (-1e21, "above zero"), (0, "above zero")],
)
def test_budgets_that_make_no_sense_are_refused(chinchilla, budget, words):
    with pytest.raises(DataError, match=words):
        allocate(chinchilla, budget)


def test_laws_without_size_and_data_are_refused(sweep):
    fit = made_up(power_law("C"), sweep)
    with pytest.raises(FitError, match="reads C; an allocation needs a law of N and D"):
        allocate(fit, C)


def test_a_size_that_leaves_no_token_is_refused(chinchilla):
    with pytest.raises(FitError, match="less than one token"):
        allocate(chinchilla, 1e12, N="1T")
