"""``bayescale select`` and ``transfer``: tables, JSON, pictures, refusals, no JAX."""

import pytest

from tests.answers.selection_fits import benchmarks, table


@pytest.fixture(scope="module")
def saved(tmp_path_factory, compile_cache):
    """A sampled fit of six backbones, saved."""
    import bayescale as bs

    path = tmp_path_factory.mktemp("capability") / "fit.nc"
    text = "capability:benchmarks=text_*:components=2"
    fit = bs.fit(text, table(), chains=2, draws=100, warmup=150, seed=1, progress=False)
    fit.save(path)
    return str(path)


def test_select_tells_a_table_json_and_a_picture(call, saved, tmp_path):
    ended = call("select", saved, "--C", "1e20,1e22", "--vision", "0.4B")
    assert ended.code == 0, ended.err
    for shown in ("P(best)", "regret", "rank", "at C = 1.00e22: choose", "400M of vision"):
        assert shown in ended.out
    path = tmp_path / "select.png"
    record = call("select", saved, "--C", "1e20,1e22", "--plot", path, "--json").json()
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [b["C"] for b in record["budgets"]] == [1e20, 1e22]
    for budget in record["budgets"]:
        assert sum(m["p_best"] for m in budget["backbones"]) == pytest.approx(1)
        assert budget["chosen"] == budget["backbones"][0]["model"]
    assert record["plot"] == str(path)


def test_select_takes_new_models_sizes_and_tokens_to_serve(call, saved, tmp_path):
    new = tmp_path / "new.csv"
    benchmarks().iloc[6:].assign(size_b=[7, 70]).to_csv(new, index=False)
    args = ("--C", "1e22", "--models", new, "--params", "size_b", "--json")
    record = call("select", saved, *args).json()
    assert {m["model"]: m["N"] for m in record["budgets"][0]["backbones"]} == {
        "m6": 7e9,
        "m7": 7e10,
    }
    some = ("--backbones", "m0,m1", "--params", "m0=3B", "--params", "m1=5B")
    served = call(
        "select", saved, "--C", "1e21", *some, "--inference-tokens", "10B", "--json"
    ).json()
    first = {m["model"]: m["D"] for m in served["budgets"][0]["backbones"]}
    assert first["m0"] == pytest.approx((1e21 - 2 * 3e9 * 1e10) / (6 * 3e9))


def test_transfer_tells_a_table_json_and_a_picture(call, saved, tmp_path):
    ended = call("transfer", saved)
    assert ended.code == 0, ended.err
    assert "transfer tax with probability above 95%" in ended.out
    path = tmp_path / "transfer.svg"
    record = call("transfer", saved, "--plot", path, "--json").json()
    assert b"<svg" in path.read_bytes()
    assert len(record["benchmarks"]) == 6


REFUSED = {
    "no budget": (("select",), 1, "reads tokens: give a budget"),
    "negative": (("select", "--C", "-1e20"), 1, "C = -1e20 is not a finite number above zero"),
    "model": (("select", "--C", "1e20", "--backbones", "m0,zz"), 1, "no backbone 'zz'"),
    "params": (("select", "--C", "1e20", "--params", "m0=8B"), 1, "N isn't known for m1"),
    "picture": (("select", "--C", "1e20", "--plot", "a.gif"), 1, ".png"),
    "covariate": (("select", "--C", "1e20", "--covariate", "year=x"), 2, "expected a number"),
}


@pytest.mark.parametrize("case", REFUSED, ids=REFUSED)
def test_what_cannot_be_told_is_refused_in_one_line(call, saved, case):
    (command, *options), code, message = REFUSED[case]
    ended = call(command, saved, *options)
    assert ended.code == code
    assert message in ended.err.replace("\n", " ")
    assert ended.out == ""


def test_laws_without_backbones_are_refused(call, fit_file):
    for command in (("select", fit_file, "--C", "1e21"), ("transfer", fit_file)):
        ended = call(*command)
        assert ended.code == 1
        assert "is no capability law: it has no backbones" in ended.err.replace("\n", " ")


def test_saved_fits_answer_without_jax(imported, saved):
    for command in (("select", saved, "--C", "1e21"), ("transfer", saved)):
        modules = imported(*command)
        assert not {"jax", "numpyro", "matplotlib"} & modules


def test_help_has_an_example(call):
    for command in ("select", "transfer"):
        assert f"bayescale {command} fit.nc" in call(command, "--help").out
