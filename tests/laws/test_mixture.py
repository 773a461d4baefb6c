"""The mixture law: limits, closed forms, variants that agree, and what it refuses."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.data.simulate import simulate
from bayescale.errors import DataError, LawError
from bayescale.families.mixture import MIXTURE
from bayescale.inference.batch import make_batch, make_layout
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.inference.posterior import variables
from bayescale.inference.rows import at_rows
from bayescale.laws.chinchilla import mean as chinchilla
from bayescale.laws.mixture import mixture
from bayescale.laws.mixture_parts import phi

MODALITIES = ("text", "vision", "audio")
VARIANTS = {
    "default": {},
    "additive": {"transfer": "additive"},
    "additive with capacity": {"transfer": "additive", "capacity": "own"},
    "directional": {"capacity": "directional"},
    "pairwise": {"shares": "pairwise"},
    "discounted": {"shares": "discounted"},
    "no transfer": {"transfer": "none"},
    "no capacity": {"capacity": "none"},
    "no repetition": {"repetition": False},
    "sparse": {"sparse": True},
    "sparse additive": {"sparse": True, "transfer": "additive"},
    "other target": {"targets": ("text", "vision", "benchmark")},
    "other target additive": {"targets": ("benchmark", "text"), "transfer": "additive"},
    "one size": {"size": False},
}
EACH = pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS.keys())


def values_of(law, rows=1):
    """One value for each parameter, as the mean takes them for rows of the first target."""
    axes = law.axes
    found = {}
    for p in law.params:
        value = p.prior.sample(
            np.random.default_rng(len(found)), tuple(len(axes[d]) for d in p.dims)
        )
        found[p.name] = value[None] if p.dims else np.full(rows, value)
    return found


def inputs_of(law, D, U=None, N=1e9, target="text"):
    """Inputs of rows of one target, from tokens by source."""
    D = np.atleast_2d(D).astype(float)
    plan = [list(MODALITIES).index(s) for s in law.axes.get("repeated", ())]
    known = {"N": np.full(len(D), float(N)), "D": D}
    known["U"] = (D if U is None else np.atleast_2d(U).astype(float))[:, plan]
    targets = law.axes["target"]
    known["target"] = np.tile(np.eye(len(targets))[targets.index(target)], (len(D), 1))
    return {i.name: known[i.name] for i in law.inputs}


@EACH
def test_one_modality_without_repetition_is_chinchilla(options):
    law = mixture(MODALITIES, **options)
    D = np.array([[1e9, 0, 0], [3e10, 0, 0], [1e12, 0, 0]])
    values, inputs = values_of(law, 3), inputs_of(law, D, N=2e8)
    shown = values if "A" in values else values | {"A": 0.0, "alpha": 1.0}
    expected = chinchilla(
        **{n: shown[n] for n in ("E", "A", "B", "alpha", "beta")}, N=2e8, D=D[:, 0]
    )
    np.testing.assert_allclose(law.mean(**values, **inputs), expected, rtol=1e-12)


def test_published_capacity_and_transfer():
    """c -.46, -.85, -1.87 leave .661, .465, .186 of the size to a target with a tenth; a share of
    100B in 1.1T of v = -.558 costs 50.7B tokens to first order."""
    law = mixture(MODALITIES, repetition=False)
    D = 1e12 * np.array([[0.1, 0.9, 0.0]])
    v = np.zeros((1, 6))
    for c, left in ((-0.46, 0.661), (-0.85, 0.465), (-1.87, 0.186)):
        values = {"E": 0.0, "A": 1.0, "alpha": 1.0, "B": 0.0, "beta": 1.0, "v": v}
        loss = law.mean(**values, c=np.full((1, 3), c), **inputs_of(law, D, N=1.0))
        assert 1 / loss[0] == pytest.approx(left, abs=6e-4)
    v[0, law.axes["transfer"].index("vision→text")] = -0.558
    D = np.array([[1e12, 1e11, 0.0]])
    values = {"E": 0.0, "A": 0.0, "alpha": 1.0, "B": 1.0, "beta": 1.0, "v": v}
    effective = 1 / law.mean(**values, c=np.zeros((1, 3)), **inputs_of(law, D))[0]
    share = 1 / 11
    assert effective == pytest.approx(1e12 * np.exp(-0.558 * share), rel=1e-12)
    assert -0.558 * share * 1e12 == pytest.approx(-50.7e9, rel=1e-3)


def test_published_worth_of_epochs():
    """Vision epochs 2, 3, 5 are worth .63, .23, .03 of a fresh one; audio epochs 3, 5 .43, .14."""
    for star, worths in ((1.0, {2: 0.63, 3: 0.23, 5: 0.03}), (1.76, {2: 0.76, 3: 0.43, 5: 0.14})):
        for epoch, worth in worths.items():
            gained = phi(np.array(float(epoch)), np.array(star)) - phi(
                np.array(epoch - 1.0), np.array(star)
            )
            assert gained == pytest.approx(worth, abs=0.0076)
    assert phi(np.array(1e9), np.array(1.76)) == pytest.approx(2.76)
    assert phi(np.array(0.3), np.array(1.76)) == pytest.approx(0.3)


def test_two_modalities_without_repetition_agree_in_all_variants():
    two = ("text", "vision")
    D = np.array([[8e10, 2e10], [1e10, 9e10]])
    base = mixture(two, repetition=False)
    values = values_of(base, 2)
    target = np.tile([1.0, 0.0], (2, 1))
    N = np.full(2, 1e9)
    expected = base.mean(**values, N=N, D=D, target=target)
    for shares in ("pairwise", "discounted"):
        law = mixture(two, repetition=False, shares=shares)
        np.testing.assert_allclose(law.mean(**values, N=N, D=D, target=target), expected)
    directional = mixture(two, repetition=False, capacity="directional")
    assert directional.axes["diluted"] == ("vision→text", "text→vision")
    np.testing.assert_allclose(
        directional.mean(**values, N=N, D=D, target=target), expected, rtol=1e-12
    )


def test_repeated_data_count_less_and_are_shares_too_where_discounted():
    law = mixture(MODALITIES, transfer="additive")
    values = values_of(law)
    values |= {"E": np.zeros(1), "A": np.zeros(1), "B": np.ones(1), "beta": np.ones(1)}
    values["tau"] = np.full((1, 6), 0.5)
    values["R_star"] = np.array([[15.0, 1.0, 1.76]])
    D, U = np.array([[1e10, 2e10, 0.0]]), np.array([[1e10, 5e9, 0.0]])
    effective = 1 / law.mean(**values, **inputs_of(law, D, U))[0]
    fresh = 5e9 * (1 + 1.0 * (1 - np.exp(-3)))
    assert effective == pytest.approx(1e10 + 0.5 * fresh, rel=1e-12)
    no_word = 1 / law.mean(**values, **inputs_of(law, D, 0 * U))[0]  # U = 0: not repeated
    assert no_word == pytest.approx(2e10, rel=1e-12)


def table_of(law, rows_each=12):
    """Runs of a law's own design with a loss for each row."""
    return pd.DataFrame(law.design()).assign(loss=3.0)


