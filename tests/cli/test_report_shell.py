"""``bayescale report`` from a saved fit."""

from html import unescape

import pytest

from bayescale.reporting.blocks import Picture
from bayescale.reporting.run import SECTIONS


@pytest.fixture
def undrawn(monkeypatch):
    """Leave pictures out, which take most of the time."""
    blank = Picture("data:,", "a picture", "", 96, 96)
    for module in ("figures", "sections.checks", "sections.decisions"):
        monkeypatch.setattr(f"bayescale.reporting.{module}.picture", lambda *_, **__: blank)


def test_a_page_and_what_it_says(call, fit_file, tmp_path, monkeypatch, undrawn):
    """With a hold-out, which fits again; the page tells the command that makes it again."""
    monkeypatch.chdir(tmp_path)
    asked = ["--C", "1e23,1e24", "--question", "How large next?", "--holdout", "compute:10"]
    ended = call("report", fit_file, "-o", "next.html", *asked, "--json")
    assert ended.code == 0, ended.err
    record = ended.json()
    assert record["path"] == "next.html"
    assert record["question"] == "How large next?"
    assert len(record["answer"]) == 4
    assert record["answer"][0].startswith("Best use of 1.00e23 FLOP: ")
    assert [s for s in record["sections"] if s["failed"]] == []
    page = (tmp_path / "next.html").read_text()
    assert record["size"] == len(page.encode())
    assert "Hold-out: compute:10" in page
    assert "fell into their 90% intervals" in page
    again = "--C 1e23,1e24 --holdout compute:10 --question 'How large next?'"
    assert again in unescape(page)


def test_default_name_and_table(call, fit_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bayescale.reporting.run.SECTIONS", SECTIONS[:3])
    ended = call("report", fit_file, "--N", "70B", "--D", "1.4T")
    assert ended.code == 0, ended.err
    assert (tmp_path / "fit-report.html").exists()
    for shown in ("chinchilla fitted to 72 runs", "Predicted loss at N = 70B", "fit-report.html ("):
        assert shown in ended.out


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--N", "70Q", "--D", "1T"], 1, "70Q"),
        (["--D", "1T"], 1, "needs N"),
        (["--holdout", "half"], 1, "unknown split 'half'"),
        (["--at", "lr"], 2, "--at 'lr' is not of the form"),
        (["-o", "no/report.html"], 1, "the folder no does not exist"),
        (["--group", "corpus=c4", "--C", "1e22"], 1, "corpus"),
    ],
)
def test_refusals_are_one_line(call, fit_file, tmp_path, monkeypatch, args, code, message):
    monkeypatch.chdir(tmp_path)
    ended = call("report", fit_file, *args)
    assert ended.code == code
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_report_loads_no_jax(imported, fit_file, tmp_path):
    """All of it, in a process of its own; what ArviZ leaves of JAX's name loads nothing."""
    loaded = imported("report", str(fit_file), "-o", str(tmp_path / "r.html"), "--C", "1e23")
    assert {"jinja2", "matplotlib"} <= loaded
    assert "jaxlib" not in loaded
    assert (tmp_path / "r.html").stat().st_size > 2e5
