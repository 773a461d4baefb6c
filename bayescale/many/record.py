"""A fit as plain arrays and text: what a worker sends back, and what lies on disk."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayescale.fitted import Fit
from bayescale.inference.gate import gate_from_dict
from bayescale.inference.posterior import variables

if TYPE_CHECKING:
    from bayescale.inference.model import Model
    from bayescale.many.task import Task

Record = Mapping[str, np.ndarray]


def to_record(fit: Fit) -> dict[str, np.ndarray]:
    """Draws, statistics, diagnostics and settings of a fit; its model and runs are known."""
    values = {f"site:{s.name}": fit.variables[s.name].values for s in fit.packing.sites}
    values |= {f"stat:{name}": array for name, array in fit.stats.items()}
    kept = {"gate": fit.gate.to_dict(), "record": dict(fit.record), "summary": dict(fit.scalars)}
    text = json.dumps(kept)
    return values | {"text": np.frombuffer(text.encode(), dtype=np.uint8)}


def from_record(model: "Model", task: "Task", record: Record) -> Fit:
    """The fit that a record holds.

    Raises
    ------
    KeyError, ValueError
        The record is of another model or damaged.
    """
    kept = json.loads(bytes(record["text"]).decode())
    sites = {s.name: record[f"site:{s.name}"] for s in task.packing.sites}
    stats = {n.removeprefix("stat:"): record[n] for n in record if n.startswith("stat:")}
    return Fit(
        model=model,
        data=task.runs,
        layout=task.layout,
        variables=variables(model, task.layout, task.packing, sites),
        stats=stats,
        gate=gate_from_dict(kept["gate"]),
        record=kept["record"],
        scalars=kept["summary"],
    )