@EACH
def test_draws_in_numpy_agree_with_one_by_one_and_with_jax(options):
    import jax

    law = mixture(MODALITIES, **options)
    model = Model(law, law.default_noise)
    runs = bs.read_runs(table_of(law), columns={"D": ""})
    layout = make_layout(model, runs)
    batch, packing = make_batch(model, runs, layout), Packing.of(model, layout.labels)
    sites = packing.sample_prior(np.random.default_rng(1), 5)
    mean, _ = at_rows(model, batch, sites)
    assert mean.shape == (5, len(runs))
    assert np.all(np.isfinite(mean) & (mean > 0))
    one, _ = at_rows(model, batch, {k: v[3:4] for k, v in sites.items()})
    np.testing.assert_allclose(one[0], mean[3], rtol=1e-12)
    with jax.enable_x64(True):
        single = {k: jax.numpy.asarray(v[3]) for k, v in sites.items()}
        at = model.by_row(model.coordinates(single), batch["index"])
        traced = model.mean(model.to_params(at, batch["refs"]), batch["inputs"])
    np.testing.assert_allclose(np.asarray(traced), mean[3], rtol=1e-11)


@EACH
def test_terms_are_what_the_centre_of_a_target_loses(options):
    """A and B from their terms give the terms back at the target's mean mixture."""
    law = mixture(MODALITIES, **options)
    model = Model(law, law.default_noise)
    runs = bs.read_runs(table_of(law), columns={"D": ""})
    layout = make_layout(model, runs)
    packing = Packing.of(model, layout.labels)
    sites = packing.sample_prior(np.random.default_rng(2), 4)
    found = variables(model, layout, packing, sites)
    centre = layout.refs["tokens_centre"]
    for k, target in enumerate(law.axes["target"]):
        at = {p.name: found[p.name].values for p in law.params}
        at = {n: v[:, k : k + 1] if law.param(n).by else v[:, None] for n, v in at.items()}
        if law.axes.get("repeated"):
            at["R_star"] = at["R_star"] * 0 + 5.0
        inputs = inputs_of(law, centre[k], target=target)
        if "N" in inputs:
            inputs["N"] = layout.refs["size_centre"][[k]]
        total = sites["data_term"][:, k] + sites.get("size_term", np.zeros((4, 9)))[:, k]
        loss = law.mean(**at, **inputs)[:, 0] - at["E"][:, 0]
        np.testing.assert_allclose(loss, total, rtol=1e-9)


