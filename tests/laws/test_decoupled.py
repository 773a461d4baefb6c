"""Decoupled laws: Chinchilla's limit, closed forms of the frontier, slopes, tables, recovery."""

import numpy as np
import pytest

import bayescale as bs
from bayescale.choosing import rebuild
from bayescale.data.designs.text_multimodal import simulate_text_multimodal, truth
from bayescale.errors import LawError
from bayescale.inference.model import Model
from bayescale.law import call_with
from bayescale.laws import CHINCHILLA
from bayescale.laws.decoupled import decoupled
from bayescale.laws.decoupled_parts import Parts

BOTH = ("text", "multimodal")
EVERY = ("a", "K", "N0", "gamma")


def params_of(law, seed=0):
    """One value of each parameter, shaped as the mean takes it: (1, label)."""
    rng = np.random.default_rng(seed)
    middle = {"E": 1.7, "C_c": 1e19, "gamma": 0.17, "a": 0.6, "N_c": 2e8, "B": 500.0, "beta": 0.3}
    found = {}
    for p in law.params:
        shape = (1, len(law.axes[p.dims[0]]))
        if p.name.endswith("_slope"):
            found[p.name] = rng.normal(0, 1.5, shape)
        else:
            found[p.name] = middle[p.name] * np.exp(rng.normal(0, 0.15, shape))
    return found


def rows_of(law, n_rows=20, seed=1):
    """Random runs: N, tokens of each source, whose loss a row holds as ones and zeros."""
    rng = np.random.default_rng(seed)
    own = np.eye(len(law.axes["objective"]))[rng.integers(0, len(law.axes["objective"]), n_rows)]
    D = 10 ** rng.uniform(9, 11, (n_rows, len(law.axes["source"])))
    return {"N": 10 ** rng.uniform(7, 10, n_rows), "D": D, "objective": own}


def test_one_objective_without_variation_is_chinchilla():
    law = decoupled(objectives=("text",), varying=())
    p, rows = params_of(law), rows_of(law)
    a, gamma, C_c, N_c = (float(p[k][0, 0]) for k in ("a", "gamma", "C_c", "N_c"))
    alpha, beta = gamma / a, gamma / (1 - a)
    A, B = a * N_c**alpha, (1 - a) * (C_c / 6 / N_c) ** beta
    same = CHINCHILLA.mean(
        E=float(p["E"][0, 0]), A=A, B=B, alpha=alpha, beta=beta, N=rows["N"], D=rows["D"][:, 0]
    )
    np.testing.assert_allclose(law.mean(**p, **rows), same, rtol=1e-12)
    derived = Model(law).derived(p | {"N_ref": 1e8, "D_ref": 1e10})
    for name, value in {"A": A, "B": B, "b": 1 - a}.items():
        assert derived[name][0, 0] == pytest.approx(value, rel=1e-12)


def test_one_objective_is_sampled_as_chinchilla_is():
    law = decoupled(objectives=("text",), varying=())
    mine, theirs = ({p.site: p.prior for p in w.params} for w in (law, CHINCHILLA))
    assert mine == theirs
    assert (law.terms, law.slopes) == (CHINCHILLA.terms, CHINCHILLA.slopes)
    refs = {"N_ref": 4e8, "D_ref": 2e10}
    sites = {"E": 1.8, "size_term": 0.4, "data_term": 0.2, "alpha": 0.31, "beta": 0.4}
    one = Model(law).to_params({k: np.array([[v]]) for k, v in sites.items()}, refs)
    two = Model(CHINCHILLA).to_params(sites, refs)
    rows = rows_of(law)
    mean = Model(law).mean(one, rows)
    np.testing.assert_allclose(
        mean, Model(CHINCHILLA).mean(two, {"N": rows["N"], "D": rows["D"][:, 0]}), rtol=1e-12
    )


def test_each_objective_reads_its_own_tokens_and_constants():
    law = decoupled(varying=())
    p, rows = params_of(law), rows_of(law)
    alone = decoupled(objectives=("text",), varying=())
    for k in range(2):
        own = rows["objective"][:, k] == 1
        mine = {name: v[:, [k]] for name, v in p.items()}
        expected = alone.mean(
            **mine, N=rows["N"], D=rows["D"][:, [k]], objective=np.ones((len(own), 1))
        )
        np.testing.assert_allclose(law.mean(**p, **rows)[own], expected[own], rtol=1e-13)


