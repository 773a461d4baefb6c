"""What every contender's process does: fit once and say `a`; on request fit again, timed."""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.job import PARAMETERS, Job


@dataclass(frozen=True)
class Answer:
    """Draws (chain, draw) by parameter, median of a, gradient evaluations a kept draw."""

    draws: dict[str, np.ndarray]
    a: float
    gradients: float
    phases: dict[str, float] = field(default_factory=dict)


def serve(prepare: Callable[[Job], Callable[[int], Answer]]) -> None:
    """Run one contender: ``prepare(job)`` gives the function of a seed that fits."""
    parser = argparse.ArgumentParser()
    parser.add_argument("job", type=Path)
    parser.add_argument("--warm", type=int, default=0, help="further fits in this process")
    parser.add_argument("--out", type=Path, help="folder for the draws of the further fits")
    args = parser.parse_args()
    job = Job.read(args.job)
    fit = prepare(job)
    answer = fit(job.seed)
    line: dict[str, Any] = {"a": answer.a, "phases": answer.phases, "warm": []}
    for k in range(args.warm):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = fit(job.seed + 1 + k)
        cost = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        line["warm"].append(cost | {"gradients": answer.gradients, "phases": answer.phases})
        picked: dict[str, Any] = {name: answer.draws[name] for name in (*PARAMETERS, "a")}
        np.savez(args.out / f"{k}.npz", **picked)
    print(json.dumps(line))


def field_terms(sampled: dict[str, np.ndarray], job: Job) -> dict[str, np.ndarray]:
    """A, B and a beside the sampled coordinates."""
    alpha, beta = sampled["alpha"], sampled["beta"]
    return sampled | {
        "A": sampled["size_term"] * job.N_ref**alpha,
        "B": sampled["data_term"] * job.D_ref**beta,
        "a": beta / (alpha + beta),
    }


def read_columns(job: Job) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ln N and ln D about their references, and ln loss."""
    table = np.genfromtxt(job.csv, delimiter=",", names=True, usecols=(1, 2, 3))
    return (
        np.log(table["N"] / job.N_ref),
        np.log(table["D"] / job.D_ref),
        np.log(table["loss"]),
    )
