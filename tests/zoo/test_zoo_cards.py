"""The TOML of a model: what is wrong with one is said in one line."""

import shutil

import pytest

import bayescale as bs
from bayescale.zoo import find
from bayescale.zoo.refitting import runs_of
from benchmarks.zoo import build, with_reference

GOOD = """title = "t"
law = "chinchilla"

[data]
name = "simulated-sweep"
"""
WRONG = [
    ("law = ", "is not TOML"),
    ('title = "t"\n[data]\nname = "simulated-sweep"\n', "'law' is missing"),
    (
        GOOD + 'where_ = "N > 1"\n',
        r"unknown key 'data.where_'; known: name, .*Did you mean 'where'",
    ),
    (GOOD + "[sampler]\ndraw = 5\n", r"unknown key 'sampler.draw'; .*Did you mean 'draws'"),
    (GOOD + "[sampler]\ndraws = 0\n", "'sampler.draws' is 0: input should be greater"),
    (
        GOOD + '[sampler]\ndraws = "many"\n',
        "'sampler.draws' is 'many': input should be a valid int",
    ),
    (GOOD + "[simulation.parameters]\nE = 1.0\n", r"give \[data\] or \[simulation\], one of them"),
    ('title = "t"\nlaw = "chinchilla"\n', r"give \[data\] or \[simulation\], one of them"),
    (GOOD + 'sha256 = "12"\n', "'data.sha256' is '12': string should match"),
    (GOOD + "[published]\nvalues = 3\n", "'published.source' is missing|'published.values'"),
]
LATER = [
    (GOOD + '[priors]\nE = "LogNorml(1, 1)"\n', "LogNorml"),
    (GOOD + '[pooling]\nE = "partial"\n', "pooling 'partial' is not of the form partial:COLUMN"),
    (GOOD + '[noise]\nname = "studnt_t"\n', "unknown noise 'studnt_t'.*Did you mean 'student_t'"),
    (GOOD.replace("chinchilla", "chinchila"), "chinchila.*Did you mean 'chinchilla'"),
    (GOOD.replace("simulated-sweep", "simulated"), "simulated"),
    (
        GOOD + f'sha256 = "{"0" * 64}"\n',
        "sha256 a6ec59f38c46…, and the model was fitted to 00000000",
    ),
    (GOOD.replace("[data]", 'drift = "up"\n[data]'), "drift 'up' is unknown"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_wrong_file_is_refused_in_one_line(tmp_path, text, said):
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(bs.FitError, match=said) as refusal:
        bs.zoo.card(path)
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).startswith(str(path))


@pytest.mark.parametrize(("text", "said"), LATER)
def test_what_only_the_fit_can_see_is_one_line_too(tmp_path, text, said):
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(bs.BayescaleError, match=said) as refusal:
        bs.zoo.refit(path, progress=False)
    assert "\n" not in str(refusal.value)


def test_what_is_read_of_the_data_can_be_stated(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(
        GOOD + 'where = "N > 1e8"\nbest_per = ["N"]\n\n[data.curves]\nrun = ["run"]\nlast = true\n'
    )
    runs = runs_of(bs.zoo.card(path), "m.toml")
    assert runs.column("N").min() > 1e8
    assert len(set(runs.column("N"))) == len(runs)
    every = bs.read_runs("simulated-sweep", where="N > 1e8").table
    assert runs.column("loss").sum() == every.groupby("N")["loss"].min().sum()


def test_no_reference_no_comparison(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(GOOD)
    with pytest.raises(bs.FitError, match=r"has no \[reference\] to compare with"):
        bs.zoo.check(path)


def test_missing_files_and_names_are_told(tmp_path):
    with pytest.raises(bs.FitError, match=r"there is no file .*nothing\.toml"):
        bs.zoo.card(tmp_path / "nothing.toml")
    with pytest.raises(bs.FitError, match="Did you mean 'chinchilla-simulated'"):
        bs.load("chinchila-simulated")
    with pytest.raises(bs.FitError, match=r"there is no file nothing\.nc; `bayescale fit"):
        bs.load("nothing.nc")


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A folder of models of one's own."""
    name = "chinchilla-simulated"
    for suffix in (".toml", ".npz"):
        shutil.copy(find.folder() / f"{name}{suffix}", tmp_path)
    monkeypatch.setattr(find, "folder", lambda: tmp_path)
    return tmp_path / f"{name}.npz"


def test_missing_draws_are_told_with_what_to_do(copied):
    copied.unlink()
    with pytest.raises(bs.FitError, match="draws of model 'chinchilla-simulated' are missing"):
        bs.load("chinchilla-simulated")


@pytest.mark.parametrize("damage", [lambda b: b[:2000], lambda b: b"x" * 50, lambda b: b""])
def test_damaged_draws_are_told(copied, damage):
    copied.write_bytes(damage(copied.read_bytes()))
    with pytest.raises(bs.FitError, match="can't be read as the draws of a model") as refusal:
        bs.load("chinchilla-simulated")
    assert "\n" not in str(refusal.value)


def test_a_model_named_by_its_toml_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert bs.zoo.card("models/chinchilla-simulated.toml").law == "chinchilla"
    with pytest.raises(bs.FitError, match="there is no file"):
        bs.zoo.card("elsewhere/chinchilla-simulated.toml")


def test_what_was_written_by_hand_stays_and_a_failure_loses_nothing(tmp_path):
    path = tmp_path / "mine.toml"
    head = '# by hand\ntitle = "t"\nlaw = "chinchilla"\n\n[data]\nname = "simulated-sweep"\n'
    path.write_text(head + "\n[sampler]\ndraws = 60\nwarmup = 100\nkeep = 100\n")
    build("mine", tmp_path)
    first = path.read_text()
    assert first.startswith(head)
    told = bs.zoo.card(path)
    assert told.reference.quantities["alpha"].sd > 0
    assert with_reference(first, told.reference) == first
    path.write_text(first.replace("chinchilla", "chinchila"))
    before = (path.read_text(), path.with_suffix(".npz").read_bytes())
    with pytest.raises(bs.BayescaleError):
        build("mine", tmp_path)
    assert (path.read_text(), path.with_suffix(".npz").read_bytes()) == before