@pytest.mark.parametrize("composition", ["ratio", "share"])
@pytest.mark.parametrize("varying", [("multimodal",), BOTH, ("text",)], ids="+".join)
def test_constants_move_linearly_with_the_composition(composition, varying):
    law = decoupled(varying=varying, varies=EVERY, composition=composition, centre=0.3)
    still = decoupled(varying=())
    p, rows = params_of(law), rows_of(law)
    D_text, D_mm = rows["D"].T
    seen = {
        "ratio": {"text": D_mm / D_text, "multimodal": D_mm / D_text},
        "share": {"text": D_text / (D_text + D_mm), "multimodal": D_mm / (D_text + D_mm)},
    }[composition]
    found = law.mean(**p, **rows)
    for row in range(len(found)):
        moved = {k: v.copy() for k, v in p.items() if not k.endswith("_slope")}
        for k, name in enumerate(varying):
            at, off = BOTH.index(name), seen[name][row] - 0.3
            odds = moved["a"][0, at] / (1 - moved["a"][0, at])
            odds *= np.exp(p["a_slope"][0, k] * off)
            moved["a"][0, at] = odds / (1 + odds)
            for constant in ("gamma", "C_c", "N_c"):
                moved[constant][0, at] *= np.exp(p[f"{constant}_slope"][0, k] * off)
        one = {k: v[[row]] for k, v in rows.items()}
        np.testing.assert_allclose(found[row], still.mean(**moved, **one)[0], rtol=1e-11)


def test_among_three_each_has_its_own_ratio_and_the_first_that_of_all_others():
    names = ("text", "image", "audio")
    law = decoupled(objectives=names, varying=names, centre=0.0)
    parts = Parts(names, names, names, "ratio", 0.0)
    D = np.array([[10.0, 2.0, 3.0], [4.0, 0.0, 1.0]])
    np.testing.assert_allclose(parts.compositions(D), [[0.5, 0.2, 0.3], [0.25, 0.0, 0.25]])
    assert law.axes["varying"] == names


def test_the_frontier_has_the_optimum_that_it_says():
    law = decoupled(varies=EVERY)
    p, r = params_of(law), 0.27
    off = r - 0.2
    odds = p["a"][0, 1] / (1 - p["a"][0, 1]) * np.exp(p["a_slope"][0, 0] * off)
    a, gamma = odds / (1 + odds), p["gamma"][0, 1] * np.exp(p["gamma_slope"][0, 0] * off)
    C_c = p["C_c"][0, 1] * np.exp(p["C_c_slope"][0, 0] * off)
    N_c = p["N_c"][0, 1] * np.exp(p["N_c_slope"][0, 0] * off)
    own = np.array([[0.0, 1.0]])
    for C in (1e19, 1e22):
        best = N_c * (C / C_c) ** a
        N = best * np.exp(np.linspace(-0.5, 0.5, 2001))
        D_mm = C / (6 * N)
        loss = law.mean(**p, N=N, D=np.stack([D_mm / r, D_mm], axis=-1), objective=own)
        assert N[np.argmin(loss)] == pytest.approx(best, rel=1e-3)
        assert loss.min() == pytest.approx(p["E"][0, 1] + (C_c / C) ** gamma, rel=1e-9)


@pytest.mark.parametrize("varies", [EVERY, ("a", "K", "N0"), ("a",), ("K",), ("N0", "gamma")])
def test_sampled_slopes_are_derivatives_at_the_reference_budget(varies):
    law = decoupled(varies=varies)
    p = params_of(law)
    refs = {"N_ref": 4e8, "D_ref": 2e10}
    log_c0 = np.log(6 * refs["N_ref"] * refs["D_ref"])

    def at(off):
        """ln K and ln N0 at the reference budget, off the centre."""

        def slope(name):
            return p[f"{name}_slope"][0, 0] * off if f"{name}_slope" in p else 0.0

        odds = np.log(p["a"][0, 1] / (1 - p["a"][0, 1])) + slope("a")
        above = log_c0 - np.log(p["C_c"][0, 1]) - slope("C_c")
        log_k = -p["gamma"][0, 1] * np.exp(slope("gamma")) * above
        return log_k, np.log(p["N_c"][0, 1]) + slope("N_c") + above / (1 + np.exp(-odds))

    slopes = [(up - down) / 2e-5 for up, down in zip(at(1e-5), at(-1e-5), strict=True)]
    sampled = {q.site: q for q in law.params if q.coordinate and q.name.endswith("_slope")}
    for place, site in enumerate(("K_slope", "N0_slope")):
        if site in sampled:
            found = call_with(sampled[site].coordinate.from_param, p | refs)
            assert found[0, 0] == pytest.approx(slopes[place], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    "law",
    [decoupled(varies=EVERY, varying=BOTH), decoupled(size=False, varies=("B", "beta"))],
    ids=["frontier", "one size"],
)
def test_what_is_sampled_gives_the_parameters_back(law):
    model, refs = Model(law), {"N_ref": 4e8, "D_ref": 2e10}
    params = params_of(law) | refs
    sites = {
        q.site: call_with(q.coordinate.from_param, params) if q.coordinate else params[q.name]
        for q in law.params
    }
    back = model.to_params(sites, refs)
    for q in law.params:
        np.testing.assert_allclose(back[q.name], params[q.name], rtol=1e-9, err_msg=q.name)


