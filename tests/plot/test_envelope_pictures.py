"""Pictures of the envelope and of the three approaches: what they show, small and large."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from plot_looking import bands_at, legend_texts, texts

import bayescale as bs
from bayescale import plot
from bayescale.errors import FitError
from bayescale.plot import style

HOME = Path(__file__).parents[1] / "answers" / "envelope_curves.py"


@dataclass(frozen=True)
class Stated:
    """An approach with stated draws."""

    a: np.ndarray
    name: str = "isoflop"
    unit: str = "nats/token"
    converged: bool = False
    warnings: tuple = ()

    @property
    def exponents(self):
        return {"a": self.a, "b": 1 - self.a}

    def n_opt(self, C):
        return 1e9 * (np.asarray(C, float) / 1e20) ** self.a[:, None]

    def d_opt(self, C):
        return np.asarray(C, float) / 6 / self.n_opt(C)


@pytest.fixture(scope="module")
def answer():
    spec = importlib.util.spec_from_file_location("envelope_curves", HOME)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return bs.envelope(module.curves_of(table=module.design(sizes=6)), draws=300)


@pytest.fixture(scope="module")
def both(answer):
    a = 0.7 + 0.01 * np.random.default_rng(0).standard_normal(500)
    return bs.approaches(envelope=answer, isoflop=Stated(a), C=["1e21", "1e24"])


def test_the_band_is_the_envelope(answer, ax):
    plot.envelope(answer, ax=ax)
    point = 150
    x = float(np.exp(answer.crossings.grid[point]))
    lowest = answer.crossings.lowest[:, point]
    wide, narrow = bands_at(ax, x, style.BLUE)
    assert wide == pytest.approx(np.quantile(lowest, [0.05, 0.95]))
    assert narrow == pytest.approx(np.quantile(lowest, [0.25, 0.75]))


def test_axes_units_legend_and_marks(answer, ax):
    plot.envelope(answer, ax=ax)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_xlabel() == "compute C (FLOP)"
    assert ax.get_ylabel() == "loss (nats/token)"
    said = " ".join(legend_texts(ax))
    assert "90% credible" in said
    assert "50% credible" in said
    marks = [line for line in ax.lines if line.get_marker() == "D"]
    found = np.sort([float(line.get_xdata()[0]) for line in marks])
    records = answer.to_dict()["crossings"]
    likely = [r["C"]["median"] for r in records if r["probability"] >= 0.4]
    assert found == pytest.approx(sorted(likely))


def test_exponents_and_disagreement_are_written(both, figure):
    left, right = plot.approaches(both, figure=figure)
    said = " ".join(texts(left))
    assert "not converged" in said
    assert "disagree" in said
    assert [t.get_text() for t in left.get_yticklabels()] == ["envelope", "isoflop"]
    assert "envelope" in legend_texts(right)
    x = 1e24
    edges = bands_at(right, x, style.COLOURS[0])
    expected = np.quantile(both.answers["isoflop"].n_opt([x])[:, 0], [0.05, 0.95])
    assert edges[0] == pytest.approx(expected)


def test_a_range_that_is_none_is_refused(both):
    with pytest.raises(FitError, match="low is 1e"):
        plot.approaches(both, low=1e25)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_at_eight_centimetres(answer, both, tmp_path, suffix):
    from matplotlib.figure import Figure

    for name, height in (("envelope", 2.6), ("approaches", 4.6)):
        figure = Figure(figsize=(3.15, height), layout="constrained")
        where = {"ax": figure.add_subplot()} if name == "envelope" else {"figure": figure}
        getattr(plot, name)(answer if name == "envelope" else both, **where)
        path = tmp_path / f"{name}.{suffix}"
        figure.savefig(path)
        assert path.stat().st_size > 3000
    assert matplotlib.rcParams["figure.dpi"] == matplotlib.rcParamsDefault["figure.dpi"]
