"""A saved fit comes back whole, and no failure leaves half a file or a raw traceback."""

import errno
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bayescale as bs
from bayescale.errors import FitError


@pytest.fixture(scope="module")
def saved(fit, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "fit.nc"
    fit.save(path)
    return path


@pytest.fixture(scope="module")
def loaded(saved) -> bs.Fit:
    return bs.load(saved)


def assert_whole(fit, again):
    assert str(again) == str(fit)
    assert repr(again) == repr(fit)
    assert again.to_dict() == fit.to_dict()
    assert again.model == fit.model
    assert again.gate == fit.gate
    assert list(again.variables) == list(fit.variables)
    for name, variable in fit.variables.items():
        np.testing.assert_array_equal(again.variables[name].values, variable.values)
        assert again.variables[name].dims == variable.dims
        assert again.variables[name].kind == variable.kind
    for name, values in fit.stats.items():
        np.testing.assert_array_equal(again.stats[name], values)
        assert again.stats[name].dtype == values.dtype
    assert again.layout.refs == fit.layout.refs
    assert again.layout.labels == fit.layout.labels
    assert again.runs.table.equals(fit.runs.table)
    assert again.runs.describe() == fit.runs.describe()
    assert again.runs.derived == fit.runs.derived
    np.testing.assert_array_equal(again.runs.row_numbers, fit.runs.row_numbers)
    assert again.summary.equals(fit.summary)


def assert_same_tree(one, two):
    assert set(one.children) == set(two.children)
    for name in one.children:
        left, right = one[name].dataset, two[name].dataset
        assert list(left.data_vars) == list(right.data_vars)
        for variable in left.data_vars:
            np.testing.assert_array_equal(left[variable], right[variable])


def test_round_trip(fit, loaded):
    assert_whole(fit, loaded)
    assert_same_tree(fit.tree, loaded.tree)


def test_round_trip_with_groups(pooled_fit, tmp_path):
    """Names of groups survive, whole numbers included, and predictions with them."""
    pooled_fit.save(tmp_path / "fit.nc")
    again = bs.load(tmp_path / "fit.nc")
    assert_whole(pooled_fit, again)
    assert_same_tree(pooled_fit.tree, again.tree)


def test_answers_from_a_loaded_fit_are_the_same(fit, loaded):
    one, two = (f.predict(N=70e9, D=1.4e12) for f in (fit, loaded))
    assert str(one) == str(two)
    assert str(fit.allocate(C=1e23)) == str(loaded.allocate(C=1e23))


def test_saving_again_changes_nothing(loaded, tmp_path):
    loaded.save(tmp_path / "again.nc")
    assert_whole(loaded, bs.load(tmp_path / "again.nc"))


def test_load_takes_a_string(saved, fit):
    assert str(bs.load(str(saved))) == str(fit)


def test_a_saved_fit_is_read_and_answers_without_jax(saved):
    code = (
        "import sys, bayescale as bs\n"
        f"fit = bs.load({str(saved)!r})\n"
        "str(fit), str(fit.predict(N=7e10, D=1.4e12))\n"
        "assert not {'jax', 'numpyro'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_priors_survive(fit, tmp_path):
    """Exactly, and without the coordinate that a prior on the parameter itself takes away."""
    from bayescale import priors

    changed = {
        "E": priors.Uniform(0.5, 3.0),
        "A": priors.LogNormal(482.123456789, 0.5),
        "data_term": priors.Gamma(2, 4),
    }
    fit = replace(fit, model=replace(fit.model, law=fit.law.with_priors(changed)))
    fit.save(tmp_path / "fit.nc")
    again = bs.load(tmp_path / "fit.nc")
    assert_whole(fit, again)
    assert again.law.param("A").prior == changed["A"]
    assert again.law.param("A").coordinate is None


def test_odd_columns_survive(fit, tmp_path):
    """Columns named as axes, with slashes, of all kinds; none of them is lost or renamed."""
    rows = len(fit.runs)
    table = fit.runs.table.assign(
        **{"row": np.arange(rows), "a/b": "x", "a∕b": "y", "big": 2**62 + 1, "yes": True}
    )
    fit = replace(fit, data=replace(fit.runs, table=table))
    fit.save(tmp_path / "fit.nc")
    again = bs.load(tmp_path / "fit.nc").runs.table
    assert list(again) == list(table)
    for name in ("row", "a/b", "a∕b", "big", "yes"):
        assert again[name].tolist() == table[name].tolist(), name


def test_large_records_fit_into_the_file(fit, tmp_path):
    """HDF5 keeps small attributes only beside the data; a record may be larger."""
    record = dict(fit.record) | {"comment": "x" * 300_000}
    replace(fit, record=record).save(tmp_path / "fit.nc")
    assert bs.load(tmp_path / "fit.nc").record["comment"] == record["comment"]


# user's own laws


def test_own_law_is_passed_to_load(own_fit, own_law, tmp_path):
    own_fit.save(tmp_path / "own.nc")
    with pytest.raises(FitError, match=r"fit of 'mine', a law of your own; pass it: load\(path, l"):
        bs.load(tmp_path / "own.nc")
    again = bs.load(tmp_path / "own.nc", law=own_law)
    assert_whole(own_fit, again)
    point = {"N": 1e10, "width": 3.0}
    assert str(again.predict(**point)) == str(own_fit.predict(**point))


def test_another_law_than_the_files_is_refused(own_fit, own_law, saved, tmp_path):
    own_fit.save(tmp_path / "own.nc")
    with pytest.raises(FitError, match="was fitted with law 'mine' .* the law at hand differs"):
        bs.load(tmp_path / "own.nc", law=bs.LAWS["chinchilla"])
    with pytest.raises(FitError, match="was fitted with law 'chinchilla'"):
        bs.load(saved, law=own_law)


def test_a_changed_equation_is_refused(saved):
    changed = replace(bs.LAWS["chinchilla"], equation="L = E")
    with pytest.raises(FitError, match="the law at hand differs"):
        bs.load(saved, law=changed)


# files that are no fits


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.7, 0.99])
def test_a_truncated_file(saved, tmp_path, share):
    content = saved.read_bytes()
    cut = tmp_path / "cut.nc"
    cut.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FitError, match=r"cut\.nc .*can't be read as a bayescale fit") as caught:
        bs.load(cut)
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of h5netcdf
def test_flipped_bytes_never_give_a_raw_error(saved, tmp_path):
    """Either the file still reads (the bytes were of no weight) or one clear line says no."""
    content = bytearray(saved.read_bytes())
    rng = np.random.default_rng(0)
    for trial in range(12):
        broken = bytearray(content)
        for place in rng.integers(0, min(len(content), 60_000), 40):
            broken[place] ^= 0xFF
        path = tmp_path / f"{trial}.nc"
        path.write_bytes(broken)
        message = str(path)
        try:
            bs.load(path)
        except FitError as problem:
            message = str(problem)
        assert str(path) in message


