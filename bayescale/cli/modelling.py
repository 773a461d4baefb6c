"""What people type about table and model, as arguments of `read_runs` and `fit`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayescale.cli.reading import pairs, split_values

if TYPE_CHECKING:
    from bayescale.data.cost import CostModel
    from bayescale.inference.model import Model
    from bayescale.law import Law
    from bayescale.noise import Noise


def reading_arguments(
    columns: Sequence[str] | None,
    units: Sequence[str] | None,
    where: str | None,
    drop_missing: bool,
    cost: str | None,
    factor: float | None,
) -> dict[str, Any]:
    """Arguments of `read_runs`; those that nobody gave are left out."""
    from bayescale.data.quantity import parse_quantity

    mapping = pairs(columns, "--map", "what=column, such as loss=val_loss", empty=True)
    texts = pairs(units, "--unit", "what=number, such as N=1e9")
    scales = {name: parse_quantity(text, f"--unit {name}") for name, text in texts.items()}
    model = _cost(cost, factor, scales)
    given = {"columns": mapping, "units": scales, "where": where, "cost": model}
    return {k: v for k, v in given.items() if v} | ({"drop_missing": True} if drop_missing else {})


def curve_arguments(
    run: Sequence[str] | None,
    drop_before: str | None,
    smooth: int | None,
    last: bool,
    thin: int | None,
) -> dict[str, Any]:
    """How training curves are cleaned, as an argument of `read_runs`; empty if nobody asked."""
    from bayescale.data.curves import Curves
    from bayescale.errors import DataError

    asked = {"drop_before": drop_before, "smooth": smooth, "last": last, "thin": thin}
    asked = {name: value for name, value in asked.items() if value not in (None, False)}
    if not run:
        if asked:
            option = next(iter(asked)).replace("_", "-")
            raise DataError(
                f"--{option} needs to know which rows are one training run: --run COLUMN."
            )
        return {}
    return {"curves": Curves(run=tuple(split_values(run) or run), **asked)}


def _cost(cost: str | None, factor: float | None, scales: dict[str, float]) -> "CostModel | None":
    """The cost model; takes the unit of a column of active parameters out of ``scales``."""
    from bayescale.data.cost import active_params, six_nd
    from bayescale.errors import DataError

    if cost is None and factor is None:
        return None
    each = 6.0 if factor is None else factor
    kind, _, column = (cost or "six_nd").partition(":")
    if kind == "six_nd" and not column:
        return six_nd(each)
    if kind == "active" and column:
        return active_params(column, each, scales.pop(column, 1.0))
    raise DataError(f"--cost '{cost}' is unknown; expected six_nd or active:COLUMN.")


def arranged(
    law: str, runs: Any, reading: dict[str, Any]
) -> "tuple[Law | str, Any, dict[str, Any]]":
    """Law, runs and what is left to say of reading: of a family, the table is read now."""
    from bayescale.choosing import check_mapping, choose, find_family
    from bayescale.laws import get_law

    if find_family(law) is None:
        check_mapping(get_law(law), reading)
        return law, runs, reading
    return *choose(law, runs, reading), {}


def build_model(
    law: "Law | str",
    noise: str | None,
    pools: Sequence[str] | None,
    priors: Sequence[str] | None,
    drift: str | None = None,
    **options: str | None,
) -> "Model":
    """Law, noise and pooling, checked against each other before any table is read.

    Parameters
    ----------
    law, noise
        Names.
    pools, priors
        ``PARAM=KIND:COLUMN`` and ``PARAM=PRIOR``.
    drift
        ``none``, ``compute``, or the input along which it is.
    **options
        Columns that the noise reads (`Noise`).
    """
    from bayescale.drift import parse_drift
    from bayescale.errors import LawError, nearest
    from bayescale.inference.model import make_model
    from bayescale.laws import get_law
    from bayescale.noise import NOISES
    from bayescale.pooling import Pooling, parse_pool
    from bayescale.prior_reading import parse_prior

    if noise is not None and noise not in NOISES:
        raise LawError(
            f"unknown noise '{noise}'; known: {', '.join(NOISES)}." + nearest(noise, list(NOISES))
        )
    law = get_law(law).with_drift(parse_drift(drift))
    replaced = pairs(priors, "--prior", 'param=prior, such as "E=LogNormal(1.5, 0.2)"')
    pooled = pairs(pools, "--pool", "param=kind:column, such as alpha=partial:corpus")
    return make_model(
        law,
        _noise(law, noise, {k: column for k, column in options.items() if column}),
        Pooling.of({name: parse_pool(text) for name, text in pooled.items()}),
        {name: parse_prior(text) for name, text in replaced.items()},
    )


def _noise(law: "Law", name: str | None, columns: Mapping[str, str]) -> "Noise":
    """The noise of this name, or the law's own, with the columns that it reads."""
    from bayescale.noise import NOISES

    return replace(law.default_noise, **columns) if name is None else NOISES[name](**columns)
