"""Data: choose or upload a data set, and say what its columns are."""

from collections.abc import Collection, Mapping
from typing import Any

import streamlit as st

from microagg import DataError, MicroaggError, datasets
from microagg.columns import MOST_CLASSES, Column, Excerpt
from microagg.columns.scaling import SCALES, scale_effect
from pages.data import attributes, project, sources, values
from pages.shared import columns, shell, state, tables
from pages.shared.figures import show_table
from pages.shared.tables import Table
from pages.shared.text import count, escape_markdown, listing, named, sentence, shortened
from pages.shared.workspace import Workspace, chosen_workspace

_MOST_DISTRIBUTIONS = 200  # columns that are described
_MOST_LOST = 6  # columns that are named
_SCALE_NAMES = {"zscore": "z-score", "minmax": "min-max", "none": "none"}
_WEIGHTS = {"mean": "The group's mean (recommended)", "keep": "As they are", "drop": "Left out"}
_GUESS = ":orange-badge[guess]"

_MEANINGS = {
    "identifiers": "names a person by itself, such as a name or the number of a document. It is left out of the release.",
    "quasi_identifiers": "somebody could know it from elsewhere and recognize a person by it together with others, such "
    "as age and place. Records are grouped on it, and it is released as what a group has in common.",
    "confidential": "what nobody should learn of a person, such as a diagnosis. It is released as it is.",
    "strata": "groups never mix its values, such as regions. It is released as it is.",
    "weights": "how many persons a record of a sample stands for. Means and the loss count it so often.",
    "others": "none of these. It is released as it is.",
}


def body() -> None:
    choices = state.current()
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        sources.pick_data()
        if choices.data in tables.SYNTHETIC:
            says = "The set is generated; the same seed gives the same records."
            state.bound(st.number_input, "Seed", "seed", min_value=0, step=1, help=says)
    is_there = True
    if choices.data == state.UPLOAD:
        sources.upload()
        is_there = tables.uploaded() is not None
    elif choices.data == state.LARGE:
        sources.pick_large()
        is_there = state.current().file in tables.names()
    elif not datasets.is_available(choices.data):
        sources.download(choices.data)
        is_there = False
    project.show()
    if not is_there:
        return
    try:
        table = columns.chosen_table()
    except DataError as error:  # of what was recoded: of what cannot be read the page has said so
        st.error(sentence(error))
        st.button("Have all values as they were", on_click=state.update, kwargs={"recode": ()})
        return
    size = f"{count(len(table.frame), 'record')}, {count(table.frame.shape[1], 'column')}"
    with right:
        is_upload = choices.data == state.UPLOAD
        st.markdown(f"**{escape_markdown(table.title)}**: {size}" if is_upload else escape_markdown(table.description))
    if table.notes:
        st.info("\n".join(f"- {note}" for note in table.notes))
    _columns(table)
    workspace = _workspace(table)
    try:
        attributes.show(table, workspace)
    except MicroaggError as error:
        st.error(sentence(error))
    _distributions(table, workspace)
    _records(table, size)
    if table.source:  # the package's own words, whose addresses are links
        st.caption(f"Source: {table.source}")


# --- a row for each column: what it is, to be agreed to or changed -----------------------------------------------------


def _columns(table: Table) -> None:
    st.subheader("Columns")
    _say_lost(table)
    all_columns = columns.columns(table)
    sources.say_totals(table)
    lost = columns.would_be_lost(table)
    _say_numbers({name: column for name, column in all_columns.items() if name not in lost})
    _agree(table, all_columns, lost)
    with st.expander("What the roles mean"):
        st.markdown("\n".join(f"- **{columns.ROLES[role]}**: {says}" for role, says in _MEANINGS.items()))
    first, last = _on_screen(len(all_columns))
    examples = columns.figures(table, first, last)["examples"]
    with st.container(gap="xsmall"):
        for column, example in zip(list(all_columns.values())[first:last], examples, strict=True):
            _row(table, column, example, lost)
    values.show(table)


