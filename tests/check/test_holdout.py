"""Hold-outs: right laws cover what they say, wrong ones are told, and what fails is listed."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayescale as bs
from bayescale.check import holdout
from bayescale.check.extrapolation.shift import find_shift, smaller
from bayescale.data import read_runs
from bayescale.errors import DataError, FitError, LawError
from bayescale.many.result import Failure
from tests.answers.conftest import made_up

SWEEPS = 40
FACTS = {"E": 1.8, "A": 0.35, "B": 0.3, "alpha": 0.34, "beta": 0.36}  # at N = 1e8, D = 2e9


def sweep(seed, shift=0.0, rows=60):
    """Chinchilla runs over three decades of compute, 1% noise of log loss; the largest shifted."""
    rng = np.random.default_rng(seed)
    N, D = 10 ** rng.uniform(7, 9, rows), 10 ** rng.uniform(8.5, 10.5, rows)
    f = {k: v * rng.lognormal(0, 0.15) for k, v in FACTS.items()}
    mean = f["E"] + f["A"] * (N / 1e8) ** -f["alpha"] + f["B"] * (D / 2e9) ** -f["beta"]
    noise = 0.01 * rng.standard_normal(rows) + shift * ((N * D).max() / 10 < N * D)
    return pd.DataFrame({"N": N, "D": D, "loss": mean * np.exp(noise)})


@pytest.fixture(scope="module")
def right():
    """Hold-outs of the law that the sweeps come from, each of another truth."""
    return [holdout("chinchilla", sweep(s), seed=s, progress=False) for s in range(SWEEPS)]


def test_intervals_of_the_right_law_hold_what_they_say(right):
    # one run a sweep: runs of one sweep share the fit's error, so only these are independent
    frames = [r.to_frame().iloc[:1] for r in right]
    pit = np.array([float(f["pit"].iloc[0]) for f in frames])
    for level in (0.5, 0.8, 0.9, 0.95):
        inside = int((np.abs(2 * pit - 1) <= level).sum())
        low, high = stats.binom.interval(0.999, SWEEPS, level)
        assert low <= inside <= high, (level, inside)
    assert stats.kstest(pit, "uniform").pvalue > 0.001


def test_coverage_over_all_runs_of_the_right_law(right):
    for level, nominal in (("50", 0.5), ("90", 0.9)):
        share = np.array([r.overall["chinchilla"]["coverage"][level] for r in right])
        # sweeps are the independent units
        error = share.std(ddof=1) / np.sqrt(SWEEPS)
        assert abs(share.mean() - nominal) < 3.5 * error


def test_a_law_that_breaks_at_scale_is_told():
    result = holdout("chinchilla", sweep(1, shift=-0.05), progress=False)
    found = result.overall["chinchilla"]
    assert found["coverage"]["90"] < 0.5
    assert any("90% intervals held" in w and "too narrow" in w for w in result.warnings)
    assert np.median(found["pit"]) < 0.05
    assert "too narrow" in str(result)


def test_posterior_point_estimate_and_shifts_side_by_side(right):
    result = holdout("chinchilla", sweep(0), points=["huber"], bootstrap=40, seed=0, progress=False)
    assert result.labels == ("chinchilla", "chinchilla huber bootstrap")
    point, posterior = (result.overall[k] for k in reversed(result.labels))
    assert posterior == right[0].overall["chinchilla"]
    assert point["rmse_log_loss"] == pytest.approx(posterior["rmse_log_loss"], rel=0.5)
    assert 0.01 < point["median_width"] < 0.2
    assert point["log_score"] is None
    record = json.loads(json.dumps(result.to_dict()))
    of = record["results"]["chinchilla"]["splits"]["compute:10"]
    assert of["converged"] is True
    assert of["n_train"] + of["n_test"] == 60


# ---- without sampling: made-up fits in place of posteriors ----


@pytest.fixture
def unsampled(monkeypatch):
    """Fits are made up; data sets named in the list returned fail."""
    failing: list[str] = []

    def stream(law, datasets, *, noise, pooling, **options):
        for key, runs in datasets.items():
            if key in failing:
                yield key, Failure(key, "no mode was found.")
            else:
                yield key, made_up(law, runs, noise=noise, pooling=pooling)

    monkeypatch.setattr("bayescale.check.extrapolation.run.stream_fits", stream)
    return failing


@pytest.fixture(scope="module")
def grouped():
    return read_runs(sweep(5, rows=40).assign(corpus=np.resize(["web", "code", "books"], 40)))


def test_groups_left_out_are_new_to_pooled_fits(unsampled, grouped):
    result = holdout(
        "chinchilla", grouped, split="group:corpus", pooling={"E": bs.partial("corpus")}
    )
    assert [o.split for o in result.outcomes] == ["corpus=web", "corpus=code", "corpus=books"]
    assert result.overall["chinchilla"]["n_test"] == 40
    frame = result.to_frame()
    assert sorted(frame["row"]) == list(range(1, 41))
    ends = frame[["q05", "median", "q95"]].to_numpy()
    assert (np.diff(ends, axis=1) > 0).all()
    text = str(result)
    assert all(f"corpus={c}" in text for c in ("web", "code", "books"))


def test_a_group_with_parameters_of_its_own_cannot_be_left_out(unsampled, grouped):
    with pytest.raises(FitError, match=r"split 'corpus=web'.*independent by 'corpus'"):
        holdout(
            "chinchilla", grouped, split="group:corpus", pooling={"E": bs.independent("corpus")}
        )


def test_failures_are_listed_and_the_rest_is_scored(unsampled, grouped):
    unsampled.append("corpus=code")
    result = holdout("chinchilla", grouped, split="group:corpus")
    assert [o.split for o in result.outcomes] == ["corpus=web", "corpus=books"]
    (missing,) = result.failures
    assert missing.split == "corpus=code"
    assert any("no mode was found" in w for w in result.warnings)
    assert result.to_dict()["failures"] == [
        {"label": "chinchilla", "split": "corpus=code", "error": "no mode was found."}
    ]


def test_draws_that_are_no_numbers_are_a_failure(unsampled, grouped, monkeypatch):
    from bayescale.check.extrapolation import predict

    whole = predict.at_runs

    def broken(fit, runs, seed):
        found = whole(fit, runs, seed)
        if "web" in set(runs.table["corpus"]):
            found.replicate[3, 0] = np.nan
        return found

    monkeypatch.setattr(predict, "at_runs", broken)
    result = holdout("chinchilla", grouped, split="group:corpus")
    (missing,) = result.failures
    assert missing.split == "corpus=web"
    assert "predictive draws" in missing.error
    with pytest.raises(FitError, match="predictive draws"):
        holdout("chinchilla", grouped, split="size:largest")  # its only split, a run of the web


def test_the_stack_is_the_mixture_with_the_weights_found(grouped, monkeypatch):
    def stream(law, datasets, **options):
        for key, runs in datasets.items():
            # the second law is some percent off, so that the two disagree
            yield key, made_up(law, runs, seed=len(law.params), draws=1500, spread=0.02)

    def loo_of(fit, name, units, *options):
        # three of four runs are the first law's by far, the others the second's
        wins = (np.arange(len(units)) % 4 > 0) == (name == "chinchilla")
        return SimpleNamespace(elpd_i=np.where(wins, 0.0, -50.0), warnings=fit.warnings)

    monkeypatch.setattr("bayescale.check.extrapolation.run.stream_fits", stream)
    monkeypatch.setattr("bayescale.check.comparison.loo.loo_of", loo_of)
    # of 40 runs 32 are fitted: 24 to 8
    result = holdout(["chinchilla", "coupled"], grouped, split="fraction:0.8", stack=True, by="row")
    assert result.labels == ("chinchilla", "coupled", "stack")
    weights = result.weights["fraction:0.8"]
    assert weights["chinchilla"] == pytest.approx(0.75, abs=1e-3)
    pit = result.to_frame().pivot(index="row", columns="law", values="pit")
    mixed = sum(w * pit[law] for law, w in weights.items())
    # a mixture's distribution function is the weighted mean; 4 SDs of 3,000 draws' share
    assert np.abs(pit["stack"] - mixed).max() < 4 * np.sqrt(0.25 / 3000)
    assert f"chinchilla {weights['chinchilla']:.2f}" in str(result)


def test_a_shift_carries_on_what_is_missed_inside(unsampled, grouped):
    result = holdout("chinchilla", grouped, split="compute:10", shift=True)
    assert result.labels == ("chinchilla", "chinchilla shifted")
    plain, moved = (result.of(label)[0].held for label in result.labels)
    train = grouped.select(result.splits[0].train, "fitted")
    within = made_up("chinchilla", smaller(train))
    shift = find_shift(within, train)
    assert shift.n_held > 0
    assert shift.slope != 0
    move = shift.at(grouped.column("C")[result.splits[0].test])
    assert np.allclose(np.log(moved.quantiles["median"] / plain.quantiles["median"]), move)
    assert not result.failures


def test_too_few_runs_are_not_shifted(unsampled, grouped):
    few = grouped.select(np.argsort(np.argsort(grouped.column("C"))) >= 30, "the largest")
    result = holdout("chinchilla", few, split="fraction:0.7", shift=True)
    plain, moved = (result.of(label)[0] for label in result.labels)
    assert np.allclose(plain.held.quantiles["median"], moved.held.quantiles["median"])
    assert any("fewer than 8 runs" in w for w in moved.warnings)


def test_a_failed_gate_is_repeated(grouped, monkeypatch):
    from bayescale.inference.gate import Gate, Problem

    gate = Gate((Problem("rhat", "R-hat is not below 1.01.", "more draws"),), 1.2, 9, 9, 0, 1.0)

    def stream(law, datasets, **options):
        for key, runs in datasets.items():
            yield key, made_up(law, runs, gate=gate)

    monkeypatch.setattr("bayescale.check.extrapolation.run.stream_fits", stream)
    result = holdout("chinchilla", grouped)
    assert any("1 of 1 fits failed their gate; compute:10: NOT CONVERGED" in w
               for w in result.warnings)  # fmt: skip
    record = result.to_dict()["results"]["chinchilla"]["splits"]["compute:10"]
    assert record["converged"] is False


def test_a_warning_is_no_failed_gate(unsampled, grouped, monkeypatch):
    from bayescale.fitted import Fit

    monkeypatch.setattr(Fit, "warnings", property(lambda _: ("checkpoints: too sure.",)))
    result = holdout("chinchilla", grouped)
    said = [w for w in result.warnings if "checkpoints" in w]
    assert said == ["chinchilla: 1 of 1 fits warned; compute:10: checkpoints: too sure."]
    assert not any("failed their gate" in w for w in result.warnings)


def test_many_runs_are_predicted_in_parts(unsampled, monkeypatch):
    table = read_runs(sweep(7, rows=50))
    whole = holdout("chinchilla", table, split="fraction:0.2").to_frame()
    monkeypatch.setattr("bayescale.check.extrapolation.predict.CHUNK", 7)
    parts = holdout("chinchilla", table, split="fraction:0.2").to_frame()
    assert parts["row"].tolist() == whole["row"].tolist()
    # other noise, the same law: medians agree within the noise of 100 draws
    assert np.allclose(np.log(parts["median"]), np.log(whole["median"]), atol=0.1)


def test_laws_by_name_list_or_mapping(unsampled, grouped):
    assert holdout({"mine": "chinchilla"}, grouped).labels == ("mine",)
    own = bs.get_law("chinchilla")
    assert holdout([own, "coupled"], grouped).labels == ("chinchilla", "coupled")
    with pytest.raises(LawError, match="one name"):
        holdout(["chinchilla", own], grouped)
    with pytest.raises(LawError, match="no law"):
        holdout([], grouped)
    with pytest.raises(LawError, match="can't be called 'stack'"):
        holdout({"stack": own}, grouped)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"split": "compute:1e9"}, DataError, "The largest factor that leaves a run is"),
        ({"split": "compute:1000"}, DataError, r"leaves \d runs? to fit, fewer than law .* needs"),
        ({"points": ["hubre"]}, FitError, "Did you mean 'huber'"),
        ({"stack": True}, FitError, "two laws or more"),
        ({"split": "group:corpora"}, DataError, "Did you mean 'corpus'"),
    ],
)
def test_what_cannot_be_asked(unsampled, grouped, options, error, said):
    with pytest.raises(error, match=said):
        holdout("chinchilla", grouped, **options)


def test_the_message_names_a_factor_that_works(unsampled, grouped):
    with pytest.raises(DataError, match="largest factor that leaves 5 runs is") as caught:
        holdout("chinchilla", grouped, split="compute:2000")
    factor = str(caught.value).rsplit(" ", 1)[1].rstrip(".")
    assert holdout("chinchilla", grouped, split=f"compute:{factor}").outcomes[0].n_train >= 5
