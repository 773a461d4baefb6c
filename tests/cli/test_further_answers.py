"""allocate with served or limited tokens, multiplier of groups, invariance: from saved fits."""

import pytest

from bayescale.data import read_runs
from bayescale.data.simulate import simulated_sweep
from bayescale.laws import LAWS
from bayescale.pooling import partial
from tests.answers.brute import designed
from tests.answers.conftest import made_up


@pytest.fixture
def saved(monkeypatch):
    """Let a made-up fit be what a file holds: what is saved and loaded is tested elsewhere."""

    def put(fit):
        monkeypatch.setattr("bayescale.saving.load", lambda path: fit)
        return "made_up.nc"

    return put


@pytest.fixture
def repeated(saved):
    law = LAWS["repetition-tokens"]
    return saved(made_up(law, designed(law), draws=50))


@pytest.fixture
def pooled(saved):
    """Three corpora with reducible losses of their own."""
    sweep = simulated_sweep()[0]
    runs = read_runs(sweep.table.assign(corpus=["web", "code", "books"] * (len(sweep) // 3)))
    pooling = {"A": partial("corpus"), "B": partial("corpus")}
    return saved(made_up("chinchilla", runs, pooling=pooling, draws=50))


def test_serving(call, fit_file, tmp_path):
    path = tmp_path / "a.png"
    args = ("allocate", fit_file, "--C", "1e22", "--inference-tokens", "100B,1T")
    record = call(*args, "--plot", path, "--json").json()
    small, large = record["optima"]
    assert small["inference_tokens"] == 1e11
    assert small["N"]["median"] > large["N"]["median"]
    assert large["saving"]["median"] > small["saving"]["median"] > 0
    assert large["overtraining"]["q05"] > 1
    assert record["plot"] == str(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    text = call(*args).out
    assert "best single choice" in text
    assert "of that model's total" in " ".join(text.split())


def test_serving_at_a_loss(call, fit_file):
    args = ("allocate", fit_file, "--loss", "2.5,0.5", "--inference-tokens", "1T")
    record = call(*args, "--assurance", "0.9", "--json").json()
    reached, out_of_reach = record["optima"]
    assert reached["target"] == {"loss": 2.5}
    assert reached["recommended"]["reaches"] > 0.8
    assert out_of_reach["unreachable"] == 1.0
    assert out_of_reach["N"] is None
    assert any("out of reach" in w for w in record["warnings"])


def test_unique_tokens(call, repeated, tmp_path):
    path = tmp_path / "limit.svg"
    args = ("allocate", repeated, "--C", "1e20,1e22", "--unique-tokens", "10B")
    record = call(*args, "--plot", path, "--json").json()
    few, many = record["allocations"]
    assert many["epochs"]["median"] > few["epochs"]["median"]
    assert many["probability_above_4_epochs"] > 0.5
    assert many["excess"]["q05"] > 0
    assert path.read_bytes().startswith(b"<?xml")
    assert "epochs" in call(*args).out


def test_groups_of_a_pooled_fit(call, pooled, tmp_path):
    path = tmp_path / "m.pdf"
    args = ("multiplier", pooled, "--against", "books", "--C", "1e19,1e20,1e21")
    record = call(*args, "--plot", path, "--json").json()
    assert record["reference"] == "books"
    assert {m["recipe"] for m in record["multipliers"]} == {"web", "code"}
    assert all(m["unreachable"] == 0 for m in record["multipliers"])  # E is shared
    one = call(*args, "--groups", "web", "--by", "corpus", "--json").json()
    of_web = [m for m in record["multipliers"] if m["recipe"] == "web"]
    for got, kept in zip(one["multipliers"], of_web, strict=True):
        assert got["multiplier"] == kept["multiplier"]
    assert path.read_bytes().startswith(b"%PDF")
    assert "against books" in call(*args).out


def test_equal_exponents(call, fit_file, tmp_path):
    path = tmp_path / "i.png"
    record = call("invariance", fit_file, "--no-loo", "--plot", path, "--json").json()
    (change,) = record["changes"]
    assert change["name"] == "alpha - beta"
    assert change["change"]["q025"] < 0.34 - 0.352 < change["change"]["q975"]
    assert change["delta"] == 0.05
    assert record["comparison"] is None
    assert path.stat().st_size > 5000
    wider = call("invariance", fit_file, "--no-loo", "--delta", "0.2", "--json").json()
    assert wider["changes"][0]["probability_equivalent"] >= change["probability_equivalent"]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["allocate", "FIT", "--loss", "2"], 2, "--loss is for --inference-tokens"),
        (["allocate", "FIT", "--inference-tokens", "1T"], 2, "--C 5.76e23"),
        (
            ["allocate", "FIT", "--C", "1e22", "--loss", "2", "--inference-tokens", "1T"],
            2, "both say which loss",
        ),
        (
            ["allocate", "FIT", "--C", "1e22", "--N", "7B", "--unique-tokens", "1T"],
            2, "--N can't be asked with --unique-tokens",
        ),
        (["allocate", "FIT", "--C", "1e22", "--unique-tokens", "1T"], 1, "fit repetition"),
        (["allocate", "FIT", "--C", "1e22", "--plot", "x.doc"], 1, ".png"),
        (["multiplier", "FIT", "--C", "1e22"], 2, "--against"),
        (["multiplier", "FIT", "--C", "1e22", "--against", "dclm"], 1, "this fit has no groups"),
        (["invariance", "FIT", "--refit", "maybe"], 2, "expected exact or never"),
        (["invariance", "FIT", "--delta", "-1"], 1, "delta is -1.0"),
    ],
)  # fmt: skip
def test_refusals_are_one_line(call, fit_file, args, code, words):
    ended = call(*[fit_file if a == "FIT" else a for a in args])
    assert ended.code == code
    assert words in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert ended.out == ""


def test_these_answers_import_no_jax(imported, fit_file):
    heavy = {"jax", "numpyro", "arviz_stats", "matplotlib"}
    for args in (
        ("allocate", fit_file, "--C", "1e22", "--inference-tokens", "1T"),
        ("invariance", fit_file, "--no-loo"),
    ):
        assert not imported(*args) & heavy
