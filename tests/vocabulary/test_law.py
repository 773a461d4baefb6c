"""Declarations of laws: what is refused and in which words, replaced priors, traced equations."""

import re
from dataclasses import replace

import numpy as np
import pytest

import bayescale as bs
from bayescale import Coordinate, Derived, Input, Law, Param, priors
from bayescale.arrays import power
from bayescale.errors import LawError
from bayescale.law import namespace, renamed
from bayescale.priors import LogNormal, Normal, Uniform

CHINCHILLA, COUPLED = bs.get_law("chinchilla"), bs.get_law("coupled")


def positional(E, A, /, N):
    return E + A / N


def law(mean, params=("E", "A"), **options):
    listed = tuple(Param(p, LogNormal(1, 1)) if isinstance(p, str) else p for p in params)
    return Law("mine", (Input("N"),), listed, mean=mean, **options)


def with_coordinate(**options):
    to_param = options.get("to_param", lambda term, N_ref: term * N_ref)
    from_param = options.get("from_param", lambda A, N_ref: A / N_ref)
    coordinate = Coordinate("term", to_param, from_param, scale=options.get("scale"))
    return Param("A", LogNormal(1, 1), coordinate=coordinate)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: law(lambda E, A, N, q: E), "mean takes q, which the law does not declare"),
        (lambda: law(lambda E, N: E), "mean lacks A, which the law declares"),
        (lambda: law(lambda E, D: E), "takes D, .* and lacks A, N"),
        (lambda: law(lambda *values: 1.0), r"mean must name its arguments, without \*"),
        (lambda: law(lambda E, A, N, **more: 1.0), r"mean must name its arguments, without \*"),
        (lambda: law(positional), "mean must name its arguments"),
        (lambda: law(3), "mean is 3; expected a function"),
        (lambda: law(lambda E, A, N: E, ("E", "A", "E")), "declares E more than once"),
        (lambda: law(lambda N: N, ("N",)), "declares N more than once"),
        (
            lambda: law(lambda E, A, N: E, derived=(Derived("z", lambda Q: Q),)),
            "derived 'z' takes Q, which the law does not declare",
        ),
        (
            lambda: law(lambda E, A, N: E, derived=(Derived("E", lambda A: A),)),
            "declares E more than once",
        ),
        (
            lambda: law(
                lambda E, A, N: E, ("E", with_coordinate(to_param=lambda term, M_ref: term))
            ),
            "coordinate 'term' takes M_ref",
        ),
        (
            lambda: law(lambda E, A, N: E, ("E", with_coordinate(from_param=lambda A, B: A))),
            "coordinate 'term' takes B",
        ),
        (
            lambda: law(lambda E, A, N: E, ("E", with_coordinate(scale=lambda term, E: E))),
            "scale of coordinate 'term' takes term",
        ),
        (lambda: Param("E", 3.0), "prior of 'E' is 3.0; expected a prior"),
        (
            lambda: Param("E", Normal(0, 1), support=priors.POSITIVE),
            r"'E' is positive, but its prior Normal\(0, 1\) is real",
        ),
        (
            lambda: law(lambda E, A, N: E, (Param("E", Normal(0, 1)), "A"), terms=("E", "A")),
            "'E' in its terms or slopes isn't positive",
        ),
        (lambda: law(lambda E, A, N: E, terms=("E", "B")), "has no parameter 'B'"),
        (
            lambda: law(lambda E, A, N: E, slopes=(("A", "E"),), sums=(("A", "E"),)),
            "'E' in its sums is no exponent of its slopes",
        ),
    ],
)
def test_wrong_declarations(make, message):
    with pytest.raises(LawError, match=message):
        make()


