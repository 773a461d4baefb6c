"""``bayescale doctor``: what this installation runs on, and what a user waits for."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bayescale.cli.options import Json

PACKAGES = (
    "bayescale", "numpyro", "jax", "jaxlib", "numpy", "scipy", "pandas", "xarray", "arviz-stats",
    "matplotlib", "typer",
)  # fmt: skip


def command(
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Delete the compiled functions, then report.")
    ] = False,
    timings: Annotated[
        bool,
        typer.Option("--timings", help="Fit a small sweep in two new processes, and time each."),
    ] = False,
    json: Json = False,
) -> None:
    """Show versions, devices and the cache of compiled functions.

    The first fit of a law with a new shape compiles it, which takes most of its time; compiled
    functions are kept, so the next fit, also in a new process, loads them.

    For example:

      bayescale doctor
      bayescale doctor --timings
    """
    from bayescale.cli.output import show, show_json

    cleared = clear_compiled() if clear_cache else None
    report = examine()
    if cleared is not None:
        report["cleared"] = cleared
    if timings:
        from bayescale.cli.timings import measure

        report["timings"] = measure()
    if json:
        show_json(report)
    else:
        show(*lines(report))


def examine() -> dict[str, Any]:
    """Versions, machine, devices, cache and data folder."""
    import os
    import platform

    return {
        "versions": {"python": platform.python_version()} | {p: _version(p) for p in PACKAGES},
        "machine": {"system": platform.platform(), "cpus": os.cpu_count()},
        "devices": devices(),
        "cache": cache(),
        "data": {"BAYESCALE_DATA": os.environ.get("BAYESCALE_DATA")},
    }


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def devices() -> dict[str, list[str]] | None:
    """JAX's devices by platform; None where JAX isn't installed."""
    try:
        import jax
    except ModuleNotFoundError:
        return None
    found = {}
    for platform in ("cpu", "gpu", "tpu"):
        try:
            found[platform] = [d.device_kind for d in jax.devices(platform)]
        except RuntimeError:  # JAX has no such backend here
            continue
    return found


def _compiled() -> tuple[Path | None, list[Path]]:
    """The cache folder and its files."""
    from bayescale.inference.cache import cache_folder

    folder = cache_folder()
    return folder, sorted(folder.glob("*.bin")) if folder and folder.is_dir() else []


def cache() -> dict[str, Any]:
    """Where compiled functions are kept, how many, and their size."""
    folder, files = _compiled()
    size = sum(f.stat().st_size for f in files)
    return {"folder": str(folder) if folder else None, "functions": len(files), "bytes": size}


def clear_compiled() -> int:
    """Delete the compiled functions; the number deleted."""
    _, files = _compiled()
    for file in files:
        file.unlink(missing_ok=True)
    return len(files)


def lines(report: dict[str, Any]) -> list[Any]:
    """The report for people."""
    kept, machine = report["cache"], report["machine"]
    found = report["devices"]
    versions = ", ".join(f"{k} {v or 'missing'}" for k, v in report["versions"].items())
    said = [f"versions: {versions}", f"machine: {machine['system']}, {machine['cpus']} CPUs"]
    if found is None:
        said.append("devices: JAX is not installed; saved fits answer all the same")
    else:
        kinds = [k if set(v) == {k} else f"{k} ({', '.join(v)})" for k, v in found.items()]
        said.append(f"devices: {'; '.join(kinds)}")
    said.append(_cache_line(kept))
    if "cleared" in report:
        said.append(f"cleared: {report['cleared']} compiled functions")
    said.append(f"data: BAYESCALE_DATA is {report['data']['BAYESCALE_DATA'] or 'not set'}")
    said += ["", *advice(kept["functions"])]
    if "timings" not in report:
        return ["\n".join([*said, "To measure all this here: bayescale doctor --timings"])]
    from bayescale.cli.timings import table

    return ["\n".join(said), "", table(report["timings"])]


def _cache_line(kept: dict[str, Any]) -> str:
    if kept["folder"] is None:
        return "cache: off (BAYESCALE_CACHE=off), so every process compiles again"
    held = f"{kept['functions']} compiled functions, {kept['bytes'] / 1e6:.1f} MB"
    return f"cache: {held}, in {kept['folder']} (BAYESCALE_CACHE moves it, or off)"


def advice(functions: int) -> list[str]:
    """What takes time, and what makes it shorter."""
    state = (
        "Nothing is compiled yet: the next fit waits for it."
        if not functions
        else "What is in the cache loads instead."
    )
    return [
        "What takes time:",
        "  compiling   the first fit of a model on a new size of table. Sizes are padded,",
        "              so a few more runs don't compile again; other priors, pooling, chains",
        "              and warmup do.",
        f"              {state}",
        "  importing   JAX, in every process that fits; answers from a saved fit don't.",
        "  sampling    short, unless the runs don't determine the law (the verdict says so).",
        "  devices     one fit is fastest on the CPU; an accelerator pays for many at once.",
    ]
