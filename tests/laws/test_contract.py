"""What every law promises; one added to LAWS or FAMILIES is tested without another line."""

import re
from dataclasses import fields, replace

import numpy as np
import pytest

from bayescale.choosing import rebuild
from bayescale.equation import plain_text
from bayescale.families import FAMILIES
from bayescale.law import Law, Reference, call_with
from bayescale.laws import LAWS, get_law

ALL = LAWS | {name: family.example for name, family in FAMILIES.items()}
EACH_LAW = pytest.mark.parametrize("law", ALL.values(), ids=ALL.keys())


@EACH_LAW
def test_mean_broadcasts_draws_against_rows(law, setting):
    case = setting(law)
    together = case.mean()
    assert together.shape == (50, case.rows)
    assert together.dtype == np.float64
    one = {k: v[7] for k, v in case.params.items() if k not in case.refs}
    np.testing.assert_array_equal(case.mean(one), together[7])


@EACH_LAW
def test_mean_is_what_its_noise_can_scatter_on_prior_draws(law, setting):
    mean = setting(law).mean()
    assert np.all(np.isfinite(mean))
    low, high = {"log": (0, np.inf), "logit": (0, 1)}.get(law.default_noise.on, (-np.inf, np.inf))
    assert np.all((low < mean) & (mean < high))


@EACH_LAW
def test_mean_takes_plain_numbers(law, setting):
    case = setting(law)
    if law.labels:
        pytest.skip("parameters with named axes have no plain number")
    params = {p.name: float(np.ravel(case.params[p.name][3])[0]) for p in law.params}
    inputs = {k: float(v[5]) for k, v in case.inputs.items()}
    assert law.mean(**params, **inputs) == pytest.approx(case.mean()[3, 5], rel=1e-12)


@EACH_LAW
def test_numpy_and_jax_agree(law, setting):
    import jax

    case = setting(law)
    with jax.enable_x64(True):
        params = {p.name: jax.numpy.asarray(case.params[p.name]) for p in law.params}
        inputs = {k: jax.numpy.asarray(v) for k, v in case.inputs.items()}
        traced = jax.jit(lambda p, x: law.mean(**p, **x))(params, inputs)
        assert traced.dtype == np.float64
    # powers go through exp(log): an error of 1e-16 in ln x grows with the exponent's size
    np.testing.assert_allclose(np.asarray(traced), case.mean(), rtol=1e-11)


@EACH_LAW
def test_gradients_of_the_log_mean_are_finite_on_prior_draws(law, setting):
    import jax

    case = setting(law)

    noise = {"run_sd": 0.0, "run_offset": 0.0}
    weights = np.random.default_rng(22).uniform(1, 2, case.rows)  # no effect cancels by symmetry

    def total(vector):
        coordinates = case.at_rows(case.packing.constrain(vector))
        params = case.model.to_params(coordinates, case.refs)
        mean = case.model.mean(params, case.inputs)
        return jax.numpy.sum(weights * case.model.noise.location(mean, noise))

    with jax.enable_x64(True):
        slopes = jax.jit(jax.vmap(jax.grad(total)))(jax.numpy.asarray(case.unconstrained))
    slopes = np.asarray(slopes)
    assert np.all(np.isfinite(slopes))
    # every parameter of the law matters somewhere (noise parameters come last and do not)
    law_size = sum(
        int(np.prod(shape))
        for site, shape in zip(case.packing.sites, case.packing.shapes, strict=True)
        if site.name in {p.site for p in law.params}
    )
    assert np.all(np.abs(slopes[:, :law_size]).max(axis=0) > 0)


@EACH_LAW
def test_coordinates_are_the_inverse_of_parameters(law, setting):
    case = setting(law)
    known = {**case.params, **case.refs}
    for p in law.params:
        if p.coordinate is None:
            continue
        back = call_with(p.coordinate.from_param, known)
        np.testing.assert_allclose(
            back, case.coordinates[p.site], rtol=1e-9, err_msg=f"{law.name}: {p.site}"
        )


@EACH_LAW
def test_the_unit_of_an_input_changes_nothing(law, setting):
    """N in billions with N_ref in billions: the same coordinates give the same losses."""
    case = setting(law)
    positive = {i.unit for i in law.inputs if i.positive or (i.dims and i.at_least == 0)}
    for unit in positive & {"parameters", "tokens", "FLOP"}:
        other = case.in_units(unit, 1e9)
        params = case.model.to_params(case.coordinates, other.refs)
        np.testing.assert_allclose(other.mean(params), case.mean(), rtol=1e-9)


RESOURCES = [
    (law, i.name)
    for law in ALL.values()
    for i in law.inputs
    if i.name in "NDC" and law.response == "loss" and i.name not in law.may_rise
]


