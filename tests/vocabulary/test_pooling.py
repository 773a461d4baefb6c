"""Pooling: records, shell text, messages, and what a pooled parameter is in each group."""

import json

import numpy as np
import pytest

import bayescale as bs
from bayescale import priors
from bayescale.errors import LawError
from bayescale.inference.model import Model
from bayescale.pooling import Pool, Pooling, parse_pool, pooling_from_dict


def model(pooling, law="chinchilla"):
    return Model(bs.get_law(law), bs.Noise(), Pooling.of(pooling))


def test_record_gives_the_pooling_back():
    pooling = Pooling.of(
        {"E": bs.partial("corpus", priors.HalfNormal(0.1)), "A": bs.independent("family")}
    )
    assert pooling_from_dict(json.loads(json.dumps(pooling.to_dict()))) == pooling
    assert pooling.columns == ("corpus", "family")


def test_shell_text():
    assert parse_pool("partial:corpus") == bs.partial("corpus")
    assert parse_pool("independent:a:b") == bs.independent("a:b")
    for text in ("partial", "partial:", "shared:corpus", "corpus", ""):
        with pytest.raises(LawError, match="partial:COLUMN or independent:COLUMN"):
            parse_pool(text)


def test_partially_pooled_values_lie_around_the_common_one():
    pooled = model({"E": bs.partial("corpus")})
    values = {s.name: np.array(1.0) for s in pooled.sites}
    values |= {"E_pop": np.array(2.0), "E_sd": np.array(0.5), "E_z": np.array([-1.0, 0.0, 2.0])}
    E = pooled.coordinates(values)["E"]
    np.testing.assert_allclose(E, 2.0 * np.exp(0.5 * np.array([-1.0, 0.0, 2.0])))


def test_sites_of_pooled_parameters():
    names = {s.name: s.dims for s in model({"A": bs.partial("corpus")}).sites}
    assert names["size_term_pop"] == ()
    assert names["size_term_sd"] == ()
    assert names["size_term_z"] == ("corpus",)
    assert "size_term" not in names
    names = {s.name: s.dims for s in model({"size_term": bs.independent("corpus")}).sites}
    assert names["size_term"] == ("corpus",)


def test_a_parameter_and_its_coordinate_are_pooled_alike():
    assert model({"A": bs.partial("c")}).sites == model({"size_term": bs.partial("c")}).sites


@pytest.mark.parametrize(
    ("pooling", "message"),
    [
        ({"E": "partial"}, r"pooling of 'E' is 'partial'; expected partial\('column'\)"),
        ({"E": None}, "pooling of 'E' is None"),
        ("partial:corpus", "pooling is 'partial:corpus'; expected a mapping"),
        (bs.partial("corpus"), "expected a mapping"),
        ({"alhpa": bs.partial("c")}, "pooling names 'alhpa'.* Did you mean 'alpha'"),
        ({"N": bs.partial("c")}, "pooling names 'N', which is no parameter of law 'chinchilla'"),
        (
            {"A": bs.partial("c"), "size_term": bs.independent("d")},
            "pooling names both 'A' and its coordinate 'size_term'",
        ),
    ],
)
def test_messages(pooling, message):
    with pytest.raises(LawError, match=message):
        model(pooling)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pool("shared", "c"), "pooling 'shared' is unknown; expected partial or indep"),
        (lambda: bs.partial("c", priors.Normal(0, 1)), "pooling over 'c' needs a positive prior"),
        (lambda: bs.partial("c", 0.3), "scale of pooling over 'c' is 0.3; expected a prior"),
        (lambda: bs.partial(3), "pooling over 3: expected the name of a column"),
        (lambda: bs.independent(""), "pooling over '': expected the name of a column"),
    ],
)
def test_pool_messages(make, message):
    with pytest.raises(LawError, match=message):
        make()


def test_names_that_clash_are_refused():
    E, E_pop = (bs.Param(n, priors.LogNormal(1, 1)) for n in ("E", "E_pop"))
    law = bs.Law("mine", (bs.Input("N"),), (E, E_pop), mean=lambda E, E_pop, N: E + E_pop / N)
    with pytest.raises(LawError, match="'E_pop'"):
        model({"E": bs.partial("c")}, law)
