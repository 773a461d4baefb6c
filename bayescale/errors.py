"""Errors that users see: one clear line saying what is wrong, what was expected, what to do."""


class BayescaleError(ValueError):
    """Base of every error that bayescale raises on purpose; its text is the whole message."""


class DataError(BayescaleError):
    """A table of runs is missing something, or holds something a fit cannot use."""


class LawError(BayescaleError):
    """A law, prior, noise or pooling declaration is inconsistent or unknown."""


class FitError(BayescaleError):
    """A fit cannot be made, saved, loaded, or asked this question."""


def nearest(name: str, known: list[str]) -> str:
    """Return " Did you mean 'x'?" for the closest known name, or an empty string."""
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), [k.lower() for k in known], n=1, cutoff=0.5)
    if not close:
        return ""
    original = next(k for k in known if k.lower() == close[0])
    return f" Did you mean '{original}'?"
