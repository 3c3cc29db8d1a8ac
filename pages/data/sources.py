"""Where data and choices come from: a benchmark to download, a file to upload and how it is read, and a saved project."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from microagg import DataError, MicroaggError, datasets
from microagg.tables import (
    ENCODINGS,
    ENDINGS,
    MISSING,
    Line,
    Notice,
    Offer,
    Reading,
    UnreadableError,
    digest_bytes,
    notice_lines,
    read_file,
    sheet_names,
)
from pages.shared import figures, state, tables
from pages.shared.text import count, escape_markdown, file_name, named, sentence, shortened

_Ways = tuple[tuple[tuple[str, str, Mapping[str, Any] | None], ...], ...]

_DELIMITERS = {
    "find it": None,
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "bar |": "|",
    "one or several blanks": " ",
    "blanks below each other": "fixed width",
}
_ENCODINGS = {"UTF-8, or what the file says": None, **{f"{name} ({codec})": codec for codec, name in ENCODINGS.items()}}
_DECIMALS = {"point": ".", "comma": ","}
_QUOTES = {'"double quotes"': '"', "'single quotes'": "'", "“typographic quotes”": "curly", "nothing": "none"}
_HEADERS = {"the first line, unless it looks like data": None, "the first line": True, "none": False}
_COMMENTS = {"none": None, "begin with #": "#", "begin with %": "%", "begin with //": "//"}

_TEXT = (".csv", ".tsv", ".txt")
_ENDINGS = (*ENDINGS, ".gz", ".xls")

# Large files are read one after the other: side by side they are read no faster, take more memory, and slow all pages.
_LARGE, _READING = 5_000_000, threading.Lock()

_MOST_LINES, _MOST_OFFERS, _MOST_WAYS = 4, 6, 2  # shown at once: notices, offers, ways to read a file
_MOST_COLUMNS, _WIDEST, _MOST_MENDED = 12, 24, 3  # of a preview: columns, characters of a cell, mended lines


def pick_data() -> None:
    """Draw the picker of data sets; another choice forgets the columns of the last one."""
    names, now = (*tables.PICKABLE, state.UPLOAD), state.current().data
    state.tied(st.selectbox, "Data set", "w_data", now, state.choose_data, options=names, format_func=_label)


def _label(name: str) -> str:
    if name == state.UPLOAD or datasets.is_available(name):
        return tables.title(name)
    return f"{tables.title(name)} (to be downloaded)"


def download(name: str) -> None:
    entry = datasets.describe(name)
    file = entry.file
    assert file is not None, f"{name} needs no download"
    st.info(
        f"{escape_markdown(entry.title)} is public but not part of microagg, and not on this machine yet. "
        f"It can be fetched once ({file.size / 1000:,.0f} kB) from {file.url} and its checksum is verified. "
        "All other data sets work meanwhile."
    )
    if not st.button(f"Download {entry.title}", type="primary"):
        return
    with st.spinner("Downloading …"):
        datasets.load(name)
    st.rerun()


def upload() -> None:
    """Draw the uploader, keep the file, and say what is unusual in it."""
    first_file = tables.first_file()
    is_there = tables.uploaded() is not None
    with st.expander("Another file" if is_there else "File", expanded=not is_there):
        st.caption(
            f"The dashboard was started with {escape_markdown(first_file.name)}, which is read unless you upload another file."
            if first_file
            else "The file stays in the memory of this session; reloading the page discards it. The address and a saved project "
            "keep how it is read and what you decide, with the values that you name. Upload the same file again to restore "
            "your choices. For a file too large for an upload, start the dashboard with it: microagg dashboard people.csv."
        )
        file = st.file_uploader("A table with one record per row", type=_ENDINGS, key="w_file") or first_file
    if file is None:
        _without_file()
        return
    content = file.getvalue()
    of_content = digest_bytes(content)
    of = of_content[:8]
    reading = tables.reading(of)
    digest = digest_bytes(repr((of_content, file.name, sorted(reading.items()))).encode())
    table, refused = tables.uploaded(), tables.refused()
    if digest not in (table and table.digest, refused and refused.digest):
        try:
            with _READING if len(content) > _LARGE else nullcontext():
                read = tables.READ.get(digest) or read_file(content, name=file.name, **reading)
                tables.READ[digest] = read
                tables.return_memory()
        except MicroaggError as error:
            details = (error.offers, error.lines) if isinstance(error, UnreadableError) else ()
            tables.refuse(tables.Refusal(file.name, digest, sentence(error), *details))
        else:
            tables.remember(file.name, digest, read, reading, of)
        st.rerun()
    _show_other_file(of)
    if refused is not None:
        st.error(refused.text)
        _show_lines(refused.lines)
        _offer_ways(of, refused.offers)
    elif table is not None:
        _show_done(table.read.done)
        _show_notices(of, table.read.notices)
    if reading:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"Read with your settings: {_in_words(reading)}.", width="content")
            _offer_usual(type="tertiary")
    _options(of, file.name, content, reading)


def _show_other_file(of: str) -> None:
    then = state.current()
    if then.reading and then.digest != of:
        st.warning(
            f"This is another file than the one that was read with {_in_words(tables.reading(then.digest))}. It is read as "
            "usual, until you say otherwise."
        )
        with st.container(horizontal=True):
            st.button("Read it as that one", on_click=partial(state.update, digest=of))
            _offer_usual()


def _offer_usual(**how: Any) -> None:
    st.button("Read it as usual", on_click=partial(state.update, digest="", reading=()), **how)


def _show_notices(of: str, notices: Sequence[Notice]) -> None:
    if not notices:
        return
    lines = notice_lines(notices)
    text = "\n".join(f"- {sentence(line)}" for line in lines)
    if len(lines) > _MOST_LINES:
        with st.expander(f"{count(len(lines), 'thing')} to know about this file"):
            st.markdown(text)
    else:
        st.info(text)
    offers = list({offer.label: offer for notice in notices for offer in notice.offers}.values())[:_MOST_OFFERS]
    with st.container(horizontal=True):
        for i, offer in enumerate(offers):
            _button(of, i, offer)
    if tried := [offer for offer in offers if offer.preview]:
        with st.expander("What these ways of reading would give"):
            for offer in tried:
                st.markdown(f"**{escape_markdown(offer.label)}**")
                _preview(offer)


def _button(of: str, i: int, offer: Offer, kind: Literal["primary", "secondary"] = "secondary") -> None:
    label = escape_markdown(offer.label)
    st.button(label, key=f"offer_{i}", on_click=tables.read_with, args=(of,), kwargs=dict(offer.reading), type=kind)


def _offer_ways(of: str, offers: Sequence[Offer]) -> None:
    """Draw the ways to read a file that is not read, the likeliest first, each with a preview."""
    n_more = len(offers) - _MOST_WAYS
    place = st.container()
    more = st.expander(f"{count(n_more, 'more way')} to read it") if n_more > 0 else place
    for i, offer in enumerate(offers):
        with (place if i < _MOST_WAYS else more).container(border=True):
            _button(of, i, offer, "secondary" if i else "primary")
            _preview(offer)


def _preview(offer: Offer) -> None:
    """Draw the header and the first records that an offer gives, and what it leaves out or mends."""
    if offer.preview is None:
        return
    frame = offer.preview.frame
    n = offer.preview.n_records
    size = f"{count(n, 'record')}, " if n is not None else ""
    message = [f"It gives {size}{count(frame.shape[1], 'column')}.", *(notice.text for notice in offer.preview.done)]
    st.caption(escape_markdown(" ".join(message)))
    excerpt = frame.iloc[:, :_MOST_COLUMNS]
    rows = [list(excerpt.columns), *excerpt.astype(object).where(excerpt.notna(), "").to_numpy().tolist()]
    cells = [[shortened(" ".join(str(cell).split()), _WIDEST) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [" │ ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    mended = [line for notice in offer.preview.done for line in notice.lines if line.becomes][:_MOST_MENDED]
    st.code("\n".join([*lines, *(f"line {line.number:,} becomes: {line.becomes}" for line in mended)]), language=None)
    if (more := frame.shape[1] - excerpt.shape[1]) > 0:
        st.caption(f"… and {count(more, 'more column')}")


def _show_lines(lines: Sequence[Line]) -> None:
    """Draw lines of a file with their numbers, a mark at those that do not fit, and what they become."""
    texts = []
    for before, line in zip((None, *lines), lines, strict=False):
        texts += ["      …"] if before and line.number > before.number + 1 else []
        texts.append(f"{'▶' if line.marked else ' '} {line.number:>5,} │ {line.text}")
        texts += [f"        ↳ {line.becomes}"] if line.becomes else []
    if texts:
        st.code("\n".join(texts), language=None)


def _show_done(done: Sequence[Notice]) -> None:
    """Say what was left out, mended and named at the user's request, line by line."""
    if not done:
        return
    st.success("\n".join(f"- {sentence(notice.text)}" for notice in done))
    if lines := [line for notice in done for line in notice.lines]:
        with st.expander(f"Show {'the line' if len(lines) == 1 else f'these {len(lines):,} lines'}"):
            _show_lines(lines)


