"""Data: choose or upload a data set, and decide what its columns are."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from microagg import DataError, MicroaggError, datasets
from microagg.columns import MOST_CLASSES
from pages.data import panel, sources
from pages.data import table as rows
from pages.shared import columns, recodings, shell, state, tables
from pages.shared.tables import Table
from pages.shared.text import count, escape_markdown, named, sentence, shortened
from pages.shared.workspace import Workspace, chosen_workspace

_MOST_RECORDS, _MOST_COLUMNS, _MOST_CELLS, _LONGEST = 5_000, 100, 100_000, 200  # of the first records: all, characters
_SCALES = {"zscore": "z-score", "minmax": "min-max", "none": "none"}
_EFFECTS = {
    "zscore": "Mean 0 and variance 1: all attributes weigh the same in distances and IL, as in the published benchmarks.",
    "minmax": "From 0 to 1: attributes that spread evenly over their range count most in IL, those with extreme values little.",
    "none": "Attributes keep their units: the one with the largest spread dominates distances and IL. Such an IL cannot be "
    "compared with that of scaled data.",
}
_WEIGHTS = {"mean": "The group's mean (recommended)", "keep": "As they are", "drop": "Left out"}

_MEANINGS = {
    "identifiers": "names a person by itself, such as a name or the number of a document. It is left out of the release.",
    "quasi_identifiers": "an outsider may know it and recognize a person by it together with other columns, such as age "
    "and place. Records are grouped on it, and it is released as what the group has in common.",
    "confidential": "nobody should learn it of a person, such as a diagnosis. It is released as it is.",
    "strata": "groups never mix its values, such as regions. It is released as it is.",
    "weights": "how many persons a record of a sample stands for. Means and information loss use it.",
    "others": "none of these. It is released as it is.",
}


def body() -> None:
    choices = state.current()
    left, middle, right = st.columns([4, 7, 2], vertical_alignment="bottom")
    with left:
        sources.pick_data()
        if choices.data in tables.SYNTHETIC:
            message = "The set is generated; the same seed gives the same records."
            state.bound(st.number_input, "Seed", "seed", min_value=0, step=1, help=message)
    is_there = True
    if choices.data == state.UPLOAD:
        sources.upload()
        is_there = tables.uploaded() is not None
    elif not datasets.is_available(choices.data):
        sources.download(choices.data)
        is_there = False
    with right.container(horizontal_alignment="right"):
        sources.project()
    sources.show_project_problem()
    if not is_there:
        return
    try:
        table = columns.chosen_table()
    except DataError as error:  # on a recoding: an error of the file is already on the page
        st.error(sentence(error))
        st.button("Undo all recodings", on_click=state.update, kwargs={"recode": ()})
        return
    size = f"{count(len(table.frame), 'record')}, {count(table.frame.shape[1], 'column')}"
    with middle:
        is_upload = choices.data == state.UPLOAD
        st.markdown(f"**{escape_markdown(table.title)}**: {size}" if is_upload else escape_markdown(table.description))
    _columns(table)
    _records(table, size)
    if table.source:  # the package's text, whose addresses are links
        st.caption(f"Source: {table.source}")


# --- the columns: suggestions, decisions, and a closer look at one ----------------------------------------------------


def _columns(table: Table) -> None:
    _show_lost(table)
    workspace, problem = _workspace()
    names, marked = rows.order(table), _marked(table)
    _offer_suggestions(table, problem)
    _show_marked(table, marked)
    rows.tools(table, names)
    name = _looked_at(table)
    # The table stays where it is when a panel opens beside it.
    left, *right = st.columns([13, 9] if name else [1], gap="medium")
    with left:
        rows.show(table, workspace, names, marked)
    if name:
        with right[0]:
            panel.show(table, workspace, name, names)
    with st.expander("What the roles mean"):
        st.markdown("\n".join(f"- **{columns.ROLES[role]}**: {message}" for role, message in _MEANINGS.items()))
    recodings.show(table)
    _settings(table)
    if workspace is not None and workspace.source.notes:
        st.info("  \n".join(sentence(note) for note in workspace.source.notes))


def _workspace() -> tuple[Workspace | None, str]:
    """Return the workspace, or the reason why there is none."""
    try:
        return chosen_workspace(), ""
    except MicroaggError as error:
        return None, sentence(error)


def _looked_at(table: Table) -> str:
    """Return the column whose panel is open, at first one whose order or taxonomy is incomplete; empty if none."""
    if not state.current().attribute and (
        lacking := [each for each in columns.categorical(table) if columns.uncovered(table, each)]
    ):
        state.update(attribute=lacking[0])
    name = state.current().attribute
    return name if name in table.frame.columns else ""


def _marked(table: Table) -> dict[str, str]:
    """Return the columns that need a look, with the reason."""
    undecided = set(columns.undecided(table))
    marked = {name: reason for name, reason in columns.doubts(table).items() if name in undecided}
    for name in columns.categorical(table):
        if lacking := columns.uncovered(table, name):
            marked[name] = f"its order or taxonomy lacks {named(lacking)}"
    for name, sets in columns.alike(table).items():
        marked.setdefault(name, f"spelling variants: {named([value for values in sets for value in values])}")
    return marked


def _offer_suggestions(table: Table, problem: str) -> None:
    """Count the suggested roles and draw buttons to accept them: one for the sure ones, one for those in doubt.

    A link leads on to Choose k unless there is a ``problem``, which is shown.
    """
    undecided = columns.undecided(table)
    doubts = columns.doubts(table)
    unsure = [name for name in undecided if name in doubts]
    sure = [name for name in undecided if name not in doubts]
    st.markdown(_count_suggestions(len(columns.columns(table)), undecided, unsure))
    with st.container(horizontal=True, vertical_alignment="center"):
        # Both buttons have one key, so that the focus stays.
        if sure:
            label = f"Accept {count(len(sure), 'sure suggestion')}"
            st.button(label, type="primary", key="onward", on_click=columns.accept_sure, args=(table,))
        elif not problem:
            st.button("Choose k →", type="primary", key="onward", on_click=shell.lead_to, args=("choose_k",))
        # No button accepts a suggestion that would lose a whole column: the user decides, see _show_marked.
        lost = columns.would_be_lost(table)
        acceptable = [name for name in unsure if name not in lost]
        if acceptable:
            label = f"Accept too: {rows.some(acceptable)}"
            st.button(label, key="accept_unsure", on_click=columns.accept, args=(table, acceptable), wrap=True)
        if sure and not problem:
            shell.link("choose_k", "**Choose k →**")
    if problem:
        st.error(problem)


def _count_suggestions(n_columns: int, undecided: Sequence[str], unsure: Sequence[str]) -> str:
    """Return how many columns have a suggested role, and which of them need a decision, as Markdown."""
    n = len(undecided)
    if n == 0:
        summary = "Every column is decided."
    elif n == n_columns:
        all_columns = {1: "the column", 2: "both columns"}.get(n, f"all {n:,} columns")
        summary = f"We suggest a role for {all_columns}."
    else:
        summary = f"{n:,} of {count(n_columns, 'column')} {'has' if n == 1 else 'have'} a suggested role."
    if unsure:
        summary += f" **{len(unsure):,} need{'s' if len(unsure) == 1 else ''} a decision: {rows.some(unsure)}.**"
    return summary


def _show_marked(table: Table, marked: Mapping[str, str]) -> None:
    """Name what would be lost, and the columns that need a look though they are decided."""
    if lost := columns.would_be_lost(table):
        lines = [f"- **{escape_markdown(name)}**: {escape_markdown(why)}." for name, why in list(lost.items())[:6]]
        more = [f"- and {count(len(lost) - 6, 'more column')}"] if len(lost) > 6 else []
        st.error("\n".join(["With these suggestions, the release would lose whole columns:", *lines, *more]))
    if others := [name for name in marked if name in columns.alike(table)]:
        st.caption(f"Spelling variants in {rows.some(others)}: open the column to merge them.")


def _show_lost(table: Table) -> None:
    if state.is_too_long():
        st.info(
            "The address cannot hold all decisions on this file: they stay in this session. Save the project to keep them."
        )
    elif state.current().cut:
        st.warning(
            "The address could not hold all decisions on the file, so they are not in this session. Open the project in "
            "which they were saved, or start with the suggestions below."
        )
    unknown, changed = columns.unknown(table), columns.changed(table)
    if unknown:
        st.warning(f"The address has decisions on {escape_markdown(named(unknown))}, which this file does not have.")
    is_another = bool(changed) or columns.is_agreed_of_another(table)
    if is_another:
        which = f" on {escape_markdown(named(changed))}" if changed else ""
        st.warning(
            f"The decisions{which} were made for other values: the file is another one, or it is read in another way. So "
            "these columns have suggestions again: repeat the decisions or make new ones."
        )
    with st.container(horizontal=True):
        if changed:
            st.button("Repeat the decisions", on_click=columns.take_over, args=(table,))
        if unknown or is_another or (state.current().cut and not state.is_too_long()):
            st.button("Discard the decisions", on_click=columns.forget, args=(table,))


# --- what concerns all columns ----------------------------------------------------------------------------------------


def _settings(table: Table) -> None:
    """Draw the choices that concern all columns."""
    left, right = st.columns(2)
    with left:
        _classes(table)
    with right:
        _weights(table)
    _scaling(table)


def _classes(table: Table) -> None:
    chosen, possible = state.current().classes, columns.class_candidates(table)
    declared = table.schema.classes if table.schema else None
    usual = f"{declared}, as the data set says" if declared in possible else "None"
    options = {"": usual, **{name: name for name in possible if name != declared}}
    if declared in possible or chosen == "-":
        options["-"] = "None"
    if chosen not in options and chosen != declared:
        st.warning(
            f"{escape_markdown(repr(chosen))} cannot be the class label, which is a confidential column or a stratum with 2 to "
            f"{MOST_CLASSES} values, none of them missing. No class label is used."
        )
    if len(options) == 1 and not chosen:  # nothing to choose from
        return
    options.setdefault(chosen, str(declared) if chosen == declared else "None")
    message = (
        "The column that users of the release will predict, such as an income bracket. It is released as it is. With "
        "categorical quasi-identifiers, methods with a class penalty keep its values together, and the classification metric "
        f"measures how well. A confidential column or a stratum with 2 to {MOST_CLASSES} values and no missing ones."
    )
    how: dict[str, Any] = {"options": list(options), "format_func": options.get, "help": message}
    state.bound(st.selectbox, "Class label to predict (optional)", "classes", **how)


def _weights(table: Table) -> None:
    weights = [name for name, column in columns.columns(table).items() if column.role == "weights"]
    if not weights:
        return
    first = escape_markdown(repr(weights[0]))
    how: dict[str, Any] = {"options": list(_WEIGHTS), "format_func": _WEIGHTS.get}
    state.bound(st.selectbox, "How the weights are released", "weights", **how)
    st.caption(
        f"The weights in {first} enter group means and information loss; groups are formed without them. With the group's "
        "mean for each record, each group keeps its total weight."
    )
    if others := weights[1:]:
        st.warning(
            f"Only the first column of weights, {first}, counts: {escape_markdown(named(others))} will "
            "be released unchanged. Choose another role for columns that are not weights."
        )


def _scaling(table: Table) -> None:
    chosen = columns.quasi_identifiers(table)
    categorical = columns.categorical(table)
    if chosen == categorical:
        return
    state.either("Scaling of numbers", "scale", _SCALES)
    how = state.current().scale
    if categorical:
        st.caption(
            "With categories among the quasi-identifiers, groups are formed by the share of its range that each number "
            "covers. The scaling enters the information loss (IL) of numbers that are released as means."
        )
    else:
        (st.warning if how == "none" else st.caption)(_EFFECTS[how])


# --- a look at the file -----------------------------------------------------------------------------------------------


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _beginning(identity: str, _table: Table) -> pd.DataFrame:
    """Return the first records and columns, with all but numbers and dates as texts, the long ones cut."""
    columns = min(_table.frame.shape[1], _MOST_COLUMNS)
    part = _table.frame.iloc[: min(_MOST_RECORDS, _MOST_CELLS // max(columns, 1)), :columns]
    texts = part.select_dtypes(exclude=["number", "bool", "boolean", "datetime"]).astype(object)
    return part.assign(**texts.map(lambda value: shortened(value, _LONGEST), na_action="ignore"))


def _records(table: Table, size: str) -> None:
    st.header("Records")
    first = _beginning(table.identity, table)
    sizes = zip(first.shape, table.frame.shape, ("records", "columns"), strict=True)
    parts = [f"the first {there:,} {what}" for there, of, what in sizes if there < of]
    st.caption(f"{size}. Shown are {' and '.join(parts)}." if parts else f"{size}.")
    st.dataframe(first, width="stretch", height=360)


shell.show(body)
