"""``bayescale laws``: what can be fitted."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescale.cli.options import Json

if TYPE_CHECKING:
    from bayescale.law import Law
    from bayescale.tables import Table


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[LAW]", help="Show this law alone, in full.")
    ] = None,
    json: Json = False,
) -> None:
    """List the laws with their default priors, or show one in full.

    In full: the equation also in LaTeX, what each parameter means, the range that its prior
    allows, and what is reported beside the parameters.

    For example:

      bayescale laws
      bayescale laws chinchilla
    """
    from bayescale.choosing import example
    from bayescale.cli.output import show, show_json
    from bayescale.families import FAMILIES
    from bayescale.laws import LAWS

    families = [family.example for family in FAMILIES.values()]
    chosen = [*LAWS.values(), *families] if name is None else [example(name)]
    if json:
        records = [record(law) for law in chosen]
        show_json(records if name is None else records[0])
    elif name is None:
        show(listing(chosen))
    else:
        show(*details(chosen[0]))


def listing(laws: "list[Law]") -> "Table":
    """One row a law: equation and source, and the priors."""
    from bayescale.tables import Table

    rows = []
    for law in laws:
        reads = ", ".join(i.name for i in law.inputs)
        equation = f"{law.text()}\n{law.title}\n{law.reference}\n"
        priors = "\n".join(f"{p.site} ~ {p.prior}" for p in law.params) + "\n"
        rows.append([f"{law.name}\nof {reads}", equation, priors])
    notes = ["one in full: bayescale laws NAME", "to fit one: bayescale fit NAME RUNS -o fit.nc"]
    columns = ["law", "equation, meaning, source", "default priors"]
    return Table(columns, rows, notes=notes, text=columns)


def details(law: "Law") -> list[Any]:
    """The lines and tables that show one law."""
    from bayescale.prior_table import prior_table, where_sampled
    from bayescale.tables import Table

    inputs = [f"  {i.name}: {i.meaning} ({i.unit})" for i in law.inputs]
    listed = prior_table(law.params)
    replace = 'replace one: bayescale fit … --prior "E=LogNormal(1.5, 0.2)"'
    priors = Table(listed.columns, listed.rows, text=listed.text, notes=[*listed.notes, replace])
    derived = Table(
        ["reported beside them", "meaning"],
        [[d.name, d.meaning] for d in law.derived],
        text=["reported beside them", "meaning"],
    )
    lines = [f"{law.name}: {law.title}", f"  {law.text()}", f"  LaTeX: {law.latex()}"]
    lines += [f"  response: {law.response} ({law.response_unit})", *inputs]
    lines += [f"  source: {law.reference}"] + ([f"  note: {law.note}"] if law.note else [])
    lines += ["", *where_sampled(law.params)]
    return ["\n".join(lines), "", priors] + ([derived] if law.derived else [])


def record(law: "Law") -> dict[str, Any]:
    """A law as JSON."""
    return {
        "name": law.name,
        "title": law.title,
        "equation": law.text(),
        "latex": law.latex(),
        "response": {"name": law.response, "unit": law.response_unit},
        "inputs": [{"name": i.name, "meaning": i.meaning, "unit": i.unit} for i in law.inputs],
        "parameters": [
            {
                "name": p.name,
                "meaning": p.meaning,
                "unit": p.unit,
                "support": str(p.allowed),
                "sampled": p.site,
                "prior": str(p.prior),
                "why": p.why,
            }
            for p in law.params
        ],
        "derived": [{"name": d.name, "meaning": d.meaning} for d in law.derived],
        "reference": {
            "text": law.reference.text,
            "arxiv": law.reference.arxiv,
            "equation": law.reference.equation,
        },
        "note": law.note,
    }