def _in_words(reading: Mapping[str, Any]) -> str:
    return escape_markdown(", ".join(f"{name.replace('_', ' ')}: {_spoken(value)}" for name, value in reading.items()))


def _spoken(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return named(value) or "nothing" if isinstance(value, list) else repr(value)


def _without_file() -> None:
    if tables.uploaded() is not None:
        return
    if refused := tables.refused():
        st.warning(f"{refused.text} Choose the file again to see in what other ways it can be read.")
    elif state.current().columns or state.current().agreed or state.current().reading:
        st.warning(
            "This session has no file: a reload, a link or a restart of the server does not carry one. The address still has "
            "how it is read, and what was decided about its columns: choose the same file above, and go on."
        )
    else:
        st.info("No file yet: choose one above.")
    st.button("Try the sample survey: 300 fictitious persons", on_click=use_survey)


# --- how a file is read -----------------------------------------------------------------------------------------------


def _options(of: str, name: str, content: bytes, reading: Mapping[str, Any]) -> None:
    name = name.lower().removesuffix(".gz")
    if name.endswith(".xlsx"):
        try:
            visible, hidden = (sheet_names(content, name=name, hidden=which) for which in (False, True))
        except MicroaggError:
            return  # the reader's error is already on the page
        # The sheet that is read by default comes first; no title has brackets.
        sheets = {title: title for title in visible} | {f"{title} [hidden]": title for title in hidden}
        if len(sheets) > 1:
            _choose(of, "Sheet", "sheet", sheets, reading)
        _ways(of, _OF_SHEETS, reading)
    elif name.endswith((*_TEXT, ".xls")):
        _ways(of, _OF_TEXT, reading)


# The settings in each column of the screen: label, argument of the reader, and its values by title; None for a number.
# Others are offered where a file asks for them.
_OF_SHEETS: _Ways = (
    (("Rows to skip before the header", "skip_lines", None),),
    (("Rows to leave out at the end", "skip_last", None),),
)
_OF_TEXT: _Ways = (
    (("Between the fields", "delimiter", _DELIMITERS), ("Lines to skip at the beginning", "skip_lines", None)),
    (("Encoding", "encoding", _ENCODINGS), ("Records to leave out at the end", "skip_last", None)),
    (("Decimal mark", "decimal", _DECIMALS), ("Header", "header", _HEADERS)),
    (("Around cells", "quote", _QUOTES), ("Lines that are comments", "comment", _COMMENTS)),
)


def _ways(of: str, ways: _Ways, reading: Mapping[str, Any]) -> None:
    with st.expander("How the file is read"):
        for place, column in zip(st.columns(len(ways)), ways, strict=True):
            with place:
                for label, argument, options in column:
                    if options is None:
                        value = reading.get(argument, 0)
                        _tie(st.number_input, of, label, argument, value, lambda n: n or None, min_value=0, step=1)
                    else:
                        _choose(of, label, argument, options, reading)
        words = list(reading.get("missing", MISSING))
        how: dict[str, Any] = {"options": list(dict.fromkeys([*MISSING, *words])), "accept_new_options": True}
        how["help"] = f"In columns of numbers, {', '.join(MISSING)} are missing in any case."
        label = "Cells of text that count as missing, beside empty ones"
        _tie(st.multiselect, of, label, "missing", words, lambda new: None if {*new} == {*MISSING} else [*new], **how)


def _choose(of: str, label: str, argument: str, options: Mapping[str, Any], reading: Mapping[str, Any]) -> None:
    usual, *_ = options.values()
    chosen = reading.get(argument, usual)
    if chosen not in options.values():
        options = {**options, str(chosen): chosen}
    title = next(name for name, value in options.items() if value == chosen)

    def read(name: str) -> Any:
        # The default is another sheet if sheets are moved.
        return None if options[name] == usual and argument != "sheet" else options[name]

    _tie(st.selectbox, of, label, argument, title, read, options=list(options))


def _tie(
    widget: Callable[..., Any], of: str, label: str, argument: str, value: Any, read: Callable[[Any], Any], **how: Any
) -> None:
    """Draw ``widget`` tied to an argument of the reader; ``read`` turns an entry into its value."""

    def take(entered: Any) -> None:
        tables.read_with(of, **{argument: read(entered)})

    state.tied(widget, label, f"u_{argument}", value, take, **how)


def use_survey() -> None:
    survey = datasets.make_survey()
    tables.remember("survey.csv", digest_bytes(survey.to_csv().encode()), Reading(survey))


# --- projects ---------------------------------------------------------------------------------------------------------

_PROJECT_FILE, _PROJECT_PROBLEM = "w_project", "project_problem"


def project() -> None:
    """Draw the buttons that save a project, which holds all choices, and open one."""
    with st.popover("Project", icon=":material/folder:", key="project"):
        st.caption(
            "A project is a small file with all choices: how a file is read, what was decided about its columns, orders and "
            "taxonomies that were entered, k, the method and the release. Records are not in it, but categories that were "
            "entered are."
        )
        stem = file_name(Path(tables.chosen_title()).stem)
        choices = json.dumps({"choices": state.to_query(whole=True)}, indent=2, ensure_ascii=False)
        figures.download("Save the project", f"{choices}\n", f"{stem}_project.json")
        st.file_uploader("Open a project", type=["json"], key=_PROJECT_FILE, on_change=_open_project)


def show_project_problem() -> None:
    if problem := st.session_state.get(_PROJECT_PROBLEM):
        st.error(sentence(problem))


def _open_project() -> None:
    st.session_state.pop(_PROJECT_PROBLEM, None)
    if (file := st.session_state[_PROJECT_FILE]) is not None:
        try:
            take_project(file.getvalue())
        except MicroaggError as error:
            st.session_state[_PROJECT_PROBLEM] = str(error)


def take_project(content: bytes) -> None:
    """Take all choices from a project; raise DataError if it is none."""
    try:
        held = json.loads(content)["choices"]
        texts = [text for value in held.values() for text in (value if isinstance(value, list) else [value])]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        texts = [None]
    if not all(isinstance(text, str) for text in texts):
        raise DataError("this file is no project: choose one that was saved here, a file “….json”.")
    state.take(held)
