"""The command in a report makes the same fit again: the same law, noise, groups, priors, table."""

import shlex

import pytest

import bayescale as bs
from bayescale.choosing import choose
from bayescale.cli.modelling import build_model
from bayescale.priors import LogNormal
from bayescale.reporting.again import fit_lines
from tests.answers.conftest import made_up
from tests.report.conftest import SETTINGS, reported


def asked(line):
    """Law, runs and options of a command, those given more than once as lists."""
    words = shlex.split(line)
    assert words[:2] == ["bayescale", "fit"]
    options = {}
    for name, value in zip(words[4::2], words[5::2], strict=True):
        options.setdefault(name, []).append(value)
    return words[2], words[3], options


@pytest.mark.parametrize(
    ("law", "noise", "pooling"),
    [
        ("chinchilla", None, None),
        ("auto", None, None),
        ("kaplan", bs.log_normal(), None),
        ("chinchilla", bs.student_t(varies_with="C"), {"E": bs.partial("corpus")}),
        ("coupled", bs.normal(), {"alpha": bs.independent("corpus"), "E": bs.partial("corpus")}),
    ],
)
def test_the_model_is_the_same(law, noise, pooling):
    fit = reported(law, noise=noise, pooling=pooling, draws=50)
    (line,), caveat = fit_lines(fit, "my fit.nc")
    named, _, told = asked(line)
    assert told["-o"] == ["my fit.nc"]
    assert told["--draws"] == [str(SETTINGS["draws"])]
    assert "--warmup" not in told
    varies = (told.get("--noise-varies-with") or [None])[0]
    name = (told.get("--noise") or [None])[0]
    drift = (told.get("--drift") or [None])[0]
    model = build_model(named, name, told.get("--pool"), None, drift, varies_with=varies)
    assert model == fit.model
    assert caveat == ""


def test_priors_and_drift_are_told():
    law = bs.get_law("chinchilla").with_priors({"E": LogNormal(1.2, 0.3)}).with_drift(True)
    (line,), _ = fit_lines(reported(law, draws=50), "fit.nc")
    named, _, told = asked(line)
    model = build_model(named, None, None, told["--prior"], told["--drift"][0])
    assert model.law == law


def test_what_a_fit_does_not_record_is_said(tmp_path):
    table = reported("chinchilla", draws=50).runs.table
    fit = reported("chinchilla", table, draws=50)
    (line,), caveat = fit_lines(fit, "fit.nc")
    assert asked(line)[1] == "runs.csv"
    assert "the runs came as a table in Python" in caveat
    own = reported(bs.power_law("N"), draws=50)
    assert "law" not in fit_lines(own, "fit.nc")[1]


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("mixture:transfer=additive", "simulated-mixtures"),
        ("decoupled:composition=share", "simulated-text-multimodal"),
        ("capability:link=logit", "simulated-backbones"),
    ],
)
def test_a_family_is_named_with_its_options(family, name):
    law, runs = choose(family, name, {})
    fit = made_up(law, runs, law.default_noise, draws=2)
    fit.record.update(settings=SETTINGS)
    (line,), caveat = fit_lines(fit, "fit.nc")
    named, source, _ = asked(line)
    again, table = choose(named, source, {})
    assert again.recipe == law.recipe
    assert table.sha256 == runs.sha256
    assert caveat == ""
