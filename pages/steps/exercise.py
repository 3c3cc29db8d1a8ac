"""The exercise: records are put into groups by hand, scored, and compared with what the algorithms do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.explain.optimum import OPTIMUM, rivals, score
from microagg.partition import Partition
from microagg.tables import digest_bytes
from microagg.validation import FloatArray
from pages.shared import ahead, compiling
from pages.shared.text import count, escape_markdown, number, percent
from pages.shared.theme import GROUP_COLORS

#: More records than this nobody groups by hand.
MOST_RECORDS = 60

_KEY, _KEPT, _REVEALED = "exercise", "exercise_labels", "exercise_revealed"

_HTML = """
<div class="mg-exercise">
  <p>Choose a group, then click its records, or drag over several. A second click takes a record out again.</p>
  <div class="chips" role="group" aria-label="The group that records are put into"></div>
  <div class="stage"><svg role="group"></svg><div class="drag" hidden></div></div>
  <div class="foot"><p class="state" aria-live="polite"></p>
    <button type="button" class="undo">Undo</button><button type="button" class="again">Begin again</button></div>
  <p class="keys">Keys, once a record has the focus: arrows go to the next record, 1 to 9 put it into that group, + into a
    new one, Enter into the chosen one, Delete takes it out, U takes the last change back.</p>
  <p class="heard" aria-live="polite"></p>
  <div class="best" hidden><p></p><svg role="img"></svg></div>
</div>
"""

_component = st.components.v2.component(
    "microagg_exercise",
    html=_HTML,
    css=Path(__file__).with_name("exercise.css").read_text(encoding="utf-8"),
    js=Path(__file__).with_name("exercise.js").read_text(encoding="utf-8"),
)


@dataclass(frozen=True, eq=False)
class _Task:
    """The records, and how they are drawn."""

    X: FloatArray
    k: int
    picture: Mapping[str, Any]

    @property
    def id(self) -> str:
        names = "\n".join(self.picture["names"])
        return digest_bytes(f"{self.X.tolist()}/{self.k}/{names}".encode("utf-8", "replace"))


def draw(
    X: FloatArray,
    names: Sequence[str],
    x: Sequence[float],
    y: Sequence[float] | None,
    k: int,
    *,
    titles: tuple[str | None, str | None] = (None, None),
    says: Sequence[str] = (),
) -> None:
    """Draw the exercise: put these records into groups of k yourself.

    Parameters
    ----------
    X : array of float, shape (n, d)
        The records as they are scored.
    names : sequence of str, length n
    x, y : sequence of float, length n
        Where records are drawn; on a line if y is None.
    k : int
        The minimum group size.
    titles : tuple of two str or None
        Of the axes.
    says : sequence of str, length n, optional
        What is said of a record that the pointer rests on; its name by default.
    """
    if len(X) > MOST_RECORDS:
        st.info(f"{count(len(X), 'record')} are too many to be grouped by hand: take at most {MOST_RECORDS}.")
        return
    st.markdown(f"**Put these {count(len(X), 'record')} into groups of {k} or more, and lose as little as possible.**")
    picture = {"names": list(names), "x": list(x), "y": None if y is None else list(y)}
    picture |= {"titles": list(titles), "says": list(says or names), "palette": list(GROUP_COLORS)}
    _play(_Task(np.asarray(X, dtype=np.float64), k, picture))


@st.fragment
def _play(task: _Task) -> None:
    kept = st.session_state.setdefault(_KEPT, {})
    labels = kept.get(task.id, [-1] * len(task.X))
    revealed = st.session_state.get(_REVEALED) == task.id

    def changed() -> None:
        given = st.session_state[_KEY].labels
        if given is not None and len(given) == len(task.X):
            kept[task.id] = [int(label) for label in given]

    # What is not asked for is not sent, so that nobody finds it in the page.
    best = _best(task) if revealed else None
    data = {**task.picture, "id": task.id, "k": task.k, "labels": labels, "optimum": best}
    _component(key=_KEY, data=data, on_labels_change=changed)
    sizes = [labels.count(group) for group in set(labels) - {-1}]
    if sizes and -1 not in labels and min(sizes) >= task.k:
        _score(task, labels, revealed)
    elif revealed:
        st.markdown("Once all records are in groups again, yours stand beside the others here.")


@st.cache_resource(max_entries=20, show_spinner="Grouping them by MDAV, MDAV* and as well as possible …")
def _rivals(identity: str, _task: _Task) -> dict[str, Partition]:
    ahead.prepare(compiling.tasks_of(("mdav", "mdav-star")))
    return rivals(_task.X, _task.k)


def _best(task: _Task) -> dict[str, Any] | None:
    """Return what the picture of the best possible groups is drawn from; None where they are not known."""
    best = _rivals(task.id, task).get(OPTIMUM)
    if best is None:
        return None
    sse, loss = metrics.sse(task.X, best.labels), metrics.information_loss(task.X, best.labels)
    first = [int(np.argmin(best.labels != group)) for group in range(best.n_groups)]
    leftmost = [min(np.asarray(task.picture["x"])[best.labels == group]) for group in range(best.n_groups)]
    # Groups are counted from left to right.
    rank = np.argsort(np.lexsort((first, leftmost)))
    return {"text": f"SSE {number(sse)}, information loss {percent(loss)}", "labels": rank[best.labels].tolist()}


def _score(task: _Task, labels: Sequence[int], revealed: bool) -> None:
    """Say how good the groups are, and offer to show the others."""
    found = score(task.X, task.k, labels, names=task.picture["names"], against=_rivals(task.id, task))
    st.markdown(f"**{escape_markdown(found.text)}**")
    if not revealed:
        st.button(
            "Show how the algorithms group them",
            on_click=st.session_state.__setitem__,
            args=(_REVEALED, task.id),
        )
        return
    table = found.beside
    st.table(
        pd.DataFrame(
            {
                "Method": table["title"].map(escape_markdown),
                "Groups": table["groups"],
                "SSE": table["sse"].map(number),
                "Information loss": table["information_loss"].map(percent),
            }
        ),
        hide_index=True,
        border="horizontal",
    )
