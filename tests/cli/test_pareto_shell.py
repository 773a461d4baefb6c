"""``bayescale pareto`` from a saved fit, and its picture."""

import numpy as np
import pytest

import bayescale as bs
from bayescale.data.designs.text_multimodal import simulate_text_multimodal


@pytest.fixture(scope="module")
def frontier_file(tmp_path_factory, compile_cache):
    path = tmp_path_factory.mktemp("pareto") / "fit.nc"
    few = {"chains": 2, "draws": 150, "warmup": 150, "progress": False}
    bs.fit("decoupled", simulate_text_multimodal(0), seed=1, **few).save(path)
    return path


def test_table_and_probability(call, frontier_file):
    ended = call(
        "pareto", frontier_file, "--C", "1e22,1e24", "--target", "text=2.07,multimodal=1.6"
    )  # fmt: skip
    assert ended.code == 0, ended.err
    for shown in ("1e22", "1e24", "D_text", "w_text", "knee at r", "P(text <= 2.07, multimodal"):
        assert shown in ended.out
    assert "x the largest run's" in ended.out


def test_json_holds_nothing_but_the_answer(call, frontier_file):
    args = ["--C", "1e23", "--r", "0.05:0.5", "--weight", "text=3,multimodal=1", "--json"]
    record = call("pareto", frontier_file, *args, "--target", "text=9,multimodal=0.1").json()
    assert record["attainable"] == [{"C": 1e23, "probability": 0.0}]
    (frontier,) = record["frontiers"]
    marked = [p for p in frontier["points"] if p["marked"]]
    assert np.allclose([marked[0]["r"], marked[-1]["r"]], [0.05, 0.5])
    (choice,) = frontier["choices"]
    assert choice["weights"] == {"text": 0.75, "multimodal": 0.25}
    assert choice["expected_regret"] >= 0
    point = marked[0]
    spent = 6 * point["N"]["median"] * sum(d["median"] for d in point["D"].values())
    assert spent == pytest.approx(1e23, rel=0.02)


def test_a_picture_is_written(call, frontier_file, tmp_path):
    path = tmp_path / "frontier.svg"
    ended = call("pareto", frontier_file, "--C", "1e22", "--plot", path)
    assert ended.code == 0, ended.err
    assert path.read_bytes().startswith(b"<?xml")
    assert "wrote" in ended.out


def test_a_frontier_needs_no_jax(imported, frontier_file):
    assert "jax" not in imported("pareto", str(frontier_file), "--C", "1e22", "--json")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "say what is given out"),
        (["--C", "1e22", "--weight", "text=0,multimodal=1"], "weight of 'text' is 0"),
        (["--C", "1e22", "--target", "text=2.0"], "'multimodal' has none"),
        (["--C", "1e22", "--target", "text"], "not of the form loss=value"),
        (["--C", "1e22", "--r", "0.5:0.1"], "expected a range such as 0.05:0.5"),
        (["--C", "1e22", "--unique", "text=1B"], "it has no repetition"),
        (["--C", "1e22", "--plot", "x.jpg"], "a picture's name ends in"),
        (["--C", "1e22,1e23,1e24,1e25,1e26", "--plot", "x.png"], "4 frontiers can be told apart"),
    ],
)
def test_refusals_are_one_line(call, frontier_file, args, message):
    ended = call("pareto", frontier_file, *args)
    assert ended.code != 0
    assert message in ended.err.replace("\n", " ")
    assert "Traceback" not in ended.err


def test_a_fit_of_one_loss_is_refused(call, fit_file):
    ended = call("pareto", fit_file, "--C", "1e22")
    assert ended.code == 1
    assert "law 'chinchilla' has one response" in ended.err
