"""The sampler's log density is the NumPyro model's, and both are what the equations say."""

import numpy as np
import pytest
from scipy import stats

import bayescale as bs
from bayescale import priors
from bayescale.inference.batch import make_batch, make_layout, pad
from bayescale.inference.density import log_density
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.pooling import Pooling

NOISES = {
    "log_normal": bs.log_normal(),
    "normal": bs.normal(),
    "student_t on response": bs.Noise(on="response"),
    "known_sd": bs.student_t(known_sd="loss_sd"),
    "known_sd only": bs.log_normal(known_sd="loss_sd", sigma=None),
    "known_sd on response": bs.normal(known_sd="loss_sd"),
    "varies with C": bs.student_t(varies_with="C"),
    "varies with loss": bs.log_normal(varies_with="loss"),
    "runs": bs.student_t(runs="run"),
    "memory": bs.student_t(runs="run", along="D", offset=False),
    "memory in checkpoints": bs.log_normal(runs="run", along="checkpoint", offset=False),
    "memory and offsets": bs.student_t(runs="run", along="D", memory=priors.Gamma(2.0, 1.0)),
    "all": bs.student_t(known_sd="loss_sd", varies_with="N", runs="run"),
}
POOLINGS = {
    "partial E": {"E": bs.partial("corpus")},
    "partial coordinate": {"size_term": bs.partial("corpus", priors.LogNormal(0.2, 0.5))},
    "uniform spread": {"alpha": bs.partial("corpus", priors.Uniform(0.0, 1.0))},
    "independent": {"A": bs.independent("family"), "beta": bs.independent("family")},
    "two columns": {"E": bs.partial("corpus"), "alpha": bs.independent("family")},
    "two columns, independent": {"E": bs.independent("corpus"), "A": bs.independent("family")},
    "one group": {"E": bs.independent("only"), "B": bs.partial("only")},
    "all terms": {name: bs.partial("corpus") for name in ("E", "A", "B")},
    "noise too": {"sigma": bs.independent("corpus"), "nu": bs.partial("family")},
    "numbers as groups": {"B": bs.partial("version")},
}
CASES = {
    **{
        f"law {name}": (name, None, None)
        for name, law in bs.LAWS.items()
        if law.response == "loss" and set(law.columns) <= set("NDC")  # what the table has
    },
    **{f"noise {name}": ("chinchilla", noise, None) for name, noise in NOISES.items()},
    **{f"pooling {name}": ("chinchilla", None, pooling) for name, pooling in POOLINGS.items()},
    "pooled noise and law": (
        "kaplan",
        bs.log_normal(runs="run", varies_with="C"),
        {"N_c": bs.partial("corpus"), "alpha_D": bs.independent("family")},
    ),
    "other priors": (
        "chinchilla",
        None,
        None,
        {
            "E": priors.Uniform(0.5, 3.0),
            "alpha": priors.Beta(2, 3),
            "beta": priors.Gamma(3, 9),
            "size_term": priors.HalfNormal(1.0),
            "B": priors.LogNormal(2000, 1),
        },
    ),
}
EACH_CASE = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


class Setting:
    def __init__(self, case, runs):
        law, noise, pooling, *changed = case
        self.law = bs.get_law(law).with_priors(changed[0] if changed else {})
        self.model = Model(self.law, noise or self.law.default_noise, Pooling.of(pooling))
        self.layout = make_layout(self.model, runs)
        self.batch = make_batch(self.model, runs, self.layout)
        self.packing = Packing.of(self.model, self.layout.labels)
        rng = np.random.default_rng(8)
        sites = self.packing.sample_prior(rng, 3)
        self.points = self.packing.join(sites)
        self.no_centring = self.packing.no_centring()
        groups = {z: rng.uniform(size=self.no_centring[z].shape) for z, _, _ in self.packing.pools}
        self.centring = self.no_centring | groups  # runs' levels have a test of their own

    def value_and_gradient(self, point, batch):
        import jax

        with jax.enable_x64(True):
            density = log_density(self.model, self.packing)
            value, slope = jax.value_and_grad(density)(jax.numpy.asarray(point), batch)
        return float(value), np.asarray(slope)


@EACH_CASE
def test_density_is_the_numpyro_models(case, runs):
    import jax
    from numpyro.infer.util import potential_energy

    setting = Setting(case, runs)
    model, batch = bs.numpyro_model(setting.law, case[1], case[2], runs=runs)
    for point, centring in zip(
        setting.points, (setting.no_centring, setting.centring), strict=False
    ):
        value, slope = setting.value_and_gradient(point, setting.batch | {"centring": centring})
        with jax.enable_x64(True):
            real_line = setting.packing.split(jax.numpy.asarray(point), centring)
            expected = -float(potential_energy(model, (batch,), {}, real_line))
            expected += float(setting.packing.log_jacobian(real_line, centring))
        assert np.isfinite(value)
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-9)
        assert np.all(np.isfinite(slope))
        assert np.all(slope != 0)  # no element of the vector is without effect


