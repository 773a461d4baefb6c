"""Each check of the gate fires on draws made to fail it, and on no others."""

import json

import numpy as np
import pytest
from scipy.signal import lfilter

from bayescale.inference.diagnostics import diagnose
from bayescale.inference.gate import Gate, Problem, gate_from_dict, judge
from bayescale.inference.model import Model
from bayescale.inference.posterior import Variable
from bayescale.inference.tied import tied_problems
from bayescale.laws.mixture import mixture

CHAINS, DRAWS = 4, 1000
WELL_KNOWN = {"alpha": (0.0, 1.0, 0.3, 0.1)}  # prior mean and SD, posterior mean and SD


def good_stats():
    rng = np.random.default_rng(1)
    return {
        "energy": rng.standard_normal((CHAINS, DRAWS)),
        "diverging": np.zeros((CHAINS, DRAWS), dtype=bool),
        "reached_max_treedepth": np.zeros((CHAINS, DRAWS), dtype=bool),
    }


def good_draws(names=3):
    return np.random.default_rng(2).standard_normal((names, CHAINS, DRAWS))


def autocorrelated(rho, shape, seed=3):
    """AR(1) series with unit variance along the last axis."""
    noise = np.random.default_rng(seed).standard_normal(shape)
    noise[..., 0] /= np.sqrt(1 - rho**2)
    return lfilter([np.sqrt(1 - rho**2)], [1, -rho], noise, axis=-1)


def verdict(draws=None, moments=WELL_KNOWN, design=(), **stats):
    draws = good_draws() if draws is None else draws
    names = tuple(f"p{k}" for k in range(len(draws)))
    return judge(diagnose(names, draws, good_stats() | stats), moments, design)


def checks(gate):
    return {p.check for p in gate.problems}


def test_good_draws_pass():
    gate = verdict()
    assert gate.converged
    assert not gate.problems
    assert gate.max_rhat < 1.01
    assert gate.min_ess_bulk > 3000
    assert gate.headline().startswith("converged (R-hat 1.00")


def test_a_shifted_chain_fails_rhat():
    draws = good_draws()
    draws[1, 2] += 0.5
    gate = verdict(draws)
    assert "rhat" in checks(gate)
    assert gate.max_rhat > 1.01
    assert gate.headline().startswith("NOT CONVERGED: ")
    assert "p1 1.0" in gate.problems[0].message
    assert "p0" not in gate.problems[0].message


def test_a_chain_of_another_width_fails_rhat():
    """Split R-hat of the values alone can't see it, the folded one does."""
    draws = good_draws()
    draws[0, 1] *= 3
    assert "rhat" in checks(verdict(draws))


def test_slow_chains_fail_ess():
    draws = good_draws()
    draws[2] = autocorrelated(0.98, (CHAINS, DRAWS))
    gate = verdict(draws)
    assert {"ess_bulk", "ess_tail"} <= checks(gate)
    assert gate.min_ess_bulk < 400
    for problem in gate.problems:
        if problem.check.startswith("ess"):
            assert "p2" in problem.message
            assert "p0" not in problem.message
            assert "draws" in problem.remedy


def test_slow_tails_alone_fail_tail_ess():
    """Values mix well inside, but each chain stays long on one side of the upper tail."""
    rng = np.random.default_rng(5)
    draws = rng.standard_normal((1, CHAINS, DRAWS))
    scale = np.where(autocorrelated(0.995, (CHAINS, DRAWS), 6) > 1, 4.0, 1.0)
    gate = verdict(draws * scale)
    assert "ess_tail" in checks(gate)
    assert "ess_bulk" not in checks(gate)


def test_one_divergence_fails():
    diverging = np.zeros((CHAINS, DRAWS), dtype=bool)
    diverging[3, 17] = True
    gate = verdict(diverging=diverging)
    assert checks(gate) == {"divergences"}
    assert gate.divergences == 1
    assert gate.problems[0].message.startswith("1 divergent")


def test_a_crawling_energy_fails_ebfmi():
    gate = verdict(energy=autocorrelated(0.95, (CHAINS, DRAWS)))
    assert checks(gate) == {"ebfmi"}
    assert gate.min_ebfmi < 0.3


def test_one_crawling_chain_is_enough():
    energy = good_stats()["energy"]
    energy[2] = autocorrelated(0.97, (DRAWS,))
    assert checks(verdict(energy=energy)) == {"ebfmi"}


@pytest.mark.parametrize(
    ("moments", "fires"),
    [
        ((0.0, 1.0, 0.02, 0.98), True),  # nothing learnt
        ((0.0, 1.0, 0.4, 0.9), True),  # barely
        ((0.0, 1.0, 0.02, 0.4), False),  # narrower
        ((0.0, 1.0, 1.5, 0.98), False),  # moved away from the prior
        ((0.0, 1.0, -1.5, 0.98), False),
        ((5.0, 0.1, 5.0, 0.099), True),  # in the prior's own unit
    ],
)
def test_a_posterior_that_is_its_prior_fails(moments, fires):
    gate = verdict(moments={"alpha": WELL_KNOWN["alpha"], "beta": moments})
    assert (checks(gate) == {"prior"}) == fires
    assert gate.converged != fires
    if fires:
        assert "beta" in gate.problems[0].message
        assert gate.headline().startswith("NOT IDENTIFIED: prior")


