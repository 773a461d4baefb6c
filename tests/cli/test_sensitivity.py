"""``bayescale sensitivity``: tables and JSON of a saved fit, pictures, wrong usage."""

import pytest


def test_priors_need_no_sampling_and_no_jax(imported, fit_file):
    modules = imported("sensitivity", fit_file, "--what", "prior", "--json")
    assert not modules & {"jaxlib", "matplotlib"}


def test_parts_as_json_with_pictures(call, fit_file, tmp_path):
    picture = tmp_path / "s.png"
    ended = call(
        "sensitivity", fit_file, "--what", "prior,runs", "--C", "1e24", "--plot", picture, "--json"
    )
    assert ended.code == 0, ended.err
    record = ended.json()
    assert set(record) == {"prior", "runs"}
    names = [q["name"] for q in record["prior"]["quantities"]]
    assert "L_opt(1.00e24)" in names
    assert record["runs"]["C"] == 1e24
    first = record["runs"]["runs"][0]
    assert {"row", "N", "D", "loss", "a_shift", "L_opt_shift", "pareto_k"} <= set(first)
    assert (tmp_path / "s-prior.png").stat().st_size > 10_000
    assert (tmp_path / "s-runs.png").stat().st_size > 10_000


def test_a_table_of_perturbed_inputs(call, fit_file, tmp_path):
    picture = tmp_path / "inputs.svg"
    ended = call(
        "sensitivity", fit_file, "--what", "inputs", "--perturb", "N_factor,embeddings",
        "--draws", "100", "--plot", picture,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert "N x 1.1" in ended.out
    assert "left out: embeddings" in ended.out
    assert picture.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--what", "priors"], "--what 'priors' is unknown.*Did you mean 'prior'"),
        (["--what", "inputs", "--perturb", "N_bais"], "Did you mean 'N_bias'"),
        (["--plot", "picture.gif"], "a picture's name ends in"),
        (["--what", "runs", "--by", "familly"], "no column 'familly'"),
        (["--C", "ten"], "C: 'ten' is not a number"),
    ],
)
def test_wrong_usage(call, fit_file, options, message):
    import re

    ended = call("sensitivity", fit_file, *options)
    assert ended.code == 1
    assert re.search(message, ended.err), ended.err
    assert len(ended.err.strip().splitlines()) == 1
