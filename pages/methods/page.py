"""Methods: the definition of each algorithm, its source, and what the source leaves open."""

import numpy as np
import pandas as pd
import streamlit as st

from microagg import ALGORITHMS, explain
from microagg.algorithms.registry import definition
from microagg.studies import bibliography
from microagg.studies.experiment import Method, Problem, Result, run_one
from pages.shared import jobs, methods, shell, state
from pages.shared.figures import groups_on_plane, show_figure
from pages.shared.text import count, escape_markdown, listing, percent

_K = 3


def body() -> None:
    key = state.current().explained
    info = ALGORITHMS[key].info
    picker, summary = st.columns([1, 3], vertical_alignment="bottom")
    with picker:
        state.bound(st.selectbox, "Method", "explained", options=list(ALGORITHMS), format_func=methods.title_of)
    summary.markdown(f"**{escape_markdown(info.summary)}**")
    text, picture = st.columns([3, 2], gap="large")
    with picture:
        _picture(key)
    with text:
        st.markdown(definition(key))
        _facts(key)
    _all()


def _records() -> np.ndarray:
    """24 records on a plane, shape (24, 2): three clouds and a few records between them."""
    draw = np.random.default_rng(4)
    clouds = [draw.normal(center, 0.9, size=(7, 2)) for center in ((0, 0), (6, 1), (3, 5))]
    return np.vstack([*clouds, draw.uniform(-2, 8, size=(3, 2))])


def _picture(key: str) -> None:
    plane = _records()

    def make() -> Result:
        return run_one(Problem.of(plane), Method(key, {}), _K)

    title = methods.title_of(key)
    result = jobs.once("explained", key, [key], f"Running {title}", make)
    if result is None:
        return
    show_figure(
        groups_on_plane(plane, result.partition.labels),
        title=f"{title} forms {count(result.partition.n_groups, 'group')} of 24 records at k = {_K}: information loss "
        f"{percent(result.information_loss)}",
        key="explained_plane",
        alt=f"24 records on a plane, each joined to the mean of its group by {title}.",
    )
    if key in explain.EXPLAINED:
        rival = "v-mdav" if key == "mdav-star" else "mdav-star"
        shell.button(
            f"Watch {title} decide, step by step →", "steps", lambda: state.update(watched=key, beside=rival, tick=0)
        )


def _cited(work: bibliography.Work) -> str:
    doi = f", [{escape_markdown(work.doi)}](https://doi.org/{work.doi})" if work.doi else ""
    return f"{escape_markdown(work.title)}{doi}"


def _facts(key: str) -> None:
    info = ALGORITHMS[key].info
    facts = [
        f"- Source: {escape_markdown(info.reference)}",
        *(f"  - {_cited(work)}" for work in bibliography.cited_works(info.reference) if work.title),
        f"- Group sizes: {info.sizes}; time {escape_markdown(info.complexity)}",
        f"- In code: `microagg.make({key!r}, k=3)`",
    ]
    if info.family == "Closeness":
        facts.append(
            "- Needs a confidential column: `microaggregate(…, confidential='debt', closeness={'debt': 0.2})`, or "
            "“Guarantees beyond k” on the page Release. Without one it forms the groups of MDAV-generic, as in the "
            "picture here"
        )
    if info.mixed:
        facts.append("- Works on numeric, ordinal and nominal attributes")
    if not info.deterministic:
        facts.append("- Random: the same seed gives the same groups")
    facts += [
        f"- Parameter {escape_markdown(param.symbol or param.name)}, by default {param.default}: "
        f"{escape_markdown(param.help)}"
        + (" (It needs the class label of each record.)" if param.needs_classes else "")
        for param in ALGORITHMS[key].params
    ]
    st.markdown("\n".join(facts))
    if info.note:
        st.caption(f"Not defined in the source: {escape_markdown(info.note)}")


def _all() -> None:
    mixed = [key for key, cls in ALGORITHMS.items() if cls.info.mixed]
    st.header(f"All {len(ALGORITHMS)} algorithms")
    st.markdown(
        f"In every result, each group has at least k records; ties go to the lowest record. All algorithms take numeric "
        f"attributes and compare squared Euclidean distances. {len(mixed)} also take **ordinal and nominal** ones: "
        f"{listing([methods.title_of(key) for key in mixed])}. They compare shares of an attribute's range or taxonomy."
    )
    table = pd.DataFrame(
        [
            {
                "Algorithm": cls.info.title,
                "Family": cls.info.family,
                "What it does": cls.info.summary,
                "Works on": "numeric, ordinal, nominal" if cls.info.mixed else "numeric",
                "Year": str(cls.info.year),
                "Group sizes": cls.info.sizes,
            }
            for cls in ALGORITHMS.values()
        ]
    )
    with st.container(key="all_methods"):
        st.table(table, border="horizontal", hide_index=True)


shell.show(body)
