"""Worth of repeated epochs and of other domains' tokens: published values, closed forms, words."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.answers.marginal import Mix, epoch_worths, token_slopes
from bayescale.answers.objectives import objectives_of
from bayescale.errors import FitError
from bayescale.laws.repetition import repetition

from .conftest import made_up
from .mixtures import ADDITIVE, REPEATED, B, made


@pytest.fixture(scope="module")
def additive():
    return made(ADDITIVE)


@pytest.fixture(scope="module")
def repeated():
    return made(REPEATED)


def test_epochs_are_worth_what_the_paper_says():
    R = {"vision": np.array([1.00]), "audio": np.array([1.76])}
    last, total = epoch_worths(R, np.array([1.0, 2.0, 3.0, 5.0]))
    np.testing.assert_allclose(last["vision"][0], [1.0, 0.63, 0.23, 0.03], atol=0.005)
    np.testing.assert_allclose(last["audio"][0, 2:], [0.43, 0.14], atol=0.005)
    assert total["vision"][0, -1] == pytest.approx(1 + 1 - np.exp(-4))


def test_an_epoch_is_worth_the_fresh_tokens_that_give_the_same_loss(repeated):
    """Not by the formula: the law's own loss with repeated and with fresh tokens."""
    found, of = bs.worth(repeated, epochs=[4.0]), objectives_of(repeated)
    draws, unique = np.arange(of.size), 5 * B
    R = found.total["image"][:, 0]
    D = np.array([1e-3, 4 * unique, 1e-3])  # image alone, four epochs
    seen = of.losses(draws, 1e9, D, np.array([unique, 1.0]))[:, 1]
    fresh = np.zeros((of.size, 3)) + 1e-3
    fresh[:, 1] = R * unique
    np.testing.assert_allclose(of.losses(draws, 1e9, fresh)[:, 1], seen, rtol=1e-9)


def test_additive_worth_is_tau_at_any_mixture(additive):
    tau = additive.draws("tau")
    for D in ({"web": "9B", "code": "1B"}, {"web": 1e9, "code": 1e9, "books": 5e10}):
        found = bs.worth(additive, D=D, N="1B")
        assert found.exchange is not None
        assert found.harm is not None
        for k, pair in enumerate(additive.law.axes["transfer"]):
            source, target = pair.split("→")
            at = found.sources.index(source), found.targets.index(target)
            np.testing.assert_allclose(found.exchange[:, *at], tau[:, k], rtol=1e-5)
            assert found.harm[at] == 0
    own = found.exchange[:, range(3), range(3)]
    np.testing.assert_allclose(own, 1.0, rtol=1e-12)
    # a target without own tokens: in tokens drawn evenly, so that worths average to one
    chat = found.exchange[:, :, found.targets.index("chat")]
    np.testing.assert_allclose(chat.mean(axis=1), 1.0, rtol=1e-9)
    w = additive.draws("w")
    np.testing.assert_allclose(chat, w, rtol=1e-5)


def test_exponential_worth_is_the_closed_form_with_shares_and_capacity(repeated):
    """By hand: d ln D_eff/dD_k and d ln N_eff/dD_k of a target m, weighted by its two terms."""
    D, N, m = np.array([6e10, 1e10, 2e10]), 1e9, 0
    total, h = D.sum(), D / D.sum()
    found = bs.worth(repeated, D=dict(zip(("text", "image", "audio"), D, strict=True)), N=N)
    draws = {p.name: repeated.draws(p.name) for p in repeated.law.params}
    pairs = repeated.law.axes["transfer"]
    v = np.zeros((len(draws["v"]), 3))
    for k, source in enumerate(("image", "audio"), start=1):
        v[:, k] = draws["v"][:, pairs.index(f"{source}→text")]
    A, B_, a, b, c = (draws[n][:, m] for n in ("A", "B", "alpha", "beta", "c"))
    size = A * (N * np.exp(c * (1 - h[m]))) ** -a
    data = B_ * (D[m] * np.exp(v @ h)) ** -b
    slopes = []
    for k in range(3):
        dh = (np.eye(3)[k] - h) / total  # dh_j/dD_k
        tokens = (k == m) / D[m] + v @ dh
        slopes.append(-a * size * c * -dh[m] - b * data * tokens)
    assert found.exchange is not None
    assert found.harm is not None
    for k in (1, 2):
        np.testing.assert_allclose(found.exchange[:, k, m], slopes[k] / slopes[m], rtol=1e-5)
        assert found.harm[k, m] == pytest.approx((slopes[k] > 0).mean())


def test_more_tokens_of_a_source_with_few_unique_ones_are_repeated_ones(repeated):
    of = objectives_of(repeated)
    D, unique = np.array([3e10, 2e10, 1e10]), np.array([1e10, np.inf])  # two epochs of image
    fresh = token_slopes(of, Mix(D, 1e9, np.array([np.inf, np.inf])))
    again = token_slopes(of, Mix(D, 1e9, unique))
    assert (np.abs(again[:, 1, 1]) < np.abs(fresh[:, 1, 1])).all()
    # a source without tokens: forward differences, by a much smaller step
    none = token_slopes(of, Mix(np.array([3e10, 2e10, 0.0]), 1e9, unique))
    up, down = (
        of.losses(np.arange(of.size), 1e9, np.array([3e10, 2e10, x]), np.array([1e10, x]))
        for x in (2e5, 1e5)
    )
    np.testing.assert_allclose(none[:, 2, :2], ((up - down) / 1e5)[:, :2], rtol=1e-3, atol=1e-15)


def test_a_repetition_law_has_epochs_alone():
    law = repetition()
    table = bs.read_runs(pd.DataFrame(law.design()).assign(loss=2.0))
    found = bs.worth(made_up(law, table, draws=10), epochs=(2, 4))
    assert list(found.repeated) == ["data"]
    assert found.exchange is None
    assert found.token_records() == []
    assert "epoch 4 of data" in str(found)


def test_record_frame_dataset_and_table(repeated):
    found = bs.worth(repeated, epochs=(2, 50))
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {r["source"] for r in record["epochs"]} == {"image", "audio"}
    assert all(0 <= r["harm"] <= 1 for r in record["tokens"])
    assert record["at"]["N"] > 0
    assert any("not 50" in w for w in found.warnings)  # the runs have up to four epochs
    assert set(found.to_frame()["what"]) == {"epoch", "token"}
    assert found.dataset["token_worth"].dims == ("draw", "source", "target")
    assert "P(harm)" in str(found)
    assert "through capacity" in str(found)


def test_questions_without_an_answer(repeated, chinchilla):
    with pytest.raises(FitError, match="neither repeated data.*nor tokens of several sources"):
        bs.worth(chinchilla)
    with pytest.raises(FitError, match="no source 'imge'.*Did you mean 'image'"):
        bs.worth(repeated, D={"imge": "1B"})
    with pytest.raises(FitError, match="D names no tokens"):
        bs.worth(repeated, D={"image": 0})
    with pytest.raises(FitError, match="expected numbers of at least 1"):
        bs.worth(repeated, epochs=(0.5,))
    alone = bs.worth(repeated, D={"text": "10B"})
    assert any("no own tokens" in n for n in alone.notes)
    assert {r["target"] for r in alone.token_records()} == {"text"}
