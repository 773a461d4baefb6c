"""Point estimates say what the runs can't tell, and which input is bad."""

import math

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.law import Input, Law, Param
from bayescale.priors import LogNormal, Normal
from tests.inference.point_runs import TRUTH, grid, simulated


def test_tied_sizes_and_tokens_are_called_so():
    n = np.tile(np.geomspace(1e8, 1e10, 8), 2)
    loss = bs.get_law("chinchilla").mean(**TRUTH, N=n, D=20 * n)
    noise = np.exp(0.003 * np.random.default_rng(0).standard_normal(16))
    frame = pd.DataFrame({"N": n, "D": 20 * n, "loss": loss * noise})
    fit = bs.fit_point("chinchilla", frame, starts=12)
    said = " ".join(fit.warnings)
    assert "the same objective is reached with" in said
    assert "design:" in said
    low, high = fit.starts.ranges["A"]
    assert high > 2 * low


def test_a_parameter_that_the_runs_do_not_need_is_named():
    n, d = grid()
    frame = pd.DataFrame({"N": n, "D": d, "loss": 10 * n**-0.1 + 20 * d**-0.17})
    fit = bs.fit_point("chinchilla", frame, starts=6)
    assert any(w.startswith("E ran to its edge") for w in fit.warnings)
    assert fit.params["alpha"] == pytest.approx(0.1, rel=1e-3)


def test_too_small_replicates_are_counted():
    fit = bs.fit_point("power-law-N", simulated(0.01).iloc[:5], starts=5, bootstrap=200)
    assert fit.failed > 50
    assert fit.replicates + fit.failed == 200
    assert f"bootstrap replicates failed: {fit.failed} of 200." in fit.warnings


def test_starts_that_disagree_are_reported(monkeypatch):
    """A loss with many minima: one start in it finds the lowest, most do not."""

    def mean(shift, x):
        xp = bs.law.namespace(shift, x)
        return 2 + xp.cos(8 * (shift - x)) + 0.05 * shift**2 / (1 + x)

    law = Law("waves", (Input("x"),), (Param("shift", Normal(0.0, 3.0)),), mean, response="score")
    x = np.linspace(0.1, 0.4, 12)
    fit = bs.fit_point(law, pd.DataFrame({"x": x, "score": mean(2.0, x)}), starts=20)
    assert fit.params["shift"] == pytest.approx(2.0, abs=1e-3)
    assert fit.starts.reached < 5
    assert any("ended at the best objective" in w for w in fit.warnings)
    assert fit.starts.objectives[0] < fit.starts.objectives[-1]


ROWS = simulated(0.005)


@pytest.mark.parametrize(
    ("options", "error", "parts"),
    [
        ({"runs": ROWS.iloc[:5]}, bs.DataError, ("5 runs", "5 parameters", "at least 6")),
        ({"law": "chinchila"}, bs.LawError, ("chinchila", "Did you mean 'chinchilla'?")),
        ({"pooling": {"E": bs.partial("corpus")}}, bs.FitError, ("pooling", "bayescale.fit")),
        ({"noise": bs.student_t()}, bs.FitError, ("noise", "bayescale.fit")),
        ({"priors": {}}, bs.FitError, ("priors", "bayescale.fit")),
        ({"delta": 0}, bs.FitError, ("delta is 0", "above 0")),
        ({"delta": math.nan}, bs.FitError, ("delta is nan",)),
        ({"starts": 0}, bs.FitError, ("starts is 0", "at least 1")),
        ({"bootstrap": -1}, bs.FitError, ("bootstrap is -1",)),
        ({"bootstrap": 5}, bs.FitError, ("bootstrap is 5", "20 replicates")),
        ({"seed": 1.5}, bs.FitError, ("seed is 1.5", "whole number")),
        ({"weights": "trust"}, bs.DataError, ("no column 'trust'",)),
        ({"weights": [1.0, 2.0]}, bs.DataError, ("shape (2,)", "36 runs")),
        ({"weights": [-1.0] * 36}, bs.DataError, ("-1 in row 1", "at least 0")),
        ({"weights": ["x"] * 36}, bs.DataError, ("must be numbers",)),
        ({"weights": [1.0] * 4 + [0.0] * 32}, bs.DataError, ("4 runs with weight",)),
        ({"runs": ROWS.drop(columns="loss")}, bs.DataError, ("loss",)),
        ({"runs": ROWS.drop(columns="D")}, bs.DataError, ("needs D",)),
    ],
)
def test_bad_inputs_are_named_in_one_line(options, error, parts):
    arguments = {"law": "chinchilla", "runs": ROWS, "starts": 2} | options
    with pytest.raises(error) as caught:
        bs.fit_point(arguments.pop("law"), arguments.pop("runs"), **arguments)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_a_response_without_a_logarithm_is_named():
    law = Law(
        "line",
        (Input("x"),),
        (Param("slope", Normal(0.0, 1.0)),),
        lambda slope, x: slope * x,
        response="score",
    )
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "score": [1.0, -2.0, 3.0]})
    with pytest.raises(bs.DataError, match=r"'score' is -2 in row 2"):
        bs.fit_point(law, frame)
    frame["score"] = [1.0, 2.0, 3.0]
    never = Law(
        "never", law.inputs, (Param("s", LogNormal(1, 1)),), lambda s, x: -s * x, response="score"
    )
    with pytest.raises(bs.FitError, match="no positive, finite value"):
        bs.fit_point(never, frame)
