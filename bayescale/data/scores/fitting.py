"""``capability_scores``: principal components of a table of benchmark accuracies."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayescale.data.scores.imputing import fill_like
from bayescale.data.scores.reading import Accuracies, read_accuracies
from bayescale.data.scores.result import Scores, as_rows, residual
from bayescale.errors import DataError

FEWEST = 3  # two models have one direction between them, whatever the benchmarks
FLAT = 1e-9  # standard deviation in accuracy below which a benchmark tells nothing


def capability_scores(
    table: Any,
    explained: float = 0.95,
    *,
    components: int | None = None,
    model: str = "model",
    benchmarks: Sequence[str] | None = None,
    unit: str = "auto",
) -> Scores:
    r"""Low-dimensional capability of models from their accuracies on many benchmarks.

    .. math:: S_m = \Gamma (x_m - \bar x), \qquad \Gamma \Gamma^\top = 1,

    the first K principal components of the mean-centred accuracies :math:`x_m`, not scaled, so
    that scores are in units of accuracy; K is the least number that explains 95% of the variance.
    Each component points to where the sum of its loadings is positive (more is better on most
    benchmarks). Missing scores are filled by regressions on the other benchmarks (see
    `bayescale.data.scores.imputing`); which ones is stated in the result.

    Parameters
    ----------
    table : DataFrame or path
        One row a model and one column a benchmark; or columns ``model``, ``benchmark``,
        ``score``. Accuracies as fractions or in percent (told from the numbers).
    explained : float
        Share of the variance that the components must explain.
    components : int, optional
        K itself, in place of ``explained``.
    model : str
        Column that names the models.
    benchmarks : sequence of str, optional
        Columns to take; all columns of numbers by default.
    unit : {"auto", "fraction", "percent"}
        Of all scores; "auto" tells it for each benchmark.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        An accuracy outside its range, a benchmark on which all models score the same, a model
        without scores, fewer models than components need.

    References
    ----------
    Capability-driven multimodal scaling law, arXiv:2608.00013, eq. 3 and 4; Ruan et al. 2024,
    arXiv:2405.10938.
    """
    _check_settings(explained, components)
    read = read_accuracies(table, model, benchmarks, unit)
    _check_table(read)
    filled = fill_like(read.values, read.values)
    loadings, shares = _components(filled, read, explained, components)
    centre = filled.mean(axis=0)
    return Scores(
        models=read.models,
        benchmarks=read.benchmarks,
        values=as_rows((filled - centre) @ loadings.T),
        unexplained=residual(filled - centre, loadings),
        centre=tuple(float(c) for c in centre),
        loadings=as_rows(loadings),
        explained=tuple(float(s) for s in shares),
        trained_on=as_rows(read.values),
        filled=read.missing(),
        notes=read.notes,
    )


def _check_settings(explained: float, components: int | None) -> None:
    if isinstance(explained, bool) or not isinstance(explained, int | float):
        raise DataError(f"explained is {explained!r}; expected a share such as 0.95.")
    if not 0 < explained <= 1:
        raise DataError(f"explained is {explained:g}; expected a share above 0 and at most 1.")
    if components is None:
        return
    whole = isinstance(components, int | np.integer) and not isinstance(components, bool)
    if not whole or components < 1:
        raise DataError(f"components is {components!r}; expected a whole number of at least 1.")


def _check_table(read: Accuracies) -> None:
    known = ~np.isnan(read.values)
    read.check_silent()
    if len(read.models) < FEWEST:
        raise DataError(
            f"the table of scores has {len(read.models)} model"
            f"{'s' if len(read.models) != 1 else ''}; capability scores need {FEWEST} or more."
        )
    for k, name in enumerate(read.benchmarks):
        column = read.values[known[:, k], k]
        if len(column) < 2 or np.std(column) < FLAT:
            same = f"all {len(column)} models score {column[0]:g}" if len(column) else "no scores"
            raise DataError(
                f"benchmark '{name}' has no variance ({same}) and tells models no further apart: "
                f"leave it out (benchmarks=[...])."
            )


def _components(
    filled: np.ndarray, read: Accuracies, explained: float, components: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Loadings, shape (component, benchmark), and the share of variance of each direction."""
    from sklearn.decomposition import PCA

    most = min(len(read.models) - 1, len(read.benchmarks))
    if components is not None and components > most:
        raise DataError(
            f"components is {components}, but {len(read.models)} models on "
            f"{len(read.benchmarks)} benchmarks have {most} at most: add models or benchmarks, or "
            "take fewer components."
        )
    found = PCA(n_components=most, svd_solver="full").fit(filled)
    shares = found.explained_variance_ratio_
    count = components or int(np.searchsorted(np.cumsum(shares), explained - 1e-12)) + 1
    loadings = np.asarray(found.components_)[: min(count, most)]
    sums = loadings.sum(axis=1)
    largest = loadings[np.arange(len(loadings)), np.abs(loadings).argmax(axis=1)]
    return loadings * np.sign(np.where(np.abs(sums) > 1e-9, sums, largest))[:, None], shares