def test_worths_of_a_target_that_is_no_source_have_mean_one():
    law = mixture(MODALITIES, ("text", "forum", "benchmark"), repetition=False)
    coordinate = law.param("w").coordinate
    free = np.exp(np.random.default_rng(0).normal(size=(4, 1, 6)))
    worth = coordinate.to_param(w_free=free)
    np.testing.assert_allclose(worth[..., :3].mean(-1), 1)
    np.testing.assert_allclose(worth[..., 3:].mean(-1), 1)
    np.testing.assert_allclose(coordinate.to_param(w_free=coordinate.from_param(w=worth)), worth)
    np.testing.assert_allclose(worth[..., 1] / worth[..., 0], free[..., 1] / free[..., 0])


def test_the_same_options_give_the_same_law_and_a_recipe_gives_it_back():
    options = {"capacity": "directional", "sparse": True}
    law = mixture(["text", "vision"], repetition=["vision"], **options)
    assert law is mixture(("text", "vision"), repetition="vision", **options)
    assert MIXTURE.rebuild(law.recipe[1]) is law


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"transfer": "linear"}, "transfer is 'linear'; expected exponential or additive or none"),
        ({"capacity": "shared"}, "capacity is 'shared'"),
        ({"shares": "half"}, "shares is 'half'"),
        ({"repetition": ("video",)}, "'video' in repetition is no source"),
        ({"targets": ("code",), "transfer": "none"}, "'code' is no source, so only transfer"),
        ({"targets": ("text", "text")}, "expected distinct names"),
        ({"transfer": "none", "sparse": True}, "sparse=True shrinks transfers"),
    ],
)
def test_options_that_make_no_law(options, words):
    with pytest.raises(LawError, match=words):
        mixture(MODALITIES, **options)


WIDE = pd.DataFrame(
    {
        "n_params": [1e8, 1e9, 1e8, 1e9, 1e8, 1e9],
        "D_text": [1e9, 1e9, 4e9, 4e9, 2e9, 2e9],
        "D_vision": [1e9, 2e9, 1e9, 1e9, 4e9, 4e9],
        "U_vision": [1e9, 1e9, 1e9, 1e9, 1e9, 4e9],
        "loss_text": [3.0, 2.8, 2.9, 2.7, 3.1, 2.6],
        "loss_vision": [4.0, 3.8, 4.9, 3.7, 4.1, 3.6],
    }
)


def arranged(table, **options):
    runs = bs.read_runs(table, **MIXTURE.reading)
    return MIXTURE.arrange(runs, **options)


def test_the_table_says_which_law_it_needs():
    law, runs = arranged(WIDE)
    assert len(runs) == 12
    assert law is mixture(("text", "vision"), repetition=("vision",))
    law, _ = arranged(WIDE.assign(U_vision=WIDE["D_vision"]))
    assert law is mixture(("text", "vision"), repetition=False)
    law, runs = arranged(WIDE.assign(n_params=1e9), transfer="additive", targets="text")
    assert law is mixture(
        ("text", "vision"), ("text",), transfer="additive", repetition=("vision",), size=False
    )
    assert any("one size" in f.message for f in runs.flags)


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        (WIDE, {"repetition": ("text",)}, "no unique tokens of 'text'"),
        (WIDE.drop(columns="U_vision"), {"repetition": True}, "no unique tokens of any source"),
        (
            WIDE.assign(U_vision=[9e9, 1e9, 1e9, 1e9, 1e9, 1e9]),
            {},
            "row 1: U_vision is 9e.09, above",
        ),
        (WIDE.assign(D_vision=0.0, U_vision=0.0), {}, "no run has any tokens of 'vision'"),
        (WIDE.assign(D_text=-WIDE["D_text"]), {}, "row 1: D_text, tokens of 'text', is -1e.09"),
        (WIDE, {"targets": ("audio",)}, "no target 'audio'"),
        (WIDE.assign(loss_vision=np.nan), {}, "no row of DataFrame has a loss of 'vision'"),
    ],
)
def test_tables_that_make_no_sense(table, options, words):
    with pytest.raises(DataError, match=words) as caught:
        arranged(table, **options)
    assert "\n" not in str(caught.value)


