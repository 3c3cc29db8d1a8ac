"""Data: pick or upload a data set, say what its columns are, look at it."""

import streamlit as st

from microagg import MicroaggError, datasets
from microagg.columns import MOST_CLASSES, Excerpt
from microagg.columns.scaling import SCALES, scale_effect
from pages.data import attributes, roles, sources
from pages.shared import columns, shell, state, tables
from pages.shared.tables import Table, chosen_table
from pages.shared.text import count, escape_markdown, named, sentence, shortened
from pages.shared.workspace import Workspace, chosen_workspace

# Of more columns the first are described.
_MOST_DISTRIBUTIONS = 200

_SCALE_NAMES = {"zscore": "z-score", "minmax": "min-max", "none": "none"}
_WEIGHTS = {"mean": "The group's mean (recommended)", "keep": "As they are", "drop": "Left out"}


def body() -> None:
    """Draw the page."""
    choices = state.current()
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        sources.pick_data()
        if choices.data in tables.SYNTHETIC:
            state.bound(
                st.number_input,
                "Seed",
                "seed",
                min_value=0,
                step=1,
                help="The set is generated; the same seed gives the same records.",
            )
    if choices.data == state.UPLOAD:
        sources.upload()
        if tables.uploaded() is None:
            return
    elif choices.data == state.LARGE:
        tables.pick()
        if state.current().file not in tables.names():
            return
    elif not datasets.is_available(choices.data):
        sources.download(choices.data)
        return
    table = chosen_table()
    size = f"{count(len(table.frame), 'record')}, {count(table.frame.shape[1], 'column')}"
    with right:
        own = choices.data == state.UPLOAD
        st.markdown(f"**{escape_markdown(table.title)}**: {size}" if own else escape_markdown(table.description))
    if table.notes:
        st.info("\n".join(f"- {note}" for note in table.notes))
    roles.show(table)
    workspace = _workspace(table)
    try:
        attributes.show(table, workspace)
    except MicroaggError as error:
        st.error(sentence(error))
    _distributions(table, workspace)
    _records(table, size)
    if table.source:  # the package's own words, whose addresses are links
        st.caption(f"Source: {table.source}")


# --- what concerns all columns ----------------------------------------------------------------------------------------


def _workspace(table: Table) -> Workspace | None:
    """Draw the choices that concern all columns, and return what follows from all that is chosen, if anything does."""
    left, right = st.columns(2)
    with left:
        _classes(table)
    with right:
        _weights(table)
    _scaling(table)
    try:
        workspace = chosen_workspace()
    except MicroaggError as error:
        st.error(sentence(error))
        return None
    if workspace.source.notes:
        st.info("  \n".join(sentence(note) for note in workspace.source.notes))
    return workspace


def _classes(table: Table) -> None:
    chosen, possible = state.current().classes, columns.class_candidates(table)
    own = table.schema.classes if table.schema else None
    usual = f"{own}, as the data set says" if own in possible else "None"
    options = {"": usual, **{name: name for name in possible if name != own}}
    if own in possible or chosen == "-":
        options["-"] = "None"
    if chosen not in options and chosen != own:
        st.warning(
            f"{escape_markdown(repr(chosen))} cannot be the class to predict, which is a confidential column or a stratum with 2 to "
            f"{MOST_CLASSES} values, none of them missing. No class is predicted."
        )
    options.setdefault(chosen, str(own) if chosen == own else "None")
    state.bound(
        st.selectbox,
        "Class to predict (optional)",
        "classes",
        options=list(options),
        format_func=options.get,
        disabled=len(options) == 1,
        help="What users of the release will want to predict, such as an income bracket. It is released as it is. Where "
        "categories are grouped on, methods with a class penalty keep its values together, and the classification metric "
        f"says how well. It can be a confidential column or a stratum with 2 to {MOST_CLASSES} values and no gaps.",
    )


def _weights(table: Table) -> None:
    weights = [name for name, column in columns.columns(table).items() if column.role == "weight"]
    if not weights:
        return
    first = escape_markdown(repr(weights[0]))
    state.bound(
        st.selectbox, "How the weights are released", "weights", options=list(_WEIGHTS), format_func=_WEIGHTS.get
    )
    st.caption(
        f"The weights in {first} enter group means and the loss; groups are formed without them. With its group's mean for "
        "each record, each group keeps its total weight."
    )
    if others := weights[1:]:
        st.warning(
            f"Only the first column of weights, {first}, counts: {escape_markdown(named(others))} will "
            "be released unchanged. Choose another role for what is no weight."
        )


def _scaling(table: Table) -> None:
    kinds = {column.kind for column in columns.columns(table).values() if column.is_quasi_identifier and column.kind}
    if kinds <= {"ordered", "category"}:
        return
    state.bound(
        st.segmented_control,
        "Scaling of numbers",
        "scale",
        options=list(SCALES),
        format_func=_SCALE_NAMES.get,
        required=True,
    )
    how = state.current().scale
    if kinds & {"ordered", "category"}:
        st.caption(
            "Groups are formed by how much of its range each number covers, whatever the scaling. It enters the information "
            "loss (IL) of the numbers where these are released as means."
        )
    elif how == "none":
        st.warning(escape_markdown(scale_effect(how)))
    else:
        st.caption(escape_markdown(scale_effect(how)))


# --- a look at the file -----------------------------------------------------------------------------------------------


def _distributions(table: Table, workspace: Workspace | None) -> None:
    st.subheader("Distributions")
    all_columns = list(columns.columns(table).values())
    found = all_columns[:_MOST_DISTRIBUTIONS]
    if len(found) < len(all_columns):
        st.caption(f"The first {len(found):,} of {len(all_columns):,} columns.")
    shown = columns.figures(table, 0, len(found), None if workspace is None else workspace.source.declared).copy()
    shown["column"] = shown["column"].map(shortened)
    shown.insert(1, "role", [columns.ROLES[column.role] for column in found])
    shown["distinct"] = [column.n_distinct for column in found]
    shown["missing"] = [column.n_missing for column in found]
    st.dataframe(
        shown,
        hide_index=True,
        width="stretch",
        height="content" if len(shown) <= 16 else 560,
        placeholder="",
        column_order=["column", "distribution", "role", "least", "mean", "greatest", "distinct", "missing"],
        column_config={
            "column": "Column",
            "role": "Role",
            "missing": "Missing",
            "distinct": "Distinct values",
            "least": st.column_config.NumberColumn("Least", format="localized"),
            "mean": st.column_config.NumberColumn("Mean", format="localized"),
            "greatest": st.column_config.NumberColumn("Greatest", format="localized"),
            "distribution": st.column_config.BarChartColumn(
                "Distribution",
                help="Numbers: records in equal parts of the range. Others: the most frequent values.",
                color="blue",
            ),
        },
    )


def _records(table: Table, size: str) -> None:
    st.subheader("Records")
    shown = columns.beginning(table)
    st.caption(f"{size}.{_left_out(table, shown)}")
    st.dataframe(shown.frame, width="stretch", height=360)


def _left_out(table: Table, shown: Excerpt) -> str:
    """Return a sentence on what of a table is not shown, if anything."""
    parts = [
        f"the first {there:,} {what}"
        for there, of, what in zip(shown.frame.shape, table.frame.shape, ("records", "columns"), strict=True)
        if there < of
    ]
    if not parts and not shown.n_cut:
        return ""
    says = f" Shown are {' and '.join(parts)}." if parts else ""
    return says + (f" {count(shown.n_cut, 'text')} too long to be shown end in “…”." if shown.n_cut else "")


shell.show(body)