@pytest.mark.parametrize(
    ("law", "resource"), RESOURCES, ids=[f"{w.name}-{r}" for w, r in RESOURCES]
)
def test_loss_falls_with_size_data_and_compute(law, resource, setting):
    case = setting(law)
    more = case.inputs | {resource: 2 * case.inputs[resource]}
    change = case.mean(inputs=more) - case.mean()
    assert np.all(change <= 1e-12 * case.mean())  # a wild prior draw may leave nothing to gain
    at_middle = {
        site.name: np.full((1, *shape), site.prior.middle())
        for site, shape in zip(case.packing.sites, case.packing.shapes, strict=True)
    }
    params = case.model.to_params(case.at_rows(at_middle), case.refs)
    falls = case.mean(params, more) < case.mean(params)
    # far more parameters than the unique tokens feed gain nothing, to the last digit
    assert falls.mean() > 0.5 if "U" in case.inputs else falls.all()


@EACH_LAW
def test_derived_quantities_are_finite(law, setting):
    case = setting(law)
    for name, value in case.model.derived(case.params).items():
        assert np.all(np.isfinite(value)), name


def parsed(latex):
    """LaTeX as SymPy reads it; it knows no starred names."""
    from sympy.parsing.latex import parse_latex

    return parse_latex(re.sub(r"_\{(\w+)\}\^\{\*\}", r"_{\1star}", latex), backend="lark")


def symbol_of(item):
    """An input's symbol: its own, its letter, or its word in italics."""
    return item.latex or (item.name if len(item.name) == 1 else rf"\mathit{{{item.name}}}")


def shown_expression(law):
    """Right-hand side of the law's equation, with what it defines behind it put in."""
    first, *definitions = re.split(r",\s*\\quad", law.latex())
    _, right = first.split("=", 1)
    expression = parsed(right)
    for definition in definitions:
        name, meaning = definition.split("=", 1)
        expression = expression.subs(parsed(name.strip()), parsed(meaning))
    return expression


@EACH_LAW
def test_latex_shows_the_equation_that_the_code_computes(law, setting):
    import mpmath
    import sympy

    if law.labels:
        assert all(p.latex in law.equation for p in law.params)
        pytest.skip("SymPy reads no sums over labels")
    case = setting(law)
    expression = shown_expression(law)
    symbol = {p.name: parsed(p.latex) for p in law.params}
    symbol |= {i.name: parsed(symbol_of(i)) for i in law.inputs}
    assert expression.free_symbols == set(symbol.values())
    expected = case.mean()
    shown = sympy.lambdify(list(symbol.values()), expression, "mpmath")
    for draw, row in np.random.default_rng(5).integers(0, (50, case.rows), (20, 2)):
        numbers = [float(case.params[p.name][draw, 0]) for p in law.params]
        numbers += [float(case.inputs[i.name][row]) for i in law.inputs]
        with mpmath.workdps(30):
            value = float(shown(*map(mpmath.mpf, numbers)))
        assert value == pytest.approx(expected[draw, row], rel=1e-9)


@EACH_LAW
def test_plain_text_is_readable(law):
    text = law.text()
    assert not re.search(r"[\\{}$]", text), text
    assert re.match(r"(L|P|S|Err|b)(_\w+)? = ", text), text
    assert text.count("(") == text.count(")")
    for item in law.inputs:
        if item.kind == "number":
            after = "" if item.dims else "(?![A-Za-z_])"
            name = plain_text(item.latex or item.name)
            assert re.search(rf"(?<![A-Za-z_]){name}{after}", text), (item.name, text)


@EACH_LAW
def test_law_says_what_it_is(law):
    assert law.title
    assert law.reference.text != Reference("user-defined").text
    assert re.search(r"arXiv:\d{4}\.\d{4,5}\b", str(law.reference)), law.reference
    for p in law.params:
        assert p.meaning, p.name
        assert p.latex, p.name
        assert p.coordinate is None or p.coordinate.meaning, p.name
    for item in (*law.inputs, *law.derived):
        assert item.meaning, item.name
    for item in law.inputs:
        assert item.unit or item.kind == "label", item.name
    assert law.mean.__doc__


@EACH_LAW
def test_law_is_a_value(law):
    from dataclasses import FrozenInstanceError

    if law.recipe:
        assert rebuild(law.recipe) is law
    else:
        assert LAWS[law.name] is law
        assert get_law(law.name) is law
    assert get_law(law) is law
    assert isinstance(hash(law), int)
    with pytest.raises(FrozenInstanceError):
        law.name = "other"


@EACH_LAW
def test_each_prior_can_be_replaced(law: Law):
    for p in law.params:
        last = fields(p.prior)[-1].name
        other = 0.9 if p.prior.support.upper < np.inf else 1.1  # within a bounded support
        wider = replace(p.prior, **{last: other * getattr(p.prior, last)})
        changed = law.with_priors({p.site: wider})
        assert changed.param(p.name).prior == wider
        assert changed.param(p.name).site == p.site
        assert changed.param(p.name).allowed == p.allowed
        others = [q for q in changed.params if q.name != p.name]
        assert others == [q for q in law.params if q.name != p.name]
