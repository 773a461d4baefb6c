"""``bayescale isoflop``: tables, JSON, files, refusals before the minutes of sampling."""

import importlib.util
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1] / "answers" / "isoflop_slices.py"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Simulated slices as a file."""
    spec = importlib.util.spec_from_file_location("isoflop_slices", HOME)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path = tmp_path_factory.mktemp("isoflop") / "runs.csv"
    module.simulated().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def done(shell, table):
    """One run of the command, with everything it can write."""
    folder = table.parent
    ended = shell(
        "isoflop", table, "--C", "1e22,1e23", "--draws", "600", "--json",
        "-o", folder / "fit.nc", "--plot", folder / "slices.png",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    return ended


def test_json_has_budgets_exponents_and_what_was_asked(done, table):
    record = done.json()
    assert [b["budget"] for b in record["budgets"]] == [
        "1e18", "3.16e18", "1e19", "3.16e19", "1e20",
    ]  # fmt: skip
    assert [r["C"] for r in record["asked"]] == [1e22, 1e23]
    assert record["exponents"]["a"]["q05"] < 0.35 / 0.85 < record["exponents"]["a"]["q95"]
    assert record["cost"] == "C = 6 N D"
    assert (table.parent / "slices.png").read_bytes().startswith(b"\x89PNG")


def test_a_saved_fit_answers_again_without_jax(done, table, call, imported):
    saved = table.parent / "fit.nc"
    ended = call("isoflop", saved, "--C", "1e22,1e23", "--json")
    assert ended.json() == done.json()
    told = call("isoflop", saved)
    assert "a = 0." in told.out
    assert "interior" in told.out
    assert not {"jax", "numpyro"} & imported("isoflop", str(saved))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budgets", "1e25"], "no run of runs.csv lies within 10% of the budget 1e25"),
        (["--budgets", "1e18"], "at one budget given only (1e18 FLOP)"),
        (["--shape", "cubik"], "isoflop has no shape 'cubik'"),
        (["--by", "corpus"], "has no column 'corpus'"),
        (["--by", "N", "-o", "x.nc"], "-o takes one fit, and --by makes several"),
        (["--plot", "x.jpg"], "a picture's name ends in .png"),
        (["--where", "C > 9e19"], "at one budget only"),
        (["-o", "no/fit.nc"], "no does not exist"),
    ],
)
def test_refusals(call, table, options, message):
    ended = call("isoflop", table, *options)
    assert ended.code == 1
    assert message in " ".join(ended.err.split())
    assert ended.out == ""
