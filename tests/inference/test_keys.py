"""What a compiled program is known by: everything that changes the density changes the key."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale import Coordinate, priors
from bayescale.assembling import declaration
from bayescale.inference.batch import make_batch, make_layout
from bayescale.inference.engine import Clock, Engine, Settings, find_device, float64
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.pooling import Pooling

CHINCHILLA = bs.get_law("chinchilla")


def key(law=CHINCHILLA, noise=None, pooling=None):
    return declaration(Model(law, noise or bs.Noise(), Pooling.of(pooling)))


CHANGES = {
    "law": {"law": bs.get_law("kaplan")},
    "prior": {"law": CHINCHILLA.with_priors({"E": priors.LogNormal(1.6, 1)})},
    "prior's tenth digit": {
        "law": CHINCHILLA.with_priors({"E": priors.LogNormal(1.5000000001, 1)})
    },
    "prior's family": {"law": CHINCHILLA.with_priors({"E": priors.HalfNormal(1.5)})},
    "prior on the parameter": {"law": CHINCHILLA.with_priors({"A": priors.LogNormal(0.3, 1)})},
    "noise": {"noise": bs.log_normal()},
    "noise scale": {"noise": bs.normal()},
    "noise prior": {"noise": bs.student_t(sigma=priors.LogNormal(0.01, 1.0000001))},
    "known error": {"noise": bs.student_t(known_sd="sd")},
    "partial": {"pooling": {"E": bs.partial("corpus")}},
    "partial scale": {"pooling": {"E": bs.partial("corpus", priors.HalfNormal(0.3000000001))}},
    "independent": {"pooling": {"E": bs.independent("corpus")}},
    "other parameter": {"pooling": {"A": bs.partial("corpus")}},
    "other column": {"pooling": {"E": bs.partial("family")}},
}


def test_each_change_gives_another_key():
    keys = [key(), *(key(**change) for change in CHANGES.values())]
    assert None not in keys
    assert len(set(keys)) == len(keys)


def test_the_same_declaration_gives_the_same_key():
    assert key() == key(replace(CHINCHILLA))
    assert key(pooling={"E": bs.partial("c")}) == key(pooling={"E": bs.partial("c")})


def another_mean(E, A, B, alpha, beta, N, D):
    return E + A * N**-alpha + B * D**-beta


def another_coordinate():
    params = list(CHINCHILLA.params)
    params[1] = replace(
        params[1],
        coordinate=Coordinate(
            "size_term",
            to_param=lambda size_term, alpha, N_ref: 2 * size_term * N_ref**alpha,
            from_param=lambda A, alpha, N_ref: A / 2 * N_ref**-alpha,
        ),
    )
    return replace(CHINCHILLA, params=tuple(params))


@pytest.mark.parametrize(
    "law",
    [replace(CHINCHILLA, mean=another_mean), another_coordinate(), bs.power_law("N")],
    ids=["mean", "coordinate", "made anew"],
)
def test_laws_that_only_look_like_the_shipped_ones_have_no_key(law):
    """They are traced, and known by the program that comes out."""
    assert law.name in bs.LAWS
    assert key(law) is None


def gradient_of(frame, pooling):
    """Compiled gradient of a model, as the sampler gets it, at a fixed vector."""
    runs = bs.read_runs(frame)
    model = Model(CHINCHILLA, bs.log_normal(), Pooling.of(pooling))
    layout = make_layout(model, runs)
    batch, packing = make_batch(model, runs, layout), Packing.of(model, layout.labels)
    vector = packing.join({k: v[0] for k, v in prior_sites(packing).items()})
    return model, packing, batch, vector


def prior_sites(packing):
    return packing.sample_prior(np.random.default_rng(0), 1)


def engine_value(model, packing, batch, vector):
    device = find_device("cpu")
    with float64(device):
        engine = Engine(model, packing, Settings(), declaration(model), device, Clock(), {})
        return engine.gradient(engine.put(batch), packing.no_centring())(vector)


def test_groups_that_change_places_do_not_share_a_program(table):
    """2 x 3 groups and 3 x 2: equally long vectors, equal columns, another layout."""
    from bayescale.inference.density import log_density

    pooling = {"E": bs.independent("one"), "A": bs.independent("two")}
    two_three = table.assign(one=table["family"], two=table["corpus"])
    three_two = table.assign(one=table["corpus"], two=table["family"])
    for frame in (two_three, three_two):
        parts = gradient_of(frame, pooling)
        value, slope = engine_value(*parts)
        model, packing, batch, vector = parts
        import jax

        with jax.enable_x64(True):
            expected = float(log_density(model, packing)(jax.numpy.asarray(vector), batch))
        assert value == pytest.approx(expected, rel=1e-12)
        assert slope.shape == vector.shape


def test_an_edited_law_meets_no_stale_program(table):
    """Two laws of one name, one set of parameters and columns, but another mean."""
    import jax

    from bayescale.inference.density import log_density

    runs = bs.read_runs(table)
    values = []
    for power in (0.5, 0.5 + 1e-9):
        law = law_with_power(power)
        model = Model(law)
        layout = make_layout(model, runs)
        batch, packing = make_batch(model, runs, layout), Packing.of(model, layout.labels)
        vector = packing.join({k: v[0] for k, v in prior_sites(packing).items()})
        value, _ = engine_value(model, packing, batch, vector)
        with jax.enable_x64(True):
            expected = float(log_density(model, packing)(jax.numpy.asarray(vector), batch))
        assert value == pytest.approx(expected, rel=1e-14)
        values.append(value)
    assert values[0] != values[1]


def law_with_power(power):
    return bs.Law(
        "mine",
        (bs.Input("N"),),
        (bs.Param("E", priors.LogNormal(2, 1)), bs.Param("A", priors.LogNormal(300, 1))),
        mean=lambda E, A, N: E + A * N**-power,
    )


def test_source_of_the_package_is_part_of_the_key(monkeypatch):
    from bayescale.inference import cache

    before = cache.environment_key.__wrapped__()
    monkeypatch.setattr(cache, "source_hash", lambda: "other source")
    assert cache.environment_key.__wrapped__() != before
    monkeypatch.undo()
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    assert cache.environment_key.__wrapped__() != before


def test_frames_of_one_padded_size_share_a_program(table):
    """From 33 to 64 rows everything is padded to 64 rows."""
    assert isinstance(table, pd.DataFrame)
    from bayescale.inference.batch import padded_size

    assert {padded_size(n) for n in range(1, 65)} == {64}
    for rows in (65, 100, 129, 240, 1000, 4097, 10**6):
        size = padded_size(rows)
        assert rows <= size <= 1.25 * rows or size <= 80
    assert len({padded_size(n) for n in range(1, 10_001)}) < 35


@pytest.mark.parametrize("first", ["x", "y"])
def test_laws_that_read_another_column_do_not_share_a_program(first):
    """Both lower to one text, in which an argument that nobody reads has no place."""
    from bayescale.inference.density import log_density

    second = {"x": "y", "y": "x"}[first]
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [7.0, 5.0, 6.0], "loss": [3.0, 4.0, 5.0]})
    runs = bs.read_runs(frame)
    means = {"x": lambda E, x, y: E + x, "y": lambda E, x, y: E + y}
    inputs = (bs.Input("x"), bs.Input("y"))
    for read in (first, second):
        law = bs.Law("own", inputs, (bs.Param("E", priors.LogNormal(1, 1)),), means[read])
        model = Model(law, bs.log_normal())
        layout = make_layout(model, runs)
        batch, packing = make_batch(model, runs, layout), Packing.of(model, layout.labels)
        value, _ = engine_value(model, packing, batch, np.array([0.3, -2.0]))
        expected = float(log_density(model, packing)(np.array([0.3, -2.0]), batch))
        assert value == pytest.approx(expected, rel=1e-5)
