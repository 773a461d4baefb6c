"""``bayescale envelope`` and ``approaches``: tables, JSON, pictures, refusals."""

import importlib.util
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1] / "answers" / "envelope_curves.py"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Simulated curves as a file."""
    spec = importlib.util.spec_from_file_location("envelope_curves", HOME)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path = tmp_path_factory.mktemp("envelope") / "curves.csv"
    module.curves_of(table=module.design(sizes=6, checkpoints=20)).to_csv(path, index=False)
    return path


def test_table_json_and_picture(call, table, tmp_path):
    picture = tmp_path / "envelope.png"
    few = ("--draws", "300", "--C", "1e21,1e24")
    ended = call("envelope", table, "--run", "run", *few, "--plot", picture)
    assert ended.code == 0, ended.err
    assert "cross at C" in ended.out
    assert picture.read_bytes()[:4] == b"\x89PNG"
    record = call("envelope", table, "--run", "run", "--along", "D", *few, "--json").json()
    assert [b["C"] for b in record["budgets"]] == [1e21, 1e24]
    assert 0.4 < record["exponents"]["a"]["median"] < 0.65


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), None),  # a column called run is found
        (("--run", "shape"), "no column 'shape'"),
        (("--last", "--run", "run"), "has one checkpoint"),
        (("--smooth", "5"), "--run COLUMN"),
        (("--run", "run", "--along", "nothing"), "no column 'nothing'"),
        (("--run", "run", "--C", "-3"), "C"),
        (("--run", "run", "--where", "N < 6e7"), "1 size of"),
        (("--run", "run", "--plot", "x.jpg"), "cannot write x.jpg"),
    ],
)
def test_refusals_are_one_line(call, table, options, said):
    ended = call("envelope", table, "--draws", "200", *options)
    if said is None:
        assert ended.code == 0
        return
    assert ended.code in (1, 2)
    assert said in ended.err
    assert len(ended.err.strip().splitlines()) == 1


def test_isoflop_data_have_no_envelope(call, data_dir, monkeypatch):
    monkeypatch.setenv("BAYESCALE_DATA", str(data_dir))
    for name in ("llama3-isoflop", "marin-dclm"):
        ended = call("envelope", name)
        assert ended.code == 1
        assert "bayescale isoflop" in ended.err


def test_approaches_refuses_before_it_samples(call, table):
    ended = call("approaches", table, "--run", "shape", "--C", "1e24")
    assert ended.code == 1
    assert "no column 'shape'" in ended.err
    assert call("approaches", table).code == 2  # C is asked for
