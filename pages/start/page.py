"""Start: what microaggregation does to six persons, and where to go."""

from functools import partial

import pandas as pd
import streamlit as st

from microagg import datasets, microaggregate
from microagg.studies import landscape
from microagg.studies.landscape import conclusions
from pages.shared import jobs, shell, state, tables
from pages.shared.figures import show_figure
from pages.shared.small_figures import duel_panel, duel_range, persons
from pages.shared.text import escape_markdown

_K = 3

_PERSONS = pd.DataFrame(
    {
        "age": [52, 22, 61, 33, 26, 55],
        "income": [48_000, 22_000, 53_000, 31_000, 22_000, 61_000],
        "diagnosis": ["asthma", "flu", "diabetes", "migraine", "flu", "asthma"],
    },
    index=pd.Index(range(1, 7), name="person"),
)

_WAY = (
    ("data", "Data", "Choose a benchmark or a file of yours, and say what each column is."),
    ("choose_k", "Choose k", "See what is lost at each k, by which method, and how much of that cannot be avoided."),
    ("clusters", "Clusters", "Look at the groups of a partition, side by side with another method's."),
    ("release", "Release", "Look at what is protected and what is left open, and download the protected file."),
    ("steps", "Step by step", "Watch two algorithms decide, record by record, and try it yourself."),
)


def body() -> None:
    st.markdown(
        "Microaggregation puts **similar records into groups of at least k** and releases each record with its group's "
        "mean. Then nobody can be told apart from k − 1 others: the release is **k-anonymous**. The difficulty is to form "
        "groups that lose little."
    )
    with st.container(horizontal=True):
        example = state.default_data()
        shell.button("Protect my file", "data", lambda: _work_on(state.UPLOAD), kind="primary")
        shell.button(f"Try {tables.title(example)}", "choose_k", lambda: _work_on(example), kind="secondary")
    _six_persons()
    _which_method()
    st.subheader("From a file to its release")
    for column, (name, label, says) in zip(st.columns(len(_WAY)), _WAY, strict=True):
        with column.container(border=True, height="stretch"):
            shell.link(name, f"**{label} →**")
            st.caption(says)
    st.caption("Your data stay on this machine: the page makes no request to anywhere else.")


def _work_on(data: str) -> None:
    if state.current().data != data:
        state.choose_data(data)


def _six_persons() -> None:
    make = partial(microaggregate, _PERSONS, k=_K, method="mdav-star", quasi_identifiers=["age", "income"])
    release = jobs.once("six persons", _K, ["mdav-star"], "Grouping six persons", make)
    if release is None:
        st.table(_PERSONS.reset_index(), border="horizontal", hide_index=True)
        return
    groups = release.partition.labels
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.markdown("**Six persons, before and after**")
        moved = {
            name: [f"{old:,} → {new:,.0f}" for old, new in zip(_PERSONS[name], release.frame[name], strict=True)]
            for name in ("age", "income")
        }
        st.table(_PERSONS.assign(**moved).reset_index(), border="horizontal", hide_index=True)
        st.caption(
            f"Someone who knows a neighbor's age and income finds {_K} matching persons instead of one. Diagnoses are not "
            "changed, so that the groups can still be analyzed."
        )
    with right:
        title = f"Age and income become the means of a group of {_K}: the smaller the changes, the less is lost"
        alt = "Six persons by age and income, in two groups of three, each moved to the mean of its group."
        show_figure(persons(_PERSONS, release.frame, groups, "age", "income"), title=title, key="six_persons", alt=alt)


def _which_method() -> None:
    first, second = "mdav-star", "v-mdav"
    table = landscape.duel(first, second)
    name = str(table.groupby("data")["less"].mean().abs().idxmax())
    part = table[table["data"] == name]
    says, drawn = st.columns([2, 3], gap="large", vertical_alignment="center")
    with says:
        st.subheader("The method matters")
        st.markdown(escape_markdown(conclusions.of_duel(table, first, second)) + ".")
        shell.link("landscape", "All methods, on seven data sets →")
    with drawn:
        title = f"{datasets.describe(name).title}: {conclusions.of_panel(part, first, second)}"
        alt = f"{title}, by k."
        show_figure(
            duel_panel(part, first, second, duel_range(part), says=True), title=title, key="sharpest_duel", alt=alt
        )


shell.show(body)
