"""Results as JSON lines, written as they come: an interrupted run goes on where it was."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any


class Kept:
    """Rows by key, in a file or in memory alone.

    Parameters
    ----------
    path : Path or None
        What is there already is not computed again.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path, self._rows = path, dict[str, list[dict[str, Any]]]()
        if path is None or not path.exists():
            return
        for line in path.read_text().splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:  # the line at which a run was interrupted
                continue
            self._rows[_text(record["key"])] = record["rows"]

    def rows[R](
        self, key: dict[str, Any], kind: type[R], make: Callable[[], Iterable[R]]
    ) -> list[R]:
        """The rows of a key: those that are there, or made now and kept.

        Parameters
        ----------
        key : dict
            All that the rows depend on, plain values.
        kind : type
            Dataclass of a row.
        make : callable
        """
        assert is_dataclass(kind)
        if (text := _text(key)) not in self._rows:
            found: list[Any] = [asdict(row) for row in make()]  # pyright: ignore[reportArgumentType]
            self._rows[text] = json.loads(json.dumps(found))
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps({"key": key, "rows": found}) + "\n")
        known = {f.name for f in fields(kind)}
        return [kind(**{k: v for k, v in row.items() if k in known}) for row in self._rows[text]]


def _text(key: dict[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)
