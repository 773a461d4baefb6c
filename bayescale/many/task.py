"""A job and its tasks: what is fitted, and each data set on its way to a fit."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescale.assembling import declaration, versions
from bayescale.errors import FitError
from bayescale.fitting import check_rows, read
from bayescale.inference.batch import Layout, make_batch, make_layout, padded_size
from bayescale.inference.cache import source_hash
from bayescale.inference.engine import Settings
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


@dataclass(frozen=True)
class Job:
    """What is fitted to every data set, and how.

    Parameters
    ----------
    model : Model
    settings : Settings
    min_ess : int
        Bulk and tail ESS that every quantity of a fit should reach.
    most : int
        Draws a chain beyond which no more are taken to reach it.
    seed : int
        With a data set's key it seeds that data set's fit.
    """

    model: Model
    settings: Settings
    min_ess: int
    most: int
    seed: int

    @cached_property
    def text(self) -> str:
        """All that a fit depends on besides its data, for recognising a stored one."""
        model = self.model
        law = declaration(model) or _fingerprint(model)
        plain = asdict(self.settings) | {"device": ""}  # draws are as good from any device
        parts = [law, repr(plain), self.min_ess, self.most, source_hash()]
        parts += [versions()[k] for k in ("bayescale", "jax", "numpyro")]
        return "\n".join(str(p) for p in parts)


@dataclass(frozen=True)
class Task:
    """One data set, ready to be fitted.

    Parameters
    ----------
    key : str
    runs : Runs
    layout : Layout
    packing : Packing
    batch : dict
        Arrays of the data.
    seed : int
    """

    key: str
    runs: "Runs"
    layout: Layout
    packing: Packing
    batch: dict[str, Any]
    seed: int

    @cached_property
    def shape(self) -> tuple[Any, ...]:
        """Fits of one shape share compiled functions."""
        return (self.packing, padded_size(len(self.runs)))

    def digest(self, job: Job) -> str:
        """Hash of all that this fit depends on."""
        digest = hashlib.sha256(f"{job.text}\n{self.key}\n{self.seed}".encode())
        for name, array in _leaves("", self.batch):
            # no columns beyond these reach the density; labels name groups in the result
            digest.update(f"{name}{array.shape}{array.dtype}".encode() + array.tobytes())
        digest.update(repr(sorted(self.layout.labels.items())).encode())
        return digest.hexdigest()


def make_task(job: Job, key: str, runs: Any, reading: Mapping[str, Any]) -> Task:
    """Read a data set and lay it out.

    Raises
    ------
    DataError
        The table can't be read, lacks a column, or has too few rows.
    """
    table = read(runs, reading)
    layout = make_layout(job.model, table)
    check_rows(job.model, table)
    batch = make_batch(job.model, table, layout)
    packing = Packing.of(job.model, layout.labels)
    return Task(key, table, layout, packing, batch, task_seed(job.seed, key))


def task_seed(seed: int, key: str) -> int:
    """Seed of one data set's fit: it depends on its key, not on its neighbours or their order."""
    return int.from_bytes(hashlib.sha256(f"{seed}|{key}".encode()).digest()[:7], "big")


def keyed(datasets: Iterable[Any] | Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Data sets with their keys: names of a mapping, else numbers from 0.

    Raises
    ------
    FitError
        A single table was given where several are expected.
    """
    if isinstance(datasets, str) or hasattr(datasets, "columns"):
        raise FitError("datasets is a single data set; give a list or a mapping of data sets.")
    pairs = datasets.items() if isinstance(datasets, Mapping) else enumerate(datasets)
    return ((str(key), runs) for key, runs in pairs)


def _leaves(name: str, part: Any) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(part, Mapping):
        for key in sorted(part):
            yield from _leaves(f"{name}/{key}", part[key])
    else:
        yield name, np.ascontiguousarray(part)


def _fingerprint(model: Model) -> str:
    """Text of a model whose law is the user's own, its code included."""
    import cloudpickle

    bare = replace(model, law=replace(model.law))  # without what they have cached meanwhile
    return hashlib.sha256(cloudpickle.dumps(bare)).hexdigest()