@pytest.mark.parametrize(
    ("base", "changed", "message"),
    [
        (CHINCHILLA, {"alhpa": LogNormal(0.3, 1)}, "no parameter 'alhpa'.* Did you mean 'alpha'"),
        (CHINCHILLA, {"sizeterm": LogNormal(1, 1)}, "Did you mean 'size_term'"),
        (CHINCHILLA, {"E": Normal(2, 1)}, r"'E' is positive, but its prior Normal\(2, 1\) is real"),
        (CHINCHILLA, {"E": Uniform(-1, 3)}, "'E' is positive"),
        (CHINCHILLA, {"size_term": Normal(0, 1)}, "'size_term' is positive"),
        (CHINCHILLA, {"A": Normal(400, 1)}, "'A' is positive"),
        (CHINCHILLA, {"E": 1.8}, "the prior of 'E' is 1.8; expected a prior such as"),
        (CHINCHILLA, {"E": LogNormal}, "expected a prior such as"),
        (CHINCHILLA, [LogNormal(1, 1)], "expected a mapping"),
        (
            CHINCHILLA,
            {"A": LogNormal(400, 1), "size_term": LogNormal(0.2, 1)},
            "both 'A' and its coordinate 'size_term'",
        ),
        (
            COUPLED,
            {"A": LogNormal(400, 1)},
            "a prior on A itself takes away size_term, from which B is computed",
        ),
    ],
)
def test_wrong_priors(base, changed, message):
    with pytest.raises(LawError, match=message):
        base.with_priors(changed)


def test_a_prior_on_the_parameter_itself_drops_its_coordinate():
    changed = CHINCHILLA.with_priors({"A": LogNormal(400, 0.5)})
    assert changed.param("A").coordinate is None
    assert changed.param("A").site == "A"
    assert changed.param("B").site == "data_term"
    both = COUPLED.with_priors({"A": LogNormal(400, 1), "B": LogNormal(900, 1)})
    assert [p.site for p in both.params][1:3] == ["A", "B"]


@pytest.mark.parametrize(
    "prior", [Uniform(0.5, 3), priors.Beta(2, 2), priors.Gamma(2, 1), priors.HalfNormal(2)]
)
@pytest.mark.parametrize("name", ["E", "size_term", "alpha"])
def test_any_prior_inside_the_support_is_taken(name, prior):
    changed = CHINCHILLA.with_priors({name: prior})
    assert changed.param(name).prior == prior
    assert changed.param(name).allowed == CHINCHILLA.param(name).allowed


def test_priors_are_replaced_in_a_new_law():
    before = CHINCHILLA.param("E").prior
    changed = CHINCHILLA.with_priors({"E": LogNormal(2, 0.1)})
    assert changed.param("E").prior == LogNormal(2, 0.1)
    assert CHINCHILLA.param("E").prior == before
    assert CHINCHILLA.with_priors({}) == CHINCHILLA


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chinchila", "unknown law 'chinchila'; known: chinchilla, .* Did you mean 'chinchilla'"),
        ("Kaplan", "Did you mean 'kaplan'"),
        ("zzz", "unknown law 'zzz'"),
        (None, "the law is None; expected a Law or a name"),
        (["chinchilla"], "expected a Law or a name"),
    ],
)
def test_unknown_law(name, message):
    with pytest.raises(LawError, match=message):
        bs.get_law(name)


def test_power_law_in_an_own_input():
    samples = bs.power_law(Input("samples_seen", "pictures seen", "pictures"))
    assert samples.name == "power-law-samples_seen"
    value = samples.mean(E=1.0, A=100.0, alpha=0.5, samples_seen=np.array([1e4, 1e6]))
    np.testing.assert_allclose(value, [2.0, 1.1])
    coordinate = samples.param("A").coordinate
    assert coordinate.to_param(term=0.1, alpha=0.5, samples_seen_ref=1e6) == pytest.approx(100)
    assert "samples_seen" in samples.latex()
    assert samples.param("term").name == "A"


@pytest.mark.parametrize("variable", ["Q", "n", ""])
def test_power_law_in_an_unknown_variable(variable):
    with pytest.raises(LawError, match="power_law knows N, D and C; .* pass an Input"):
        bs.power_law(variable)


@pytest.mark.parametrize("name", ["alpha", "E", "A", "term"])
def test_power_law_in_an_input_named_as_a_parameter(name):
    with pytest.raises(LawError, match=f"input '{name}' has the name of a parameter"):
        bs.power_law(Input(name))


