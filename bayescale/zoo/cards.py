"""The TOML of a model: what was fitted to what, what was published, and what came out."""

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bayescale.errors import FitError, nearest
from bayescale.zoo.find import card_path


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Curve(_Part):
    """How checkpoints are cleaned: arguments of `bayescale.Curves`."""

    run: tuple[str, ...]
    drop_before: str | None = None
    smooth: int | None = None
    last: bool = False
    thin: int | None = None
    smoothed: tuple[str, ...] = ()


class Data(_Part):
    """The data set, and how it is read: arguments of `bayescale.read_runs`.

    ``sha256`` is that of the file, empty where the data set is simulated. ``best_per``: of the
    runs that agree in these columns only the one with the lowest loss.
    """

    name: str
    sha256: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")] = ""
    columns: dict[str, str] = {}
    units: dict[str, float] = {}
    where: str | None = None
    drop_missing: bool = False
    best_per: tuple[str, ...] = ()
    curves: Curve | None = None


class Simulation(_Part):
    """In place of a data set: runs simulated from the law on its own design.

    ``parameters``: the truth, the noise's included; a parameter with labels is a table of them.
    ``grid``: columns of the design, all combinations of their values; default: the law's own.
    """

    parameters: dict[str, Any]
    grid: dict[str, tuple[float | str, ...]] = {}
    seed: Annotated[int, Field(ge=0)] = 0


class NoiseChoice(_Part):
    """The noise, where it isn't the law's own: `bayescale.Noise`."""

    name: str | None = None
    varies_with: str | None = None
    known_sd: str | None = None
    runs: str | None = None
    along: str | None = None


class Sampler(_Part):
    """Settings of NUTS, and how many draws are shipped."""

    seed: Annotated[int, Field(ge=0)] = 0
    chains: Annotated[int, Field(ge=1)] = 4
    draws: Annotated[int, Field(ge=1)] = 1000
    warmup: Annotated[int, Field(ge=1)] = 300
    target_accept: Annotated[float, Field(gt=0, lt=1)] = 0.8
    max_tree_depth: Annotated[int, Field(ge=1)] = 10
    keep: Annotated[int, Field(ge=50)] = 1000


class Value(_Part):
    """A published number, with its interval where one was given."""

    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""


class Published(_Part):
    """Coefficients that were published for these data, or that they were simulated from."""

    source: str
    note: str = ""
    values: dict[str, Value | float] = {}

    def number(self, name: str) -> Value | None:
        """A published number by the name of the fit's quantity."""
        found = self.values.get(name)
        return found if found is None or isinstance(found, Value) else Value(value=float(found))


class Quantity(_Part):
    """Posterior of one quantity: moments, 90% interval, Monte Carlo error and diagnostics."""

    mean: float
    sd: float
    q05: float
    q95: float
    mcse: float
    rhat: float
    ess: float


class Reference(_Part):
    """What came out: the posterior, the gate, and what made it."""

    converged: bool
    gate: str
    runs: int
    answers: tuple[str, ...]
    seconds: float
    versions: dict[str, str]
    quantities: dict[str, Quantity]


class Card(_Part):
    """A model of the zoo; see `bayescale.zoo`.

    Parameters
    ----------
    title : str
    law : str
        Its name, a family's with options.
    data, simulation
        Where the runs come from: one of the two.
    noise, pooling, priors, drift, sampler
        All else that `bayescale.fit` is told. Pools and priors are written as in the shell.
    note : str
        What to know of it.
    published, reference
    """

    title: str
    law: str
    data: Data | None = None
    simulation: Simulation | None = None
    note: str = ""
    noise: NoiseChoice | None = None
    pooling: dict[str, str] = {}
    priors: dict[str, str] = {}
    drift: str | None = None
    sampler: Sampler = Sampler()
    published: Published | None = None
    reference: Reference | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "Card":
        if (self.data is None) == (self.simulation is None):
            raise ValueError("give [data] or [simulation], one of them")
        return self


def source_of(told: Card) -> dict[str, str]:
    """Where the runs of a model come from: ``data``, ``citation`` and ``licence``."""
    if told.data is None:
        return {"data": "simulation", "citation": "bayescale", "licence": "MIT"}
    from bayescale.data.public import find_dataset

    found = find_dataset(told.data.name)
    return {"data": found.name, "citation": found.citation, "licence": found.licence}


def card(name: str | Path) -> Card:
    """The record of a model, by its name or by the path of its TOML.

    Raises
    ------
    FitError
        There is no such model; or the file isn't TOML, has a key that is unknown or lacks one, or
        a value of another kind. One line names it.
    """
    path = card_path(name)
    return read_card(path)


def read_card(path: Path) -> Card:
    """Read and check a TOML file."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FitError(f"there is no file {path}; `bayescale models` lists models.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise FitError(f"{path} can't be read ({problem}).") from None
    except tomllib.TOMLDecodeError as problem:
        raise FitError(f"{path} is not TOML: {problem}.") from None
    try:
        return Card.model_validate(table)
    except ValidationError as problem:
        raise FitError(f"{path}: {_first(problem)}") from None


def _first(problem: ValidationError) -> str:
    """The first thing that is wrong, in one line."""
    found: Any = problem.errors(include_url=False)[0]
    place = [str(x) for x in found["loc"]]
    where = ".".join(place)
    if found["type"] == "extra_forbidden":
        known = list(_fields(place[:-1]))
        return f"unknown key '{where}'; known: {', '.join(known)}." + nearest(place[-1], known)
    if found["type"] == "missing":
        return f"'{where}' is missing."
    message = str(found["msg"]).removeprefix("Value error, ")
    if not place:
        return f"{message}."
    return f"'{where}' is {found['input']!r}: {message[:1].lower()}{message[1:]}."


_PARTS: dict[str, type[BaseModel]] = {
    "data": Data,
    "simulation": Simulation,
    "data.curves": Curve,
    "noise": NoiseChoice,
    "sampler": Sampler,
    "published": Published,
    "reference": Reference,
}


def _fields(place: list[str]) -> tuple[str, ...]:
    """Keys that a table of the file may have."""
    usual = {"published": Value, "reference": Quantity}.get(place[0], Card) if place else Card
    return tuple(_PARTS.get(".".join(place), usual).model_fields)
