"""The wheel: which files it has, and that it answers from where it is installed."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUN = "import sys; from bayescale.cli.app import main; main()"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from the checkout without a network."""
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(place.glob("*.whl"))


def test_a_wheel_has_the_package_and_its_models_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"bayescale"}
    inside = {Path(n).name for n in names if n.startswith("bayescale/_models/")}
    here = {p.name for p in (ROOT / "models").iterdir() if p.suffix in (".toml", ".npz")}
    assert inside == here
    assert {Path(n).suffix for n in names if "_models" in n} == {".toml", ".npz"}
    assert not [n for n in names if "test" in Path(n).parts or n.endswith((".ipynb", ".nc"))]
    data = {n for n in names if n.startswith("bayescale/") and not n.endswith(".py")}
    data -= {n for n in data if "_models" in n}
    kinds = {".csv", ".toml", ".html", ".css", ".js", ".j2"}  # data, and the report
    assert {Path(n).suffix for n in data} <= kinds | {".typed"}


def test_an_installed_wheel_answers_from_another_folder(wheel, tmp_path):
    target, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(wheel)], check=True, capture_output=True)
    env = {k: v for k, v in os.environ.items() if k != "BAYESCALE_DATA"}
    env |= {"PYTHONPATH": str(target)}

    def ask(*args):
        command = [sys.executable, "-c", RUN, *args]
        done = subprocess.run(command, cwd=elsewhere, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = subprocess.run(
        [sys.executable, "-c", "from bayescale.zoo.find import folder; print(folder())"],
        cwd=elsewhere, env=env, capture_output=True, text=True,
    )  # fmt: skip
    assert Path(where.stdout.strip()) == target / "bayescale" / "_models"
    listed = json.loads(ask("models", "--json"))
    assert len(listed) >= 20
    told = ask("predict", "chinchilla-epoch2024", "--N", "70B", "--D", "1.4T", "--json")
    assert json.loads(told)["predictions"][0]["loss"]["median"] == pytest.approx(1.967, abs=0.01)
