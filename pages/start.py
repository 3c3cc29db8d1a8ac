"""Start: what microaggregation is, and where to go."""

import streamlit as st

from microagg import datasets
from pages.ui import shell
from pages.ui.charts.layout import show_figure
from pages.ui.charts.toy import number_line
from pages.ui.runs import toy
from pages.ui.text import number, percent


def body() -> None:
    """Draw the page."""
    st.markdown(
        "Microaggregation puts **similar records into groups of at least k** and releases, for each record, its group's "
        "mean in place of its own values, or what its group's categories have in common. Every combination of values then "
        "occurs at least k times, so nobody can be told from k − 1 others: the release is **k-anonymous**. The art is to form groups that lose little: the "
        "**information loss** IL = 100 · SSE / SST is the share of the data's spread that disappears inside groups."
    )
    values = datasets.load("toy").X
    results = toy.compare(values, k=3, gamma=0.2)
    show_figure(
        number_line(values, results),
        title="Eleven records in groups of at least 3: the same data, a twelfth of the loss",
        key="toy_picture",
        alt="Eleven records on a line, grouped by V-MDAV and by MDAV*. V-MDAV puts 19 with 5 and 6; MDAV* does not.",
    )
    v_mdav, star = results
    st.caption(
        f"V-MDAV closes the group of 98, 99 and 100, then that of 1, 2 and 3, and has to put 19 to 5 and 6: SSE "
        f"{number(v_mdav.sse)}, {percent(v_mdav.information_loss)} lost. MDAV\\* weighs joining an existing group "
        f"against opening a new one: SSE {number(star.sse)}, {percent(star.information_loss)} lost. "
        "Example of Thaeter and Reischuk (2018)."
    )
    st.subheader("From a file to its release")
    cards = (
        ("data", "Data", "Take a benchmark or a file of yours, and say what each column is."),
        ("choose_k", "Choose k", "See what is lost at each k, by which method, and how much nobody can avoid."),
        ("clusters", "Clusters", "Look at the groups of a partition, side by side with another method's."),
        ("release", "Release", "Look at what is protected and what is left open, and download the protected file."),
        ("toy", "Learn", "Change the eleven records above, and watch the groups change."),
    )
    for column, (name, label, says) in zip(st.columns(len(cards)), cards, strict=True):
        with column.container(border=True, height="stretch"):
            shell.link(name, f"**{label}**")
            st.caption(says)
    st.caption("Your data stay on this machine: the page makes no request to anywhere else.")


shell.show(body)
