"""The zoo: fits that come with the package and answer without sampling.

Each is a TOML file (what was fitted to what, what was published, what came out) with thinned
posterior draws beside it; no runs are shipped.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayescale.zoo.cards import Card as Card
    from bayescale.zoo.cards import card as card
    from bayescale.zoo.compare import Agreement as Agreement
    from bayescale.zoo.compare import check as check
    from bayescale.zoo.find import names as names
    from bayescale.zoo.refitting import refit as refit
    from bayescale.zoo.store import load_shipped as load

_HOMES = {
    "Agreement": ("compare", "Agreement"),
    "Card": ("cards", "Card"),
    "card": ("cards", "card"),
    "check": ("compare", "check"),
    "load": ("store", "load_shipped"),
    "names": ("find", "names"),
    "refit": ("refitting", "refit"),
}

__all__ = ["Agreement", "Card", "card", "check", "load", "names", "refit"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bayescale.zoo' has no attribute '{name}'")
    home, own = _HOMES[name]
    return getattr(import_module(f"bayescale.zoo.{home}"), own)


def __dir__() -> list[str]:
    return sorted(__all__)
