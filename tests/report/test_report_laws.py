"""Every law has a report: no part breaks, and what a law can't say is a line."""

import numpy as np
import pytest
from report_reading import all_of, external, parsed, section, text_of

import bayescale as bs
from bayescale.families import FAMILIES
from bayescale.reporting.asked import read_asked
from bayescale.tables import quantity
from tests.report.conftest import reported

NAMES = list(dict.fromkeys([*bs.LAWS, *FAMILIES]))
DRAWN = ("mixture", "decoupled", "bimodal")  # with their pictures, the others without
PARTS = {
    "decoupled": ("Best size by composition", "Frontier between losses", "What tokens are worth"),
    "mixture": ("Best mixture", "What tokens are worth"),
    "repetition": ("Best size with limited data", "What tokens are worth"),
    "capability": ("Which backbone", "Transfer of text benchmarks"),
    "isoflop": ("Best size of each budget",),
    "chinchilla": ("Best split of a budget",),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # made-up draws may lie far from any runs
@pytest.mark.parametrize("name", NAMES)
def test_every_law(name, tmp_path, request):
    if name not in DRAWN:
        request.getfixturevalue("no_pictures")
    fit = reported(name, draws=400 if name in DRAWN else 100)
    found = bs.report(fit, tmp_path / "report.html")
    assert [(s.name, s.failed) for s in found.sections if s.failed] == []
    assert found.answer
    assert found.size < 1.5e6
    tree = parsed(found.path)
    assert external(tree) == []
    headings = [text_of(h) for h in all_of(section(tree, "allocation"), "h3")]
    assert set(PARTS.get(name, ())) <= set(headings)
    assert "No answer" not in text_of(section(tree, "answer"))
    if name in DRAWN:
        assert len(all_of(tree, "img")) >= 6


def test_groups_are_told_one_by_one(tmp_path, no_pictures):
    fit = reported("chinchilla", pooling={"E": bs.partial("corpus")}, draws=100)
    found = bs.report(fit, tmp_path / "report.html", C="1e23")
    named = [line.partition(":")[0] for line in found.answer]
    assert named == ["g1", "g1", "g2", "g2", "g3", "g3"]
    alone = bs.report(fit, tmp_path / "one.html", C="1e23", corpus="g2")
    assert len(alone.answer) == 2
    assert alone.answer[1] == found.answer[3].removeprefix("g2: ")
    assert "--group corpus=g2" in alone.path.read_text()


def test_nothing_asked_is_ten_times_the_largest_run(tmp_path, no_pictures):
    fit = reported("power-law-C", draws=100)
    found = bs.report(fit, tmp_path / "report.html")
    largest = fit.runs.column("C").max()
    expected = fit.predict(C=10 * largest).records()[0]["new_run"]["median"]
    assert f"{expected:.3f}" in found.answer[0] or f"{expected:.4f}" in found.answer[0]
    assert "10 times its compute" in found.path.read_text()


def test_budgets_of_a_law_that_splits_none(tmp_path, no_pictures):
    fit = reported("decoupled", draws=100)
    found = bs.report(fit, tmp_path / "report.html", C="1e23")
    assert found.question == "What is the best use of 1e23 FLOP?"
    (point,) = {tuple(p) for p in zip(*_points(fit, "N", "D_text", "D_multimodal"), strict=True)}
    assert 6 * point[0] * (point[1] + point[2]) == pytest.approx(1e23)
    told = text_of(section(parsed(found.path), "answer"))
    assert f"D_text = {quantity(point[1])}" in told


def _points(fit, *names):
    points = read_asked(fit, C="1e23").points
    return [np.broadcast_to(points[n], 1) for n in names]


def test_a_fit_shipped_without_its_runs(tmp_path):
    fit = bs.load("chinchilla-epoch2024")
    found = bs.report(fit, tmp_path / "report.html", N="70B", D="1.4T")
    assert [s.failed for s in found.sections if s.failed] == []
    tree = parsed(found.path)
    for part in ("bands", "checks"):
        assert "this needs the runs" in text_of(section(tree, part))
    assert fit.extent.again in text_of(section(tree, "versions"))
    assert "45.4 times the largest" in text_of(section(tree, "reach"))
