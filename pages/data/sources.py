"""Where data come from: a benchmark to be downloaded, a file to be uploaded; the page Data draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from microagg import DatasetUnavailableError, MicroaggError, datasets
from microagg.tables import (
    ENCODINGS,
    ENDINGS,
    MISSING,
    Notice,
    Offer,
    UnreadableError,
    digest_bytes,
    notice_lines,
    read_file,
    sheet_names,
)
from pages.shared import state, tables
from pages.shared.text import count, escape_markdown, named, sentence

_DELIMITERS = {"find it": None, "comma": ",", "semicolon": ";", "tab": "\t", "bar |": "|", "one or several blanks": " "}
_ENCODINGS = {
    "UTF-8, or what the file says": None,
    **{f"{name} ({codec})": codec for codec, name in ENCODINGS.items()},
}
_DECIMALS = {"point": ".", "comma": ","}
_QUOTES = {'"double quotes"': '"', "'single quotes'": "'"}
_HEADERS = {"the first line, unless it looks like data": None, "the first line": True, "none": False}
_UNITS = {"no": False, "yes, leave it out": True}
_MERGED = {"the first record has the value": False, "all records have it": True}
_COMMENTS = {"none": None, "begin with #": "#", "begin with %": "%", "begin with //": "//"}

_TEXT = (".csv", ".tsv", ".txt")

#: The endings of files whose last records can be left out.
WITH_LAST_RECORDS = (*_TEXT, ".xlsx")

# What the screen calls the arguments of the reader.
_ARGUMENTS = {
    "decimal": "decimal mark",
    "quote": "around cells",
    "skip_lines": "lines skipped:",
    "skip_last": "records left out at the end:",
    "units_row": "row of units left out:",
    "comment": "comments begin with",
    "header": "header:",
    "sheet": "sheet",
    "fill_merged": "merged cells filled:",
    "missing": "missing in text:",
}

# How the files of this session are read, and which of them is there.
_READINGS, _FILE = "readings_of_uploads", "file_uploaded"

# How much is drawn of what there is to say of a file.
_MOST_LINES, _MOST_OFFERS = 4, 6


def pick_data() -> None:
    """Draw the picker of data sets; another choice forgets the columns of the one before."""
    key = "w_data"
    st.session_state[key] = state.current().data
    st.selectbox(
        "Data set",
        (*tables.PICKABLE, state.UPLOAD, state.LARGE),
        format_func=_label,
        key=key,
        on_change=lambda: state.choose_data(st.session_state[key]),
    )


def _label(name: str) -> str:
    if name in (state.UPLOAD, state.LARGE) or datasets.is_available(name):
        return tables.title(name)
    return f"{tables.title(name)} (to be downloaded)"


def download(name: str) -> None:
    """Offer to download the benchmark ``name``, which is not on this machine."""
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
    bar = st.progress(0.0, text="Connecting …")

    def progress(done: int, total: int) -> None:
        bar.progress(min(done / total, 1.0), text=f"{done / 1000:,.0f} of {total / 1000:,.0f} kB")

    try:
        datasets.load(name, progress=progress)
    except DatasetUnavailableError:
        bar.empty()
        raise
    st.rerun()


def upload() -> None:
    """Draw the uploader, keep what is uploaded, and say what is not as it seems in it."""
    st.caption(
        "The file stays in the memory of this session and goes nowhere else; reloading the page lets go of it. The address "
        "keeps what you decide about its columns: upload the file again, and they are as they were. A file that is too large "
        "to be uploaded stays on its disk: choose “A large file on this machine” above."
    )
    file = st.file_uploader("A table with one record per row", type=[ending.removeprefix(".") for ending in ENDINGS])
    if file is None:
        _without_file()
        return
    content = file.getvalue()
    of = digest_bytes(content + file.name.encode())
    st.session_state[_FILE] = of
    reading = _readings().get(of, {})
    digest = digest_bytes((of + repr(sorted(reading.items()))).encode())
    known, refused = tables.uploaded(), tables.refused()
    if digest not in (known and known.digest, refused and refused.digest):
        try:
            read = read_file(content, name=file.name, **reading)
        except MicroaggError as error:
            offers = error.offers if isinstance(error, UnreadableError) else ()
            tables.refuse(tables.Refusal(file.name, digest, sentence(error), offers))
        else:
            tables.remember(file.name, digest, read.frame, reading, read.notices)
        st.rerun()
    if refused is not None:
        st.error(refused.text)
        _offer(of, refused.offers)
    elif known is not None:
        _say(of, known.notices)
    if reading:
        _say_reading(of, reading)
    _options(of, file.name, content, reading)


def _readings() -> dict[str, dict[str, Any]]:
    """Return how the files of this session are read, by their digests: the arguments of the reader that were chosen."""
    readings: dict[str, dict[str, Any]] = st.session_state.setdefault(_READINGS, {})
    return readings


def _read_with(of: str, **changes: Any) -> None:
    """Read a file otherwise; a callback. None stands for the reader's own way."""
    changed = _readings().get(of, {}) | changes
    _readings()[of] = {name: value for name, value in changed.items() if value is not None}


def leave_out_last(records: int) -> None:
    """Read the file that is there without its last records; a callback."""
    of = st.session_state[_FILE]
    _read_with(of, skip_last=_readings().get(of, {}).get("skip_last", 0) + records)


def _read_as_usual(of: str) -> None:
    """Read a file without any arguments; a callback."""
    _readings().pop(of, None)


def _say(of: str, notices: Sequence[Notice]) -> None:
    """Draw what the reader has to say of the file, with the ways to read it otherwise."""
    if not notices:
        return
    lines = notice_lines(notices)
    text = "\n".join(f"- {sentence(line)}" for line in lines)
    if len(lines) > _MOST_LINES:
        with st.expander(f"{count(len(lines), 'thing')} to know about this file"):
            st.markdown(text)
    else:
        st.info(text)
    offers = {offer.label: offer for notice in notices for offer in notice.offers}
    _offer(of, list(offers.values())[:_MOST_OFFERS])


