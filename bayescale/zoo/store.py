"""A shipped fit on disk: thinned draws of what was sampled, and where its runs lie; no run."""

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bayescale.errors import FitError
from bayescale.extent import extent_from_dict
from bayescale.fitted import Fit
from bayescale.inference.gate import gate_from_dict
from bayescale.inference.packing import Packing
from bayescale.inference.posterior import variables
from bayescale.metadata import metadata, restore_layout, restore_model
from bayescale.zoo.find import draws_path

SITE, STAT, TEXT = "site:", "stat:", "text"
KEEP = 1000  # draws, all chains together
_DAMAGE = (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError)


def pack(fit: Fit, again: str, about: Mapping[str, Any], keep: int = KEEP) -> bytes:
    """A fit as the bytes of an .npz file.

    Parameters
    ----------
    fit : Fit
        A fit with its runs; they are measured, and left out.
    again : str
        How to fit it again, for those who ask what needs the runs.
    about : mapping
        Name, data set, source and licence: plain values.
    keep : int
        About so many draws are kept, evenly spaced in each chain.
    """
    chains, draws = fit.stats["lp"].shape
    step = max(1, chains * draws // keep)
    arrays: dict[str, np.ndarray] = {
        f"{SITE}{s.name}": fit.variables[s.name].values[:, ::step].astype(np.float32)
        for s in fit.packing.sites
    }
    arrays[f"{STAT}lp"] = fit.stats["lp"][:, ::step].astype(np.float32)
    extent = replace(fit.extent, remarks=fit.remarks, again=again)
    kept = {k: v for k, v in metadata(fit).items() if k != "runs"}
    text = json.dumps({**kept, "extent": extent.to_dict(), "about": dict(about)})
    arrays[TEXT] = np.frombuffer(text.encode(), dtype=np.uint8)
    into = io.BytesIO()
    np.savez_compressed(into, allow_pickle=False, **arrays)
    return into.getvalue()


def load_shipped(name: str) -> Fit:
    """A fit that comes with the package.

    Parameters
    ----------
    name : str
        See ``bayescale models``.

    Returns
    -------
    Fit
        It answers all that needs no runs; what needs them says how to fit it again.

    Raises
    ------
    FitError
        There is no such model, or its draws are missing or damaged.
    """
    return unpack(draws_path(name))


def unpack(path: Path) -> Fit:
    """The fit in a file that `pack` made."""
    from zipfile import BadZipFile

    try:
        with np.load(path, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        return _restore(arrays, path)
    except FitError:
        raise
    except (*_DAMAGE, BadZipFile) as problem:
        reason = str(problem).splitlines()[0][:120] if str(problem) else type(problem).__name__
        raise FitError(
            f"{path} can't be read as the draws of a model ({reason}); install bayescale again."
        ) from None


def _restore(arrays: Mapping[str, np.ndarray], path: Path) -> Fit:
    record = json.loads(bytes(arrays[TEXT]).decode())
    model, layout = restore_model(record, path), restore_layout(record["layout"])
    packing = Packing.of(model, layout.labels)
    sites = {s.name: arrays[f"{SITE}{s.name}"].astype(float) for s in packing.sites}
    stats = {n.removeprefix(STAT): a.astype(float) for n, a in arrays.items() if STAT in n}
    return Fit(
        model=model,
        data=extent_from_dict(record["extent"]),
        layout=layout,
        variables=variables(model, layout, packing, sites),
        stats=stats,
        gate=gate_from_dict(record["gate"]),
        record=record["record"] | {"shipped": record["about"]},
        scalars=record["summary"],
    )
