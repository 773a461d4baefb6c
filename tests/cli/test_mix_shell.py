"""``bayescale mix`` and ``worth``: tables, JSON, pictures, limits as typed, refusals."""

import pytest

from tests.answers.mixtures import REPEATED, made


@pytest.fixture(scope="module")
def made_fit():
    return made(REPEATED, draws=10)


@pytest.fixture
def saved(monkeypatch, made_fit):
    """Let a made-up fit be what a file holds: what is saved and loaded is tested elsewhere."""
    monkeypatch.setattr("bayescale.saving.load", lambda path: made_fit)
    return "made_up.nc"


def test_mix_tells_a_table_json_and_a_picture(call, saved, tmp_path):
    args = ("--N", "1B", "--D", "40B", "--unique", "image=4B", "--limit", "text=0.2:0.9")
    ended = call("mix", saved, *args, "--weight", "text=2")
    assert ended.code == 0, ended.err
    for shown in ("best single", "best tried", "epochs", "weighted mean of L over text 0.5"):
        assert shown in ended.out
    path = tmp_path / "mix.png"
    record = call("mix", saved, *args, "--plot", path, "--json").json()
    assert path.read_bytes().startswith(b"\x89PNG")
    assert record["plot"] == str(path)
    shares = {s["source"]: s["share"] for s in record["sources"]}
    assert 0.2 <= shares["text"]["q025"] <= shares["text"]["q975"] <= 0.9
    assert sum(record["recommended"]["shares"].values()) == pytest.approx(1)
    assert record["recommended"]["regret"]["q95"] >= 0
    assert record["N"]["median"] == 1e9


def test_mix_takes_several_in_one_option_and_ends_left_out(call, saved):
    args = ("mix", saved, "--N", "1B", "--D", "40B", "--json")
    mine = ("text=0.5", "image=0.3", "audio=0.2")
    one = call(*args, "--limit", "text=0.3:,image=:0.4", "--consider", ",".join(mine)).json()
    two = call(*args, "--limit", "text=0.3:1", "--limit", "image=0:0.4",
               *(x for m in mine for x in ("--consider", m))).json()  # fmt: skip
    assert one == two
    (choice,) = one["choices"]
    assert choice["shares"] == {"text": 0.5, "image": 0.3, "audio": 0.2}
    assert choice["expected_regret"] >= one["recommended"]["expected_regret"]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--D", "1T"], 1, "D alone is given"),
        (["--C", "1e22", "--limit", "text=half"], 2, "not of the form source=low:high"),
        (["--C", "1e22", "--limit", "text=.5"], 2, "not of the form source=low:high"),
        (["--C", "1e22", "--weight", "text=-1"], 1, "the weight of 'text' is -1"),
        (["--C", "1e22", "--target", "code"], 1, "there is no target 'code'"),
        (["--C", "1e22", "--plot", "x.jpg"], 1, "a picture's name ends in"),
    ],
)
def test_mix_refuses_in_one_line(call, saved, args, code, said):
    ended = call("mix", saved, *args)
    assert ended.code == code
    assert said in ended.err
    assert ended.err.count("\n") == 1
    assert ended.out == ""


def test_worth_tells_a_table_json_and_a_picture(call, saved, tmp_path):
    ended = call("worth", saved, "--epochs", "2,4")
    assert ended.code == 0, ended.err
    for shown in ("epoch 4 of image", "a fresh epoch", "token of text", "P(harm)"):
        assert shown in ended.out
    path = tmp_path / "worth.svg"
    args = ("--at", "text=60B,image=20B", "--at", "N=1B", "--plot", path)
    record = call("worth", saved, *args, "--json").json()
    assert b"<svg" in path.read_bytes()
    assert record["at"] == {"N": 1e9, "D_text": 6e10, "D_image": 2e10, "D_audio": 0.0}
    assert {t["target"] for t in record["tokens"]} == {"text", "image"}


def test_worth_refuses_in_one_line(call, saved):
    ended = call("worth", saved, "--at", "video=1B")
    assert (ended.code, ended.err.count("\n")) == (1, 1)
    assert "no source 'video'" in ended.err
    ended = call("worth", saved, "--epochs", "two")
    assert (ended.code, ended.err.count("\n")) == (1, 1)
    assert "expected numbers of at least 1" in ended.err
