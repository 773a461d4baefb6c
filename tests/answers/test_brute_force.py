"""What laws report in closed form, against brute force on prior draws: no lower loss anywhere."""

import numpy as np
import pytest

from bayescale.answers.allocation import allocate
from bayescale.answers.composition import optima
from bayescale.answers.multiplier import compute_multiplier
from bayescale.answers.surface import surface
from bayescale.families import FAMILIES
from bayescale.laws import LAWS
from tests.answers.brute import HIGH, LOW, designed, least, prior_fit
from tests.answers.conftest import made_up

ALL = LAWS | {name: family.example for name, family in FAMILIES.items()}
SMALL, LARGE = 1e20, 1e23
CLOSE = 1e-6


def derived(law):
    return {d.name for d in law.derived}


def best_settings(p, N, D):
    """Best learning rate and batch size of the step law."""
    return {
        s: p[f"{s}_1"] * N ** p[f"{s}_N"] * D ** p[f"{s}_D"]  # of each size and token count
        for s in ("lr", "bs")
    }


# what else a law reads, along its own optimum or held: (params, N, D) -> inputs
ALONG = {
    "repetition": lambda p, N, D: {"U": D},
    "repetition-tokens": lambda p, N, D: {"U": D},
    "krajewski": lambda p, N, D: {"G": 8.0},
    "step-law": best_settings,
    "width-depth": lambda p, N, D: {"width": p["R"] * N ** p["rho"], "depth": 1.0},
}
LABELLED = {"bimodal", "mixture", "decoupled", "isoflop"}  # a for each label: tests of their own
WITH_A = [n for n, law in ALL.items() if "a" in derived(law) and n not in LABELLED]


def loss_of(fit, laws, N, D):
    """Loss of every draw at N and D, shape (draw, point)."""
    p = {k: v[:, None] for k, v in laws.params.items() if np.ndim(v) == 1}
    more = ALONG.get(fit.law.name, lambda p, N, D: {})(p, N, D)
    return laws.mean(np.arange(laws.size)[:, None], N=N, D=D, **more)


def frontier(fit, laws, budget):
    """ln N and loss of the best size by brute force; one budget, or one for each draw."""
    log_c = np.log(np.broadcast_to(budget, (laws.size,)) / 6)[:, None]
    return least(lambda x: loss_of(fit, laws, np.exp(x), np.exp(log_c - x)), LOW, HIGH, laws.size)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=CLOSE)


def test_every_law_that_reports_an_allocation_exponent_is_here():
    reports = {n for n, law in ALL.items() if {"a", "a_at"} & {d for d in derived(law)}}
    reports |= {n for n, law in ALL.items() if "a" in {p.name for p in law.params}}
    assert reports - LABELLED - {"broken-power-law", *LAWS} == set()
    assert {n for n in WITH_A if ALL[n].inputs != ALL["chinchilla"].inputs} <= ALONG.keys()


@pytest.mark.parametrize("name", WITH_A)
def test_exponents_lead_from_one_optimum_to_another(name):
    """The optimum of a small budget, moved along a, b and gamma, is that of a large one."""
    fit = prior_fit(ALL[name].with_drift(False))  # a drift has an error of its own
    laws = surface(fit)
    log_n, loss = frontier(fit, laws, SMALL)
    _, best = frontier(fit, laws, LARGE)
    a, b = fit.draws("a"), fit.draws("b")
    up = np.log(LARGE / SMALL)
    N, D = np.exp(log_n + a * up), np.exp(np.log(SMALL / 6) - log_n + b * up)
    close(N * D, LARGE / 6)
    moved = loss_of(fit, laws, N[:, None], D[:, None])[:, 0]
    close(moved, best)
    E = laws.params.get("E", np.zeros(laws.size))
    close(E + (loss - E) * np.exp(-fit.draws("gamma") * up), best)


@pytest.mark.parametrize("name", [n for n, law in LAWS.items() if law.of_n_and_d])
def test_the_allocation_has_the_least_loss(name):
    fit = prior_fit(LAWS[name].with_drift(False), draws=25)
    laws, found = surface(fit), allocate(fit, [SMALL, LARGE])
    for k, budget in enumerate((SMALL, LARGE)):
        _, best = frontier(fit, laws, budget)
        there = np.isfinite(found.draws["loss"][:, k])
        assert there.sum() >= 20  # of wild prior draws some have less than one token or parameter
        close(found.draws["loss"][there, k], best[there])


@pytest.mark.parametrize("name", ["chinchilla", "kaplan", "coupled", "overtraining"])
def test_the_multiplier_reaches_the_same_loss(name):
    """The reference's frontier at C times the multiplier is the other's at C, by brute force."""
    runs = designed(LAWS[name])
    ours, theirs = (made_up(name, runs, draws=40, spread=0.02, seed=s) for s in (1, 2))
    found = compute_multiplier(ours, theirs, SMALL)
    order = np.random.default_rng([0, 29]).permutation(80)
    _, loss = frontier(ours, surface(ours), SMALL)
    ratio = found.draws[:, 0, 0]
    there = np.isfinite(ratio)
    assert there.sum() >= 20
    budgets = SMALL * np.where(there, ratio, 1.0)
    _, reached = frontier(theirs, surface(theirs), budgets)
    close(reached[there], loss[order][there])


