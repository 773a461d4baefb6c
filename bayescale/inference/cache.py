"""Compiled functions kept on disk, so that the next process neither traces nor compiles.

A function of a law that ships with the package is found by the package's own source, the
model's declaration and the shapes of its arguments. Any other law's function is traced first and
found by the program it lowers to, so an edited law can't meet a stale program.
"""

import hashlib
import os
import pickle
import platform
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bayescale.files import write_atomic

FORMAT = "1"
MOST_KEPT = 64  # compiled functions that a process keeps at hand, oldest dropped first

_kept: dict[str, Callable[..., Any]] = {}


def cache_folder() -> Path | None:
    """Folder of compiled functions; ``BAYESCALE_CACHE`` moves it, ``off`` turns it off."""
    named = os.environ.get("BAYESCALE_CACHE")
    if named == "off":
        return None
    if named:
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("bayescale") / "compiled"


@cache
def environment_key() -> str:
    """Hash of all that a compiled function depends on besides its own source."""
    versions = [version("jax"), version("jaxlib")]
    parts = [FORMAT, *versions, platform.machine(), _cpu_flags()]
    parts += [os.environ.get("XLA_FLAGS", ""), source_hash()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _cpu_flags() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


@cache
def source_hash() -> str:
    """Hash of the source that a traced program comes from: vocabulary, laws, inference."""
    root = Path(__file__).parents[1]
    vocabulary = ("arrays", "law", "param", "pooling", "priors", "scatter", "signature", "support")
    files = [root / f"{name}.py" for name in vocabulary]
    files += [f for part in ("laws", "noise", "inference") for f in root.glob(f"{part}/*.py")]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + file.read_bytes())
    with suppress(PackageNotFoundError):
        digest.update(version("numpyro").encode())
    return digest.hexdigest()


def shapes(args: Any) -> str:
    """Shapes and types of all arrays in a tree, as a text."""
    import jax

    leaves, tree = jax.tree.flatten(args)
    return (
        f"{tree} {[(getattr(x, 'shape', ()), str(getattr(x, 'dtype', type(x)))) for x in leaves]}"
    )


def compiled(
    name: str,
    build: Callable[[], Callable[..., Any]],
    args: tuple[Any, ...],
    declaration: str | None,
    device: Any,
) -> tuple[Callable[..., Any], str]:
    """A compiled function for arguments of these shapes, from disk if it's there.

    Parameters
    ----------
    name : str
        Part of the key.
    build : callable
        Gives the function to trace; called only when tracing is needed.
    args : tuple
        Arguments of the shapes and types to compile for.
    declaration : str or None
        All that the function depends on besides the package's source; None if that can't be
        written down (a user's own law).
    device : jax.Device
        Where it runs.

    Returns
    -------
    function : callable
    origin : {"kept", "loaded", "traced", "compiled"}
        Made earlier in this process, loaded without tracing, found after tracing, or compiled
        now.
    """
    import jax

    folder = cache_folder() if device.platform == "cpu" else None
    where = f"{name}|{device.platform}|{shapes(args)}|{environment_key()}"
    if declaration is not None:
        file, slot = _places(folder, f"{where}|{declaration}", device)
        if slot in _kept:
            return _kept[slot], "kept"
        if loaded := _load(file):
            return _keep(slot, loaded), "loaded"
        lowered = jax.jit(build(), keep_unused=True).lower(*args)
    else:
        lowered = jax.jit(build(), keep_unused=True).lower(*args)
        file, slot = _places(folder, f"{where}|{lowered.as_text()}", device)
        if found := _kept.get(slot) or _load(file):
            return _keep(slot, found), "traced"
    function = lowered.compile()
    _save(file, function)
    return _keep(slot, function), "compiled"


def _places(folder: Path | None, key: str, device: Any) -> tuple[Path | None, str]:
    """Where a function lies on disk and among those at hand, which belong to one device."""
    digest = hashlib.sha256(key.encode()).hexdigest()
    return folder / f"{digest}.bin" if folder else None, f"{digest}|{device.id}"


def _keep(slot: str, function: Callable[..., Any]) -> Callable[..., Any]:
    _kept[slot] = function
    while len(_kept) > MOST_KEPT:
        _kept.pop(next(iter(_kept)))
    return function


def _load(file: Path | None) -> Callable[..., Any] | None:
    from jax.experimental.serialize_executable import deserialize_and_load

    if file is None or not file.exists():
        return None
    try:
        # written by this user's own earlier process, like JAX's persistent compilation cache
        function = deserialize_and_load(*pickle.loads(file.read_bytes()))
    except Exception:  # an unreadable entry costs a compilation, never a fit
        return None
    return function


def _save(file: Path | None, function: Any) -> None:
    from jax.experimental.serialize_executable import serialize

    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, pickle.dumps(serialize(function)))
    except Exception:  # a cache that can't be written (read-only, full) is no reason to fail
        return
