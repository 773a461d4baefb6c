"""Help, the version, and what a command imports."""

import pytest

from bayescale.cli.app import COMMANDS, help_text

HEAVY = {
    "jax", "jaxlib", "numpyro", "arviz", "arviz_base", "arviz_stats", "arviz_plots", "matplotlib",
}  # fmt: skip
TABLES = {"numpy", "pandas", "xarray", "scipy"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(call, command):
    ended = call(command, "--help")
    assert ended.code == 0
    assert f"Usage: bayescale {command}" in ended.out
    example = ended.out.split("For example:")[1].split("╭")[0]
    assert f"bayescale {command}" in example
    assert "--json" in ended.out
    assert ended.err == ""


def test_help_names_every_command_and_is_shown_without_arguments(shell):
    alone, asked = shell(), shell("--help")
    assert alone.code == asked.code == 0
    assert alone.out == asked.out
    for name, line in COMMANDS.items():
        assert name in alone.out
        assert line[:40] in alone.out


def test_help_text_keeps_examples_and_joins_paragraphs():
    text = help_text(
        "First\n    line.\n\n    Second\n    one.\n\n      $ kept\n      $ as is\n    "
    )
    assert text == "First line.\n\nSecond one.\n\n  $ kept\n  $ as is"


def test_version(call):
    ended = call("--version")
    assert ended.code == 0
    assert ended.out.startswith("bayescale ")


@pytest.mark.parametrize("args", [["--help"], ["fit", "--help"], ["--version"]])
def test_help_imports_no_tables(imported, args):
    assert not imported(*args) & (HEAVY | TABLES)


@pytest.mark.parametrize("args", [["laws"], ["laws", "coupled"], ["datasets"]])
def test_listings_import_no_jax(imported, args):
    assert not imported(*args) & HEAVY


@pytest.mark.parametrize(
    "args",
    [
        ["predict", "FIT", "--N", "70B", "--D", "1.4T"],
        ["allocate", "FIT", "--C", "5.76e23", "--N", "30B", "--json"],
        ["multiplier", "FIT", "FIT", "--C", "1e23"],
    ],
    ids=lambda args: args[0],
)
def test_answers_from_a_saved_fit_import_no_jax(imported, fit_file, args):
    modules = imported(*[fit_file if a == "FIT" else a for a in args])
    assert not modules & HEAVY
    assert "xarray" in modules  # the fit was read, so the test looked at the right process
