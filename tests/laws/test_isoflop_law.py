"""IsoFLOP valleys: minima, curvature, Chinchilla's slices, pooling by default, refusals."""

import numpy as np
import pytest

from bayescale.errors import LawError
from bayescale.inference.model import Model
from bayescale.law import Law, Param
from bayescale.laws import CHINCHILLA
from bayescale.laws.isoflop import MEANS, isoflop
from bayescale.noise import Noise
from bayescale.pooling import Pooling, independent, partial
from bayescale.priors import HalfNormal, LogNormal, Normal

EXTRA = {"parabola": {}, "cubic": {"s": 0.2}, "powers": {"alpha": 0.5, "beta": 0.3}}
VALLEY = {"L_min": 2.3, "G": 0.8, "a": 0.47, "h": 0.06, "C": 3e19}
BEST = 0.8 * (3e19 / 6) ** 0.47


@pytest.mark.parametrize("shape", MEANS)
def test_the_minimum_lies_on_the_power_law_with_curvature_h(shape):
    def loss(x):
        return isoflop(shape=shape).mean(**VALLEY, **EXTRA[shape], N=BEST * np.exp(x))

    step = 1e-3
    assert loss(0.0) == pytest.approx(2.3, rel=1e-14)
    assert (loss(step) - loss(-step)) / (2 * step) == pytest.approx(0, abs=1e-6)
    bend = (loss(step) - 2 * loss(0.0) + loss(-step)) / step**2
    assert bend == pytest.approx(0.06, rel=1e-4)


def test_cubic_and_powers_agree_to_third_order():
    x = 0.05
    odd = {}
    for shape, extra in (("cubic", {"s": -0.2}), ("powers", EXTRA["powers"])):
        up, down = (MEANS[shape](**VALLEY, **extra, N=BEST * np.exp(sign * x)) for sign in (1, -1))
        odd[shape] = up - down
    assert odd["powers"] == pytest.approx(odd["cubic"], rel=1e-2)  # s = beta - alpha


@pytest.mark.parametrize("seed", range(5))
def test_powers_is_exactly_a_slice_of_chinchilla(seed):
    rng = np.random.default_rng(seed)
    alpha, beta = rng.uniform(0.2, 0.7, 2)
    E, A, B, C = 1.8, 0.4 * 4e8**alpha, 0.5 * 8e9**beta, 10 ** rng.uniform(18, 22)
    G = (alpha * A / (beta * B)) ** (1 / (alpha + beta))
    a = beta / (alpha + beta)
    best = G * (C / 6) ** a
    least = E + A * best**-alpha + B * (C / 6 / best) ** -beta
    h = alpha**2 * A * best**-alpha + beta**2 * B * (C / 6 / best) ** -beta
    N = best * np.geomspace(1 / 30, 30, 41)
    mine = MEANS["powers"](L_min=least, G=G, a=a, h=h, alpha=alpha, beta=beta, N=N, C=C)
    theirs = CHINCHILLA.mean(E=E, A=A, B=B, alpha=alpha, beta=beta, N=N, D=C / 6 / N)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_budgets_are_partially_pooled_unless_a_user_says_otherwise():
    law = isoflop()
    plain = {p.name: Model(law).pool(p) for p in law.params}
    assert plain["L_min"] == independent("budget")
    assert plain["G"] == partial("budget", LogNormal(0.03, 0.8))
    assert plain["h"] == partial("budget", LogNormal(0.3, 0.7))
    assert plain["a"] is None
    own = Model(law, Noise(), Pooling.of({"G": independent("budget")}))
    assert own.pool(law.param("G")) == independent("budget")
    held = isoflop(deviations=False)
    assert Model(held).pool(held.param("G")) is None


def test_a_spread_needs_labels_and_a_nuisance_a_parameter():
    with pytest.raises(LawError, match="'x' has a spread but no column by whose labels"):
        Param("x", Normal(0, 1), spread=HalfNormal(1.0))
    with pytest.raises(LawError, match="has no parameter 'y'"):
        Law("own", (), (Param("x", Normal(0, 1)),), lambda x: x, nuisance=("y",))


def test_the_gate_lets_an_asymmetry_be_its_prior_and_nothing_else():
    assert isoflop().nuisance == ("alpha", "beta")
    assert isoflop(shape="cubic").nuisance == ("s",)
    assert isoflop(shape="parabola").nuisance == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": "parabolla"}, "no shape 'parabolla'; it has parabola, .* mean 'parabola'"),
        ({"budgets": ("1e18",)}, "two or more are needed"),
        ({"budgets": "1e18"}, "two or more are needed"),
        ({"budgets": ("1e18", "1e18")}, "twice the same label"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(LawError, match=message):
        isoflop(**options)
