"""Shipped fits: every law has one, they answer what they say, and carry no runs."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import bayescale as bs
from bayescale.families import FAMILIES
from bayescale.inference.posterior import scalars
from bayescale.laws import LAWS
from bayescale.plot.bands import thinned
from bayescale.zoo.asking import QUESTIONS, answers_of, middle
from bayescale.zoo.find import folder
from bayescale.zoo.store import TEXT, pack, unpack

NAMES = bs.zoo.names()
CHECKED = ("chinchilla-simulated", "loss-to-accuracy-simulated", "batch-size-simulated")
SMALL = "chinchilla-simulated"


@pytest.fixture(scope="module")
def refitted():
    """The small model fitted again, with its runs."""
    return bs.zoo.refit(SMALL, progress=False)


def test_every_law_has_a_model():
    known = set(LAWS) | set(FAMILIES)
    covered = {bs.zoo.card(name).law.partition(":")[0] for name in NAMES}
    assert covered <= known
    # a family whose members are laws of their own is covered by them
    assert known - covered <= {"broken-power-law"}
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_a_model_answers_what_it_says_and_agrees_with_its_record(name):
    told, fit = bs.zoo.card(name), bs.load(name)
    assert told.reference is not None
    skipped = () if name == "mixture-simulated" else ("mix",)  # compiles for seconds for each law
    expected = tuple(a for a in told.reference.answers if a not in skipped)
    assert answers_of(thinned(fit, 60), skipped) == expected
    assert "predict" in expected
    assert (fit.converged, len(fit.data)) == (told.reference.converged, told.reference.runs)
    assert (
        fit.title == f"{fit.law.name} fitted to {told.reference.runs} runs: {told.reference.gate}"
    )
    means = dict(zip(fit.scalars["parameter"], fit.scalars["mean"], strict=True))
    for quantity, row in told.reference.quantities.items():
        assert row.mean == pytest.approx(means[quantity], rel=1e-6), quantity


@pytest.mark.parametrize("name", NAMES)
def test_thinned_draws_have_the_moments_of_all(name):
    """Means of the draws that are kept lie within their own error of the reference."""
    told, fit = bs.zoo.card(name), bs.load(name)
    axes = {**fit.layout.labels, fit.layout.cell_dim: fit.layout.cells}
    listed = scalars(fit.variables, axes)
    for quantity, row in told.reference.quantities.items():
        draws = listed[quantity].ravel()
        size = min(draws.size, row.ess * draws.size / told.sampler.draws / told.sampler.chains)
        error = row.sd / np.sqrt(max(size, 20.0))
        assert abs(draws.mean() - row.mean) < 6 * error, quantity


@pytest.mark.parametrize("name", NAMES)
def test_a_model_carries_no_runs_and_names_its_source(name):
    with np.load(folder() / f"{name}.npz", allow_pickle=False) as kept:
        record = json.loads(bytes(kept[TEXT]).decode())
        rows = record["extent"]["size"]
        chains, draws = kept["stat:lp"].shape
        for array in kept.files:
            if array != TEXT:
                assert kept[array].shape[:2] == (chains, draws)
    assert "runs" not in record
    assert chains * draws != rows or rows < 20
    told = record["about"]
    assert told["name"] == name
    assert told["citation"]
    assert told["licence"]
    assert (folder() / f"{name}.npz").stat().st_size < 250_000


def test_what_needs_the_runs_says_how_to_fit_them_again():
    fit = bs.load(SMALL)
    again = rf"holds none; fit it again: bayescale fit models/{SMALL}.toml -o {SMALL}\.nc"
    for ask in (bs.check.ppc, bs.check.loo, lambda f: f.save("x.nc"), lambda f: f.runs):
        with pytest.raises(bs.FitError, match=again):
            ask(fit)


def test_a_shipped_fit_answers_as_the_whole_one(refitted, tmp_path):
    """Ranges, optimum and intervals are those of the fit with its runs, rounding apart."""
    path = tmp_path / "x.npz"
    path.write_bytes(pack(refitted, "again", {"name": "x"}, keep=4000))
    shipped = unpack(path)
    at = {"N": "70B", "D": "1.4T"}
    whole, part = refitted.predict(**at), shipped.predict(**at)
    np.testing.assert_allclose(part.loss, whole.loss, rtol=2e-6)
    assert part.records()[0]["outside"] == whole.records()[0]["outside"]
    assert part.warnings == whole.warnings
    ours, theirs = shipped.allocate("5.76e23"), refitted.allocate("5.76e23")
    np.testing.assert_allclose(ours.draws["N_opt"], theirs.draws["N_opt"], rtol=1e-4)
    assert ours.warnings == theirs.warnings
    assert str(shipped).splitlines()[0] == str(refitted).splitlines()[0]
    assert set(shipped.tree.children) == {"posterior", "sample_stats", "log_prior"}


def test_the_same_settings_give_the_shipped_draws_again(refitted, tmp_path):
    path = tmp_path / "x.npz"
    path.write_bytes(pack(refitted, "again", {"name": "x"}))
    sites, shipped = unpack(path).sites, bs.load(SMALL).sites
    for name, values in sites.items():
        # the same seed on another machine is another sequence after some draws: moments agree
        error = values.std() / np.sqrt(200)
        assert abs(values.mean() - shipped[name].mean()) < 6 * error


@pytest.mark.parametrize("name", CHECKED)
def test_a_model_fitted_again_agrees(name):
    found = bs.zoo.check(name, progress=False)
    assert found.passed, f"{found.failed} {found.gates}"
    assert found.seed == bs.zoo.card(name).sampler.seed + 1
    assert any(row[4] != 0 for row in found.rows)  # other draws, not a copy


def test_a_wrong_reference_is_found(tmp_path):
    """A mean that is one posterior SD off fails, and only that one."""
    path = tmp_path / "wrong.toml"
    text = (folder() / f"{SMALL}.toml").read_text()
    told = bs.zoo.card(SMALL).reference.quantities["alpha"]
    wrong = text.replace(
        f"alpha = {{ mean = {told.mean!r}", f"alpha = {{ mean = {told.mean + told.sd!r}"
    )
    assert wrong != text
    path.write_text(wrong)
    found = bs.zoo.check(path, progress=False)
    assert not found.passed
    assert found.failed == ("alpha",)
    assert "wrong DIFFERS from its reference" in str(found)


def test_questions_are_asked_in_the_middle_of_the_data():
    fit = bs.load(SMALL)
    point = middle(fit)
    spans = fit.extent.spans
    assert all(spans[c].low <= v <= spans[c].high for c, v in point.items())
    assert set(QUESTIONS) >= {"predict", "allocate", "mix", "pareto"}


def test_a_fit_and_its_extent_agree_on_the_ranges(refitted):
    N = refitted.runs.column("N")
    span = refitted.extent.span("N")
    assert (span.low, span.high, span.median) == (N.min(), N.max(), np.median(N))
    assert span.centre == pytest.approx(np.exp(np.log(N).mean()))
    with pytest.raises(bs.FitError, match="doesn't tell U, which this answer reads"):
        refitted.extent.span("U")
    shipped = bs.load(SMALL).extent
    kept = {f.name for f in dataclasses.fields(shipped)} - {"remarks", "again", "spans", "groups"}
    assert all(getattr(shipped, n) == getattr(refitted.extent, n) for n in kept)
    assert shipped.spans["C"].high == pytest.approx(refitted.extent.spans["C"].high)


def test_the_folder_is_the_checkouts():
    assert folder() == Path(bs.__file__).resolve().parents[1] / "models"
