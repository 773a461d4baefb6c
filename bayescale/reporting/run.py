"""``report``: a fit as one HTML file for people who won't run anything."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from bayescale.check.lazy_jax import unloaded_jax_hidden
from bayescale.errors import BayescaleError, FitError
from bayescale.reporting.asked import read_asked
from bayescale.reporting.blocks import Block, Section, Words
from bayescale.reporting.page import Page, render
from bayescale.reporting.sections.answer import answer
from bayescale.reporting.sections.bands import bands
from bayescale.reporting.sections.checks import checks
from bayescale.reporting.sections.data import data
from bayescale.reporting.sections.decisions import decisions
from bayescale.reporting.sections.gate import gate
from bayescale.reporting.sections.law import law
from bayescale.reporting.sections.posterior import posterior
from bayescale.reporting.sections.reach import reach
from bayescale.reporting.sections.versions import versions
from bayescale.reporting.study import Study

if TYPE_CHECKING:
    from bayescale.fitted import Fit

SECTIONS: tuple[tuple[str, str, Callable[[Study], Iterator[Block]]], ...] = (
    ("answer", "Question and answer", answer),
    ("gate", "Gate", gate),
    ("reach", "Reach", reach),
    ("allocation", "Allocation", decisions),
    ("bands", "The fit beside its runs", bands),
    ("checks", "Checks", checks),
    ("law", "Law", law),
    ("posterior", "Posterior", posterior),
    ("data", "Data", data),
    ("versions", "Versions and commands", versions),
)


@dataclass(frozen=True)
class Report:
    """A report that was written.

    Parameters
    ----------
    path : Path
    size : int
        Bytes.
    title, question : str
    sections : tuple of Section
    answer : tuple of str
        The headline, as it stands in the page.
    converged : bool
        Whether the fit passed its gate.
    """

    path: Path
    size: int
    title: str
    question: str
    sections: tuple[Section, ...]
    answer: tuple[str, ...]
    converged: bool

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON."""
        return {
            "path": str(self.path),
            "size": self.size,
            "title": self.title,
            "question": self.question,
            "answer": list(self.answer),
            "converged": self.converged,
            "sections": [
                {"name": s.name, "title": s.title, "failed": s.failed or None}
                for s in self.sections
            ],
        }

    def __str__(self) -> str:
        failed = [f"  {s.title}: {s.failed}" for s in self.sections if s.failed]
        return "\n".join([f"wrote {self.path} ({self.size / 1e3:,.0f} kB)", *failed])


def report(
    fit: "Fit",
    path: str | Path,
    *,
    N: Any = None,
    D: Any = None,
    C: Any = None,
    at: Mapping[str, Any] | None = None,
    title: str = "",
    question: str = "",
    holdout: str = "",
    seed: int = 0,
    fit_path: str | Path = "fit.nc",
    **group: Any,
) -> Report:
    """Write a fit as one self-contained HTML file; an older file there survives any failure.

    The page opens without a network, on a phone and on paper: the question and its answer with 90%
    intervals and what it is worth, the gate's verdict, how far the answer reaches beyond the runs,
    the allocation, the fit beside its runs, checks, the law as an equation with its priors, the
    posterior, the data, versions, and the commands that make it again. Nothing is sampled, unless a
    hold-out is asked for.

    Parameters
    ----------
    fit : Fit
    path : str or Path
        Where to write: ``report.html``.
    N, D : number, str or several, optional
        Points to predict ("70B", "1.4T").
    C : number, str or several, optional
        Budgets to split, FLOP; with N or D alone also their third number. Default, where none of
        N, D, C and ``at`` is given: ten times the largest run.
    at : mapping, optional
        Other inputs of the law, for the point.
    title, question : str
        In the page's head; default: law and source, and the question that the numbers ask.
    holdout : str
        Also fit again without some runs and predict those: ``compute:10``; see
        `bayescale.check.holdout`.
    seed : int
        Seed of the noise of new runs.
    fit_path : str or Path
        The fit's own file, for the commands in the report.
    **group
        For pooled fits, the group by its column (``corpus="c4"``); default: all, up to six.

    Returns
    -------
    Report

    Raises
    ------
    DataError
        A number can't be read, or no such split is known.
    FitError
        What was asked can't be answered by this fit, or the place can't be written.
    """
    from bayescale.files import check_writable, write_atomic

    path = Path(path)
    check_writable(path)
    if holdout:
        from bayescale.check.extrapolation.splits import parse_split

        parse_split(holdout)
    asked = read_asked(fit, N, D, C, at, group, question)
    told = {"N": N, "D": D, "C": C}
    command = _command(path, str(fit_path), told, at, group, holdout, title, question, seed)
    study = Study(fit, asked, holdout, seed, str(fit_path), command)
    _refuse(study)
    sections = tuple(make(study, *part) for part in SECTIONS)
    head = title or f"{fit.law.name} on {fit.extent.source}: scaling-law report"
    content = render(_page(study, head, sections)).encode()
    write_atomic(path, content)
    lead = next((s.blocks for s in sections if s.name == "answer"), ())
    lines = tuple(b.text for b in lead if isinstance(b, Words) and b.tone in ("lead", "doubt"))
    return Report(path, len(content), head, asked.words, sections, lines, fit.converged)


