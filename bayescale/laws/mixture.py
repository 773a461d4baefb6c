r"""Loss of each target from a mixture of sources: transfer, shared capacity, repeated data."""

from collections.abc import Mapping, Sequence
from typing import Any

from bayescale.law import Derived, Input, Law, Reference
from bayescale.laws.chinchilla import CHINCHILLA
from bayescale.laws.common import N
from bayescale.laws.memoised import memoised
from bayescale.laws.mixture_centres import centres
from bayescale.laws.mixture_checks import check_table, default_design
from bayescale.laws.mixture_params import parameters
from bayescale.laws.mixture_parts import mean_of
from bayescale.laws.mixture_plan import Plan
from bayescale.noise import Noise
from bayescale.signature import taking

# the paper's own arXiv id isn't known here: one beside its title would be taken for it
REFERENCE = Reference(
    "Scaling Laws for Multimodal Data Mixtures (text, vision, audio); its repetition is that of "
    "Muennighoff et al. 2023 (arXiv:2305.16264)"
)


def mixture(
    sources: Sequence[str],
    targets: Sequence[str] | None = None,
    *,
    transfer: str = "exponential",
    capacity: str | None = None,
    repetition: bool | Sequence[str] = True,
    shares: str = "all",
    sparse: bool = False,
    size: bool = True,
) -> Law:
    r"""The mixture law of these sources and targets.

    .. math::

        L_m &= E_m + A_m N_\mathrm{eff}^{-\alpha_m} + B_m D_\mathrm{eff}^{-\beta_m}, \quad
        N_\mathrm{eff} = N e^{c_m (1 - h_m)}, \\
        D_\mathrm{eff} &= R_m e^{\sum_{k \ne m} v_{k \to m} h_k} \quad\text{(exponential) or}\quad
        R_m + \sum_{k \ne m} \tau_{k \to m} R_k \quad\text{(additive)}, \\
        R_k &= U_k \phi_k(D_k / U_k), \quad
        \phi_k(r) = 1 + R^*_k (1 - e^{-(r - 1)/R^*_k}), \quad h_k = D_k / \textstyle\sum_j D_j .

    A target m that is no source has no tokens of its own: D_eff is then the sum of
    :math:`w_{k \to m} R_k` over all sources, whatever ``transfer`` is. A common factor of the w's
    could as well stand in B, so their mean over the sources is one by definition.

    Parameters
    ----------
    sources : sequence of str
        Modalities or domains that runs train on; their tokens are the columns ``D_<source>``.
    targets : sequence of str, optional
        What losses are of (column ``target``); default: the sources.
    transfer : {"exponential", "additive", "none"}
        How other sources change a target's effective tokens. Exponential: by a factor, up or
        down. Additive: each of their tokens is worth tau of its own; never down, and defined for
        runs without any of the target's own.
    capacity : {"own", "directional", "none"}, optional
        How other data take effective size: by their whole share, by each source's
        (:math:`\sum_k c_{k \to m} h_k`), or not at all. Default: own; none with additive
        transfer, to which it adds nothing on domains of text.
    repetition : bool or sequence of str
        Sources whose data may be repeated (all, none, or these); each needs ``U_<source>``, its
        unique tokens.
    shares : {"all", "pairwise", "discounted"}
        h of a source: its part of all tokens, of its own and the target's only, or of all tokens
        with repetition discounted. For two sources without repetition the three agree.
    sparse : bool
        Shrink transfers by a regularised horseshoe: for seven sources and more, most of which
        don't act on each other.
    size : bool
        Whether N is read. Runs of one size say nothing about A, alpha and c; without them E is the
        loss of that size with endless data.

    Returns
    -------
    Law
        The same object for the same arguments.

    Raises
    ------
    LawError
        An unknown option, or options that don't go together.
    """
    if capacity is None:
        capacity = "none" if transfer == "additive" else "own"
    repeated = tuple(sources) if repetition is True else repetition or ()
    return _mixture(
        tuple(sources),
        tuple(sources if targets is None else targets),
        transfer,
        capacity,
        (repeated,) if isinstance(repeated, str) else tuple(repeated),
        shares,
        bool(sparse),
        bool(size),
    )


