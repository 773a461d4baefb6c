r"""What the mixture law's mean is put together from, for arrays of draws against rows.

What sources do to a row's target is their shares (or tokens) times a small matrix of weights
(source, target), of which the row's target picks one.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescale.arrays import namespace
from bayescale.laws.mixture_plan import Plan

Values = Mapping[str, Any]


def acting(plan: Plan, pairs: Any, weights: Any, amounts: Any, target: Any) -> Any:
    """What all sources together do to each row's target: the sum of weights x amounts.

    Parameters
    ----------
    pairs : sequence of (source, target)
        Which pair each weight is of.
    weights : array, shape (..., row or 1, pair) or (pair,)
    amounts : array, shape (..., row, source)
        Shares or tokens of the sources.
    target : array, shape (row, target)

    Returns
    -------
    array, shape (..., row)
    """
    matrix = weights @ plan.spread(pairs).reshape(len(pairs), -1)
    matrix = matrix.reshape(*weights.shape[:-1], len(plan.sources), len(plan.targets))
    if matrix.ndim == 2 or matrix.shape[-3] == 1:  # the same for all rows
        matrix = matrix if matrix.ndim == 2 else matrix[..., 0, :, :]
        if amounts.ndim == 2 and matrix.ndim > 2:  # many draws: no array of draws x rows x targets
            rows = target + np.zeros((len(amounts), 1))
            xp = namespace(matrix, amounts)
            return xp.einsum("...km,rk,rm->...r", matrix, amounts, rows, optimize=True)
        return ((amounts @ matrix) * target).sum(-1)
    return (matrix * amounts[..., None] * target[..., None, :]).sum((-1, -2))


def phi(ratio: Any, R_star: Any) -> Any:
    r"""Worth of ``ratio`` epochs in fresh ones: :math:`1 + R^* (1 - e^{-(r-1)/R^*})`; r below 1."""
    xp = namespace(R_star, ratio)
    beyond = xp.maximum(ratio - 1.0, 0.0)
    return xp.minimum(ratio, 1.0 + 0.0 * ratio) - R_star * xp.expm1(-beyond / R_star)


def discounted(plan: Plan, values: Values) -> Any:
    """Tokens of each source with repetition discounted, shape (..., row, source)."""
    D = values["D"]
    if not plan.repeated:
        return D
    xp = namespace(values["R_star"], D)
    places = [plan.sources.index(s) for s in plan.repeated]
    seen, unique = D[..., np.array(places)], values["U"]
    unique = xp.where(unique > 0, unique, seen)  # nothing said: no repetition
    safe = xp.where(unique > 0, unique, 1.0)  # nor any tokens: 0 epochs of one token
    lost = seen - safe * phi(seen / safe, values["R_star"])
    return D - lost @ np.eye(len(plan.sources))[places]


def own_tokens(plan: Plan, tokens: Any, target: Any) -> Any:
    """Tokens of the row's own target, shape (..., row); 0 where it is no source."""
    return ((tokens @ plan.own) * target).sum(-1)


def shares(plan: Plan, tokens: Any, target: Any) -> Any:
    """Each source's share h in the row's mixture, as far as it acts on the row's target."""
    total = tokens.sum(-1)[..., None]
    if plan.shares == "pairwise":
        total = own_tokens(plan, tokens, target)[..., None] + tokens
    return tokens / namespace(total).where(total > 0, total, 1.0)


def dilution(plan: Plan, c: Any, tokens: Any, target: Any) -> Any:
    """Log change of the row's effective size by other data, shape (..., row)."""
    if plan.capacity == "directional":
        return acting(plan, plan.diluted, c, shares(plan, tokens, target), target)
    others = 1.0 - own_tokens(plan, tokens, target) / tokens.sum(-1)
    return others * (c * (target @ plan.pick_owned)).sum(-1)


def log_size(plan: Plan, values: Values, tokens: Any) -> Any:
    """Ln N_eff of each row, shape (..., row)."""
    found = namespace(values["N"]).log(values["N"])
    if not plan.diluted:
        return found
    return found + dilution(plan, values["c"], tokens, values["target"])


def log_tokens(plan: Plan, values: Values, tokens: Any) -> Any:
    """Ln D_eff of each row, shape (..., row), from tokens with repetition discounted."""
    target = values["target"]
    amount = own_tokens(plan, tokens, target)
    if plan.pairs and plan.transfer == "additive":
        amount = amount + acting(plan, plan.pairs, values["tau"], tokens, target)
    if plan.worths:
        amount = amount + acting(plan, plan.worths, values["w"], tokens, target)
    found = namespace(amount).log(amount)
    if plan.pairs and plan.transfer == "exponential":
        mixed = tokens if plan.shares == "discounted" else values["D"]
        found = found + acting(plan, plan.pairs, values["v"], shares(plan, mixed, target), target)
    return found


def mean_of(plan: Plan, values: Values) -> Any:
    """L = E + A N_eff^-alpha + B D_eff^-beta, shape (..., row)."""
    xp = namespace(*values.values())
    tokens = discounted(plan, values)
    found = values["E"] + values["B"] * xp.exp(-values["beta"] * log_tokens(plan, values, tokens))
    if not plan.size:
        return found
    mixed = tokens if plan.shares == "discounted" else values["D"]
    return found + values["A"] * xp.exp(-values["alpha"] * log_size(plan, values, mixed))
