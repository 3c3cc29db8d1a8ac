"""MDAV+ step by step: one group a round, around the record farthest from the centroid of all, which never moves.

Source: Thaeter & Reischuk, Improving Anonymization Clustering.
"""

from __future__ import annotations

from collections.abc import Iterator

from microagg.explain.run import Run
from microagg.explain.step import Step

CODE = (
    "c ← the centroid of all records",
    "while at least k records are unassigned:",
    "    r ← the unassigned record farthest from c",
    "    r and the k − 1 unassigned records nearest to it become a group",
    "each record left joins the group with the nearest centroid; centroids stay",
)
_CENTROID, _FARTHEST, _FORM, _REST = 0, 2, 3, 4


def explain(run: Run) -> Iterator[Step]:
    """Yield the steps of MDAV+."""
    center = run.middle(run.unassigned)
    yield run.centroid_step(center, _CENTROID)
    while len(run.unassigned) >= run.k:
        r = run.farthest(center, run.unassigned)
        yield run.farthest_step(r, center, "all", _FARTHEST)
        yield run.form_around(r, _FORM)
    yield from run.join_nearest_centroids(_REST, moving=False)