@pytest.mark.parametrize("name", ["law coupled", "noise all", "pooled noise and law"])
def test_padding_does_not_change_the_density(name, runs):
    setting = Setting(CASES[name], runs)
    for point in setting.points[:2]:
        value, slope = setting.value_and_gradient(point, setting.batch)
        padded, padded_slope = setting.value_and_gradient(point, pad(setting.batch, 80))
        assert padded == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(padded_slope, slope, rtol=1e-9, atol=1e-9)


@EACH_CASE
def test_numpy_gives_the_same_row_densities_as_jax(case, runs):
    """Stored log likelihoods are computed by NumPy; the sampler's by JAX."""
    import jax

    setting = Setting(case, runs)
    sites = setting.packing.constrain(setting.points)
    rows = setting.model.row_log_likelihood(sites, setting.batch)
    assert rows.shape == (3, len(runs))
    with jax.enable_x64(True):
        one = {k: jax.numpy.asarray(v[1]) for k, v in sites.items()}
        traced = setting.model.row_log_likelihood(one, setting.batch)
    np.testing.assert_allclose(rows[1], np.asarray(traced), rtol=1e-10, atol=1e-10)


@EACH_CASE
def test_vector_and_site_values_are_each_others_inverse(case, runs):
    setting = Setting(case, runs)
    sites = setting.packing.constrain(setting.points)
    assert {k: v.shape[1:] for k, v in sites.items()} == {
        s.name: shape
        for s, shape in zip(setting.packing.sites, setting.packing.shapes, strict=True)
    }
    np.testing.assert_allclose(setting.packing.join(sites), setting.points, rtol=1e-8, atol=1e-8)
    partly = setting.packing.constrain(setting.points, setting.centring)
    back = setting.packing.join(partly, setting.centring)
    np.testing.assert_allclose(back, setting.points, rtol=1e-8, atol=1e-8)
    assert len(setting.packing.names()) == setting.packing.size == setting.points.shape[1]


@EACH_CASE
@pytest.mark.parametrize("centred", [False, True])
def test_no_jacobian_is_missing(case, centred, runs):
    """log|d(unconstrained sites)/d(vector)| is 0, and with centring what `log_jacobian` says."""
    setting = Setting(case, runs)
    packing, point = setting.packing, setting.points[0]
    centring = setting.centring if centred else setting.no_centring

    def flat(vector):
        parts = packing.split(vector, centring)
        return np.concatenate([np.ravel(parts[s.name]) for s in packing.sites])

    steps = 1e-6 * np.eye(packing.size)
    jacobian = np.stack([(flat(point + s) - flat(point - s)) / 2e-6 for s in steps])
    sign, log_volume = np.linalg.slogdet(jacobian)
    expected = float(packing.log_jacobian(packing.split(point, centring), centring))
    assert abs(sign) == 1
    assert log_volume == pytest.approx(expected, abs=1e-5)
    assert centred or expected == 0


def logpdf_on_real_line(prior, value):
    """Log density of ln x where x has the prior (positive supports only)."""
    return prior.scipy().logpdf(value) + np.log(value)


def test_chinchilla_by_hand(runs):
    """Priors and likelihood of the default model, written out with SciPy."""
    setting = Setting(("chinchilla", None, None), runs)
    N, D, y = (runs.column(c) for c in ("N", "D", "loss"))
    N0, D0 = np.exp(np.mean(np.log(N))), np.exp(np.mean(np.log(D)))
    for point in setting.points:
        x = setting.packing.constrain(point)
        mean = (
            x["E"]
            + x["size_term"] * (N / N0) ** -x["alpha"]
            + x["data_term"] * (D / D0) ** -x["beta"]
        )
        rows = stats.t(x["nu"], np.log(mean), x["sigma"]).logpdf(np.log(y)) - np.log(y)
        prior = {
            "E": stats.lognorm(1.0, scale=1.5),
            "size_term": stats.lognorm(1.0, scale=0.3),
            "data_term": stats.lognorm(1.0, scale=0.3),
            "alpha": stats.lognorm(0.4, scale=0.35),
            "beta": stats.lognorm(0.4, scale=0.35),
            "sigma": stats.lognorm(1.0, scale=0.01),
            "nu": stats.gamma(2.0, scale=10.0),
        }
        expected = rows.sum() + sum(d.logpdf(x[k]) + np.log(x[k]) for k, d in prior.items())
        value, _ = setting.value_and_gradient(point, setting.batch)
        assert value == pytest.approx(float(expected), rel=1e-10)


