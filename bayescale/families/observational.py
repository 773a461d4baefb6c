"""The observational law of a task from a table of models, with scores or benchmarks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayescale.data.scores import Scores
from bayescale.families.backbone_runs import ScoreOptions, find_backbones, responses
from bayescale.families.family import Family
from bayescale.law import Law
from bayescale.laws.observational import observational

if TYPE_CHECKING:
    from bayescale.data.runs import Runs


def arrange(
    runs: "Runs",
    *,
    scores: Scores | None = None,
    benchmarks: str | Sequence[str] = (),
    components: int | None = None,
    explained: float = 0.95,
    response: str = "accuracy",
    model: str = "model",
    floor: float = 0.0,
) -> tuple[Law, "Runs"]:
    """The law for one task, and the table as it reads it.

    Parameters
    ----------
    runs : Runs
        One row a model: accuracy on the task, and benchmark scores or S_1, S_2, ….
    scores, benchmarks, components, explained, response, model
        As in `bayescale.families.capability.arrange`. Leave the task out of the benchmarks.
    floor : float
        Accuracy of guessing.

    Raises
    ------
    DataError
        The table doesn't say what the law needs.
    """
    named = (benchmarks,) if isinstance(benchmarks, str) else tuple(benchmarks)
    options = ScoreOptions(scores, named, components, explained, model)
    found, runs = find_backbones(responses(runs, response, fraction=True), options)
    return observational(found.components, float(floor)), runs


OBSERVATIONAL = Family(
    name="observational",
    title="Accuracy on a task from capability scores",
    build=observational,
    arrange=arrange,
    example=observational(("1", "2")),
    options={
        "benchmarks": "columns of scores, such as text_* (default: S_1, S_2, … are there)",
        "components": "number of principal components (default: enough for 95% of the variance)",
        "explained": "share of variance that the components explain (0.95)",
        "response": "column of the accuracy (accuracy)",
        "model": "column that names the model (model)",
        "floor": "accuracy of guessing (0)",
    },
    reading={"columns": {"loss": "", "N": "", "D": "", "C": ""}},
)
