"""Questions about backbones that make no sense, each refused in one line."""

import numpy as np
import pytest

import bayescale as bs
from bayescale.data.scores import capability_scores
from bayescale.families.capability import arrange
from tests.answers.conftest import made_up
from tests.answers.selection_fits import (
    NO_ROLES,
    SIZES,
    accuracy_fit,
    benchmarks,
    fit_of,
    table,
)

BAD = {
    "no budget": ({}, "reads tokens: give a budget"),
    "budget 0": ({"C": 0}, "C = 0.0 is not a finite number above zero"),
    "budget below 0": ({"C": "-1e20"}, "C = -1e20 is not a finite number above zero"),
    "tower": ({"C": 1e21, "vision_params": -4e8}, "vision_params: N = -400000000.0 is not"),
    "served": ({"C": 1e21, "inference_tokens": "-1B"}, "inference_tokens: D = -1B"),
    "unknown": ({"C": 1e21, "backbones": ["m0", "m-1"]}, "no backbone 'm-1' in the fit.*mean 'm1'"),
    "one": ({"C": 1e21, "backbones": "m0"}, "a choice needs two backbones"),
    "poor": ({"C": 1e18, "inference_tokens": "1B"}, "trains no backbone on a single token"),
    "column": ({"C": 1e21, "params": "size"}, "the runs has no column 'size'"),
    "some": ({"C": 1e21, "params": {"m0": 1e9}}, "N isn't known for m1, m2, m3, m4, m5: give"),
    "stranger": ({"C": 1e21, "params": {"x9": 1e9}}, "params names 'x9', which isn't among"),
    "size": ({"C": 1e21, "params": SIZES | {"m0": -1}}, "parameters of 'm0': N = -1"),
    "range": ({"C": 1e21, "within": (1e22, 1e20)}, "within is .* lower one first"),
    "leaders": ({"C": 1e21, "leaders": -1}, "leaders is -1"),
    "covariate": ({"C": 1e21, "chat": 1.0}, "unknown argument 'chat'"),
    "family": ({"C": 1e21, "family": "a"}, "knows no families"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=BAD)
def test_questions_that_make_no_sense_are_refused_in_one_line(case):
    asked, message = BAD[case]
    with pytest.raises(bs.BayescaleError, match=message) as caught:
        bs.select(accuracy_fit(), **asked)
    assert "\n" not in str(caught.value)


def test_sizes_must_be_known_and_one_a_model():
    fit = fit_of(table().drop(columns="N"))
    with pytest.raises(bs.DataError, match="N isn't known for m0, m1, m2, m3, m4, m5"):
        bs.select(fit, 1e21)
    two = fit_of(table().assign(N=np.arange(24) + 1e9))
    with pytest.raises(bs.DataError, match="column 'N' gives 'm0' several sizes"):
        bs.select(two, 1e21)
    silent = benchmarks().iloc[6:].assign(N=1e9)
    silent.iloc[1, 1:7] = np.nan
    with pytest.raises(bs.DataError, match="model 'm7' has no score on any"):
        bs.select(accuracy_fit(), 1e21, table=silent)


def test_laws_without_backbones_or_tokens_are_refused(chinchilla):
    with pytest.raises(bs.FitError, match="law 'chinchilla' is no capability law: it has no backb"):
        bs.select(chinchilla, 1e21)
    plain = fit_of(table().drop(columns=["D", "N"]).drop_duplicates("model"))
    with pytest.raises(bs.FitError, match="has no data term, so that compute changes nothing"):
        bs.select(plain, 1e21)
    scores = capability_scores(benchmarks(), components=2)
    frame = table().drop(columns=[c for c in table() if c.startswith("text_")])
    points = dict(zip(scores.models, scores.array, strict=True))
    for k in range(2):
        frame = frame.assign(**{f"S_{k + 1}": [points[m][k] for m in frame["model"]]})
    law, runs = arrange(bs.read_runs(frame, columns=NO_ROLES))
    bare = made_up(law, runs, law.default_noise)
    assert bs.select(bare, 1e21).models == tuple(SIZES)
    with pytest.raises(bs.FitError, match="without the benchmarks behind them"):
        bs.select(bare, 1e21, table=benchmarks().iloc[6:])
