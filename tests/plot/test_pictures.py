"""Pictures on disk, at any size, without JAX."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from plot_looking import runs_drawn

from bayescale import plot
from bayescale.errors import FitError
from bayescale.plot import bands

BEGINS = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


@pytest.mark.parametrize("suffix", BEGINS)
def test_save_writes_each_format(fit, tmp_path, suffix):
    path = plot.save(fit, "tokens-per-param", tmp_path / f"x.{suffix}", dpi=50)
    assert path.read_bytes().startswith(BEGINS[suffix])
    assert [p.name for p in tmp_path.iterdir()] == [f"x.{suffix}"]


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("alocation", "x.png", "there is no plot 'alocation'; known: .* Did you mean 'allocation'"),
        ("allocation", "x.jpg", r"a picture's name ends in .png, .pdf, .svg, not '.jpg'"),
        ("allocation", "x", r"a picture's name ends in .png, .pdf, .svg, not ''"),
        ("allocation", "no/x.png", "no does not exist; make it"),
    ],
)
def test_save_refusals(fit, tmp_path, kind, name, message):
    with pytest.raises(FitError, match=message):
        plot.save(fit, kind, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_plot_leaves_the_older_file(power, tmp_path):
    path = tmp_path / "x.png"
    path.write_bytes(b"older")
    with pytest.raises(FitError, match="an allocation needs a law of N and D"):
        plot.save(power, "allocation", path)
    with pytest.raises(FitError, match="a figure of its own"):
        plot.save(power, "loss_curves", path, figure=None)
    assert path.read_bytes() == b"older"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("kind", plot.KINDS)
def test_every_plot_fits_eight_centimetres(fit, tmp_path, kind):
    """No layout collapses, no text is below 5 points, and none of the axes is covered by others."""
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    wide = 8 / 2.54
    high = wide * {"overview": 3, "residuals": 0.9, "prior_posterior": 0.9}.get(kind, 0.72)
    figure = Figure(figsize=(wide, high), layout="constrained")
    alone = kind not in ("overview", "residuals", "prior_posterior")
    where = {"ax": figure.add_subplot()} if alone else {"figure": figure}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot.PLOTS[kind](fit, **where)
        figure.savefig(tmp_path / "x.png", dpi=200)
    sizes = [t.get_fontsize() for t in figure.findobj(Text) if t.get_visible() and t.get_text()]
    assert min(sizes) >= 5
    panels = [a for a in figure.axes if a.get_visible() and a.axison]
    for panel in panels:
        box = panel.get_tightbbox().transformed(figure.transFigure.inverted())
        assert box.x0 > -0.02
        assert box.x1 < 1.03


def test_a_new_figure_is_made_where_none_is_given(fit):
    import matplotlib.pyplot as plt

    before = set(plt.get_fignums())
    ax = plot.tokens_per_param(fit)
    (new,) = set(plt.get_fignums()) - before
    assert ax.figure is plt.figure(new)
    plt.close(new)


def test_large_tables_are_drawn_in_part(fit, ax, monkeypatch):
    monkeypatch.setattr(bands, "MAX_ROWS", 10)
    plot.loss_curves(fit, ax=ax)
    assert len(runs_drawn(ax)) == 10
    assert ax.get_title(loc="left").endswith("28 runs (a part drawn)")


def test_many_draws_are_thinned_evenly(fit):
    few = bands.thinned(fit, 50)
    assert len(few.sites["alpha"]) == 50
    np.testing.assert_array_equal(few.sites["alpha"], fit.sites["alpha"][::8])
    assert bands.thinned(fit) is fit


def test_loaded_fits_are_drawn_without_jax(fit, tmp_path):
    fit.save(tmp_path / "fit.nc")
    code = f"""
import sys, json, bayescale as bs
cheap = "matplotlib" not in sys.modules
from bayescale import plot
plot.allocation
cheap = cheap and "matplotlib" not in sys.modules
fit = bs.load({str(tmp_path / "fit.nc")!r})
for kind in plot.KINDS:
    plot.save(fit, kind, {str(tmp_path)!r} + "/" + kind + ".png", dpi=40)
print(json.dumps([cheap, "jax" in sys.modules, "matplotlib.pyplot" in sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [True, False, False]
    assert all((tmp_path / f"{kind}.png").stat().st_size > 2000 for kind in plot.KINDS)
    assert tuple(plot.PLOTS) == plot.KINDS
