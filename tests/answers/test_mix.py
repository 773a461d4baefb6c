"""The best mixture: against SciPy draw by draw, corners, single choices, words."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescale as bs
from bayescale.answers.mix.limits import at_total, most_tokens
from bayescale.answers.objectives import objectives_of

from .mixtures import ADDITIVE, CORNER, REPEATED, B, by_scipy, made, worst_by_scipy

DRAWS = 20
NEAR = 1e-6  # relative difference in what is minimised


@pytest.fixture(scope="module")
def additive():
    return made(ADDITIVE)


@pytest.fixture(scope="module")
def repeated():
    return made(REPEATED)


@pytest.fixture(scope="module")
def corner():
    return made(CORNER)


def against_scipy(fit, answer, score, N=None, C=None, low=0.0, high=1.0, unique=None, caps=None):
    """Relative differences of the answer's draws from SciPy's best, and their largest."""
    of = objectives_of(fit)
    count, free = len(of.sources), C is not None
    low, high = np.broadcast_to(low, count), np.broadcast_to(high, count)
    total = answer.draws["D"][0]
    kept = np.unique(np.linspace(0, of.size - 1, len(answer.draws["value"])).astype(int))
    far = []
    for k, draw in list(enumerate(kept))[:DRAWS]:

        def value(shares, log_total, draw=draw):
            D = shares * total * np.exp(log_total)[:, None]
            size = C / (6 * total * np.exp(log_total)) if free else N
            U = None if unique is None else np.minimum(D[:, of.places], unique)
            return score(of.losses(draw, size, D, U), of.irreducible(draw))

        ends = (-3.0, 3.0) if free else None
        best = by_scipy(value, low, high, ends, None if caps is None else caps / total)
        far.append((answer.draws["value"][k] - best) / abs(best))
    return np.array(far)


def mean_excess(losses, E):
    return (losses - E).mean(-1)


def test_mean_of_reducible_losses_with_repetition_by_scipy(repeated):
    found = bs.mix(repeated, N="1B", D="40B", unique={"image": "4B"}, draws=DRAWS)
    far = against_scipy(repeated, found, mean_excess, N=1e9, unique=np.array([4 * B, np.inf]))
    assert len(far) == DRAWS
    assert far.max() < NEAR
    np.testing.assert_allclose(found.draws["share"].sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(found.draws["tokens"].sum(axis=1), 40 * B, rtol=1e-12)
    np.testing.assert_allclose(found.draws["epochs"][:, 1], found.draws["tokens"][:, 1] / (4 * B))
    assert np.isnan(found.draws["epochs"][:, 0]).all()  # no unique tokens of text are stated


def test_weighted_mean_within_limits_and_unique_tokens_by_scipy(repeated):
    # text can't be repeated: its 9B unique tokens are a limit, beside that of audio
    found = bs.mix(
        repeated, N="1B", D="40B", unique={"text": "9B", "image": "4B"}, draws=DRAWS,
        limits={"audio": (0.3, 0.6)}, weights={"text": 2, "audio": 0.5},
    )  # fmt: skip
    weights = np.array([2, 1, 0.5]) / 3.5
    far = against_scipy(
        repeated, found, lambda losses, E: losses @ weights, N=1e9,
        low=[0, 0, 0.3], high=[9 / 40, 1, 0.6], unique=np.array([4 * B, np.inf]),
    )  # fmt: skip
    assert far.max() < NEAR
    shares = found.draws["share"]
    assert (shares[:, 0] <= 9 / 40 + 1e-12).all()
    assert ((shares[:, 2] >= 0.3 - 1e-12) & (shares[:, 2] <= 0.6 + 1e-12)).all()
    assert any("can't be" in n or "no repetition of text" in n for n in found.notes)


def test_worst_target_by_scipy(repeated):
    found = bs.mix(repeated, N="1B", D="40B", objective="worst", draws=DRAWS)
    of = objectives_of(repeated)
    kept, far = np.linspace(0, of.size - 1, DRAWS).astype(int), []
    for k, draw in enumerate(kept):

        def excess(shares, draw=draw):
            return of.losses(draw, 1e9, shares * 40 * B) - of.irreducible(draw)

        best = worst_by_scipy(excess, 3)
        far.append((found.draws["value"][k] - best) / best)
    assert np.max(far) < NEAR  # NaN would fail


def test_free_size_by_scipy(additive):
    found = bs.mix(additive, C="1e21", unique={"code": "6B"}, draws=DRAWS)
    caps = np.array([np.inf, 6 * B, np.inf])
    far = against_scipy(additive, found, mean_excess, C=1e21, caps=caps)
    assert far.max() < NEAR
    spent = 6 * found.draws["N"] * found.draws["D"]
    np.testing.assert_allclose(spent, 1e21, rtol=1e-12)
    assert (found.draws["tokens"][:, 1] <= 6 * B * (1 + 1e-9)).all()
    assert found.recommended.N is not None
    spent = 6 * found.recommended.N * found.recommended.D
    assert spent == pytest.approx(1e21)


def test_a_source_that_no_target_needs_gets_nothing(corner):
    """Additive worths decide alone here: all tokens go to where they are worth most."""
    found = bs.mix(corner, N="1B", D="10B", targets="x", draws=None)
    w = corner.draws("w")[:, [i for i, p in enumerate(corner.law.axes["worth"])
                              if p.endswith("→x")]]  # fmt: skip
    best = w.argmax(axis=1)
    sure = np.sort(w, axis=1)[:, -1] / np.sort(w, axis=1)[:, -2] > 1.01
    assert sure.sum() > 20
    np.testing.assert_array_equal(found.draws["share"].argmax(axis=1)[sure], best[sure])
    np.testing.assert_allclose(found.draws["share"].max(axis=1)[sure], 1.0, atol=1e-9)
    names = corner.law.axes["source"]
    for k, name in enumerate(names):
        assert found.unused[name] == pytest.approx((best != k).mean(), abs=(~sure).mean() + 1e-9)
    assert found.notes[-1] == "not counted: y" or "not counted: y" in found.notes


def test_the_single_choice_beats_all_others_in_expectation(additive):
    found = bs.mix(additive, N="1B", D="40B", draws=None, consider={"web": 0.5, "code": 0.5})
    assert found.tried is not None
    (mine,) = found.choices
    best = found.recommended
    assert 0 <= best.expected_regret < found.tried.expected_regret
    assert best.expected_regret < mine.expected_regret
    of, draws = objectives_of(additive), np.arange(40)[:, None]
    rng = np.random.default_rng(3)
    others = rng.dirichlet(np.ones(3), 4000)
    expected = (of.losses(draws, 1e9, others * 40 * B)
                - of.irreducible(np.arange(40))[:, None]).mean((0, 2))  # fmt: skip
    assert best.value.mean() <= expected.min() + 1e-9
    np.testing.assert_allclose(best.regret, best.value - found.draws["value"], atol=1e-9)
    assert mine.shares == {"web": 0.5, "code": 0.5, "books": 0.0}


def test_the_best_tried_is_the_best_of_the_data_s_mixtures(additive):
    found = bs.mix(additive, N="1B", D="40B", draws=None)
    of = objectives_of(additive)
    values = [
        (of.losses(np.arange(40), 1e9, s * 40 * B) - of.irreducible(np.arange(40))).mean()
        for s in found.seen
    ]
    assert found.tried is not None
    got = np.array([found.tried.shares[s] for s in found.sources])
    np.testing.assert_allclose(got, found.seen[int(np.argmin(values))])
    assert found.tried.value.mean() == pytest.approx(min(values), rel=1e-9)


def test_where_only_one_mixture_is_allowed_it_is_the_answer(additive):
    third = {s: (1 / 3, 1 / 3) for s in ("web", "code", "books")}
    found = bs.mix(additive, N="1B", D="40B", limits=third, draws=DRAWS)
    np.testing.assert_allclose(found.draws["share"], 1 / 3)
    assert found.recommended.expected_regret == pytest.approx(0, abs=1e-12)
    half = bs.mix(additive, N="1B", D="40B", limits={"web": (0.5, 0.5)}, draws=DRAWS)
    np.testing.assert_allclose(half.draws["share"][:, 0], 0.5)
    assert half.draws["share"][:, 1].std() > 0


def test_more_unique_tokens_are_never_worse(repeated):
    values = [
        bs.mix(repeated, N="1B", D="40B", unique={"image": u}, draws=DRAWS).draws["value"]
        for u in ("1B", "4B", "16B")
    ]
    assert (values[1] <= values[0] + 1e-9).all()
    assert (values[2] <= values[1] + 1e-9).all()


def test_record_frame_dataset_and_table(repeated):
    found = bs.mix(repeated, N="1B", D="40B", unique={"image": "4B"}, draws=DRAWS)
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {r["source"] for r in record["sources"]} == {"text", "image", "audio"}
    assert set(record["sources"][0]["share"]) >= {"q025", "q05", "median", "q95", "q975"}
    assert record["sources"][0]["epochs"] is None
    assert record["recommended"]["regret"]["q95"] >= 0
    assert record["gain_on_tried"]["probability"] >= 0.5
    assert list(found.to_frame()["quantity"][:2]) == ["share", "tokens"]
    assert found.dataset["share"].dims == ("draw", "source")
    text = str(found)
    for said in ("text", "epochs", "best single", "best tried", "95th percentile", "20 of 40"):
        assert said in text


shares = st.lists(st.floats(0, 1), min_size=3, max_size=3)


@settings(max_examples=200, deadline=None)
@given(shares, shares, st.lists(st.floats(0.01, 10), min_size=3, max_size=3), st.floats(0.01, 20))
def test_limits_at_a_total_are_all_reached(low, width, caps, total):
    low = np.array(low) / max(1.0, sum(low) * 1.001)
    high = np.minimum(low + np.array(width), 1.0)
    high = high if high.sum() >= 1 else np.ones(3)
    caps = np.array([caps[0], np.inf, caps[2]])
    most = most_tokens(low, high, caps)
    allowed = np.minimum(high, caps / total)
    feasible = (allowed >= low).all() and allowed.sum() >= 1
    if abs(most / total - 1) > 1e-6:
        assert feasible == (total < most)
    if feasible:
        lo, hi = at_total(low, high, caps, total)
        assert (lo <= hi + 1e-12).all()
        for k in range(3):  # each end is met by a mixture of the others within theirs
            assert lo.sum() - lo[k] <= 1 - hi[k] + 1e-9 <= hi.sum() - hi[k] + 2e-9
            assert lo.sum() - lo[k] <= 1 - lo[k] + 1e-9 <= hi.sum() - hi[k] + 2e-9