def laid_out(law, table):
    return make_layout(Model(law, law.default_noise), bs.read_runs(table, columns={"D": ""}))


def test_a_long_table_given_with_a_law_is_checked_too():
    law = mixture(("text", "vision"), repetition=("vision",))
    table = pd.DataFrame(law.design()).assign(loss=3.0)
    with pytest.raises(DataError, match="no row of DataFrame has target 'vision'"):
        laid_out(law, table[table["target"] == "text"])
    with pytest.raises(DataError, match=r"row 1: U_vision .* epochs below one"):
        laid_out(law, table.assign(D_vision=1e9, U_vision=2e9))
    with pytest.raises(DataError, match="no run has any tokens of 'vision'"):
        laid_out(law, table[table["D_text"] > 0].assign(D_vision=0.0, U_vision=0.0))
    no_vision = table["target"] == "vision"
    alone = table.assign(D_vision=table["D_vision"].mask(no_vision, 0.0), D_text=1e9, U_vision=0.0)
    with pytest.raises(DataError, match="loss of 'vision' but no tokens of it"):
        laid_out(law, alone)
    with pytest.raises(DataError, match="number of at least 0"):
        laid_out(law, table.assign(D_text=-1.0))


B = 1e9
MIXES = [  # text, vision sampled; vision unique, in billions
    *((20, 0, 0), (100, 0, 0), (0, 5, 5), (0, 25, 25), (90, 10, 10), (75, 25, 25), (25, 25, 25)),
    *((75, 25, 5), (85, 15, 5), (40, 40, 10)),
]
TRUTH = {
    "E": {"text": 1.6, "vision": 3.2},
    "A": {"text": 437.0, "vision": 15650.0},
    "B": {"text": 1400.0, "vision": 70000.0},
    "alpha": {"text": 0.34, "vision": 0.50},
    "beta": {"text": 0.34, "vision": 0.51},
    "c": {"text": -0.46, "vision": -0.85},
    "v": {"vision→text": -0.558, "text→vision": -0.583},
    "R_star": {"vision": 1.0},
    "sigma": 0.002,
    "nu": 20.0,
}


@pytest.fixture(scope="module")
def fit():
    rows = [
        {"N": N, "D_text": t * B, "D_vision": v * B, "U_vision": u * B, "target": m}
        for N in (4.57e8, 1e9, 2e9, 4e9, 8.3e9)
        for t, v, u in MIXES
        for m, own in (("text", t), ("vision", v))
        if own
    ]
    law = mixture(("text", "vision"), repetition=("vision",))
    inputs = pd.DataFrame(rows)
    runs = simulate(law, TRUTH, {str(c): inputs[c].to_numpy() for c in inputs}, seed=4)
    return bs.fit("mixture", runs, seed=3, draws=500, progress=False)


def test_a_simulated_design_gives_its_parameters_back(fit):
    assert fit.law.recipe == mixture(("text", "vision"), repetition=("vision",)).recipe
    assert fit.record["gradients_per_draw"] < 30
    outside = []
    for name in ("E", "A", "B", "alpha", "beta", "c", "v", "R_star"):
        for label, value in TRUTH[name].items():
            draws = fit.draws(name)[:, list(TRUTH[name]).index(label)]
            low, high = np.quantile(draws, [0.0005, 0.9995])  # 15 at once: 1 in 70 fails
            if not low < value < high:
                outside.append((name, label, low, value, high))
    assert not outside


def test_a_fit_comes_back_from_its_file_and_predicts_each_target(fit, tmp_path):
    fit.save(tmp_path / "fit.nc")
    again = bs.load(tmp_path / "fit.nc")
    asked = {"N": 2e9, "D": {"text": 8e10, "vision": 2e10}, "U_vision": 1e10}
    before, after = fit.predict(**asked), again.predict(**asked)
    np.testing.assert_allclose(before.loss, after.loss)
    assert list(before.points["target"]) == ["text", "vision"]
    D, U = np.array([[8e10, 2e10]]), np.array([[1e10]])
    for k in range(2):
        values = {p.name: np.array(list(TRUTH[p.name].values())) for p in fit.law.params}
        values = {n: v[[k]] if fit.law.param(n).by else v[None] for n, v in values.items()}
        truth = fit.law.mean(**values, N=np.array([2e9]), D=D, U=U, target=np.eye(2)[[k]])[0]
        low, high = np.quantile(before.loss[:, k], [0.0005, 0.9995])
        assert low < truth < high
    one = fit.predict(target="vision", **asked)
    np.testing.assert_allclose(one.loss[:, 0], before.loss[:, 1])
