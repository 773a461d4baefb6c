"""Runs in: reading, checking, units, cost models, public data sets.

Nothing here imports pandas until a table is read.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayescale.data.catalog import DataSet
    from bayescale.data.cost import (
        SIX_ND,
        CostModel,
        active_params,
        cost_from_dict,
        custom,
        six_nd,
    )
    from bayescale.data.curves import Curves
    from bayescale.data.design import DesignFlag, design_report
    from bayescale.data.flags import Flag
    from bayescale.data.public import (
        datasets,
        find_dataset,
        load_dataset,
        whereabouts,
    )
    from bayescale.data.quantity import parse_quantity
    from bayescale.data.read import read_runs
    from bayescale.data.runs import Runs
    from bayescale.data.where import filter_rows

_HOMES = {
    "SIX_ND": "cost",
    "CostModel": "cost",
    "Curves": "curves",
    "active_params": "cost",
    "cost_from_dict": "cost",
    "custom": "cost",
    "six_nd": "cost",
    "DataSet": "catalog",
    "DesignFlag": "design",
    "Flag": "flags",
    "datasets": "public",
    "design_report": "design",
    "filter_rows": "where",
    "whereabouts": "public",
    "find_dataset": "public",
    "load_dataset": "public",
    "parse_quantity": "quantity",
    "read_runs": "read",
    "Runs": "runs",
}

__all__ = [
    "SIX_ND",
    "CostModel",
    "Curves",
    "DataSet",
    "DesignFlag",
    "Flag",
    "Runs",
    "active_params",
    "cost_from_dict",
    "custom",
    "datasets",
    "design_report",
    "filter_rows",
    "find_dataset",
    "load_dataset",
    "parse_quantity",
    "read_runs",
    "six_nd",
    "whereabouts",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bayescale.data' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"bayescale.data.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
