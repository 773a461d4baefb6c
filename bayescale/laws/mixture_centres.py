"""Where each target's runs lie: centres in whose terms A and B of the mixture law are sampled.

A is the size term at N = 1 and B the data term at one effective token. What the runs show is either
term at the mixtures they were trained on, so that is sampled. Taken at the mean mixture of the
target's own runs, it hardly moves with transfers and capacity; at one number of tokens for all
targets, or without the shares, a draw takes 2 to 7 times the gradients (targets of
slimpajama_mixtures one by one: 14 to 51 against 7) and is worth a third as much.
"""

from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.laws import mixture_parts as parts
from bayescale.laws.mixture_plan import Plan
from bayescale.param import Centre, Coordinate
from bayescale.signature import taking

Values = parts.Values


def centres(plan: Plan) -> tuple[Centre, ...]:
    """The law's centres: the mean tokens and size of each target's rows, and the target itself."""
    found = [
        Centre("which", "target", lambda target: np.eye(target.shape[-1])),
        Centre("tokens_centre", "target", lambda D, target: _by_target(D, target)),
    ]
    if plan.size:
        found.append(Centre("size_centre", "target", _middle_size))
    return tuple(found)


def _middle_size(N: Any, target: Any) -> np.ndarray:
    return np.exp(_by_target(np.log(N)[:, None], target)[:, 0])


def _by_target(rows: Any, target: Any) -> np.ndarray:
    """Mean over the rows of each target, shape (target, column)."""
    return (target.T @ rows) / np.maximum(target.sum(0), 1.0)[:, None]


def size_coordinate(plan: Plan) -> Coordinate:
    """A, sampled as the size term at the centre of the target's runs."""

    def log_size(at: Values) -> Any:
        centre = {**at, "N": at["size_centre"], "target": at["which"]}
        return parts.log_size(plan, centre, at["tokens_centre"])

    names = ["alpha", "size_centre", "tokens_centre", "which", *(["c"] if plan.diluted else [])]
    return _coordinate("size_term", "A", "alpha", names, log_size, "finite size")


def data_coordinate(plan: Plan) -> Coordinate:
    """B, sampled as the data term at the centre of the target's runs."""

    def log_tokens(at: Values) -> Any:
        centre = {**at, "D": at["tokens_centre"], "target": at["which"]}
        return parts.log_tokens(plan, centre, at["tokens_centre"])

    names = ["beta", "tokens_centre", "which"]
    if plan.pairs:
        names.append("v" if plan.transfer == "exponential" else "tau")
    if plan.worths:
        names.append("w")
    return _coordinate("data_term", "B", "beta", names, log_tokens, "finite data")


def _coordinate(
    term: str, name: str, exponent: str, names: list[str], log_centre: Any, costs: str
) -> Coordinate:
    def to_param(at: Values) -> Any:
        return at[term] * namespace(at[term]).exp(at[exponent] * log_centre(at))

    def from_param(at: Values) -> Any:
        return at[name] * namespace(at[name]).exp(-at[exponent] * log_centre(at))

    return Coordinate(
        term,
        to_param=taking([term, *names], to_param),
        from_param=taking([name, *names], from_param),
        meaning=f"loss due to {costs} at the mean mixture of the target's runs",
        unit="nats/token",
    )
