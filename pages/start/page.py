"""Start: what microaggregation does to six persons, and where to go."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from microagg import datasets
from pages.shared import shell, state, tables
from pages.shared.figures import groups_on_plane, show_figure

PERSONS = pd.DataFrame(
    {
        "age": [52, 22, 61, 33, 26, 55],
        "income": [48_000, 22_000, 53_000, 31_000, 22_000, 61_000],
        "diagnosis": ["asthma", "flu", "diabetes", "migraine", "flu", "asthma"],
    },
    index=pd.Index(range(1, 7), name="person"),
)

#: The group of each person by MDAV* with k = 3, stored so that the page needs no compiled code.
GROUPS = pd.Series([0, 1, 0, 1, 1, 0], index=PERSONS.index)

_STEPS = {
    "data": "Choose a file or a benchmark. Check the role of each column.",
    "choose_k": "Set the largest acceptable risk and loss. Compare methods at each k.",
    "clusters": "Look at the groups, beside those of another method.",
    "release": "Check the protected file and download it.",
}


def body() -> None:
    """Draw the page: four entry points, an example with six persons, and the steps of a release."""
    st.markdown(
        "Microaggregation puts **similar records into groups of at least k** and releases the mean of each group in place "
        "of its records. Each person then looks like at least k − 1 others: the release is **k\u2011anonymous**. A good method "
        "forms groups with low **information loss**."
    )
    example = state.default_data()
    # By the text of the button: the page that it opens, what it does before, and the caption.
    entry_points: dict[str, tuple[str, Callable[[], None], str]] = {
        "Protect my file": ("data", lambda: _work_on(state.UPLOAD), "For a data steward: from a table to its release."),
        f"Try {tables.title(example)}": (
            "choose_k",
            lambda: _work_on(example),
            "For a first look: compare values of k for this data set.",
        ),
        "Step by step": ("steps", lambda: None, "For teaching: two algorithms group eleven records."),
        "MDAV* against V-MDAV": ("clusters", _demonstrate, "For research: two methods, side by side."),
    }
    for column, (label, entry_point) in zip(st.columns(len(entry_points)), entry_points.items(), strict=True):
        page, prepare, caption = entry_point
        with column.container(gap="xsmall"):
            shell.button(label, page, prepare, kind="primary" if page == "data" else "secondary")
            st.caption(caption)
    _six_persons()
    st.header("From a file to its release")
    for column, (name, text) in zip(st.columns(len(_STEPS)), _STEPS.items(), strict=True):
        with column.container(border=True, height="stretch"):
            shell.link(name, f"**{shell.label(name)} →**")
            st.caption(text)
    st.caption("Your data stay on this machine: the dashboard sends no request to any other.")


def _work_on(data: str) -> None:
    if state.current().data != data:
        state.choose_data(data)


def _demonstrate() -> None:
    """Choose what the page Clusters shows of MDAV* and V-MDAV in a talk."""
    _work_on("census" if datasets.is_available("census") else "wine")
    state.update(method="mdav-star", second="v-mdav", k=5, demo=True)


def _six_persons() -> None:
    released = PERSONS.assign(**PERSONS[["age", "income"]].groupby(GROUPS).transform("mean"))
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.markdown("**Six persons, before and after**")
        changes = {
            name: [f"{old:,} → {new:,.0f}" for old, new in zip(PERSONS[name], released[name], strict=True)]
            for name in ("age", "income")
        }
        st.table(PERSONS.assign(**changes).reset_index(), border="horizontal", hide_index=True)
        st.caption(
            "An outsider who knows a neighbor's age and income finds 3 matching persons instead of 1. Diagnoses stay as "
            "they are, so the data can still be analyzed."
        )
    with right:
        title = "Age and income become the means of groups of 3"
        alt = "Six persons by age and income, in two groups of three, each moved to the mean of its group."
        points, axes = PERSONS[["age", "income"]].to_numpy(float), ("age (years)", "income (a year)")
        figure = groups_on_plane(points, GROUPS.to_numpy(), axes, list(PERSONS.index))
        show_figure(figure, title=title, key="six_persons", alt=alt)


shell.show(body)
