"""References of a law's own, by label: where each target's data lie."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale import Coordinate, Input, Law, Param
from bayescale.arrays import power
from bayescale.errors import LawError
from bayescale.inference.batch import make_batch, make_layout
from bayescale.inference.model import Model
from bayescale.inference.packing import Packing
from bayescale.inference.posterior import variables
from bayescale.inference.rows import at_rows
from bayescale.param import Centre
from bayescale.priors import LogNormal


def centred_law():
    """A target's scale is its term at the mean of its own x."""
    return Law(
        name="centred",
        inputs=(Input("x"), Input("target", dims=("target",), kind="label")),
        labels={"target": ("one", "two")},
        params=(
            Param(
                "A",
                LogNormal(1, 1),
                by="target",
                coordinate=Coordinate(
                    "term",
                    to_param=lambda term, slope, x_centre: term * x_centre**slope,
                    from_param=lambda A, slope, x_centre: A / x_centre**slope,
                ),
            ),
            Param("slope", LogNormal(0.3, 0.4), by="target"),
        ),
        mean=lambda A, slope, x, target: A * power(x, -slope) + 0.0 * target.sum(-1),
        centres=(Centre("x_centre", "target", lambda x, target: x @ target / target.sum(0)),),
    )


def test_a_centre_is_worked_out_for_each_label():
    columns = {"x": [1.0, 3.0, 10.0, 30.0], "target": ["one", "two"] * 2, "loss": [3.0, 4, 2, 1]}
    runs, model = bs.read_runs(pd.DataFrame(columns)), Model(centred_law())
    layout = make_layout(model, runs)
    np.testing.assert_allclose(layout.refs["x_centre"], [5.5, 16.5])
    batch = make_batch(model, runs, layout)
    np.testing.assert_allclose(batch["refs"]["x_centre"], [5.5, 16.5, 5.5, 16.5])
    sites = {"term": np.array([[2.0, 3.0]]), "slope": np.array([[0.5, 0.7]])}
    sites |= {"sigma": np.array([0.01]), "nu": np.array([5.0])}
    mean, _ = at_rows(model, batch, sites)
    one, two = (2 * (5.5 / np.array([1, 10])) ** 0.5, 3 * (16.5 / np.array([3, 30])) ** 0.7)
    np.testing.assert_allclose(mean[0], [one[0], two[0], one[1], two[1]])
    packing = Packing.of(model, layout.labels)
    found = variables(model, layout, packing, sites)["A"].values
    np.testing.assert_allclose(found, [[2 * 5.5**0.5, 3 * 16.5**0.7]])


@pytest.mark.parametrize(
    ("centre", "words"),
    [
        (Centre("x_centre", "run", lambda x: x), "no parameter differs by 'run'"),
        (Centre("x_centre", "target", lambda z: z), "takes z, which the law does not declare"),
    ],
)
def test_a_centre_that_fits_no_parameter_or_input(centre, words):
    with pytest.raises(LawError, match=words):
        replace(centred_law(), centres=(centre,))


def test_tied_names_quantities_of_the_law():
    with pytest.raises(LawError, match="'slop' in tied is none of its quantities"):
        replace(centred_law(), tied=(("A", "slop"),))
