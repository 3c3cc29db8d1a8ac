"""Projections: the records sorted by one number each, and cut into groups, optimally or each k.

1. Each record is reduced to its score on the first principal component (its largest score of either sign counted as
   positive), to the sum of its attributes, or to one attribute. Records are sorted by that number, ties by index.
2. ``projection``: each k in that order form a group; the last one takes the rest, up to 2k-1.
   ``projection-mhm`` and ``mhm``: of all ways to cut the order into pieces of k to 2k-1 records, dynamic programming
   finds the one with the least SSE (:func:`microagg.kernels.paths.split_path`). MHM sorts by the sum of attributes, or
   takes the records as they stand.

For one attribute no partition whatever loses less than that of MHM (Hansen & Mukherjee 2003). For several, pieces are
only the best that the order allows (Domingo-Ferrer et al. 2006): ``mdav-mhm`` and its siblings build an order from
groups. The measure of loss is the full one, over all attributes. Time O(n log n + nd²), and O(nkd) for the optimal cut.

Sources: Mateo-Sanz & Domingo-Ferrer 1998 (single-axis sorting); Domingo-Ferrer & Mateo-Sanz 2002 (first principal
component, sum of z-scores, particular variable; variable sizes); Hansen & Mukherjee 2003 (the optimal cut);
Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006; Mortazavi, Jalili & Gohargazi 2013 (the SSE of a growing
piece).
"""

from __future__ import annotations

import numpy as np

from microagg.algorithms.base import Info, Microaggregator, Param
from microagg.errors import ParameterError
from microagg.kernels.paths import by_value, first_component_scores, split_path, sums
from microagg.validation import FloatArray, IntArray

_ATTRIBUTE = Param(
    "attribute", "int", (0, None), 0, 'The attribute to sort by, counted from 0, if onto is "attribute".'
)


def sorted_records(X: FloatArray, onto: str, attribute: int) -> IntArray:
    """Return the records of ``X``, shape (n, d), sorted by the number that they are reduced to."""
    if onto == "first-component":
        return by_value(first_component_scores(X))
    if onto == "sum":
        return by_value(sums(X))
    if attribute >= X.shape[1]:
        raise ParameterError(
            f"attribute must be at most {X.shape[1] - 1}, not {attribute}: the data have {X.shape[1]}, counted from 0."
        )
    return by_value(X[:, attribute])


class Projection(Microaggregator):
    info = Info(
        key="projection",
        title="Projection",
        family="Paths and optimal splits",
        summary="Sorts the records along a single direction and takes k at a time: the oldest and fastest way.",
        year=1998,
        reference="Mateo-Sanz & Domingo-Ferrer 1998; Domingo-Ferrer & Mateo-Sanz 2002",
        sizes="fixed",
        complexity="O(n log n + nd²)",
        note="The papers take the sum of z-scores: standardize first. The last group takes the rest; which end is the "
        "last follows from the sign of the component, whose largest score of either sign counts as positive.",
    )
    params = (
        Param(
            "onto",
            "choice",
            ("first-component", "sum", "attribute"),
            "first-component",
            "What to sort the records by: the first principal component, the sum of attributes, or one attribute.",
        ),
        _ATTRIBUTE,
    )

    def _partition(self, X: FloatArray, k: int, *, onto: str, attribute: int) -> IntArray:
        n = len(X)
        labels = np.empty(n, dtype=np.int64)
        labels[sorted_records(X, onto, attribute)] = np.minimum(np.arange(n) // k, n // k - 1)
        return labels


class ProjectionMHM(Microaggregator):
    info = Info(
        key="projection-mhm",
        title="Projection-MHM",
        family="Paths and optimal splits",
        summary="Sorts the records along a single direction and cuts the line optimally into groups.",
        year=2006,
        reference="Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006; Domingo-Ferrer & Mateo-Sanz 2002",
        complexity="O(n log n + nd² + nkd)",
        note="The two papers put together: the directions of 2002 and the multivariate cut of 2006. By the sum of "
        "attributes it would be MHM, so that is found there.",
    )
    params = (
        Param(
            "onto",
            "choice",
            ("first-component", "attribute"),
            "first-component",
            "What to sort the records by: the first principal component, or one attribute.",
        ),
        _ATTRIBUTE,
    )

    def _partition(self, X: FloatArray, k: int, *, onto: str, attribute: int) -> IntArray:
        return split_path(X, sorted_records(X, onto, attribute), k)


class MHM(Microaggregator):
    info = Info(
        key="mhm",
        title="MHM",
        family="Paths and optimal splits",
        summary="Sorts the records and cuts the line optimally into groups: unbeatable for a single attribute.",
        year=2003,
        reference="Hansen & Mukherjee 2003; Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006",
        complexity="O(n log n + nkd)",
        note="The optimum for one attribute. For several the method leaves the order open: the sum of them is our "
        "choice, and like every single direction it loses much.",
    )
    params = (
        Param(
            "order",
            "choice",
            ("sum", "given"),
            "sum",
            'The order of the records on the line to cut: "sum" sorts by their only attribute or the sum of several, '
            '"given" keeps the given order.',
        ),
    )

    def _partition(self, X: FloatArray, k: int, *, order: str) -> IntArray:
        return split_path(X, by_value(sums(X)) if order == "sum" else np.arange(len(X)), k)
