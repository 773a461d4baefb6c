"""Stored notebooks are whole and clean, and all of them run, with few draws."""

import os

import pytest

from notebooks.execute import kernel_environment, notebooks, problems, read, run, tidy

PATHS = notebooks()
NAMES = [path.stem for path in PATHS]
DRAWS = "60"  # a chain: enough to run every line, too few to believe a number


def test_all_seven_are_there():
    assert [name[:3] for name in NAMES] == [f"{k:02d}-" for k in range(1, 8)]


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_what_is_stored(path):
    notebook = read(path)
    assert list(problems(notebook, path.stat().st_size)) == []
    pictures = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) >= 3
    assert 6 <= sum(cell.cell_type == "code" for cell in notebook.cells) <= 20


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """One kernel for all notebooks, so that what one imports or compiles serves the others."""
    from jupyter_client.manager import start_new_kernel

    from tests.conftest import find_data_dir

    folder = find_data_dir()
    environment = kernel_environment() | {"BAYESCALE_DRAWS": DRAWS}
    environment |= {} if folder is None else {"BAYESCALE_DATA": str(folder)}
    manager, client = start_new_kernel(kernel_name="python3", env=environment)
    client.stop_channels()
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_it_runs(path, kernel):
    notebook = read(path)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    run(notebook, manager=kernel)
    tidy(notebook)
    found = [line for line in problems(notebook, 0) if "it warned" not in line]
    assert found == []
    assert all(c.execution_count for c in notebook.cells if c.cell_type == "code")


def test_without_data_a_simulated_sweep_stands_in(kernel, tmp_path):
    """The first notebook's cells that read data, where the folder holds none."""
    notebook = read(PATHS[0])
    from nbformat.v4 import new_code_cell

    empty = f"import os; os.environ['BAYESCALE_DATA'] = {str(tmp_path)!r}"
    restore = f"os.environ['BAYESCALE_DATA'] = {os.environ.get('BAYESCALE_DATA', '')!r}"
    reading = [c for c in notebook.cells if "bs.read_runs(" in c.source]
    first = [c for c in notebook.cells if c.source.startswith("import os")]
    clean = [c for c in reading if '"porian"' in c.source]
    clean[0].source = clean[0].source.split("check = ")[0]
    notebook.cells = [new_code_cell(empty), *first, *reading, new_code_cell(restore)]
    run(notebook, manager=kernel)
    said = [o["data"]["text/markdown"] for c in notebook.cells for o in c.get("outputs", [])
            if "text/markdown" in o.get("data", {})]  # fmt: skip
    assert len(said) == 2
    assert all("simulated stand-in" in text for text in said)


def _with_output(**output):
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

    cells = [
        new_markdown_cell("# Title\n\nIs it so?"),
        new_code_cell("1", outputs=[new_output(**output)], execution_count=1),
        new_markdown_cell("## What is this answer worth?"),
    ]
    return new_notebook(cells=cells)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ({"output_type": "stream", "name": "stdout", "text": "see /home/me/x"}, "absolute path"),
        ({"output_type": "stream", "name": "stderr", "text": "a warning"}, "it warned"),
        ({"output_type": "error", "ename": "E", "evalue": "x", "traceback": []}, "failed: E: x"),
        (
            {
                "output_type": "stream",
                "name": "stdout",
                "text": "Traceback (most recent call last):",
            },
            "traceback",
        ),
        ({"output_type": "stream", "name": "stdout", "text": "\x1b[1mbold"}, "codes for colours"),
    ],
)
def test_what_a_notebook_must_not_hold_is_found(output, said):
    (line,) = problems(_with_output(**output), 10)
    assert said in line


def test_form_and_size_are_checked():
    notebook = _with_output(output_type="stream", name="stdout", text="fine")
    assert list(problems(notebook, 10)) == []
    assert "300,001 bytes" in next(problems(notebook, 300_001))
    notebook.cells[0].source = "# Title\n\nIt is so."
    notebook.cells[2].source = "## The end"
    notebook.cells[1].execution_count = None
    found = "\n".join(problems(notebook, 10))
    for said in ("end with the question", "last section", "cell 2: it was not run"):
        assert said in found


def test_an_answer_is_a_table_where_there_is_no_html():
    """IPython's plain text of an answer: the table, not its arrays."""
    from IPython.lib.pretty import pretty

    from bayescale.data.designs.mixture_grid import truth

    answer = truth()
    assert pretty(answer) == str(answer)
