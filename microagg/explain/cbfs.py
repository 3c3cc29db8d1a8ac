"""CBFS step by step: one group a round, around the record farthest from the centroid of those still unassigned.

Source: Laszlo & Mukherjee 2005, as given in Mortazavi, Jalili & Gohargazi 2013.
"""

from __future__ import annotations

from collections.abc import Iterator

from microagg.explain.run import Run
from microagg.explain.step import Step

CODE = (
    "while at least k records are unassigned:",
    "    c ← the centroid of the unassigned records",
    "    r ← the unassigned record farthest from c",
    "    r and the k − 1 unassigned records nearest to it become a group",
    "each record left joins the group with the nearest centroid; centroids stay",
)
_FARTHEST, _FORM, _REST = 2, 3, 4


def explain(run: Run) -> Iterator[Step]:
    """Yield the steps of CBFS."""
    while len(run.unassigned) >= run.k:
        center = run.middle(run.unassigned)
        r = run.farthest(center, run.unassigned)
        yield run.farthest_step(r, center, "the unassigned", _FARTHEST)
        yield run.form_around(r, _FORM)
    yield from run.join_nearest_centroids(_REST, moving=False)
