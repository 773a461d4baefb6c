"""Fits with all that a report reads, made up in a second: nothing is sampled here."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from bayescale.assembling import design_problems, summarise, versions
from bayescale.check.calibration.design import make_design, with_response
from bayescale.choosing import example
from bayescale.inference.diagnostics import diagnose
from bayescale.inference.gate import judge
from bayescale.inference.model import make_model
from bayescale.inference.posterior import scalars
from bayescale.pooling import Pooling
from bayescale.reporting.blocks import Picture
from bayescale.tree import pointwise
from tests.answers.conftest import made_up

SETTINGS = {"chains": 2, "draws": 400, "warmup": 300, "target_accept": 0.8}


def reported(law, runs=None, noise=None, pooling=None, draws=400, spread=0.05):
    """A fit of runs simulated from one of its own draws, with summary, gate and record.

    Runs lie where ``runs`` do, or on the law's own design; their responses are replaced.
    """
    model = make_model(example(law), noise, Pooling.of(pooling))
    design = make_design(model, runs)[0]
    fit = made_up(model.law, design, model.noise, pooling, draws=draws, spread=spread)
    truth = {s.name: fit.variables[s.name].values[:1, :1] for s in fit.packing.sites}
    _, replicates = pointwise(fit, truth, seed=1, likelihood=False)
    table = with_response(design, fit.law.response, replicates[0, 0])
    stats = sampled(draws)
    listed = scalars(fit.variables, {**fit.layout.labels, fit.layout.cell_dim: fit.layout.cells})
    values = np.stack(list(listed.values()))
    found = diagnose(tuple(listed), values, stats)
    return replace(
        fit,
        data=table,
        stats=stats,
        gate=judge(found, {}, design_problems(fit.model, table)),
        record={"seed": 0, "settings": SETTINGS, "device": "cpu", "versions": versions()},
        scalars=summarise(found, values),
    )


def sampled(draws):
    """Statistics of a sampler that had no trouble."""
    rng = np.random.default_rng(3)
    none = np.zeros((2, draws), dtype=bool)
    noise = {name: rng.normal(size=(2, draws)) for name in ("lp", "energy")}
    return noise | {"diverging": none, "reached_max_treedepth": none}


@pytest.fixture(scope="session")
def chinchilla():
    fit = reported("chinchilla")
    assert fit.converged, fit.gate.headline()
    return fit


@pytest.fixture(scope="session")
def whole(chinchilla, tmp_path_factory):
    """A report with all its pictures, of two questions."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    found = chinchilla.report(path, N="70B", D="1.4T", C="1e23", title="Next run")
    assert [s.failed for s in found.sections if s.failed] == []
    return found


@pytest.fixture
def no_pictures(monkeypatch):
    """Leave pictures undrawn, which take most of a report's time."""

    def blank(draw, alt, caption, size=(1, 1)):
        return Picture("data:,", alt, caption, 96, 96)

    for module in ("figures", "sections.checks", "sections.decisions"):
        monkeypatch.setattr(f"bayescale.reporting.{module}.picture", blank)


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium of this machine, driven by playwright."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no headless browser on this machine: none of {', '.join(names)}")
    with driver.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()