def test_pooling_by_hand(runs):
    """E partially pooled over corpora, size term free in each family, written out with SciPy."""
    pooling = {"E": bs.partial("corpus", priors.HalfNormal(0.4)), "A": bs.independent("family")}
    setting = Setting(("chinchilla", bs.log_normal(), pooling), runs)
    N, D, y = (runs.column(c) for c in ("N", "D", "loss"))
    N0, D0 = np.exp(np.mean(np.log(N))), np.exp(np.mean(np.log(D)))
    corpus = [list(setting.layout.labels["corpus"]).index(c) for c in runs.table["corpus"]]
    family = [list(setting.layout.labels["family"]).index(c) for c in runs.table["family"]]
    law = setting.model.law
    for point in setting.points:
        x = setting.packing.constrain(point)
        E = np.exp(np.log(x["E_pop"]) + x["E_sd"] * x["E_z"])[corpus]
        mean = (
            E
            + x["size_term"][family] * (N / N0) ** -x["alpha"]
            + x["data_term"] * (D / D0) ** -x["beta"]
        )
        rows = stats.norm(np.log(mean), x["sigma"]).logpdf(np.log(y)) - np.log(y)
        expected = rows.sum() + stats.norm(0, 1).logpdf(x["E_z"]).sum()
        expected += logpdf_on_real_line(law.param("E").prior, x["E_pop"])
        expected += stats.halfnorm(scale=0.4).logpdf(x["E_sd"]) + np.log(x["E_sd"])
        expected += logpdf_on_real_line(law.param("A").prior, x["size_term"]).sum()
        for name in ("data_term", "alpha", "beta"):
            expected += logpdf_on_real_line(law.param(name).prior, x[name])
        expected += logpdf_on_real_line(bs.Noise().sigma, x["sigma"])
        value, _ = setting.value_and_gradient(point, setting.batch)
        assert value == pytest.approx(float(expected), rel=1e-10)


@pytest.mark.parametrize("along", ["D", "checkpoint"])
@pytest.mark.parametrize("offsets", [False, True])
def test_memory_by_hand(along, offsets, runs):
    """AR(1) along runs with a normal tail: one multivariate normal over all rows."""
    noise = bs.log_normal(runs="run", along=along, offset=offsets, varies_with="N")
    setting = Setting(("chinchilla", noise, None), runs)
    N, D, y = (runs.column(c) for c in ("N", "D", "loss"))
    N0, D0 = np.exp(np.mean(np.log(N))), np.exp(np.mean(np.log(D)))
    run = runs.table["run"].factorize()[0]
    x = {k: v[1] for k, v in setting.packing.constrain(setting.points).items()}
    mean = (
        x["E"] + x["size_term"] * (N / N0) ** -x["alpha"] + x["data_term"] * (D / D0) ** -x["beta"]
    )
    place = np.log(D)
    if along == "checkpoint":
        place = np.array([np.sum((run == r) & (d > D)) for r, d in zip(run, D, strict=True)])
    correlation = (run[:, None] == run) * np.exp(-np.abs(place[:, None] - place) / x["memory"])
    scale = x["sigma"] * (N / N0) ** x["noise_slope"]
    centre = np.log(mean) + (x["run_sd"] * x["run_offset"][run] if offsets else 0.0)
    expected = stats.multivariate_normal(centre, scale[:, None] * scale * correlation)
    rows = setting.model.row_log_likelihood(x, setting.batch)
    assert rows.sum() == pytest.approx(expected.logpdf(np.log(y)) - np.log(y).sum(), rel=1e-9)


def test_noise_by_hand(runs):
    """Known errors, scale that changes with N, offsets of runs: the scale and centre of a row."""
    noise = bs.student_t(known_sd="loss_sd", varies_with="N", runs="run")
    setting = Setting(("chinchilla", noise, None), runs)
    N, D, y = (runs.column(c) for c in ("N", "D", "loss"))
    N0, D0 = np.exp(np.mean(np.log(N))), np.exp(np.mean(np.log(D)))
    run = [list(setting.layout.labels["run"]).index(r) for r in runs.table["run"]]
    x = {k: v[2] for k, v in setting.packing.constrain(setting.points).items()}
    mean = (
        x["E"] + x["size_term"] * (N / N0) ** -x["alpha"] + x["data_term"] * (D / D0) ** -x["beta"]
    )
    sigma = x["sigma"] * (N / N0) ** x["noise_slope"]
    scale = np.sqrt(sigma**2 + (runs.column("loss_sd") / mean) ** 2)
    centre = np.log(mean) + x["run_sd"] * x["run_offset"][run]
    expected = stats.t(x["nu"], centre, scale).logpdf(np.log(y)) - np.log(y)
    rows = setting.model.row_log_likelihood(x, setting.batch)
    np.testing.assert_allclose(rows, expected, rtol=1e-10)
