"""Predictive checks as pictures, and from the shell."""

import json
import subprocess
import sys
import warnings

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from bayescale import plot
from bayescale.check import ppc, prior_ppc
from bayescale.errors import FitError
from bayescale.plot._ppc import save_ppc
from tests.check.ppc_sweeps import checked_sweeps
from tests.cli.conftest import LIST_MODULES, environment

EIGHT = 8 / 2.54  # centimetres


@pytest.fixture(scope="module")
def checked(compile_cache):
    return checked_sweeps()


@pytest.fixture(scope="module")
def drift(checked):
    return checked["drift"][1]


@pytest.fixture(scope="module")
def fit_file(checked, tmp_path_factory):
    path = tmp_path_factory.mktemp("ppc") / "fit.nc"
    checked["outlier"][0].save(path)
    return str(path)


def figure(wide=EIGHT, high=EIGHT * 0.8):
    return Figure(figsize=(wide, high), layout="constrained")


def test_every_panel_fits_eight_centimetres(checked, tmp_path):
    """No layout collapses, no text is below 5 points, and matplotlib's settings stay."""
    fit, result = checked["right-1"]
    before = dict(matplotlib.rcParams)
    for shown in (result, prior_ppc(fit)):
        for check in shown.checks:
            alone = figure()
            ax = alone.add_subplot()
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert plot.ppc(shown, ax, check=check.name) is ax
                alone.savefig(tmp_path / "x.png", dpi=100)
            texts = [t for t in alone.findobj(Text) if t.get_visible() and t.get_text().strip()]
            assert min(t.get_fontsize() for t in texts) >= 5
            assert ax.get_position().width > 0.55
            assert ax.get_legend() is not None
            assert ax.get_xlabel()
            assert ax.get_ylabel()
    assert dict(matplotlib.rcParams) == before


def test_the_overview_draws_every_check(drift, tmp_path):
    whole = figure(11, 13)
    axes = plot.ppc(drift, figure=whole)
    assert len(axes) == len(drift.checks)
    titles = {c.name: ax.get_title(loc="left") for c, ax in zip(drift.checks, axes, strict=True)}
    assert "curvature: p < 0.002, TOO HIGH" in titles["trend_C"].replace("\n", " ")
    colours = {c.name: ax._left_title.get_color() for c, ax in zip(drift.checks, axes, strict=True)}
    assert colours["trend_C"] != colours["tail"]
    assert whole.get_suptitle().replace("\n", " ").endswith(drift.headline())
    path = save_ppc(drift, tmp_path / "all.pdf")
    assert path.read_bytes().startswith(b"%PDF")


def test_a_trend_shows_runs_and_its_own_line(drift):
    ax = plot.ppc(drift, figure().add_subplot(), check="trend_C")
    data = drift["trend_C"].picture.data
    (line,) = [x for x in ax.get_lines() if len(x.get_xdata()) == len(data["grid"])]
    np.testing.assert_allclose(line.get_ydata(), data["trend"])
    points = np.concatenate([c.get_offsets() for c in ax.collections if len(c.get_offsets()) > 1])
    assert set(np.round(data["x"], -9)) == set(np.round(points[:, 0], -9))
    assert ax.get_xscale() == "log"


def test_residuals_beyond_the_axes_become_arrows(checked):
    _, result = checked["outlier"]
    ax = plot.ppc(result, figure().add_subplot(), check="trend_N")
    top = ax.get_ylim()[1]
    data = result["trend_N"].picture.data
    assert data["y"].max() > top
    drawn = sum(len(c.get_offsets()) for c in ax.collections if c.get_offsets().size > 2)
    arrows = [c for c in ax.collections if len(c.get_offsets()) == (data["y"] > top).sum()]
    assert arrows
    assert drawn <= len(data["y"])


def test_a_fit_is_checked_first_and_failures_are_said(checked):
    fit, result = checked["outlier"]
    ax = plot.ppc(fit, figure().add_subplot(), check="tail")
    assert any("row 18" in t.get_text() for t in ax.texts)
    np.testing.assert_allclose(result["tail"].picture.data["y"], ppc(fit)["tail"].picture.data["y"])
    with pytest.raises(FitError, match="there is no check 'trend_n' here.*Did you mean 'trend_N'"):
        plot.ppc(result, check="trend_n")
    with pytest.raises(FitError, match="this plot has 2 panels .* and ax gives 1 axes"):
        plot.ppc(result, figure().add_subplot(), check=["tail", "spread"])


def bayescale(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bayescale", *args]
    return subprocess.run(command, capture_output=True, text=True, env=environment())


def test_command(fit_file, tmp_path):
    path = tmp_path / "checks.png"
    done = bayescale("ppc", fit_file, "--check", "tail", "--check", "trend", "--plot", str(path))
    assert done.returncode == 0, done.stderr
    assert "row 18" in done.stdout
    assert "trend_C curvature" in done.stdout
    assert path.read_bytes().startswith(b"\x89PNG")


def test_command_json_without_jax(fit_file):
    code = LIST_MODULES.replace('name.split(".")[0]', "name")
    command = [sys.executable, "-c", code, "ppc", fit_file, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    status, modules = json.loads(done.stdout)
    assert status == 0
    assert "xarray" in modules
    # arviz_base puts an empty, lazy jax into the list; what counts is that nothing is loaded
    assert not {"jaxlib", "jax.numpy", "numpyro.infer", "matplotlib"} & set(modules)
    record = json.loads(bayescale("ppc", fit_file, "--json", "--seed", "3").stdout)
    tail = next(r for r in record["checks"] if r["quantity"] == "largest")
    assert tail["flagged"] is True
    assert tail["detail"].startswith("row 18")


def test_command_prior_and_refusals(fit_file, tmp_path):
    record = json.loads(bayescale("ppc", fit_file, "--prior", "--json").stdout)
    assert record["kind"] == "prior"
    wrong = bayescale("ppc", fit_file, "--check", "tails")
    assert wrong.returncode == 1
    assert "Did you mean 'tail'" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    picture = bayescale("ppc", fit_file, "--plot", str(tmp_path / "x.jpg"))
    assert "a picture's name ends in .png, .pdf, .svg" in picture.stderr
