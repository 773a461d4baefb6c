"""Where shipped models lie: inside an installed package, or in the checkout's models/."""

from pathlib import Path

from bayescale.errors import FitError, nearest

CARD, DRAWS = ".toml", ".npz"


def folder() -> Path:
    """The folder of shipped models.

    Raises
    ------
    FitError
        There is none: the package was copied without it.
    """
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent
    if (package / "_models").is_dir():
        return package / "_models"
    if (checkout / "pyproject.toml").is_file() and (checkout / "models").is_dir():
        return checkout / "models"
    raise FitError(f"there are no shipped models beside {package}; install bayescale again.")


def names() -> list[str]:
    """Names of the shipped models, in alphabetical order."""
    return sorted(path.stem for path in folder().glob(f"*{CARD}"))


def is_name(text: str | Path) -> bool:
    """Whether a text can only be the name of a shipped model, not of a file."""
    return bool(str(text)) and Path(text).suffix == "" and Path(text).name == str(text)


def card_path(name: str | Path) -> Path:
    """The TOML of a shipped model by its name, or a TOML file by its path.

    Raises
    ------
    FitError
        There is neither; the nearest name is told.
    """
    path = Path(name)
    if path.suffix == CARD:
        own = folder() / path.name if path.parent.name in ("", "models") else path
        if path.is_file() or not own.is_file():
            return path
        return own  # models/NAME.toml from another folder than the checkout's
    return _own(str(name)).with_suffix(CARD)


def draws_path(name: str) -> Path:
    """The draws of a shipped model.

    Raises
    ------
    FitError
        There is no such model, or its draws are missing.
    """
    path = _own(name).with_suffix(DRAWS)
    if not path.is_file():
        raise FitError(
            f"the draws of model '{name}' are missing ({path}); install bayescale again, or fit "
            f"it: bayescale fit models/{name}.toml -o {name}.nc"
        )
    return path


def _own(name: str) -> Path:
    """Path of a shipped model, without a suffix."""
    path = folder() / name
    if not is_name(name) or not path.with_suffix(CARD).is_file():
        known = names()
        raise FitError(
            f"there is neither a file nor a model '{name}'; `bayescale models` lists models, "
            f"`bayescale fit LAW RUNS -o {name}` makes a file." + nearest(name, known)
        )
    return path
