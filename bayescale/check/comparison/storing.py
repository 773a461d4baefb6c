"""A stack on disk: a folder with its fits and a note of names and weights."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescale.errors import FitError
from bayescale.files import write_atomic

if TYPE_CHECKING:
    from bayescale.check.comparison.stacked import Stack
    from bayescale.law import Law

NOTE = "stack.json"
FORMAT = 1


def save_stack(stack: "Stack", folder: str | Path) -> None:
    """Write the fits as netCDF files, then the note that names and weighs them.

    Raises
    ------
    FitError
        The folder can't be made or written.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise FitError(f"cannot write {folder}: {problem.strerror or problem}.") from None
    listed = []
    for k, (name, fit) in enumerate(stack.fits.items()):
        file = f"law{k}.nc"
        fit.save(folder / file)
        listed.append({"name": name, "file": file, "weight": stack.weights[name]})
    note = {"format": FORMAT, "seed": stack.seed, "laws": listed}
    write_atomic(folder / NOTE, json.dumps(note, indent=2, ensure_ascii=False).encode())


def read_stack(
    folder: str | Path, laws: "Mapping[str, Law] | None" = None
) -> tuple[dict[str, Any], dict[str, float], int]:
    """Fits, weights and seed of a stack that `save_stack` wrote.

    Raises
    ------
    FitError
        The folder holds no stack, or a fit of it can't be read.
    """
    from bayescale.saving import load

    path = Path(folder) / NOTE
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        if note["format"] != FORMAT:
            raise FitError(
                f"{path} has stack format {note['format']}, this version reads {FORMAT}; use the "
                "version of bayescale that wrote it."
            )
        listed = [(str(x["name"]), str(x["file"]), float(x["weight"])) for x in note["laws"]]
        seed = int(note["seed"])
    except (OSError, ValueError, LookupError, TypeError) as problem:
        if isinstance(problem, FitError):
            raise
        raise FitError(
            f"{folder} holds no stack that can be read ({NOTE}); Stack.save writes one."
        ) from None
    own = laws or {}
    fits = {name: load(Path(folder) / file, own.get(name)) for name, file, _ in listed}
    return fits, {name: weight for name, _, weight in listed}, seed
