"""Methods: the definition of each algorithm, its source, and what the source leaves open."""

import numpy as np
import pandas as pd
import streamlit as st

from microagg import ALGORITHMS, datasets, explain
from microagg.algorithms.registry import definition
from microagg.studies import bibliography
from microagg.studies.experiment import Method, Problem, Result, run_one
from pages.shared import jobs, methods, shell, state
from pages.shared.figures import show_figure
from pages.shared.small_figures import groups_on_plane, number_line
from pages.shared.text import count, escape_markdown, listing, percent

#: Methods of the literature that are not here, and why.
ABSENT = (
    (
        "Genetic algorithm (mentioned by Mortazavi et al. 2013)",
        "The sources leave the repair of groups below k and the partition that it needs first on larger files open, and "
        "none of the five papers prints a figure that an implementation could be held against.",
    ),
    (
        "Fuzzy c-means microaggregation (described by Kabir et al. 2010)",
        "It reruns fuzzy c-means with fewer clusters or another fuzziness until each cluster has k records; the schedule "
        "of both is not given, and none of the five papers prints a figure that an implementation could be held against.",
    ),
)

_K = 3

_WAYS = """
Groups of k hide who somebody is, not what they have. *t-closeness* asks that the confidential values of each group are
distributed nearly as those of all records: at most t apart, by the earth mover's distance. Soria-Comas, Domingo-Ferrer,
Sánchez & Martínez (2015) have three ways to it; all of them, and the fourth, can be had for l-diversity, too.

1. **Merge after any method**: groups that are not close are merged, the one that is farthest from t with the nearest group
   (Algorithm 1), and again the cheapest pair first; the better of both is taken. Any method above will do. The groups are
   formed without looking at the confidential column, so few and large ones may be left: where similar records have similar
   confidential values, all records may end in one.
2. **k-anonymity first** (Algorithm 2): while a group is formed, its records are exchanged for the next nearest until it is
   close. What is left over at the end may not be, and is merged.
3. **t-closeness first** (Algorithm 3): the records are ranked by the confidential value and cut into as many buckets as a
   group has to have records; each group takes one from each. Closeness follows from n and the size, before any group is
   formed; what is near comes second.
4. **Least loss** (chosen here) begins with groups of several of these, and then moves and exchanges records at a rising price
   on what is lacking, so that loss and closeness are weighed against each other all the time.
"""


def body() -> None:
    key = state.current().explained
    info = ALGORITHMS[key].info
    picked, says = st.columns([1, 3], vertical_alignment="bottom")
    with picked:
        state.bound(st.selectbox, "Method", "explained", options=list(ALGORITHMS), format_func=methods.title_of)
    says.markdown(f"**{escape_markdown(info.summary)}**")
    how, seen = st.columns([3, 2], gap="large")
    with seen:
        _pictures(key)
    with how:
        st.markdown(definition(key))
        _facts(key)
    _all()
    st.subheader("Three ways to closeness, and a fourth")
    st.markdown(_WAYS)
    st.subheader("Not here, and why")
    for name, reason in ABSENT:
        st.markdown(f"**{escape_markdown(name)}.** {escape_markdown(reason)}")


def _records() -> np.ndarray:
    """Return 24 records on a plane, shape (24, 2): three clouds and a few records between them."""
    draw = np.random.default_rng(4)
    clouds = [draw.normal(center, 0.9, size=(7, 2)) for center in ((0, 0), (6, 1), (3, 5))]
    return np.vstack([*clouds, draw.uniform(-2, 8, size=(3, 2))])


def _pictures(key: str) -> None:
    plane, line = _records(), datasets.load("toy").X

    def make() -> tuple[Result, Result]:
        method = Method(key, {})
        return run_one(Problem.of(plane), method, _K), run_one(Problem.of(line), method, _K)

    title = methods.title_of(key)
    results = jobs.once("explained", key, [key], f"Running {title}", make)
    if results is None:
        return
    on_plane, on_line = results
    show_figure(
        groups_on_plane(plane, on_plane.partition.labels),
        title=f"{title} makes {count(on_plane.partition.n_groups, 'group')} of 24 records, k = {_K}: "
        f"{percent(on_plane.information_loss)} lost",
        key="explained_plane",
        alt=f"24 records on a plane, each joined to the mean of its group by {title}.",
    )
    alt = f"Eleven records on a line, grouped by {title}."
    show_figure(
        number_line(line, [on_line]), title="The eleven records of the toy example", key="explained_line", alt=alt
    )
    if key in explain.EXPLAINED:
        rival = "v-mdav" if key == "mdav-star" else "mdav-star"
        shell.button(
            f"Watch {title} decide, step by step →",
            "steps",
            lambda: state.update(watched=key, beside=rival, activity="watch", tick=0),
        )


def _doi(work: bibliography.Work) -> str:
    return f", [{escape_markdown(work.doi)}](https://doi.org/{work.doi})" if work.doi else ""


def _facts(key: str) -> None:
    info = ALGORITHMS[key].info
    facts = [
        f"- Source: {escape_markdown(info.reference)}",
        *(
            f"  - {escape_markdown(work.title)}{_doi(work)}"
            for work in bibliography.works_of(info.reference)
            if work.title
        ),
        f"- Group sizes: {info.sizes}; time {escape_markdown(info.complexity)}",
        f"- In code: `microagg.make({key!r}, k=3)`",
    ]
    if info.family == "Closeness":
        facts.append(
            "- Needs a confidential column: `microaggregate(…, confidential='debt', closeness={'debt': 0.2})`, or on the "
            "page Release under “Guarantees beyond k”; then it can be chosen. Without one it forms the groups of "
            "MDAV-generic, as in the pictures here"
        )
    if info.mixed:
        facts.append("- Works on numeric, ordinal and nominal attributes")
    if not info.deterministic:
        facts.append("- Random: the same seed gives the same groups")
    facts += [
        f"- Parameter {escape_markdown(param.symbol or param.name)}, by default {param.default}: "
        f"{escape_markdown(param.help)}" + (" (It needs the class of each record.)" if param.needs_classes else "")
        for param in ALGORITHMS[key].params
    ]
    st.markdown("\n".join(facts))
    if info.note:
        st.caption(f"What the source leaves open: {escape_markdown(info.note)}")


def _all() -> None:
    mixed = [key for key, cls in ALGORITHMS.items() if cls.info.mixed]
    st.subheader(f"All {len(ALGORITHMS)}")
    st.markdown(
        f"Each gives every group at least k records; ties go to the lowest record. All work on numbers. {len(mixed)} of "
        f"them, {listing([methods.title_of(key) for key in mixed])}, work on **categories** too: they compare values by "
        "their share of an attribute's range or taxonomy, the others by squared Euclidean distance."
    )
    table = pd.DataFrame(
        [
            {
                "Algorithm": cls.info.title,
                "Family": cls.info.family,
                "What it does": cls.info.summary,
                "Works on": "numbers and categories" if cls.info.mixed else "numbers",
                "Year": str(cls.info.year),
                "Group sizes": cls.info.sizes,
            }
            for cls in ALGORITHMS.values()
        ]
    )
    st.table(table, border="horizontal", hide_index=True)


shell.show(body)
