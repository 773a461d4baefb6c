"""The README's code runs as it stands, on the sweep that ships with the package."""

import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("readme")
    shutil.copy(str(files("bayescale.data") / "simulated" / "sweep.csv"), place / "runs.csv")
    return place


def run(code: str, folder: Path) -> str:
    command = [sys.executable, "-c", f"import matplotlib; matplotlib.use('Agg')\n{code}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_python(folder):
    quick, more, checks, labels, decisions = blocks("python")
    assert "auto fitted to 72 runs: converged" in run(quick, folder)
    assert "chinchilla fitted to 72 runs: converged" in run(more, folder)
    for name in ("fit.nc", "report.html"):
        assert (folder / name).stat().st_size > 0
    several = run(labels, folder)
    assert "mixture fitted to 470 runs: converged" in several
    assert "P(< 0)" in several
    decided = run(decisions, folder)
    for word in ("overtrained", "IsoFLOP slices", "best single", "worth of an epoch", "knee"):
        assert word.lower() in decided.lower(), word
    told = run(checks, folder)
    for word in (
        "interval score",
        "elpd",
        "posterior predictive",
        "influence",
        "50 simulated data sets",
    ):
        assert word in told.lower(), word


def test_shell(folder):
    (folder / "models").symlink_to(README.parent / "models")
    shown = [b for b in blocks("bash") if b.startswith("bayescale")]
    for line in "".join(shown).splitlines():
        command = [sys.executable, "-m", *line.split()]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}: {done.stderr}"
        assert done.stdout.strip(), line
    for name in ("overview.png", "report.html"):
        assert (folder / name).stat().st_size > 0


def test_the_printed_table_is_what_fit_prints(folder):
    """Numbers of the README's example come from the fit; a change of the engine shows here."""
    import bayescale as bs

    (shown,) = [b for b in blocks("text") if b.startswith("chinchilla fitted")]
    summary = bs.fit("chinchilla", str(folder / "runs.csv")).summary
    for name, median in re.findall(r"^ (\w+) +([\d.]+) ", shown, re.MULTILINE):
        row = summary.loc[name]
        # another machine draws other numbers; four Monte Carlo errors of the median
        error = 4 * 1.25 * row["mcse"] + 0.5 * 10 ** -len(median.partition(".")[2])
        assert abs(float(median) - row["median"]) < error, name


def test_the_printed_prediction_is_what_predict_prints(folder):
    """The loss at 293 times the largest run, within Monte Carlo error of the intervals."""
    import bayescale as bs

    (shown,) = [b for b in blocks("text") if b.startswith("auto fitted")]
    said = re.findall(r"70B  1.4T  5.88e23 +([\d.]+) +([\d.]+) to ([\d.]+)", shown)[0]
    fit = bs.fit("auto", str(folder / "runs.csv"))
    draws = fit.predict(N=70e9, D=1.4e12).loss[:, 0]
    error = 4 * 3 * draws.std() / np.sqrt(fit.gate.min_ess_bulk) + 5e-4
    for number, q in zip(said, (0.5, 0.05, 0.95), strict=True):
        assert abs(float(number) - np.quantile(draws, q)) < error


def test_set_up_commands_are_marked_for_ci():
    text = README.read_text()
    for name in ("demo-command", "test-command"):
        assert re.search(rf"<!-- {name} -->\n```bash\npython3 -m venv .venv && [^\n]+\n```", text)


def test_the_law_in_contributing_fits(folder):
    import textwrap

    import bayescale as bs

    text = (README.parent / "CONTRIBUTING.md").read_text()
    scope: dict = {}
    exec(textwrap.dedent(re.findall(r"   ```python\n(.*?)   ```", text, re.DOTALL)[0]), scope)
    fit = bs.fit(scope["SIZE_LAW"], str(folder / "runs.csv"), chains=2, draws=200)
    assert fit.law.text() == "L = E + A/N^α"
    assert {"E", "A", "alpha", "size_term"} <= set(fit.variables)