@pytest.mark.parametrize(
    "content", [b"", b"N,D,loss\n1,2,3\n", b"\x89PNG\r\n", b"\x89HDF\r\n\x1a\n"]
)
def test_a_file_of_another_kind(tmp_path, content):
    path = tmp_path / "other.nc"
    path.write_bytes(content)
    with pytest.raises(FitError, match=r"other\.nc can't be read as a bayescale fit"):
        bs.load(path)


def test_netcdf_from_elsewhere(tmp_path):
    import xarray as xr

    xr.Dataset({"x": ("t", [1.0, 2.0])}).to_netcdf(tmp_path / "weather.nc", engine="h5netcdf")
    with pytest.raises(FitError, match="is netCDF but holds no bayescale fit"):
        bs.load(tmp_path / "weather.nc")


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"format": 1},
        {"format": 1, "law": []},
        {"format": 1, "law": {"name": "chinchilla"}},
        {"format": 1, "law": "chinchilla", "noise": {}},
        [1, 2],
        "x",
    ],
)
def test_records_of_another_shape(tmp_path, record):
    import xarray as xr

    data = xr.Dataset({"x": ("t", [1.0])}, attrs={"bayescale": json.dumps(record)})
    data.to_netcdf(tmp_path / "odd.nc", engine="h5netcdf")
    with pytest.raises(FitError, match=r"odd\.nc") as caught:
        bs.load(tmp_path / "odd.nc")
    assert "\n" not in str(caught.value)


