"""MDAV, MDAV+ and CBFS step by step: groups of k around the record farthest from a centroid.

- MDAV forms two groups a round, around the record farthest from the centroid of those still unassigned, and around the
  one farthest from that. Sources: Domingo-Ferrer, Solanas & Martínez-Ballesté 2006; Mortazavi, Jalili & Gohargazi 2013.
- MDAV+ forms one group a round; its centroid is that of all records, and never moves. Source: Thaeter & Reischuk,
  Improving Anonymization Clustering.
- CBFS forms one group a round; its centroid is that of the records still unassigned. Source: Laszlo & Mukherjee 2005,
  as given in Mortazavi, Jalili & Gohargazi 2013.
"""

from __future__ import annotations

from collections.abc import Iterator

from microagg.explain.run import Run, squares
from microagg.explain.step import Focus, Quantity, Step

# --- MDAV -------------------------------------------------------------------------------------------------------------

MDAV_CODE = (
    "while at least 2k records are unassigned:",
    "    c ← the centroid of the unassigned records",
    "    r ← the unassigned record farthest from c",
    "    s ← the unassigned record farthest from r",
    "    r and the k − 1 unassigned records nearest to it become a group",
    "    if s went with r: s ← the unassigned record farthest from r",
    "    s and the k − 1 unassigned records nearest to it become a group",
    "if at least k records are left: they become one group",
    "otherwise each joins the group with the nearest centroid, which moves at once",
)
_FARTHEST, _OPPOSITE, _FIRST, _AGAIN, _SECOND, _ONE_GROUP, _REST = 2, 3, 4, 5, 6, 7, 8


def explain_mdav(run: Run) -> Iterator[Step]:
    """Yield the steps of MDAV."""
    k = run.k
    while len(run.unassigned) >= 2 * k:
        yield from _round(run)
    if len(run.unassigned) >= k:
        yield run.form_of_rest(_ONE_GROUP)
    else:
        yield from run.join_nearest_centroids(_REST, moving=True)


def _round(run: Run) -> Iterator[Step]:
    """Yield how r and s are found, and a group around each."""
    center = run.middle(run.unassigned)
    r = run.farthest(center, run.unassigned)
    yield run.farthest_step(r, center, "the unassigned", _FARTHEST)
    s = _opposite(run, r)
    yield _opposite_step(run, r, s, "The record opposite", _OPPOSITE)
    yield run.form_around(r, _FIRST)
    if s not in run.unassigned:
        gone, s = s, _opposite(run, r)
        yield _opposite_step(run, r, s, f"{run.name(gone)} went with {run.name(r)}", _AGAIN)
    yield run.form_around(s, _SECOND)


def _opposite(run: Run, r: int) -> int:
    """Return the unassigned record farthest from r."""
    return run.farthest(run.row(r), [record for record in run.unassigned if record != r])


def _opposite_step(run: Run, r: int, s: int, title: str, line: int) -> Step:
    return run.step(
        "look",
        title,
        f"{run.name(s)} is the unassigned record farthest from {run.name(r)}.",
        line,
        Focus(seed=s, point=run.row(r), lines=((r, s),)),
        [Quantity(f"squared distance to {run.name(r)}", run.distance(s, run.row(r)), squares(run.row(s), run.row(r)))],
    )


# --- MDAV+ ------------------------------------------------------------------------------------------------------------

MDAV_PLUS_CODE = (
    "c ← the centroid of all records",
    "while at least k records are unassigned:",
    "    r ← the unassigned record farthest from c",
    "    r and the k − 1 unassigned records nearest to it become a group",
    "each record left joins the group with the nearest centroid; centroids stay",
)
_PLUS_CENTROID, _PLUS_FARTHEST, _PLUS_FORM, _PLUS_REST = 0, 2, 3, 4


def explain_mdav_plus(run: Run) -> Iterator[Step]:
    """Yield the steps of MDAV+."""
    center = run.middle(run.unassigned)
    yield run.centroid_step(center, _PLUS_CENTROID)
    while len(run.unassigned) >= run.k:
        r = run.farthest(center, run.unassigned)
        yield run.farthest_step(r, center, "all", _PLUS_FARTHEST)
        yield run.form_around(r, _PLUS_FORM)
    yield from run.join_nearest_centroids(_PLUS_REST, moving=False)


# --- CBFS -------------------------------------------------------------------------------------------------------------

CBFS_CODE = (
    "while at least k records are unassigned:",
    "    c ← the centroid of the unassigned records",
    "    r ← the unassigned record farthest from c",
    "    r and the k − 1 unassigned records nearest to it become a group",
    "each record left joins the group with the nearest centroid; centroids stay",
)
_CBFS_FARTHEST, _CBFS_FORM, _CBFS_REST = 2, 3, 4


def explain_cbfs(run: Run) -> Iterator[Step]:
    """Yield the steps of CBFS."""
    while len(run.unassigned) >= run.k:
        center = run.middle(run.unassigned)
        r = run.farthest(center, run.unassigned)
        yield run.farthest_step(r, center, "the unassigned", _CBFS_FARTHEST)
        yield run.form_around(r, _CBFS_FORM)
    yield from run.join_nearest_centroids(_CBFS_REST, moving=False)