@memoised
def _mixture(
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    transfer: str,
    capacity: str,
    repeated: tuple[str, ...],
    shares: str,
    sparse: bool,
    size: bool,
) -> Law:
    from bayescale.families.family import recipe_of

    plan = Plan(sources, targets, transfer, capacity, repeated, shares, sparse, size)
    inputs, params = _inputs(plan), parameters(plan)
    transfers = "v" if transfer == "exponential" else "tau"
    terms = ("E", *(["size_term"] if size else []), "data_term")
    slopes = (*([("alpha", "size_term")] if size else []), ("beta", "data_term"))
    recipe = {"sources": sources, "targets": targets, "transfer": transfer, "capacity": capacity}
    recipe |= {"repetition": repeated, "shares": shares, "sparse": sparse, "size": size}
    return Law(
        name="mixture",
        title="Loss of each target from a mixture of sources",
        inputs=inputs,
        params=params,
        labels=plan.labels(),
        mean=_mean(plan, [*(p.name for p in params), *(i.name for i in inputs)]),
        equation=equation(plan),
        reference=REFERENCE,
        derived=exponents() if size else (),
        terms=terms,
        slopes=slopes,
        noise=Noise(by="target"),
        check=check_table(plan),
        design=lambda: default_design(plan),
        signs=tuple(p.name for p in params if p.name in ("v", "c")),
        tied=(("c", transfers),) if plan.diluted and plan.pairs else (),
        centres=centres(plan),
        nuisance=("kappa",) if sparse else (),
        recipe=recipe_of("mixture", **recipe),
    )


def _mean(plan: Plan, names: Sequence[str]) -> Any:
    def mean(values: Mapping[str, Any]) -> Any:
        """L = E + A N_eff^-alpha + B D_eff^-beta."""
        return mean_of(plan, values)

    return taking(names, mean)


def _inputs(plan: Plan) -> tuple[Input, ...]:
    tokens = Input(
        "D", "tokens sampled of each source", "tokens", ("source",), positive=False, at_least=0.0
    )
    unique = Input(
        "U", "unique tokens of each source; 0: not repeated", "tokens", ("repeated",),
        positive=False, at_least=0.0, usual="D",
    )  # fmt: skip
    target = Input("target", "what the loss is of", "label", ("target",), kind="label")
    return (
        *([N] if plan.size else []),
        tokens,
        *([unique] if plan.repeated else []),
        target,
    )


def exponents() -> tuple[Derived, ...]:
    """a, b, gamma of each target: they don't depend on the mixture, which moves A and B only."""
    return tuple(d for d in CHINCHILLA.derived if d.name in ("a", "b", "gamma"))


def equation(plan: Plan) -> str:
    """The law's equation in LaTeX, with what it defines behind it; v, tau of m itself are 0."""
    share = {"all": r"\sum_{j} D_{j}", "pairwise": r"(D_{m} + D_{k})"}
    share["discounted"] = r"\sum_{j} R_{j}"
    size = {"own": r"c_{m} (1 - h_{m})", "directional": r"\sum_{k} c_{km} h_{k}"}
    tokens = {
        "exponential": r"R_{m} \exp(\sum_{k} v_{km} h_{k})",
        "additive": r"R_{m} + \sum_{k} \tau_{km} R_{k}",
    }
    n_eff, d_eff = r"N_{\mathrm{eff}}", r"D_{\mathrm{eff}}"
    reducible = [rf"\frac{{B_{{m}}}}{{{d_eff}^{{\beta_{{m}}}}}}"]
    if plan.size:
        reducible.insert(
            0, rf"\frac{{A_{{m}}}}{{{n_eff if plan.diluted else 'N'}^{{\alpha_{{m}}}}}}"
        )
    lines = [r"L = E_{m} + " + " + ".join(reducible)]
    if plan.diluted:
        lines.append(rf"{n_eff} = N \exp({size[plan.capacity]})")
    if plan.owned:
        lines.append(rf"{d_eff} = {tokens[plan.transfer] if plan.pairs else 'R_{m}'}")
    if plan.worths:
        lines.append(rf"{d_eff} = \sum_{{k}} w_{{km}} R_{{k}} without own tokens")
    if plan.repeated:
        lines.append(r"R_{k} = U_{k} (1 + R^{*}_{k} (1 - \exp((1 - D_{k} / U_{k}) / R^{*}_{k})))")
    else:
        lines.append(r"R_{k} = D_{k}")
    if plan.diluted or (plan.pairs and plan.transfer == "exponential"):
        lines.append(rf"h_{{k}} = D_{{k}} / {share[plan.shares]}")
    return r", \quad ".join(lines)
