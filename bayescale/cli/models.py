"""``bayescale models``: the fits that come with the package."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescale.cli.options import Json

if TYPE_CHECKING:
    from bayescale.tables import Table
    from bayescale.zoo.cards import Card


# commands by which answers are had in the shell, where they have another name
COMMANDS = {
    "inference_optimum": "allocate",
    "allocate_limited": "allocate",
    "compute_multiplier": "multiplier",
    "transfer_tax": "transfer",
}


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show this one alone: its whole record.")
    ] = None,
    json: Json = False,
) -> None:
    """List the fits that come with the package, or show one beside what was published.

    They answer without sampling: wherever a command takes a FIT.nc, it takes such a name too. They
    hold draws and ranges, and none of the runs; `bayescale fit models/NAME.toml` fits one again.

    For example:

      bayescale models
      bayescale models chinchilla-epoch2024
      bayescale predict chinchilla-epoch2024 --N 70B --D 1.4T
    """
    from bayescale.cli.output import show, show_json
    from bayescale.zoo.cards import card
    from bayescale.zoo.find import names

    if name is not None:
        told = card(name)
        if json:
            show_json(record(name, told))
        else:
            show(*details(name, told))
        return
    found = {one: card(one) for one in names()}
    if json:
        show_json([brief(one, told) for one, told in found.items()])
    else:
        show(listing(found))


def verdict(told: "Card") -> str:
    """What the gate says, in two words at most."""
    if told.reference is None:
        return "not fitted"
    return "ok" if told.reference.converged else told.reference.gate.partition(" (")[0]


def listing(found: "dict[str, Card]") -> "Table":
    """One row a model."""
    from bayescale.tables import Table
    from bayescale.zoo.cards import source_of

    rows = []
    for name, told in found.items():
        source = source_of(told)
        answers = told.reference.answers if told.reference else ()
        also = ", ".join(dict.fromkeys(COMMANDS.get(a, a) for a in answers))
        law = told.law.partition(":")[0]
        what = f"{law} on {source['data']}; licence: {source['licence']}; gate: {verdict(told)}"
        rows.append([name, f"{told.title}\n{what}\nanswers: {also}"])
    columns = ["model", "what"]
    notes = [
        "one in full: bayescale models NAME",
        "to ask one: bayescale predict NAME --N 70B --D 1.4T",
        "to fit one again: bayescale fit models/NAME.toml -o fit.nc; to compare: bayescale check "
        "NAME",
    ]
    return Table(columns, rows, notes=notes, text=columns)


def details(name: str, told: "Card") -> list[Any]:
    """Lines and table that show one model: what was fitted, and the posterior beside the paper."""
    from bayescale.tables import Table, with_spread
    from bayescale.zoo.cards import source_of

    source = source_of(told)
    lines = [
        f"{name}: {told.title}",
        f"  law: {told.law}",
        f"  data: {source['data']} (licence: {source['licence']})",
        f"  cite: {source['citation']}",
    ]
    lines += [f"  note: {told.note}"] if told.note else []
    made = told.reference
    if made is None:
        return ["\n".join([*lines, "  not fitted yet"])]
    how = told.sampler
    lines += [
        f"  gate: {made.gate}",
        f"  answers: {', '.join(made.answers)}",
        f"  sampler: {how.chains} chains of {how.draws} draws after {how.warmup}, seed {how.seed}; "
        f"{how.keep} draws are shipped",
    ]
    published, rows = told.published, []
    for quantity, q in made.quantities.items():
        row = [quantity, with_spread(q.mean, q.sd)]
        row.append(f"{with_spread(q.q05, q.sd)} to {with_spread(q.q95, q.sd)}")
        row += [with_spread(q.sd, q.sd), f"{q.rhat:.3f}", f"{q.ess:,.0f}"]
        rows.append([*row, *([_published(told, quantity)] if published else [])])
    columns = ["", "mean", "90% interval", "sd", "R-hat", "ESS"]
    notes = []
    if published:
        columns.append("published")
        notes.append(f"published: {published.source}")
        notes += [published.note] if published.note else []
    versions = ", ".join(f"{k} {v}" for k, v in made.versions.items())
    notes += [f"{made.runs} runs; {made.seconds:g} s with {versions}"]
    return ["\n".join(lines), Table(columns, rows, notes=notes)]


def _published(told: "Card", quantity: str) -> str:
    """A published number, with its interval if it has one."""
    from bayescale.tables import quantity as written

    found = told.published.number(quantity) if told.published else None
    if found is None:
        return ""
    ends = (
        f" ({written(found.low, 4)} to {written(found.high, 4)})"
        if found.low is not None and found.high is not None
        else ""
    )
    return written(found.value, 4) + ends


def brief(name: str, told: "Card") -> dict[str, Any]:
    """A model in the listing, as JSON."""
    from bayescale.zoo.cards import source_of

    made = told.reference
    return {
        "name": name,
        "title": told.title,
        "law": told.law,
        **source_of(told),
        "runs": made.runs if made else None,
        "converged": made.converged if made else None,
        "gate": made.gate if made else None,
        "answers": list(made.answers) if made else [],
    }


def record(name: str, told: "Card") -> dict[str, Any]:
    """The whole record of a model, as JSON."""
    return (
        brief(name, told)
        | told.model_dump(exclude={"title", "law", "data"})
        | {"reading": told.data.model_dump() if told.data else None}
    )