def test_renamed_arguments_keep_their_order():
    called = renamed(lambda a, x, b: (a, x, b), x="N")
    assert called(a=1, N=2, b=3) == (1, 2, 3)


def test_lists_become_tuples_so_that_a_law_stays_a_value():
    listed = Law("mine", [Input("N")], [Param("E", LogNormal(1, 1))], mean=lambda E, N: E + 1 / N)
    assert isinstance(hash(listed), int)


TRACED = {
    "operators": (lambda E, A, alpha, N: E + A * N**-alpha, "loss = A N^-α + E"),
    "power": (lambda E, A, alpha, N: E + power(A / N, alpha), "loss = E + (A/N)^α"),
    "functions": (
        lambda E, A, alpha, N: E + A * namespace(N).exp(-alpha * namespace(N).log(N)),
        "loss = A e^(-α log(N)) + E",
    ),
    "a root": (
        lambda E, A, alpha, N: E + A / namespace(N).sqrt(alpha + N),
        "loss = A/(sqrt(N + α)) + E",
    ),
}


@pytest.mark.parametrize(("mean", "text"), TRACED.values(), ids=TRACED.keys())
def test_traced_equation_is_what_the_mean_computes(mean, text):
    import sympy
    from sympy.parsing.latex import parse_latex

    alpha = Param("alpha", LogNormal(1, 1), latex=r"\alpha")
    own = law(mean, ("E", "A", alpha))
    left, right = own.latex().split(" = ")
    assert left == "loss"
    expression = parse_latex(right, backend="lark").subs(sympy.Symbol("e"), sympy.E)
    symbol = {n: parse_latex(n, backend="lark") for n in ("E", "A", "N", r"\alpha")}
    numbers = {"E": 1.7, "A": 40.0, r"\alpha": 0.3, "N": 5e4}
    shown = float(expression.evalf(30, subs={symbol[k]: v for k, v in numbers.items()}))
    expected = mean(E=1.7, A=np.array([40.0]), alpha=0.3, N=np.array([5e4]))
    assert shown == pytest.approx(float(expected[0]), rel=1e-9)
    assert own.text() == text


def test_a_mean_that_cannot_be_traced():
    """It has no equation to show, but a text that stands for it in print-outs."""
    own = law(lambda E, A, N: E + A / np.linalg.norm(N))
    with pytest.raises(LawError, match="can't be traced with symbols .* declare equation="):
        own.latex()
    assert own.text() == "loss = mine(N)"
    declared = replace(own, equation=r"L = E + \frac{A}{\left| N \right|}")
    assert declared.latex() == declared.equation


def test_tracing_without_sympy(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sympy", None)
    own = law(lambda E, A, N: E + A / N)
    with pytest.raises(LawError, match="needs SymPy: declare equation= or install sympy"):
        own.latex()
    assert own.text() == "loss = mine(N)"


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"L = E + \frac{A}{N^{\alpha}}", "L = E + A/N^α"),
        (
            r"L = \left(\frac{N_{c}}{N}\right)^{\frac{\alpha_{N}}{\alpha_{D}}}",
            "L = (N_c/N)^(α_N/α_D)",
        ),
        (r"\frac{a + b}{c d}", "(a + b)/(c d)"),
        (r"\left(1 + \frac{1}{k}\right)^{-c_{0} f_{1}}", "(1 + 1/k)^(-c_0 f_1)"),
        (r"e^{- \alpha x} \, \sqrt{x}", "e^(-α x) sqrt(x)"),
        (r"A \log{\left(N + 1 \right)} - \tanh{\left(N \right)}", "A log(N + 1) - tanh(N)"),
        (r"\frac{\frac{a}{b}}{c}", "(a/b)/c"),
        (r"L_{\mathrm{opt}}", "L_opt"),
    ],
)
def test_plain_text(latex, text):
    from bayescale.equation import plain_text

    assert plain_text(latex) == text
    assert not re.search(r"[\\{}]", plain_text(latex))
