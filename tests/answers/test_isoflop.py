"""IsoFLOP answers: minima by brute force, the power law, prices, groups, refusals, recovery."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayescale as bs
from bayescale.answers.approach import Approach
from bayescale.answers.surface import surface
from bayescale.errors import DataError, FitError
from bayescale.inference.gate import Gate, Problem

from .conftest import made_up
from .isoflop_slices import A_TRUE, BUDGETS, best_size, simulated

SHAPES = ("parabola", "cubic", "powers")
BAD = Gate((Problem("rhat", "R-hat is 1.2.", "more draws"),), 1.2, 50.0, 40.0, 0, 1.0)
FEW = {"chains": 4, "draws": 600, "warmup": 300, "progress": False}


def drawn(shape="powers", deviations=True, table=None, gate=None, **options):
    """A fit with made-up draws."""
    table = simulated() if table is None else table
    name = f"isoflop:shape={shape}:deviations={'yes' if deviations else 'no'}"
    law, runs = bs.arrange(name, table)
    return made_up(law, runs, **({"gate": gate} if gate else {}), **options)


@pytest.fixture(scope="module")
def fitted():
    """One real posterior."""
    return bs.isoflop(simulated(), C="1e23", seed=3, **FEW)


@pytest.mark.parametrize("shape", SHAPES)
def test_minima_are_those_of_brute_force(shape):
    from scipy.optimize import minimize_scalar

    answer = bs.isoflop(drawn(shape, spread=0.05))
    for k, budget in enumerate(answer.C):
        law = surface(answer.fit, {"budget": answer.labels[k]})
        for draw in range(0, 100, 20):  # 25 draws in all
            best, least = answer.draws["N_opt"][draw, k], answer.draws["loss"][draw, k]

            def loss(x, law=law, draw=draw, budget=budget, best=best):
                return float(law.mean(np.array(draw), N=best * np.exp(x), C=budget))

            found = minimize_scalar(loss, bounds=(-1, 1.2), method="bounded",
                                    options={"xatol": 1e-9})  # fmt: skip
            assert found.fun == pytest.approx(least, rel=1e-6)
            assert loss(0.0) == pytest.approx(least, rel=1e-12)
            assert abs(found.x) < 1e-3


def test_the_power_law_is_that_of_the_common_minimum():
    answer = bs.isoflop(drawn())
    up, down = answer.n_opt("2e22"), answer.n_opt(1e22)
    assert up.shape == (100, 1)
    np.testing.assert_allclose(np.log(up / down)[:, 0] / np.log(2), answer.exponents["a"])
    tokens = answer.d_opt([1e22, 2e22])
    np.testing.assert_allclose(tokens * answer.n_opt([1e22, 2e22]) * 6, [[1e22, 2e22]] * 100)
    np.testing.assert_allclose(
        np.log(tokens[:, 1] / tokens[:, 0]) / np.log(2), answer.exponents["b"]
    )
    assert isinstance(answer, Approach)


def test_minima_lie_on_the_power_law_without_deviations():
    answer = bs.isoflop(drawn(deviations=False))
    np.testing.assert_allclose(answer.draws["N_opt"], answer.n_opt(answer.C), rtol=1e-9)
    assert not answer.scatter.any()
    assert "scatter" not in str(answer)


def test_minima_scatter_around_it_with_deviations():
    fit = drawn()
    answer = bs.isoflop(fit)
    off = np.log(answer.draws["N_opt"] / answer.n_opt(answer.C))
    expected = fit.draws("shift_sd")[:, None] * fit.draws("shift_z")
    np.testing.assert_allclose(off, expected, atol=1e-9)


def test_a_price_that_changes_along_slices_moves_b():
    answer = bs.isoflop(drawn(table=simulated(price=lambda N, C: 2 * N**0.04 * C**0.01)))
    np.testing.assert_allclose(
        answer.exponents["b"], 1 - 1.04 * answer.exponents["a"] - 0.01, rtol=1e-9
    )
    N, C = answer.draws["N_opt"], answer.C
    np.testing.assert_allclose(answer.draws["D_opt"], C / (2 * N**1.04 * C**0.01), rtol=1e-6)
    assert answer.to_dict()["cost"].startswith("C = k N D with k from ")
    tokens = answer.d_opt([1e22, 2e22])
    np.testing.assert_allclose(
        np.log(tokens[:, 1] / tokens[:, 0]) / np.log(2), answer.exponents["b"]
    )


def test_budgets_without_an_interior_minimum_are_named():
    table = simulated()
    keep = (table["C"] < 9e19) | (table["N"] > 1.2 * best_size(table["C"]))
    answer = bs.isoflop(drawn("parabola", table=table[keep]))  # four sizes, all too large
    assert answer.interior.tolist() == [True, True, True, True, False]
    assert any(w.startswith("No interior minimum at C = 1e20 (lowest") for w in answer.warnings)
    assert "at an end" in str(answer)


def test_what_lies_beyond_the_data_is_said():
    answer = bs.isoflop(drawn(), C=["1e19", "1e23"])
    assert any("C 1e+03x above the data" in w for w in answer.warnings)
    record = answer.to_dict()["asked"]
    assert [r["factor_beyond"] for r in record] == pytest.approx([1.0, 1000.0])
    assert not any("above the data" in w for w in bs.isoflop(drawn(), C="1e19").warnings)


def test_a_fit_that_failed_its_gate_says_so():
    answer = bs.isoflop(drawn(gate=BAD))
    assert not answer.converged
    assert "R-hat is 1.2" in answer.warnings[0]
    assert "NOT CONVERGED" in str(answer)


def test_json_frame_and_dataset_hold_the_same():
    answer = bs.isoflop(drawn(), C="1e22")
    record = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    frame = answer.to_frame()
    one = frame[(frame["C"] == answer.C[2]) & (frame["quantity"] == "N_opt")].iloc[0]
    assert one["median"] == record["budgets"][2]["N_opt"]["median"]
    assert one["median"] == pytest.approx(float(np.median(answer.draws["N_opt"][:, 2])))
    assert len(frame) == 4 * 5 + 3
    assert answer.dataset["N_opt"].dims == ("draw", "budget")
    assert set(record["exponents"]) == {"a", "b"}
    assert answer.table().rows[-1][-1] == "power law"


def test_the_answer_survives_a_file(fitted, tmp_path):
    fitted.fit.save(tmp_path / "fit.nc")
    again = bs.isoflop(bs.load(tmp_path / "fit.nc"), C="1e23")
    assert again.to_dict() == fitted.to_dict()


def test_a_real_posterior_holds_the_truth(fitted):
    assert fitted.converged, fitted.warnings
    assert fitted.fit.record["gradients_per_draw"] < 40
    for draws, truth in [
        (fitted.exponents["a"], A_TRUE),
        (np.log(fitted.n_opt(1e19)[:, 0]), np.log(best_size(1e19))),
        (np.log(fitted.n_opt(1e23)[:, 0]), np.log(best_size(1e23))),
        *((np.log(fitted.draws["N_opt"][:, k]), np.log(best_size(c)))
          for k, c in enumerate(BUDGETS)),
    ]:  # fmt: skip
        assert abs(draws.mean() - truth) < 3 * draws.std()
    assert fitted.exponents["a"].std() < 0.03


def test_a_loss_is_predicted_at_a_budget(fitted):
    found = fitted.fit.predict(N=best_size(1e19), C=1e19, budget=fitted.labels[2])
    assert np.median(found.loss) == pytest.approx(float(np.median(fitted.draws["loss"][:, 2])),
                                                  abs=0.01)  # fmt: skip


def test_groups_are_fitted_each_by_itself(monkeypatch):
    from bayescale import fitting

    seen = []

    def quick(law, runs, **options):
        seen.append((len(runs), options["seed"], options["draws"]))
        return made_up(law, runs)

    monkeypatch.setattr(fitting, "fit", quick)
    parts = [simulated().assign(corpus="web"), simulated(seed=5).assign(corpus="code")]
    parts.append(simulated().head(8).assign(corpus="small"))
    found = bs.isoflop(pd.concat(parts), by="corpus", C="1e22", draws=77)
    assert seen == [(40, 0, 77), (40, 0, 77)]
    assert list(found) == ["web", "code"]
    assert "small left out" in found.warnings[0]
    assert found["web"].n_opt(1e22).shape == (100, 1)
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(record["groups"]) == {"web", "code"}
    assert list(found.to_frame()["corpus"].unique()) == ["web", "code"]
    assert "N_opt at 1.00e22" in str(found)
    with pytest.raises(FitError, match="no corpus 'wep'; there are web, code. Did you mean 'web'"):
        found["wep"]
    with pytest.raises(DataError, match="no corpus of DataFrame has slices to fit; small: "):
        bs.isoflop(parts[2], by="corpus")


def test_refusals(chinchilla):
    with pytest.raises(FitError, match="law 'chinchilla' has no slices of its own; fit the law"):
        bs.isoflop(chinchilla)
    with pytest.raises(DataError, match="C"):
        bs.isoflop(drawn(), C=-1)
    with pytest.raises(DataError, match="at one budget only"):
        bs.isoflop(simulated().head(8))
    with pytest.raises(DataError, match="has no column 'corpus'"):
        bs.isoflop(simulated(), by="corpus")
    with pytest.raises(DataError, match="row 3"):
        bs.isoflop(simulated().assign(loss=lambda t: t["loss"].where(t.index != 2)))


def test_independent_minima_have_the_power_law_through_their_mean():
    fit = drawn(pooling={"G": bs.independent("budget")})
    answer = bs.isoflop(replace(fit))
    off = np.log(answer.draws["N_opt"] / answer.n_opt(answer.C))
    np.testing.assert_allclose(off.mean(axis=1), 0, atol=1e-9)
