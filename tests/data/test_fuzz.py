"""Whatever a file holds: it is read, or refused with one line."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bayescale.data import Runs, read_runs
from bayescale.errors import DataError

CELLS = st.one_of(
    st.sampled_from(
        ["N", "D", "C", "loss", "val_loss", "params (B)", "D/N", "Unnamed: 0", "1e9", "7B", "1.4T"]
        + [
            "3,5",
            "1,000",
            "1.000.000",
            "-",
            "",
            " ",
            "nan",
            "inf",
            "-1",
            "0",
            "2.5",
            '"',
            "#",
            "# x",
        ]
        + ["True", "1e999", "é", "sep=;", "12%", "2020-01-01", "99999999999999999999999", "1_0"]
    ),
    st.floats(1e6, 1e12).map(repr),
    st.text(max_size=4),
)


def outcome(path, content: bytes, **options) -> None:
    """Read a file; anything but runs or one clear line is a failure."""
    path.write_bytes(content)
    message = ""
    try:
        runs = read_runs(path, **options)
        assert isinstance(runs, Runs)
        assert len(runs) == len(runs.row_numbers) > 0
        assert runs.describe()
    except DataError as err:
        message = str(err)
    assert "Traceback" not in message
    assert len(message) < 2000


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(CELLS, max_size=5), max_size=6),
    st.sampled_from([",", ";", "\t", "|", " "]),
    st.booleans(),
)
def test_any_cells(tmp_path_factory, rows, separator, drop):
    text = "\n".join(separator.join(row) for row in rows)
    path = tmp_path_factory.getbasetemp() / "cells.csv"
    outcome(path, text.encode("utf-8", "surrogatepass"), drop_missing=drop)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([".csv", ".csv.gz", ".jsonl", ".parquet"]))
def test_any_bytes(tmp_path_factory, content, suffix):
    outcome(tmp_path_factory.getbasetemp() / f"bytes{suffix}", content)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40))
def test_any_filter(tmp_path_factory, where):
    content = b"N,D,loss,family\n1e8,2e9,3.9,a\n4e8,8e9,3.3,b\n"
    outcome(tmp_path_factory.getbasetemp() / "where.csv", content, where=where)