def _offer(of: str, offers: Sequence[Offer]) -> None:
    if not offers:
        return
    with st.container(horizontal=True):
        for i, offer in enumerate(offers):
            label = escape_markdown(offer.label)
            st.button(label, key=f"offer_{i}", on_click=_read_with, args=(of,), kwargs=dict(offer.reading))


def _say_reading(of: str, reading: Mapping[str, Any]) -> None:
    """Say how the file is read, where that is not the usual way, with the way back."""
    said = ", ".join(f"{_ARGUMENTS.get(name, name)} {_spoken(value)}" for name, value in reading.items())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Read as you said: {escape_markdown(said)}.", width="content")
        st.button("Read it as usual", on_click=_read_as_usual, args=(of,), type="tertiary")


def _spoken(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return named(value) or "nothing" if isinstance(value, list) else repr(value)


def _without_file() -> None:
    if tables.uploaded() is not None:
        return
    lost = "the server was restarted, the page was reloaded, or a link led here, and none of these carries a file."
    if refused := tables.refused():
        st.warning(f"{refused.text} Choose the file again to see in what other ways it can be read.")
    elif state.current().columns or state.current().agreed:
        st.warning(
            f"This session has no file: {lost} The address still has what was decided about its columns: choose the same file "
            "above, and go on."
        )
    else:
        st.info(f"No file yet: choose one above. If there was one, {lost}")
    st.button("Try the sample survey: 300 fictitious persons", on_click=use_survey)


# --- how a file is read -----------------------------------------------------------------------------------------------


def _options(of: str, name: str, content: bytes, reading: Mapping[str, Any]) -> None:
    """Draw the ways in which a file can be read."""
    if name.lower().endswith(".xlsx"):
        try:
            shown, hidden = (sheet_names(content, name=name, hidden=which) for which in (False, True))
        except MicroaggError:
            return  # the reader has said why
        # What is read unless another one is chosen comes first; no title has brackets.
        sheets = {title: title for title in shown} | {f"{title} [hidden]": title for title in hidden}
        if len(sheets) > 1:
            _choose(of, "Sheet", "sheet", sheets, reading)
        with st.expander("How the file is read"):
            _sheet_options(of, reading)
    elif name.lower().endswith(_TEXT):
        with st.expander("How the file is read"):
            _text_options(of, reading)


def _sheet_options(of: str, reading: Mapping[str, Any]) -> None:
    one, two = st.columns(2)
    with one:
        _number(of, "Rows to skip before the header", "skip_lines", reading)
        _choose(of, "Row of units below the header", "units_row", _UNITS, reading)
    with two:
        _number(of, "Rows to leave out at the end", "skip_last", reading)
        _choose(of, "Merged cells", "fill_merged", _MERGED, reading)
    _missing(of, reading)


def _text_options(of: str, reading: Mapping[str, Any]) -> None:
    one, two, three = st.columns(3)
    with one:
        _choose(of, "Between the fields", "delimiter", _DELIMITERS, reading)
        _choose(of, "Header", "header", _HEADERS, reading)
        _number(of, "Lines to skip at the beginning", "skip_lines", reading)
    with two:
        _choose(of, "Encoding", "encoding", _ENCODINGS, reading)
        _choose(of, "Row of units below the header", "units_row", _UNITS, reading)
        _number(of, "Records to leave out at the end", "skip_last", reading)
    with three:
        _choose(of, "Decimal mark", "decimal", _DECIMALS, reading)
        _choose(of, "Around cells", "quote", _QUOTES, reading)
        _choose(of, "Lines that are comments", "comment", _COMMENTS, reading)
    _missing(of, reading)


def _choose(of: str, label: str, argument: str, options: Mapping[str, Any], reading: Mapping[str, Any]) -> None:
    """Draw a choice of one argument of the reader; ``options`` are its values by what the screen calls them."""
    key = f"u_{argument}"
    first, *_ = options.values()
    chosen = reading.get(argument, first)
    if chosen not in options.values():
        options = {**options, str(chosen): chosen}
    st.session_state[key] = next(name for name, value in options.items() if value == chosen)

    def commit() -> None:
        value = options[st.session_state[key]]
        _read_with(of, **{argument: None if value == first and argument != "sheet" else value})

    st.selectbox(label, list(options), key=key, on_change=commit)


def _number(of: str, label: str, argument: str, reading: Mapping[str, Any]) -> None:
    key = f"u_{argument}"
    st.session_state[key] = reading.get(argument, 0)
    st.number_input(
        label,
        min_value=0,
        step=1,
        key=key,
        on_change=lambda: _read_with(of, **{argument: st.session_state[key] or None}),
    )


def _missing(of: str, reading: Mapping[str, Any]) -> None:
    key = "u_missing"
    chosen = list(reading.get("missing", MISSING))
    st.session_state[key] = chosen

    def commit() -> None:
        entered = list(st.session_state[key])
        _read_with(of, missing=None if set(entered) == set(MISSING) else entered)

    st.multiselect(
        "Cells of text that count as missing, beside empty ones",
        list(dict.fromkeys([*MISSING, *chosen])),
        key=key,
        accept_new_options=True,
        on_change=commit,
        help=f"In columns of numbers, {', '.join(MISSING)} are missing in any case.",
    )


def use_survey() -> None:
    """Work on the fictitious survey as if its file had been uploaded; a callback."""
    survey = datasets.make_survey()
    tables.remember("survey.csv", digest_bytes(survey.to_csv().encode()), survey)
