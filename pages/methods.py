"""Methods: what each algorithm does, where it comes from, and what was settled where its source is silent."""

import pandas as pd
import streamlit as st

from microagg import ALGORITHMS
from pages.ui import shell, widgets
from pages.ui.text import escape_markdown, listing

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


def body() -> None:
    """Draw the page."""
    mixed = [key for key, cls in ALGORITHMS.items() if cls.info.mixed]
    st.markdown(
        f"{len(ALGORITHMS)} algorithms, by family. Each gives every group at least k records; ties go to the lowest "
        f"record. All work on numbers. {len(mixed)} of them, {listing([widgets.title_of(key) for key in mixed])}, work on "
        "**categories** too: they compare values by their share of an attribute's range or taxonomy, the others by squared "
        "Euclidean distance."
    )
    shell.link("choose_k", "See them at work on your data: Choose k")
    table = pd.DataFrame(
        [
            {
                "Algorithm": cls.info.title,
                "Family": cls.info.family,
                "Works on": "numbers and categories" if cls.info.mixed else "numbers",
                "Year": str(cls.info.year),
                "Group sizes": cls.info.sizes,
                "Time": cls.info.complexity,
            }
            for cls in ALGORITHMS.values()
        ]
    )
    st.dataframe(table, hide_index=True, width="stretch", height="content")
    for family, keys in widgets.families().items():
        st.subheader(family)
        for key in keys:
            _describe(key)
    st.subheader("Not here, and why")
    for name, reason in ABSENT:
        st.markdown(f"**{escape_markdown(name)}.** {escape_markdown(reason)}")


def _describe(key: str) -> None:
    info = ALGORITHMS[key].info
    with st.expander(f"**{escape_markdown(info.title)}**  {escape_markdown(info.summary)}"):
        facts = [
            f"- Source: {escape_markdown(info.reference)}",
            f"- Group sizes: {info.sizes}; time {escape_markdown(info.complexity)}",
            f"- In code: `microagg.make({key!r}, k=3)`",
        ]
        if info.mixed:
            facts.append("- Works on numbers, ordered categories, and categories with a taxonomy")
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


shell.show(body)
