"""``bayescale compare`` on saved fits, and its picture."""

import json
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayescale as bs
from bayescale.cli.compare import ask_stack
from bayescale.data import read_runs
from bayescale.data.simulate import simulated_sweep
from bayescale.errors import FitError
from tests.check.laplace import laplace, real_record
from tests.check.test_compare_units import curves

LOOK = """
import json, sys
from bayescale.cli.app import run
code = run()
names = sorted({name.split(".")[0] for name in sys.modules})
print(json.dumps([code, names]), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Fits of two laws to the shipped sweep, saved."""
    folder, runs = tmp_path_factory.mktemp("fits"), simulated_sweep()[0]
    for law in ("chinchilla", "kaplan"):
        real_record(laplace(law, runs)).save(folder / f"{law}.nc")
    return folder


@pytest.fixture
def call(monkeypatch, capsys):
    def run(*args):
        from bayescale.cli.app import main

        monkeypatch.setattr(sys, "argv", ["bayescale", "compare", *map(str, args)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run


def test_table_and_answers_of_the_stack(call, files):
    code, out, _ = call(files / "kaplan.nc", files / "chinchilla.nc", "--refit", "never",
                        "--N", "7B", "--D", "1.4T")  # fmt: skip
    assert code == 0
    lines = out.splitlines()
    assert "2 laws, single rows left out in turn (72)" in lines[0]
    assert out.index("chinchilla") < out.index("kaplan  ")
    assert "90% new run" in out
    assert "stack (" in out


def test_json(call, files):
    args = (files / "kaplan.nc", files / "chinchilla.nc", "--refit", "never", "--json")
    code, out, _ = call(*args, "--C", "1e22")
    record = json.loads(out)
    assert code == 0
    assert record["best"] == "chinchilla"
    assert record["by"] == "row"
    assert [x["name"] for x in record["laws"]] == ["chinchilla", "kaplan"]
    assert sum(x["stacking_weight"] for x in record["laws"]) == pytest.approx(1)
    (budget,) = record["allocation"]["allocations"]
    assert budget["N_opt"]["q05"] < budget["N_opt"]["q95"]


def test_saved_fits_are_compared_without_jax(files):
    paths = [str(files / f"{law}.nc") for law in ("chinchilla", "kaplan")]
    args = [sys.executable, "-c", LOOK, "compare", *paths, "--refit", "never", "--json"]
    done = subprocess.run(args, capture_output=True, text=True)
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0
    # ArviZ keeps stand-ins named jax and numpyro, which import nothing until they are used
    assert "jaxlib" not in modules
    assert json.loads(done.stdout)["best"] == "chinchilla"


def test_refusals_are_one_line(call, files, tmp_path):
    for args, message in (
        ([files / "kaplan.nc"], "only 'kaplan' was given"),
        ([files / "kaplan.nc", files / "kaplan.nc"], "is given twice"),
        ([files / "kaplan.nc", tmp_path / "no.nc"], "there is no file"),
        ([files / "kaplan.nc", files / "chinchilla.nc", "--by", "shape"], "no column 'shape'"),
        ([files / "kaplan.nc", files / "chinchilla.nc", "--plot", "a.gif"], ".png"),
    ):
        code, out, err = call(*args)
        assert code == 1
        assert message in err
        assert "Traceback" not in err
        assert out == ""


def test_checkpoints_are_refused_in_the_shell(call, tmp_path):
    bare = read_runs(curves().drop(columns="run_id"))
    for law in ("chinchilla", "kaplan"):
        real_record(laplace(law, bare)).save(tmp_path / f"{law}.nc")
    code, _, err = call(tmp_path / "chinchilla.nc", tmp_path / "kaplan.nc")
    assert code == 1
    assert "look like checkpoints of 8 training runs" in " ".join(err.split())


@pytest.fixture(scope="module")
def compared(files):
    fits = {law: bs.load(files / f"{law}.nc") for law in ("chinchilla", "kaplan")}
    return bs.compare(fits, refit="never")


def test_picture_shows_every_difference(compared):
    axes = bs.plot.comparison(compared, figure=Figure(figsize=(9, 4), layout="constrained"))
    assert len(axes) == 2
    size, error = compared.difference("kaplan")
    ends = {tuple(np.round(np.sort(line.get_xdata()), 6)) for line in axes[0].lines
            if len(line.get_xdata()) == 2}  # fmt: skip
    assert tuple(np.round([size - 2 * error, size + 2 * error], 6)) in ends
    (dots,) = axes[1].collections
    x, y = np.asarray(dots.get_offsets()).T
    wide = compared.pointwise()
    np.testing.assert_allclose(y, wide["chinchilla"] - wide["kaplan"])
    np.testing.assert_allclose(x, compared.fits["kaplan"].runs.column("C"))
    assert "nats" in axes[0].get_xlabel()
    assert "FLOP" in axes[1].get_xlabel()
    assert "kaplan: weight" in " ".join(t.get_text() for t in axes[0].texts)


def test_picture_of_groups_and_files(files, call, tmp_path):
    runs = read_runs(curves())
    fits = [laplace(law, runs) for law in ("chinchilla", "kaplan")]
    found = bs.compare(fits, refit="never")
    axes = bs.plot.comparison(found, figure=Figure(figsize=(3.2, 5), layout="constrained"))
    assert axes[1].collections[0].get_offsets().shape == (8, 2)
    assert "run_id" in axes[1].get_xlabel()
    with pytest.raises(FitError, match="2 panels"):
        bs.plot.comparison(found, ax=[Figure().add_subplot()])
    path = tmp_path / "compare.svg"
    code, out, _ = call(files / "kaplan.nc", files / "chinchilla.nc", "--refit", "never",
                        "--plot", path)  # fmt: skip
    assert code == 0
    assert "wrote" in out
    assert path.read_text().startswith("<?xml")


def test_a_point_and_a_budget_are_two_questions(compared):
    asked = {"N": ["70B"], "D": ["1.4T"], "C": ["1e23"]}
    assert set(ask_stack(compared, asked, 0)) == {"prediction", "allocation"}
    assert set(ask_stack(compared, {"C": ["1e23"]}, 0)) == {"allocation"}
    assert set(ask_stack(compared, {"N": ["70B"], "C": ["1e23"]}, 0)) == {"prediction"}
    assert ask_stack(compared, {}, 0) == {}
