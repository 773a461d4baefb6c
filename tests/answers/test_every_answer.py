"""Every law and every public answer: numbers, or one line that says why not and what to do."""

import json
import math

import numpy as np
import pytest

import bayescale as bs
from bayescale.answers.chain import Chain
from bayescale.cli.output import plain
from bayescale.families import FAMILIES
from bayescale.inference.gate import Gate, Problem
from bayescale.laws import LAWS
from bayescale.laws.loss_to_accuracy import loss_to_accuracy
from tests.answers.brute import designed
from tests.answers.conftest import made_up

ALL = LAWS | {name: family.example for name, family in FAMILIES.items()}


@pytest.fixture(scope="module")
def fits():
    """A made-up fit of every law, made once."""
    made = {}

    def of(name):
        if name not in made:
            law = ALL[name]
            made[name] = made_up(law, designed(law), noise=law.default_noise, draws=10)
        return made[name]

    return of


def chained(fit):
    end = made_up(loss_to_accuracy(), designed(loss_to_accuracy()), draws=10)
    return Chain(fit, end).predict(**point(fit))


def point(fit):
    """One point at the centre of a fit's data."""
    given = [c for c in fit.law.columns if c not in fit.law.label_columns]
    return {c: float(np.median(fit.runs.column(c).astype(float))) for c in given}


def backbones(fit):
    family = (fit.law.recipe or ("",))[0]
    return bs.predict_backbones(fit, **({"D": 1e10} if family.startswith("capability") else {}))


# how each public answer is asked of a fit
ASKED = {
    "Fit.predict": lambda fit: fit.predict(**point(fit)),
    "Fit.allocate": lambda fit: fit.allocate(1e20),
    "Chain": chained,
    "allocate_limited": lambda fit: bs.allocate_limited(fit, 1e20, "5B"),
    "approaches": lambda fit: bs.approaches(C=1e20, fit=fit),
    "batch_size": lambda fit: bs.batch_size(fit, 0.3),
    "compute_multiplier": lambda fit: bs.compute_multiplier(fit, fit, 1e20),
    "equal_exponents": lambda fit: bs.equal_exponents(fit, loo=False),
    "inference_optimum": lambda fit: bs.inference_optimum(fit, C=1e20, inference_tokens=1e11),
    "invariance": lambda fit: bs.invariance(fit, loo=False),
    "isoflop": lambda fit: bs.isoflop(fit, C=1e20),
    "mix": lambda fit: bs.mix(fit, D=1e11, N=1e9, draws=4),
    "optima": lambda fit: bs.optima(fit, 1e20),
    "pareto": lambda fit: bs.pareto(fit, 1e20),
    "predict_backbones": backbones,
    "select": lambda fit: bs.select(fit, 1e20),
    "transfer_tax": lambda fit: bs.transfer_tax(fit),
    "worth": lambda fit: bs.worth(fit),
}
OF_RUNS = {"envelope"}  # asks curves, not a fit
# laws that must be answered; every other law may refuse
ANSWERED = {
    "Fit.allocate": {"auto", "chinchilla", "kaplan", "coupled", "overtraining"},
    "allocate_limited": {"repetition", "repetition-tokens"},
    "compute_multiplier": {"auto", "chinchilla", "kaplan", "coupled", "overtraining"},
    "equal_exponents": {
        "auto", "chinchilla", "coupled", "repetition", "repetition-tokens", "krajewski", "abnar",
        "step-law", "width-depth",
    },
    "inference_optimum": {"auto", "chinchilla", "kaplan", "coupled", "overtraining"},
    "invariance": {"decoupled"},
    "isoflop": {"isoflop"},
    "optima": {"decoupled"},
}  # fmt: skip


def test_every_public_answer_is_asked_here():
    """An answer that is new needs a line above: how to ask it of any fit."""
    public = {name for name, home in bs._HOME.items() if home.startswith("bayescale.answers.")}
    assert public == {n for n in ASKED if "." not in n} | OF_RUNS


def numbers(record):
    """All numbers of a nested record."""
    if isinstance(record, dict):
        record = list(record.values())
    if isinstance(record, list | tuple):
        return [x for item in record for x in numbers(item)]
    return [record] if isinstance(record, int | float) and not isinstance(record, bool) else []


def refusal_of(ask, fit):
    """The answer and no refusal, or no answer and the refusal's text."""
    try:
        return ask(fit), None
    except (bs.FitError, bs.LawError, bs.DataError) as refusal:
        return None, str(refusal)


@pytest.mark.parametrize("law", ALL)
@pytest.mark.parametrize("asked", ASKED)
def test_an_answer_or_a_reason(fits, asked, law):
    found, refusal = refusal_of(ASKED[asked], fits(law))
    if asked in ANSWERED:
        assert (refusal is None) == (law in ANSWERED[asked]), refusal or "answered: add it above"
    if refusal is not None:
        assert asked != "Fit.predict", refusal
        assert "\n" not in refusal.strip()
        assert 30 < len(refusal) < 500
        assert "Traceback" not in refusal
        assert "Error(" not in refusal
        return
    record = plain(found.to_dict())
    json.dumps(record, allow_nan=False)
    told = numbers(record)
    assert told
    found.to_frame()
    assert all(math.isfinite(x) for x in told)
    assert str(found)


@pytest.mark.parametrize("asked", ["Fit.allocate", "compute_multiplier", "inference_optimum"])
def test_a_fit_that_failed_its_gate_says_so_in_the_answer(asked):
    law = ALL["chinchilla"]
    bad = Gate((Problem("rhat", "R-hat is not below 1.01", "more draws"),), 1.2, 50, 40, 0, 1.0)
    found = ASKED[asked](made_up(law, designed(law), draws=10, gate=bad))
    assert found.converged is False
    assert any("R-hat is not below 1.01" in w for w in found.warnings)
    assert found.to_dict()["converged"] is False


def test_a_law_that_reads_the_loss_tells_where_it_was_asked(fits):
    """The input is called as the answer is: neither hides the other."""
    found = fits("loss-to-accuracy").predict(loss=[2.0, 3.0])
    first = found.records()[0]
    assert first["loss_at"] == 2.0
    assert first["loss"]["q05"] < first["loss"]["q95"]
    assert "2" in str(found)
    assert list(found.dataset["loss_at"].values) == [2.0, 3.0]