def make(study: Study, name: str, title: str, fill: Callable[[Study], Iterator[Block]]) -> Section:
    """A section; whatever goes wrong in it is a line of it, and the page stands."""
    blocks: list[Block] = []
    try:
        with unloaded_jax_hidden():
            for block in fill(study):
                blocks.append(block)
    except BayescaleError as problem:
        blocks.append(Words(f"Not given: {problem}", "note"))
    except Exception as problem:
        reason = f"{type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}"
        line = f"This part could not be made ({reason}). Please report it as a bug."
        return Section(name, title, (*blocks, Words(line, "bad")), reason)
    return Section(name, title, tuple(blocks))


def _refuse(study: Study) -> None:
    """Raise where the user asked what the fit can't answer at all.

    Raises
    ------
    FitError
    """
    if not study.asked.given:
        return
    asked_points = bool(study.asked.points)
    if asked_points and study.predictions.answer is None:
        raise FitError(study.predictions.refusal)
    law = study.fit.law
    if not asked_points and study.allocations.answer is None and law.of_n_and_d:
        raise FitError(study.allocations.refusal)


def _page(study: Study, title: str, sections: Sequence[Section]) -> Page:
    fit = study.fit
    today = datetime.now(tz=UTC).date().isoformat()
    facts = [f"law {fit.law.name}", f"{len(fit.extent):,} runs from {fit.extent.source}", today]
    alarm: list[str] = []
    if not fit.converged:
        alarm = [fit.gate.headline(), *(p.message for p in fit.gate.problems)]
    version = fit.record["versions"].get("bayescale", "")
    return Page(title, facts, alarm, sections, f"Made by bayescale; the fit by version {version}.")


def _command(
    path: Path,
    fit_path: str,
    told: Mapping[str, Any],
    at: Mapping[str, Any] | None,
    group: Mapping[str, Any],
    holdout: str,
    title: str,
    question: str,
    seed: int,
) -> tuple[str, ...]:
    """The command that makes this report again."""
    words = ["bayescale", "report", fit_path, "-o", str(path)]
    for name, values in told.items():
        if values is not None:
            listed = [values] if isinstance(values, str | int | float) else list(values)
            words += [f"--{name}", ",".join(v if isinstance(v, str) else f"{v:g}" for v in listed)]
    for name, value in (at or {}).items():
        words += ["--at", f"{name}={value}"]
    for name, value in group.items():
        words += ["--group", f"{name}={value}"]
    for option, text in (("--holdout", holdout), ("--title", title), ("--question", question)):
        words += [option, text] if text else []
    words += ["--seed", str(seed)] if seed else []
    return (" ".join(quote(word) for word in words),)
