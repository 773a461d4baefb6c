"""The page: whole, readable by a parser, with the answer on top, and nothing that loads or runs."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from report_reading import MATHML, all_of, external, levels, parsed, section, text_of

import bayescale as bs
from bayescale.inference.gate import Gate, Problem
from bayescale.reporting.figures import picture
from bayescale.reporting.maths import mathml
from bayescale.reporting.page import coded
from bayescale.tables import quantity
from tests.report.conftest import reported


@pytest.fixture(scope="module")
def page(whole):
    return whole, parsed(whole.path)


def test_answer_comes_first_and_is_the_fits_own(page, chinchilla):
    found, tree = page
    asked = chinchilla.predict(N="70B", D="1.4T").records()[0]["new_run"]
    best = chinchilla.allocate("1e23").to_dict()["allocations"][0]
    first, second = found.answer
    numbers = [float(x) for x in re.findall(r"\d\.\d+(?= |\))", first.partition(": ")[2])]
    assert numbers == pytest.approx([asked[q] for q in ("median", "q05", "q95")], abs=6e-4)
    assert f"{quantity(best['N_opt']['median'])} parameters" in second
    assert f"(90% interval {quantity(best['D_opt']['q05'])} to " in second
    sections = [s.get("id") for s in all_of(tree, "section")]
    assert sections[0] == "answer"
    assert set(sections) == {
        "answer", "gate", "reach", "allocation", "bands", "checks", "law", "posterior", "data",
        "versions",
    }  # fmt: skip
    told = text_of(section(tree, "answer"))
    assert first in told
    assert "times beyond the largest run" in told
    assert "held about half" in told


def test_nothing_is_loaded_and_nothing_runs(page):
    _, tree = page
    assert external(tree) == []
    assert len(all_of(tree, "img")) == 8


def test_accessible(page):
    _, tree = page
    assert all_of(tree, "html")[0].get("lang") == "en"
    assert all_of(tree, "title")[0].text == "Next run"
    found = levels(tree)
    assert found[0] == 1
    assert found.count(1) == 1
    assert max(np.diff(found)) == 1  # no level is skipped
    assert all(len(i.get("alt", "")) > 20 for i in all_of(tree, "img"))
    for table in all_of(tree, "table"):
        assert len(text_of(all_of(table, "caption")[0])) > 5
        heads, *rows = all_of(table, "tr")
        columns = all_of(heads, "th")
        assert all(c.get("scope") == "col" and text_of(c) for c in columns)
        assert all(len(list(row)) == len(columns) for row in rows)
        assert all(row[0].get("scope") == "row" for row in rows)


def test_law_is_an_equation_and_not_a_picture(page):
    _, tree = page
    law = section(tree, "law")
    letters = [text_of(e) for e in law.iter(f"{MATHML}mi")]
    assert [x for x in letters if x in "LEANBDαβ"] == list("LEANαBDβ")
    assert len(list(law.iter(f"{MATHML}mfrac"))) == 2
    assert all_of(law, "img") == []
    assert "2203.15556" in text_of(law)


def test_posterior_reach_and_commands(page, chinchilla):
    _, tree = page
    rows = {
        text_of(r[0]): [text_of(c) for c in r] for r in all_of(section(tree, "posterior"), "tr")
    }
    middle = chinchilla.summary.loc["E", "median"]
    assert float(rows["E"][1]) == pytest.approx(middle, abs=2e-3)
    assert "irreducible loss" in rows["E"][-1]
    largest = chinchilla.runs.column("C").max()
    assert f"{5.88e23 / largest:.3g} times the largest" in text_of(section(tree, "reach"))
    widths = chinchilla.predict(N="70B", D="1.4T").records()[0]["width_from"]
    assert f"noise {widths['noise']:.0%}" in text_of(section(tree, "reach"))
    commands = text_of(all_of(section(tree, "versions"), "code")[0])
    assert "bayescale fit chinchilla" in commands
    assert "--draws 400" in commands
    assert "bayescale report fit.nc -o" in commands
    assert "--N 70B --D 1.4T --C 1e23 --title 'Next run'" in commands


def test_a_failed_gate_stands_above_all(chinchilla, tmp_path, no_pictures):
    problem = Problem("divergences", "17 divergent transitions.", "a simpler law")
    bad = replace(chinchilla, gate=Gate((problem,), 1.0, 900.0, 800.0, 17, 0.9))
    found = bs.report(bad, tmp_path / "bad.html")
    assert not found.converged
    tree = parsed(found.path)
    body = all_of(tree, "body")[0]
    everything = text_of(body)
    place = everything.index("This fit failed its gate")
    assert place < everything.index("17 divergent transitions") < everything.index("Best use of")
    told = text_of(section(tree, "gate"))
    assert "Next thing to try: a simpler law." in told
    assert "What it is worth: nothing yet." in everything
    assert "doubt" in [p.get("class") for p in all_of(section(tree, "answer"), "p")]


EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>"\' {{ 7 * 7 }}'


def test_markup_in_a_table_or_title_stays_text(tmp_path, no_pictures):
    rng = np.random.default_rng(0)
    N, D = np.geomspace(1e7, 1e9, 8).repeat(3), np.tile([2e9, 2e10, 2e11], 8)
    table = pd.DataFrame({"N": N, "D": D, "loss": 2 + rng.random(24), EVIL: rng.random(24)})
    table["corpus"] = np.tile([EVIL, "web"], 12)
    fit = reported("chinchilla", table, pooling={"E": bs.partial("corpus")})
    flag = bs.data.Flag("note", (), EVIL)
    fit = replace(fit, data=replace(fit.runs, source=EVIL, flags=(flag,)))
    found = bs.report(fit, tmp_path / "x.html", title=EVIL, question=EVIL)
    assert [s.failed for s in found.sections if s.failed] == []
    tree = parsed(found.path)
    assert external(tree) == []
    assert text_of(all_of(tree, "h1")[0]) == EVIL
    assert EVIL in text_of(section(tree, "answer"))
    assert text_of(section(tree, "data")).count(EVIL) >= 3  # source, label, flag
    assert "49" not in text_of(all_of(tree, "h1")[0])


def test_markup_in_a_laws_latex_stays_text():
    written = mathml(r"L = \text{<script>alert(1)</script>} + a < b")
    assert "<script>" not in written
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in written


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("run `a<b` now", "run <code>a&lt;b</code> now"),
        ("a ` alone", "a ` alone"),
        ("<b>`x`", "&lt;b&gt;<code>x</code>"),
    ],
)
def test_backticks_are_code(text, html):
    assert str(coded(text)) == html


def test_the_same_picture_has_the_same_bytes():
    def draw(figure):
        figure.add_subplot().plot([1, 2], label="x")

    one, two = (picture(draw, "a line", "A line.", (2, 2)) for _ in range(2))
    assert one == two
    assert one.uri.startswith("data:image/svg+xml;base64,")
    assert (one.width, one.height) == (192, 192)

    def crowd(figure):
        rng = np.random.default_rng(0)
        figure.add_subplot().scatter(*rng.random((2, 3000)))

    many = picture(crowd, "points", "Points.", (4, 3))
    assert many.uri.startswith("data:image/png;base64,")
    assert len(many.uri) < 130_000


def test_an_older_report_survives(chinchilla, tmp_path, no_pictures, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("older")
    with pytest.raises(bs.DataError, match="'70Q'"):
        bs.report(chinchilla, path, N="70Q", D="1T")
    monkeypatch.setattr("bayescale.reporting.run.render", lambda page: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bs.report(chinchilla, path)
    assert path.read_text() == "older"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(bs.FitError, match="the folder .* does not exist"):
        bs.report(chinchilla, tmp_path / "no" / "report.html")
    with pytest.raises(bs.FitError, match="it is a folder"):
        bs.report(chinchilla, tmp_path)


def test_what_was_asked_and_cannot_be_answered_is_refused(chinchilla, tmp_path, no_pictures):
    path = tmp_path / "report.html"
    with pytest.raises(bs.FitError, match="needs N"):
        bs.report(chinchilla, path, D="1T")
    with pytest.raises(bs.FitError, match="takes N, D"):
        bs.report(chinchilla, path, at={"lr": 0.1})
    with pytest.raises(bs.DataError, match="unknown split 'half'"):
        bs.report(chinchilla, path, holdout="half")
    with pytest.raises(bs.FitError, match="says nothing of a budget"):
        bs.report(reported("loss-to-accuracy"), path, C="1e22")
    assert not path.exists()


def test_a_part_that_breaks_is_a_line_of_the_page(chinchilla, tmp_path, no_pictures, monkeypatch):
    def broken(*_, **__):
        raise KeyError("no such thing")

    monkeypatch.setattr("bayescale.check.predictive.run.ppc", broken)
    found = bs.report(chinchilla, tmp_path / "r.html", C="1e22")
    failed = {s["name"]: s["failed"] for s in json.loads(json.dumps(found.to_dict()))["sections"]}
    assert "KeyError" in failed.pop("checks")
    told = text_of(section(parsed(found.path), "checks"))
    assert "This part could not be made (KeyError: 'no such thing')." in told
    assert "Best use of 1.00e22 FLOP" in text_of(section(parsed(found.path), "answer"))