def test_design_problems_are_handed_on():
    gate = verdict(design=[Problem("design", "All runs have D = 20 N.", "vary D")])
    assert not gate.converged
    assert gate.headline().startswith("NOT IDENTIFIED: design")
    assert str(gate.problems[0]) == "All runs have D = 20 N. Try: vary D"


def test_sampler_trouble_comes_first_in_the_headline():
    draws = good_draws()
    draws[1, 2] += 2
    gate = verdict(draws, design=[Problem("design", "tied", "vary")])
    assert gate.headline().startswith("NOT CONVERGED")
    assert "design" in gate.headline()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_draws_that_are_no_numbers_fail(wrong):
    draws = good_draws()
    draws[1, 0, 10] = wrong
    gate = verdict(draws)
    assert not gate.converged
    assert any("p1" in p.message for p in gate.problems)


def test_a_constant_quantity_is_no_problem():
    """Such as a derived quantity of fixed inputs: it has no R-hat and needs none."""
    draws = good_draws()
    draws[0] = 3.0
    assert verdict(draws).converged


def test_chains_that_never_move_fail():
    draws = np.broadcast_to(np.array([1.0, 2.0, 3.0])[:, None, None], (3, CHAINS, DRAWS))
    gate = verdict(draws, energy=np.ones((CHAINS, DRAWS)))
    assert not gate.converged
    assert gate.headline().startswith("NOT CONVERGED")


def test_chains_stuck_at_different_places_fail():
    draws = np.broadcast_to(np.arange(CHAINS)[None, :, None] * 1.0, (2, CHAINS, DRAWS))
    assert "rhat" in checks(verdict(draws))


def test_gate_survives_json():
    draws = good_draws()
    draws[1, 2] += 1
    gate = verdict(draws)
    record = json.loads(json.dumps(gate.to_dict()))
    assert record["converged"] is False
    assert record["reasons"][0]["check"] == "rhat"
    assert gate_from_dict(record) == gate
    assert isinstance(gate, Gate)


def test_diagnostics_are_arviz_numbers():
    import arviz_stats as az
    import xarray as xr

    draws = autocorrelated(0.7, (2, CHAINS, DRAWS))
    found = diagnose(("p0", "p1"), draws, good_stats())
    coords = {"chain": np.arange(CHAINS), "draw": np.arange(DRAWS)}
    data = xr.Dataset({f"p{k}": (("chain", "draw"), draws[k]) for k in range(2)}, coords)
    for name, expected in (
        ("rhat", az.rhat(data)),
        ("ess_bulk", az.ess(data, method="bulk")),
    ):
        for k in range(2):
            assert getattr(found, name)[k] == pytest.approx(float(expected[f"p{k}"]), rel=1e-9)
    ends = [az.ess(data, method="quantile", prob=q)["p0"] for q in (0.05, 0.95)]
    assert found.ess_tail[0] == pytest.approx(float(min(ends)), rel=1e-9)
    energy = xr.Dataset({"energy": (("chain", "draw"), good_stats()["energy"])}, coords)
    tree = xr.DataTree.from_dict({"/sample_stats": energy})
    np.testing.assert_allclose(found.ebfmi, np.ravel(az.bfmi(tree)["energy"]), rtol=1e-2)
    se = xr.DataArray(draws[0], coords, ("chain", "draw")).to_dataset(name="x")
    assert found.mcse[0] == pytest.approx(float(az.mcse(se, method="mean")["x"]), rel=0.02)


def correlated(rho, sd=1.0):
    """Draws of c by target and v by transfer, in which one pair is correlated."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((4, 1000, 5))
    c, v = z[..., :2], z[..., 2:].copy()
    v[..., 0] = rho * c[..., 0] + np.sqrt(1 - rho**2) * v[..., 0]
    labels = {"diluted": ("text", "code"), "transfer": ("code→text", "text→code", "text→image")}
    found = {
        "c": Variable(sd * c, ("diluted",), "param"),
        "v": Variable(sd * v, ("transfer",), "param"),
    }
    names = ["c[text]", "c[code]", *(f"v[{t}]" for t in labels["transfer"])]
    return found, labels, {n: (0.0, 1.0, 0.0, sd) for n in names}


@pytest.mark.parametrize(
    ("rho", "sd", "seen"), [(-0.95, 1.0, True), (-0.8, 1.0, False), (-0.95, 0.1, False)]
)
def test_quantities_that_stand_in_for_each_other_are_named(rho, sd, seen):
    model = Model(mixture(("text", "code"), ("text", "code", "image"), repetition=False))
    problems = tied_problems(model, *correlated(rho, sd))
    assert bool(problems) == seen
    if seen:
        assert problems[0].check == "tied"
        assert "c[text] with v[code→text] (-0.95)" in problems[0].message
        assert "and " not in problems[0].message.split("correlations:")[1]