def test_a_later_format_is_named(saved, tmp_path):
    import xarray as xr

    with xr.open_datatree(saved, engine="h5netcdf") as tree:
        tree = tree.load()
    tree.attrs["bayescale"] = json.dumps(json.loads(tree.attrs["bayescale"]) | {"format": 99})
    tree.to_netcdf(tmp_path / "later.nc", engine="h5netcdf")
    with pytest.raises(FitError, match="has fit format 99, this version reads 1"):
        bs.load(tmp_path / "later.nc")


def test_a_missing_file(tmp_path):
    with pytest.raises(FitError, match=r"there is no file .*nothing\.nc"):
        bs.load(tmp_path / "nothing.nc")


def test_a_folder(tmp_path):
    with pytest.raises(FitError, match=str(tmp_path)):
        bs.load(tmp_path)


# places that can't be written


@pytest.fixture
def old(tmp_path) -> Path:
    path = tmp_path / "fit.nc"
    path.write_bytes(b"an older file")
    return path


def only(path: Path) -> bool:
    """Whether the file is as before and alone in its folder: nothing half-written beside it."""
    return path.read_bytes() == b"an older file" and list(path.parent.iterdir()) == [path]


def test_a_missing_folder(fit, tmp_path):
    with pytest.raises(FitError, match=r"cannot write .*: the folder .*nowhere does not exist"):
        fit.save(tmp_path / "nowhere" / "fit.nc")


def test_a_folder_in_place_of_a_file(fit, tmp_path):
    with pytest.raises(FitError, match="it is a folder; give a file name"):
        fit.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_device(fit):
    with pytest.raises(FitError, match="cannot write /dev/full"):
        fit.save("/dev/full")


def test_a_full_disk_leaves_the_old_file(fit, old, monkeypatch):
    def full(self, content):
        with self.open("wb") as file:
            file.write(bytes(content)[:1000])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(FitError, match="No space left on device; nothing there was changed"):
        fit.save(old)
    monkeypatch.undo()
    assert only(old)


def test_a_limit_on_file_size_leaves_the_old_file(saved, old):
    """A real failure of the operating system in the middle of the file."""
    code = (
        "import resource, signal, sys, bayescale as bs\n"
        f"fit = bs.load({str(saved)!r})\n"
        "fit.tree\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "try:\n"
        f"    fit.save({str(old)!r})\n"
        "except bs.BayescaleError as problem:\n"
        "    print(problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "nothing there was changed" in done.stdout
    assert only(old)


def test_a_read_only_folder_leaves_the_old_file(fit, old, monkeypatch):
    import tempfile

    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(FitError, match="cannot write .*: Permission denied"):
        fit.save(old)
    assert only(old)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_save_leaves_the_old_file(fit, old, monkeypatch, error):
    def stop(self, content):
        raise error

    monkeypatch.setattr(Path, "write_bytes", stop)
    with pytest.raises(error):
        fit.save(old)
    monkeypatch.undo()
    assert only(old)


def test_saving_replaces_an_older_file(fit, old):
    fit.save(old)
    assert str(bs.load(old)) == str(fit)
    assert list(old.parent.iterdir()) == [old]
    mask = os.umask(0)
    os.umask(mask)
    assert old.stat().st_mode & 0o777 == 0o666 & ~mask


def test_nothing_in_the_file_is_code(saved):
    """No pickles: every variable is a plain array of numbers, truth values or text."""
    import h5py

    def look(name, item):
        if isinstance(item, h5py.Dataset):
            assert item.dtype.kind in "fiubSO", name
            if item.dtype.kind == "O":
                assert h5py.check_string_dtype(item.dtype), name

    with h5py.File(saved) as file:
        file.visititems(look)
    assert saved.stat().st_size < 20e6
