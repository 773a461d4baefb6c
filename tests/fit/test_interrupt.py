"""Ctrl-C while sampling, progress, and the compile cache in all states."""

import numpy as np
import pytest

import bayescale as bs
from bayescale.inference import cache


class Interrupt:
    """A progress callback during which the user presses Ctrl-C."""

    def __init__(self, after):
        self.after, self.calls = after, 0

    def __call__(self, done, total, divergences):
        self.calls += 1
        if self.calls > self.after:
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", [0, 3, 20])
def test_ctrl_c_stops_at_once_and_leaves_nothing_behind(
    chinchilla, fit, tmp_path, monkeypatch, after
):
    import jax

    monkeypatch.chdir(tmp_path)
    stop = Interrupt(after)
    with pytest.raises(KeyboardInterrupt):
        chinchilla(0, seed=0, progress=stop)
    assert stop.calls == after + 1
    assert list(tmp_path.iterdir()) == []
    assert jax.numpy.asarray(1.0).dtype == np.float32
    again = chinchilla(0, seed=0)
    np.testing.assert_array_equal(again.variables["E"].values, fit.variables["E"].values)


def test_progress_counts_to_the_end(chinchilla):
    seen = []
    chinchilla(0, draws=130, warmup=300, progress=lambda *now: seen.append(now))
    done = [d for d, _, _ in seen]
    assert done == sorted(done)
    assert len(set(done)) == len(done) > 3
    assert done[-1] == seen[-1][1] == 430
    assert seen[-1][2] == 0


def test_quiet_in_a_pipe(chinchilla, capfd):
    chinchilla(0, draws=50)
    out, err = capfd.readouterr()
    assert out == err == ""


def test_a_bar_when_asked_for(chinchilla, capfd):
    chinchilla(0, draws=50, progress=True)
    assert "/350" in capfd.readouterr().err


@pytest.fixture
def fresh_process(monkeypatch):
    """As in a new process: nothing compiled is at hand."""
    monkeypatch.setattr(cache, "_kept", {})


def test_a_second_fit_in_the_process_compiles_nothing(chinchilla, fit):
    again = chinchilla(1, draws=50)
    assert set(again.record["compiled"].values()) == {"kept"}


def test_corrupt_entries_are_ignored(tmp_path, monkeypatch, fresh_process):
    """Cut short, emptied or overwritten: compiled anew, and the entry is made good."""
    monkeypatch.setenv("BAYESCALE_CACHE", str(tmp_path / "cache"))
    calls = compile_doubling("corrupt")
    assert calls == ("compiled", 6.0)
    (entry,) = (tmp_path / "cache").glob("*.bin")
    whole = entry.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"not a pickle", whole[:-1] + b"x"):
        entry.write_bytes(content)
        cache._kept.clear()
        origin, value = compile_doubling("corrupt")
        assert value == 6.0
        assert origin in ("compiled", "loaded")
        cache._kept.clear()
        assert compile_doubling("corrupt") == ("loaded", 6.0)


def compile_doubling(declaration, factor=2.0):
    import jax

    device = jax.devices("cpu")[0]
    with jax.enable_x64(True):
        function, origin = cache.compiled(
            "double", lambda: lambda x: factor * x, (np.array(3.0),), declaration, device
        )
        return origin, float(function(np.array(3.0)))


def test_disk_entries_serve_the_next_process(tmp_path, monkeypatch, fresh_process):
    monkeypatch.setenv("BAYESCALE_CACHE", str(tmp_path))
    assert compile_doubling("once") == ("compiled", 6.0)
    assert compile_doubling("once") == ("kept", 6.0)
    cache._kept.clear()
    assert compile_doubling("once") == ("loaded", 6.0)
    assert compile_doubling("another")[0] == "compiled"


def test_undeclared_programs_are_known_by_what_they_compute(tmp_path, monkeypatch, fresh_process):
    """A user's own law, edited: the last digit of a constant makes another program."""
    monkeypatch.setenv("BAYESCALE_CACHE", str(tmp_path))
    assert compile_doubling(None) == ("compiled", 6.0)
    assert compile_doubling(None) == ("traced", 6.0)
    assert compile_doubling(None, 2.0 + 2**-50) == ("compiled", 3.0 * (2.0 + 2**-50))
    cache._kept.clear()
    assert compile_doubling(None) == ("traced", 6.0)


def test_cache_off(tmp_path, monkeypatch, fresh_process):
    monkeypatch.setenv("BAYESCALE_CACHE", "off")
    monkeypatch.chdir(tmp_path)
    assert cache.cache_folder() is None
    assert compile_doubling("off") == ("compiled", 6.0)
    assert compile_doubling("off") == ("kept", 6.0)
    cache._kept.clear()
    assert compile_doubling("off") == ("compiled", 6.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["a file", "below a file", "/proc/nowhere"])
def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch, fresh_process, place):
    (tmp_path / "file").write_text("taken")
    folders = {"a file": tmp_path / "file", "below a file": tmp_path / "file" / "cache"}
    monkeypatch.setenv("BAYESCALE_CACHE", str(folders.get(place, place)))
    assert compile_doubling("nowhere") == ("compiled", 6.0)
    assert (tmp_path / "file").read_text() == "taken"


def test_a_full_disk_is_no_reason_to_fail(tmp_path, monkeypatch, fresh_process):
    def full(path, content):
        raise bs.errors.FitError("No space left on device")

    monkeypatch.setattr(cache, "write_atomic", full)
    monkeypatch.setenv("BAYESCALE_CACHE", str(tmp_path))
    assert compile_doubling("full") == ("compiled", 6.0)


def test_only_so_many_programs_are_kept(monkeypatch, fresh_process):
    monkeypatch.setenv("BAYESCALE_CACHE", "off")
    monkeypatch.setattr(cache, "MOST_KEPT", 2)
    for name in ("one", "two", "three"):
        compile_doubling(name)
    assert len(cache._kept) == 2
    assert compile_doubling("three")[0] == "kept"
    assert compile_doubling("one")[0] == "compiled"