@pytest.mark.parametrize("varies", [EVERY, ("a",), ("B", "beta"), ("B",)], ids="+".join)
def test_the_density_can_be_traced(varies):
    import jax

    law = decoupled(varies=varies, varying=BOTH, size="B" not in varies)
    model, rows = Model(law), rows_of(law)
    refs = {"N_ref": jax.numpy.asarray(4e8), "D_ref": jax.numpy.asarray(2e10)}
    sites = {p.site: jax.numpy.ones((1, len(law.axes[p.dims[0]]))) for p in law.params}

    def density(values, refs, rows):
        return model.mean(model.to_params(values, refs), rows).sum()

    found = jax.eval_shape(jax.grad(density), sites, refs, rows)
    assert {k: v.shape for k, v in found.items()} == {k: v.shape for k, v in sites.items()}


def test_without_a_size_term_a_unit_of_composition_is_worth_tokens():
    law = decoupled(objectives=("text",), sources=("text", "code"), varying=("text",),
                    composition="share", centre=1.0, size=False)  # fmt: skip
    p = params_of(law)
    rows = {"D": np.array([[8e10, 2e10]]), "objective": np.ones((1, 1))}
    worth = Model(law).derived(p)["tokens_slope"]
    same = {"D": np.array([[8e10 * np.exp(worth[0, 0] * -0.2), 0.0]]), "objective": np.ones((1, 1))}
    np.testing.assert_allclose(law.mean(**p, **rows), law.mean(**p, **same), rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"varying": ("image",)}, "varying names 'image'; known: text, multimodal"),
        ({"varies": ("K", "alpha")}, "varies names 'alpha'; known: a, K, N0, gamma"),
        ({"composition": "shares"}, r"composition names 'shares'.*Did you mean 'share'"),
        ({"objectives": ("text",), "varying": ("text",)}, "one source, whose composition"),
        ({"objectives": (), "varying": ()}, "no objectives"),
        ({"size": False, "varies": ("a",)}, "varies names 'a'; known: B, beta"),
    ],
)
def test_options_that_make_no_law_are_named(options, message):
    with pytest.raises(LawError, match=message):
        decoupled(**options)


# recovery on the paper's design


@pytest.fixture(scope="module")
def recovered():
    return bs.fit("decoupled", simulate_text_multimodal(0), progress=False)


def test_the_published_exponents_are_recovered(recovered):
    assert recovered.converged, recovered.gate.headline()
    assert recovered.record["gradients_per_draw"] < 30
    known = truth()
    expected = {("a", 0): known["a[text]"]}
    expected |= {("a_at", k): known[f"a[multimodal,{r}]"] for k, r in enumerate((0.1, 0.2, 0.3))}
    for (name, k), value in expected.items():
        draws = recovered.draws(name)
        draws = draws[:, k] if name == "a" else draws[:, 0, k]
        low, high = np.quantile(draws, [0.005, 0.995])
        assert low < value < high, (name, k)
    assert recovered.summary.loc["a_slope[multimodal]", "p_negative"] > 0.99
    for name, objective in (("E", "text"), ("gamma", "multimodal"), ("gamma", "text")):
        row = recovered.summary.loc[f"{name}[{objective}]"]
        assert abs(row["mean"] - known[f"{name}[{objective}]"]) < 3.5 * row["sd"], name


def test_a_saved_fit_finds_its_law_again(recovered):
    again = rebuild(recovered.law.recipe)
    assert again is not None
    assert again.mean is recovered.law.mean
    assert again.labels == recovered.law.labels


def test_predictions_name_the_objective_and_fill_the_tokens(recovered):
    at = {"N": 1e9, "D_text": 2e10, "D_multimodal": 4e9}
    found = recovered.predict(**at, objective="multimodal").loss.mean()
    p = {q.name: np.median(recovered.draws(q.name), axis=0)[None] for q in recovered.law.params}
    rows = {"N": np.array([1e9]), "D": np.array([[2e10, 4e9]]), "objective": np.array([[0.0, 1.0]])}
    assert found == pytest.approx(recovered.law.mean(**p, **rows)[0], rel=1e-3)
