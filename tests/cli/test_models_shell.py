"""``models``, ``check``, ``fit`` of a TOML, and answers of a shipped fit by its name."""

import json

import pytest

import bayescale as bs
from bayescale.zoo.find import folder

NAME = "chinchilla-simulated"
HEAVY = {"jax", "numpyro", "arviz", "arviz_stats", "matplotlib"}
TABLES = {"pandas", "xarray", "scipy", "pydantic_settings"}


def test_models_are_listed_and_shown(call):
    listed = call("models", "--json").json()
    assert [m["name"] for m in listed] == bs.zoo.names()
    one = next(m for m in listed if m["name"] == NAME)
    assert one["converged"] is True
    assert {"predict", "allocate"} <= set(one["answers"])
    assert one["licence"] == "MIT"
    table = call("models").out
    assert all(name in table for name in bs.zoo.names())
    shown = call("models", "chinchilla-epoch2024")
    assert "arXiv:2404.10102" in shown.out
    assert "1.817 (1.769" in shown.out  # what was published stands beside it
    record = call("models", NAME, "--json").json()
    assert record["reference"]["quantities"]["alpha"]["rhat"] < 1.01
    assert record["published"]["values"]["alpha"]


def test_an_unknown_model_is_one_line(call):
    for command in (["models"], ["check"], ["predict"]):
        ended = call(*command, "chinchila-simulated")
        assert ended.code == 1
        assert ended.err.count("\n") == 1
        assert "Did you mean 'chinchilla-simulated'" in ended.err


def test_a_name_answers_and_imports_neither_jax_nor_tables(imported):
    assert not imported("predict", NAME, "--N", "70B", "--D", "1.4T") & (HEAVY | TABLES)
    assert not imported("allocate", NAME, "--C", "5.76e23", "--json") & HEAVY


@pytest.mark.parametrize(
    "args",
    [
        ["predict", NAME, "--N", "7B", "--D", "1T"],
        ["allocate", NAME, "--C", "1e22"],
        ["multiplier", NAME, "chinchilla-epoch2024", "--C", "1e21"],
        ["plot", NAME, "--kind", "allocation", "-o", "a.png"],
        ["pareto", "decoupled-simulated", "--C", "1e22"],
        ["worth", "mixture-simulated"],
        ["transfer", "capability-simulated"],
    ],
    ids=lambda args: args[0],
)
def test_every_command_takes_a_name(call, args, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = call(*args, "--json")
    assert ended.code == 0, ended.err
    record = ended.json()
    assert record.get("converged") is True


@pytest.mark.parametrize("command", [["ppc"], ["sensitivity", "--what", "prior"], ["plot"]])
def test_what_needs_the_runs_is_refused_in_one_line(call, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = call(command[0], NAME, *command[1:])
    assert ended.code == 1
    assert ended.err.strip().count("\n") == 0
    assert f"bayescale fit models/{NAME}.toml -o {NAME}.nc" in ended.err


def test_fit_of_a_toml_reproduces(call, tmp_path):
    out = tmp_path / "fit.nc"
    ended = call("fit", f"models/{NAME}.toml", "-o", out, "--json")
    assert ended.code == 0, ended.err
    found = ended.json()["parameters"]
    told = bs.zoo.card(NAME).reference.quantities
    for name in ("E", "alpha", "beta", "sigma"):
        assert abs(found[name]["mean"] - told[name].mean) < 5 * told[name].mcse
    assert bs.load(out).has_runs
    other = call("fit", f"models/{NAME}.toml", "--seed", "9", "-q", "--json").json()
    assert other["seed"] == 9


WRONG = [
    (["fit", f"models/{NAME}.toml", "runs.csv"], "names its runs: leave out 'runs.csv'"),
    (["fit", f"models/{NAME}.toml", "--draws", "9"], "--draws can't change it; edit a copy"),
    (["fit", f"models/{NAME}.toml", "--where", "N > 1"], "--where can't change it"),
]


@pytest.mark.parametrize(("args", "said"), WRONG)
def test_options_that_change_a_model_are_refused(call, args, said):
    ended = call(*args)
    assert ended.code == 2
    assert said in ended.err


def test_check_says_by_its_exit_code_whether_a_model_agrees(call, tmp_path):
    path = tmp_path / "wrong.toml"
    told = bs.zoo.card(NAME).reference.quantities["alpha"]
    text = (folder() / f"{NAME}.toml").read_text()
    path.write_text(text.replace(f"alpha = {{ mean = {told.mean!r}", "alpha = { mean = 0.5"))
    ended = call("check", NAME, path, "--json")
    assert ended.code == 1
    good, wrong = json.loads(ended.out)
    assert good["passed"] is True
    assert wrong["passed"] is False
    assert [q["quantity"] for q in wrong["quantities"] if not q["passed"]] == ["alpha"]
