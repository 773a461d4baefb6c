"""Offsets of runs sampled as levels: the same density in other coordinates."""

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.inference.batch import make_batch, make_layout, pad
from bayescale.inference.density import log_density
from bayescale.inference.engine import find_device, float64
from bayescale.inference.levels import as_offsets, run_levels
from bayescale.inference.model import Model
from bayescale.inference.packing import LEVEL, Packing


@pytest.fixture(scope="module")
def case():
    """Checkpoints of five runs, padded, with a centring and levels to count from."""
    rng = np.random.default_rng(3)
    runs = np.repeat(np.arange(5), [4, 3, 5, 2, 4])
    frame = pd.DataFrame({"N": 1e8 * 2.0**runs, "D": rng.uniform(1e9, 1e11, len(runs))})
    frame["run"] = [f"r{k}" for k in runs]
    frame["loss"] = 1.8 + 400 * frame.N**-0.34 + 400 * frame.D**-0.28
    noise = bs.student_t(runs="run")
    model = Model(bs.get_law("chinchilla"), noise)
    table = bs.read_runs(frame)
    layout = make_layout(model, table)
    batch = pad(make_batch(model, table, layout), 64)
    packing = Packing.of(model, layout.labels)
    centring = {"run_offset": rng.uniform(0.2, 1, 5), LEVEL: rng.normal(1.0, 0.1, 5)}
    vector = packing.join(packing.sample_prior(rng, 1), centring)[0]
    return model, packing, batch, centring, vector


def test_levels_are_means_of_the_law_over_a_runs_rows(case):
    model, packing, batch, centring, vector = case
    values = packing.constrain(vector, centring)
    found = run_levels(model, values, batch)
    mean = model.law.mean(
        **{k: values[k] for k in ("E", "alpha", "beta")},
        A=values["size_term"] * batch["refs"]["N_ref"] ** values["alpha"],
        B=values["data_term"] * batch["refs"]["D_ref"] ** values["beta"],
        N=batch["inputs"]["N"],
        D=batch["inputs"]["D"],
    )
    rows = pd.Series(np.log(mean)[batch["mask"]])
    expected = rows.groupby(batch["index"]["run"][batch["mask"]]).mean()
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_density_is_that_of_offsets_and_the_map_has_their_jacobian(case):
    model, packing, batch, centring, vector = case
    plain = centring | {LEVEL: np.full(5, np.nan)}
    moved = as_offsets(model, packing, vector[None, None], batch, centring)[0, 0]
    with float64(find_device("cpu")):
        density = log_density(model, packing)
        one = float(density(vector, batch | {"centring": centring}))
        other = float(density(moved, batch | {"centring": plain}))
    assert one == pytest.approx(other, rel=1e-12)
    assert not np.allclose(moved, vector)
    at = packing.slice_of("run_offset")
    steps = 1e-6 * np.eye(packing.size)
    shifted = as_offsets(model, packing, (vector + steps)[None], batch, centring)[0]
    jacobian = (shifted - moved) / 1e-6
    assert np.linalg.slogdet(jacobian)[1] == pytest.approx(0.0, abs=1e-6)
    assert np.abs(jacobian[:, at] - steps[:, at] / 1e-6).max() > 0.1  # the law moves levels


def test_without_levels_nothing_moves(case):
    model, packing, batch, centring, vector = case
    plain = centring | {LEVEL: np.full(5, np.nan)}
    same = as_offsets(model, packing, vector[None, None], batch, plain)
    np.testing.assert_array_equal(same[0, 0], vector)