def _say_lost(table: Table) -> None:
    if state.is_too_long():
        st.info(
            "So much has been decided about this file that the address cannot hold it: it stays in this session. Save the "
            "project to keep it."
        )
    elif state.current().cut:
        st.warning(
            "More was decided about the file than the address could hold, so it is not in this session. Open the project "
            "in which it was saved, or begin with the guesses below."
        )
    unknown, changed = columns.unknown(table), columns.changed(table)
    if unknown:
        are = "is no column" if len(unknown) == 1 else "are no columns"
        st.warning(
            f"Something was decided of {escape_markdown(named(unknown))}, but there {are} of that name in this file."
        )
    is_another = bool(changed) or columns.is_agreed_of_another(table)
    if is_another:
        which = f"of {escape_markdown(named(changed))} " if changed else ""
        st.warning(
            f"What was decided {which}was decided of other values: the file is another one, or it is read in another way than "
            "then. So these columns are guesses again: look at them, and decide anew or as then."
        )
    with st.container(horizontal=True):
        if changed:
            st.button("Decide as then", on_click=columns.take_over, args=(table,))
        if unknown or is_another or (state.current().cut and not state.is_too_long()):
            st.button("Go on without", on_click=columns.forget, args=(table,))


def _agree(table: Table, all_of: Mapping[str, Column], lost: Mapping[str, str]) -> None:
    guesses, size = len(columns.undecided(table)), count(len(all_of), "column")
    are = "is a guess" if guesses == 1 else "are guesses"
    says = f"**{guesses:,} of {size} {are}.** Change what is wrong, then agree."
    if lost:
        lines = [
            f"- **{escape_markdown(name)}**: {escape_markdown(why)}." for name, why in list(lost.items())[:_MOST_LOST]
        ]
        more = [f"- and {count(len(lost) - _MOST_LOST, 'more column')}"] if len(lost) > _MOST_LOST else []
        st.error(
            "\n".join(["As guessed, nothing would be left of these columns, so decide on each below:", *lines, *more])
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(says if guesses else "Every column is decided.", width="content")
        # Both buttons have one key, so that the focus stays.
        if guesses > len(lost):
            st.button("Agree to all guesses", type="primary", key="onward", on_click=columns.agree, args=(table,))
            shell.link("choose_k", "**Choose k →**")
        else:
            st.button("Choose k →", type="primary", key="onward", on_click=shell.lead_to, args=("choose_k",))


def _on_screen(n: int) -> tuple[int, int]:
    """Return the first of the ``n`` columns on the screen, and the one after the last."""
    pages = -(-n // columns.PER_PAGE)
    if pages < 2:
        return 0, n
    page = min(st.pagination(pages, key="w_columns_page"), pages)
    first = (page - 1) * columns.PER_PAGE
    last = min(first + columns.PER_PAGE, n)
    st.caption(f"Columns {first + 1:,} to {last:,} of {n:,}")
    return first, last


def _row(table: Table, column: Column, examples: str, lost: Collection[str]) -> None:
    # On a narrow screen an empty column still takes room.
    widths = [5, 3, 3, 3] if column.is_quasi_identifier else [5, 3, 6]
    with st.container(border=True):
        about, role, *further = st.columns(widths, vertical_alignment="center")
        with about:
            st.markdown(_about(table, column, examples))
            _offer_numbers(table, column)
            _offer_dates(table, column)
            if column.name in lost:
                key = f"lost_{column.name}"
                st.button("It may be lost", key=key, on_click=columns.decide, args=(table, column.name))
        roles = {key: says for key, says in columns.ROLES.items() if column.kinds or key != "quasi_identifiers"}
        _pick(role, table, column, "role", column.role, roles)
        if not column.is_quasi_identifier:
            return
        if len(column.kinds) > 1:
            kinds = {pair: columns.kind_title(column, *pair) for pair in column.kinds}
            _pick(further[0], table, column, "kind", (column.kind, column.form), kinds)
        else:
            unfit = "Neither numbers, dates nor categories: it cannot be grouped on."
            further[0].caption(columns.kind_title(column, column.kind, column.form) if column.kind else unfit)
        with further[1]:
            _gaps(table, column)


def _about(table: Table, column: Column, examples: str) -> str:
    figures = f"{column.n_distinct:,} distinct" + (f", {column.n_empty:,} missing" if column.n_empty else "")
    lines = [f"**{escape_markdown(column.name)}** {'' if column.decided else _GUESS}"]
    lines += [f":small[{figures}{f': {escape_markdown(examples)}' if examples else ''}]"]
    if (read := column.as_numbers) and column.role in ("quasi_identifiers", "weights"):
        lost = f"; {read.lost} count as missing" if read.lost and column.codes else ""
        says = f"Text that is read as numbers: {read.example!r} is {read.number}{lost}"
        lines.append(f":small[:gray[{escape_markdown(says)}]]")
    elif column.unclear and column.is_date and column.is_quasi_identifier:
        says = f"Text that is read as dates: {_as_dates(column, column.form)}"
        lines.append(f":small[:gray[{escape_markdown(says)}]]")
    elif column.reasons and (table.schema is None or column.role == "identifiers"):
        lines.append(f":small[:gray[{sentence('; '.join(column.reasons))}]]")
    return "  \n".join(lines)


def _gaps(table: Table, column: Column) -> None:
    if column.n_codes:
        label = f"Treat {named(column.possible_codes)} ({column.n_codes:,}) as missing"
        with st.container(horizontal=True, gap="xsmall"):
            _tie(st.toggle, table, column, "codes", column.codes, label)
            st.markdown(escape_markdown(label))
    if column.n_missing:
        fill = "Fill in the most frequent" if column.kind == "nominal" else "Fill in the median"
        says = {"drop": "Leave the record out", "category": "A category of its own", "impute": fill}
        options = {key: f"{says[key]} ({column.n_missing:,})" for key in column.possible_gaps}
        _pick(st, table, column, "gaps", column.gaps, options)


def _pick(place: Any, table: Table, column: Column, field: str, value: Any, options: Mapping[Any, str]) -> None:
    # A link or the data set may hold what is not among the options.
    texts = {**options, value: options.get(value) or str(value)}
    label = f"{field.capitalize()} of {column.name}"
    _tie(place.selectbox, table, column, field, value, label, options=list(texts), format_func=texts.get)


def _tie(widget: Any, table: Table, column: Column, field: str, value: Any, label: str, **options: Any) -> None:
    """Draw ``widget`` tied to a field of a column; ``label`` is hidden but read out, see :mod:`.text`."""

    def take(entered: Any) -> None:
        changes = dict(zip(("kind", "form"), entered, strict=True)) if field == "kind" else {field: entered}
        columns.decide(table, column.name, **changes)

    key, how = f"column_{field}_{column.name}", {"label_visibility": "collapsed"} | options
    state.tied(widget, label, key, value, take, **how)


def _say_numbers(all_columns: Mapping[str, Column]) -> None:
    """Name the columns whose text reads as numbers, until the user decides."""
    upload = tables.uploaded()
    # The reader of the file may already say the same of a column.
    offered = {notice.column for notice in upload.read.notices if notice.code == "decimal-comma"} if upload else set()
    each = [
        f"{name!r} ({column.offers[0].example!r} for {' or for '.join(read.number for read in column.offers)})"
        for name, column in all_columns.items()
        if name not in offered
        and not column.decided
        and _reads_as_numbers(column)
        and not column.offers[0].is_like_code
    ]
    if each:
        st.warning(
            f"Text that reads as numbers: {escape_markdown(listing(each, 6))}. Whether they are is for you to say: until you "
            "do so below, such a column counts as categories, or is left out where nearly every record has a text of its own."
        )


def _reads_as_numbers(column: Column) -> bool:
    """Whether a column is text that may be read as numbers, and the user has not decided."""
    usual = column.role in ("quasi_identifiers", "identifiers")
    return bool(column.offers) and usual and not column.is_number


def _offer_numbers(table: Table, column: Column) -> None:
    if not _reads_as_numbers(column):
        return
    with st.container(horizontal=True):
        for read in column.offers:
            title = columns.kind_title(column, "numeric", read.notation)
            label = f"Read as numbers{escape_markdown(title.removeprefix('Numeric'))}"
            _offer(table, column, read.notation, label)


def _offer_dates(table: Table, column: Column) -> None:
    """Offer both orders of day and month for dates that do not show which comes first."""
    if not column.unclear or column.is_date or column.role not in ("quasi_identifiers", "identifiers"):
        return
    for form, first in (("day d/m", "day"), ("day m/d", "month")):
        with st.container(gap="xxsmall"):
            _offer(table, column, form, f"Read as dates, {first} first")
            st.caption(escape_markdown(_as_dates(column, form)))


def _offer(table: Table, column: Column, form: str, label: str) -> None:
    changes = {"role": "quasi_identifiers", "kind": "numeric", "form": form}
    key = f"read_{form}_{column.name}"
    st.button(label, key=key, on_click=columns.decide, args=(table, column.name), kwargs=changes)


def _as_dates(column: Column, form: str) -> str:
    return listing([f"{text!r} is {day}" for text, day in column.as_dates(form)], len(column.unclear))


# --- what concerns all columns ----------------------------------------------------------------------------------------


def _workspace(table: Table) -> Workspace | None:
    """Draw the choices that concern all columns, and return the workspace; None if there is an error."""
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
    declared = table.schema.classes if table.schema else None
    usual = f"{declared}, as the data set says" if declared in possible else "None"
    options = {"": usual, **{name: name for name in possible if name != declared}}
    if declared in possible or chosen == "-":
        options["-"] = "None"
    if chosen not in options and chosen != declared:
        st.warning(
            f"{escape_markdown(repr(chosen))} cannot be the class to predict, which is a confidential column or a stratum with 2 to "
            f"{MOST_CLASSES} values, none of them missing. No class is predicted."
        )
    options.setdefault(chosen, str(declared) if chosen == declared else "None")
    says = (
        "What users of the release will want to predict, such as an income bracket. It is released as it is. Where "
        "categories are grouped on, methods with a class penalty keep its values together, and the classification metric "
        f"says how well. It can be a confidential column or a stratum with 2 to {MOST_CLASSES} values and no gaps."
    )
    how: dict[str, Any] = {"options": list(options), "format_func": options.get, "help": says}
    state.bound(st.selectbox, "Class to predict (optional)", "classes", disabled=len(options) == 1, **how)


def _weights(table: Table) -> None:
    weights = [name for name, column in columns.columns(table).items() if column.role == "weights"]
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
    chosen = columns.quasi_identifiers(table)
    categorical = columns.categorical(table)
    if chosen == categorical:
        return
    state.either("Scaling of numbers", "scale", {scale: _SCALE_NAMES[scale] for scale in SCALES})
    how = state.current().scale
    if categorical:
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
    described = all_columns[:_MOST_DISTRIBUTIONS]
    if len(described) < len(all_columns):
        st.caption(f"The first {len(described):,} of {len(all_columns):,} columns.")
    rows = columns.figures(table, 0, len(described), None if workspace is None else workspace.source.declared).copy()
    rows["column"] = rows["column"].map(shortened)
    rows.insert(1, "role", [columns.ROLES[column.role] for column in described])
    rows["distinct"] = [column.n_distinct for column in described]
    rows["missing"] = [column.n_missing for column in described]
    says = "Numbers: records in equal parts of the range. Others: the most frequent values."
    show_table(
        rows,
        most=16,
        tall=560,
        placeholder="",
        column_order=["column", "distribution", "role", "least", "mean", "greatest", "distinct", "missing"],
        columns={
            "column": "Column",
            "role": "Role",
            "missing": "Missing",
            "distinct": "Distinct values",
            "least": st.column_config.NumberColumn("Least", format="localized"),
            "mean": st.column_config.NumberColumn("Mean", format="localized"),
            "greatest": st.column_config.NumberColumn("Greatest", format="localized"),
            "distribution": st.column_config.BarChartColumn("Distribution", help=says, color="blue"),
        },
    )


def _records(table: Table, size: str) -> None:
    st.subheader("Records")
    excerpt = columns.beginning(table)
    st.caption(f"{size}.{_left_out(table, excerpt)}")
    st.dataframe(excerpt.frame, width="stretch", height=360)


def _left_out(table: Table, excerpt: Excerpt) -> str:
    parts = [
        f"the first {there:,} {what}"
        for there, of, what in zip(excerpt.frame.shape, table.frame.shape, ("records", "columns"), strict=True)
        if there < of
    ]
    if not parts and not excerpt.n_cut:
        return ""
    says = f" Shown are {' and '.join(parts)}." if parts else ""
    return says + (f" {count(excerpt.n_cut, 'text')} too long to be shown end in “…”." if excerpt.n_cut else "")


shell.show(body)
