"""The zoo's files: fit the models of ``models/*.toml``, and write what came out beside them.

``python -m benchmarks.zoo`` makes those that have no reference or no draws yet, ``NAME...`` these,
``--all`` all; ``--check`` fits each again with another seed and compares, as
``bayescale check`` does. BAYESCALE_DATA names the folder of data sets.

A model is written by hand down to ``[reference]``; what follows is written here, and its draws.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import tomli_w

from bayescale.errors import BayescaleError
from bayescale.files import write_atomic
from bayescale.fitted import Fit
from bayescale.plot.bands import thinned
from bayescale.zoo.asking import answers_of
from bayescale.zoo.cards import Card, Reference, read_card, source_of
from bayescale.zoo.compare import check, quantities
from bayescale.zoo.find import CARD, DRAWS, folder, names
from bayescale.zoo.refitting import refit_card
from bayescale.zoo.store import pack, unpack

MARK = "\n[reference]\n"


def build(name: str, place: Path) -> Fit:
    """Fit one model, and write its reference and its draws, each whole or not at all."""
    path = place / f"{name}{CARD}"
    told = read_card(path)
    fit = refit_card(told, path.name, progress=False)
    draws = pack(fit, f"bayescale fit models/{name}.toml -o {name}.nc", about(name, told),
                 told.sampler.keep)  # fmt: skip
    write_atomic(path.with_suffix(DRAWS), draws)
    shipped = unpack(path.with_suffix(DRAWS))
    text = with_reference(
        path.read_text(encoding="utf-8"), reference(fit, answers_of(thinned(shipped, 60)))
    )
    write_atomic(path, text.encode())
    read_card(path)
    return fit


def about(name: str, told: Card) -> dict[str, str]:
    """What is said of a model wherever its draws go: source and licence of the data."""
    return {"name": name, "title": told.title, **source_of(told)}


def reference(fit: Fit, answers: tuple[str, ...]) -> Reference:
    """What came out of a fit."""
    return Reference(
        converged=fit.converged,
        gate=fit.gate.headline(),
        runs=len(fit.runs),
        answers=answers,
        seconds=float(f"{fit.record['seconds']:.2g}"),
        versions=dict(fit.record["versions"]),
        quantities=quantities(fit),
    )


def with_reference(text: str, made: Reference) -> str:
    """A model's TOML with its reference replaced; what was written by hand stays as it is."""
    head = text.split(MARK)[0].rstrip("\n")
    record: dict[str, Any] = made.model_dump()
    rows = record.pop("quantities")
    lines = [f"{_key(name)} = {_inline(row)}" for name, row in rows.items()]
    table = "[reference.quantities]\n" + "\n".join(lines)
    return f"{head}\n\n{tomli_w.dumps({'reference': record})}\n{table}\n"


def _key(name: str) -> str:
    """A key as TOML writes it, quoted if need be."""
    return tomli_w.dumps({name: 0}).removesuffix(" = 0\n")


def _inline(row: dict[str, float]) -> str:
    """A quantity in one line, so that a reference of a hundred can be read."""
    return "{ " + ", ".join(f"{k} = {v!r}" for k, v in row.items()) + " }"


def main() -> None:
    """Fit, write and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    place = folder()
    chosen = asked.names or [n for n in names() if asked.all or asked.check or _unmade(n, place)]
    failed = []
    for name in chosen:
        begin = time.perf_counter()
        try:
            good, line = compared(name) if asked.check else built(name, place)
        except BayescaleError as problem:
            good, line = False, f"error: {problem}"
        failed += [] if good else [name]
        print(f"{name}: {line} ({time.perf_counter() - begin:.0f} s)", flush=True)
    if failed:
        raise SystemExit(f"{len(failed)} of {len(chosen)} failed: {', '.join(failed)}")


def built(name: str, place: Path) -> tuple[bool, str]:
    """Build a model; whether it could be, and what to say."""
    fit = build(name, place)
    size = (place / f"{name}{DRAWS}").stat().st_size
    return True, f"{len(fit.runs)} runs, {size / 1000:.0f} kB, {fit.gate.headline()}"


def compared(name: str) -> tuple[bool, str]:
    """Fit a model again; whether it agrees, and what to say."""
    found = check(name, progress=False)
    worst = max(found.rows, key=lambda row: abs(row[4]))
    said = f"{len(found.rows)} quantities, largest difference {worst[4]:+.1f} MCSE ({worst[0]})"
    if found.passed:
        return True, f"agrees: {said}"
    return False, f"DIFFERS: {said}; {', '.join(found.failed)}; gate: {' | '.join(found.gates)}"


def _unmade(name: str, place: Path) -> bool:
    path = place / f"{name}{CARD}"
    return read_card(path).reference is None or not path.with_suffix(DRAWS).is_file()


if __name__ == "__main__":
    main()