def test_tokens_per_parameter_of_the_overtraining_law():
    fit = prior_fit(LAWS["overtraining"])
    laws, M = surface(fit), fit.draws("M_opt")
    for budget in (SMALL, LARGE):
        _, best = frontier(fit, laws, budget)
        N = np.sqrt(budget / 6 / M)[:, None]
        close(loss_of(fit, laws, N, N * M[:, None])[:, 0], best)


def test_size_that_unique_tokens_feed():
    """N_opt(U): in one epoch no other split of 6 N U has a lower loss."""
    for name in ("repetition", "repetition-tokens"):
        fit = prior_fit(LAWS[name])
        laws, U = surface(fit), float(fit.layout.refs["U_ref"])
        N = fit.draws("N_opt_ratio") * U
        tame = (np.log(N) > LOW / 2) & (np.log(N) < HIGH / 2)  # so that the grid holds it
        assert tame.sum() >= 20
        at = loss_of(fit, laws, N[:, None], np.full((laws.size, 1), U))[:, 0]
        _, best = frontier(fit, laws, 6 * N * U)
        close(at[tame], best[tame])


def test_learning_rate_and_batch_size_of_the_step_law():
    """At the data's centre no learning rate or batch size is better, nor at the optimum by C."""
    fit = prior_fit(LAWS["step-law"])
    laws, each = surface(fit), np.arange(30)[:, None]
    N, D = (float(fit.layout.refs[f"{x}_ref"]) for x in "ND")
    settings = {s: fit.draws(f"{s}_opt")[:, None] for s in ("lr", "bs")}
    best = laws.mean(each, N=N, D=D, **settings)[:, 0]
    for s in ("lr", "bs"):
        around = np.log(settings[s][:, 0])

        def loss(x, s=s):
            return laws.mean(each, N=N, D=D, **(settings | {s: np.exp(x)}))

        _, other = least(loss, around - 8, around + 8, laws.size)
        close(best, other)
    log_n, _ = frontier(fit, laws, SMALL)
    p, up = laws.params, np.log(LARGE / SMALL)
    n, d = np.exp(log_n), SMALL / 6 / np.exp(log_n)
    n2, d2 = n * np.exp(fit.draws("a") * up), d * np.exp(fit.draws("b") * up)
    moved = {
        s: (best_settings(p, n, d)[s] * np.exp(fit.draws(f"{s}_C") * up))[:, None]
        for s in ("lr", "bs")
    }
    _, best = frontier(fit, laws, LARGE)
    close(laws.mean(each, N=n2[:, None], D=d2[:, None], **moved)[:, 0], best)


def test_the_best_shape():
    fit = prior_fit(LAWS["width-depth"])
    laws, each = surface(fit), np.arange(30)[:, None]
    N, shape = float(fit.layout.refs["N_ref"]), fit.draws("best_shape")
    at = laws.mean(each, N=N, D=1e10, width=shape[:, None], depth=1.0)[:, 0]

    def loss(x):
        return laws.mean(each, N=N, D=1e10, width=np.exp(x), depth=1.0)

    _, best = least(loss, np.log(shape) - 10, np.log(shape) + 10, laws.size)
    close(at, best)


def test_optima_of_decoupled_objectives():
    fit = prior_fit(ALL["decoupled"])
    budget, ratios = 3e20, (0.1, 0.25)
    found = optima(fit, budget, list(ratios))
    params = {p.name: fit.draws(p.name)[:, None] for p in fit.law.params}
    for place, objective in enumerate(found.objectives):
        for k, r in enumerate(ratios):

            def loss(x, place=place, objective=objective, r=r):
                own = budget / 6 / np.exp(x)
                text = own if objective == "text" else own / r
                D = np.stack([text, r * text], axis=-1)
                return fit.law.mean(**params, N=np.exp(x), D=D, objective=np.eye(2)[place])

            _, best = least(loss, LOW, HIGH, 30)
            close(found.draws["loss"][:, place, k, 0], best)


@pytest.mark.parametrize("name", ["mixture", "bimodal"])
def test_exponents_of_targets_at_a_fixed_mixture(name):
    """a of a target's own law: shares stay while tokens grow (of two modalities, one alone)."""
    fit = prior_fit(ALL[name].with_drift(False))  # a drift has an error of its own
    column = fit.law.label_columns[0]
    for place, target in enumerate(fit.law.axes[column]):
        laws = surface(fit, {column: target})
        shares = np.array([0.7, 0.3])
        if name == "bimodal":
            if "+" in target or place > 1:
                continue
            shares = np.eye(2)[place]
        label = np.eye(len(fit.law.axes[column]))[place]
        each = np.arange(laws.size)[:, None]

        def loss(x, budget, laws=laws, shares=shares, label=label, each=each):
            D = np.asarray(budget / 6 / np.exp(x))[..., None] * shares
            more = {"U": D[..., 1:]} if name == "mixture" else {}
            return laws.mean(each, N=np.exp(x), D=D, **more, **{column: label})

        log_n, _ = least(lambda x, f=loss: f(x, SMALL), LOW, HIGH, laws.size)
        _, best = least(lambda x, f=loss: f(x, LARGE), LOW, HIGH, laws.size)
        a = fit.draws("a")[:, place]
        moved = loss((log_n + a * np.log(LARGE / SMALL))[:, None], LARGE)[:, 0]
        close(moved, best)
