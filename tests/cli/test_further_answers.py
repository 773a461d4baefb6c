"""allocate with served or limited tokens, multiplier of groups, invariance: from saved fits."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs

FEW = {"chains": 2, "draws": 150, "warmup": 200, "progress": False, "seed": 1}


@pytest.fixture(scope="module")
def repeated(compile_cache, tmp_path_factory):
    """A saved fit of the repetition law (without excess parameters) to simulated runs."""
    law = bs.repetition(excess_params=False)
    design = law.design()
    truth = {"E": 1.8, "A": 480, "B": 2000, "alpha": 0.35, "beta": 0.36, "R_D_star": 15}
    runs = bs.simulate(law, {**truth, "sigma": 0.005, "nu": 20}, design, seed=1)
    path = tmp_path_factory.mktemp("repetition") / "fit.nc"
    bs.fit(law, runs, **FEW).save(path)
    return str(path)


@pytest.fixture(scope="module")
def pooled(compile_cache, tmp_path_factory):
    """A saved fit of two corpora, the second of which needs more compute."""
    n, d = (v.ravel() for v in np.meshgrid(np.geomspace(3e7, 3e9, 6), np.geomspace(1e9, 1e11, 6)))
    rng, parts = np.random.default_rng(3), []
    for corpus, factor in (("web", 1.0), ("books", 1.3)):
        loss = 1.8 + factor * (480 * n**-0.35 + 2000 * d**-0.36)
        loss = loss * np.exp(rng.normal(0, 0.004, len(n)))
        parts.append(pd.DataFrame({"N": n, "D": d, "loss": loss, "corpus": corpus}))
    path = tmp_path_factory.mktemp("pooled") / "fit.nc"
    pooling = {"A": bs.partial("corpus"), "B": bs.partial("corpus")}
    bs.fit("chinchilla", pd.concat(parts), pooling=pooling, **FEW).save(path)
    return str(path)


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
    assert "of that model's total" in text.replace("\n", " ")


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
    assert {m["recipe"] for m in record["multipliers"]} == {"web"}
    truth = 1.3 ** (1 / (0.35 * 0.36 / 0.71))
    for m in record["multipliers"]:
        assert m["multiplier"]["q025"] < truth < m["multiplier"]["q975"]
        assert m["probability_above_1"] == 1.0
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
