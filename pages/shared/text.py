"""Words and numbers for the screen. Column names, cell values and file names are untrusted text: escape them.

Labels of widgets are an exception, as browsers read out the backslashes: a label with untrusted text is not escaped
but hidden (``label_visibility="collapsed"``).
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

import numpy as np

from microagg.columns import Column, dates
from microagg.columns.records import Attribute
from microagg.optimum.formatting import describe_gap, describe_released, number, percent
from microagg.validation import listing, shortened

__all__ = [
    "count",
    "describe_gap",
    "describe_released",
    "escape_html",
    "escape_markdown",
    "file_name",
    "kind_title",
    "listing",
    "named",
    "number",
    "percent",
    "sentence",
    "shortened",
    "unbroken",
    "value",
]

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:^&])")

# What a line must not end within: 20 %, k = 5.
_UNBROKEN = re.compile(r"(?<=\d) (?=%)|(?<=\bk) (?==)|(?<=\bk =) ")

# Markdown makes links of addresses even if their signs are escaped: a word joiner, which has no width, prevents that.
_ADDRESS = re.compile(r"(?i)(https?|www|@)(?=[:.\w])")


def escape_markdown(text: object) -> str:
    """Return ``text`` so that Streamlit's Markdown shows it literally, without links."""
    return _MARKDOWN.sub(r"\\\1", _ADDRESS.sub("\\1\u2060", unbroken(text)))


def unbroken(text: object) -> str:
    """Return ``text`` in one line that is not broken within 20 % and k = 5."""
    return _UNBROKEN.sub("\u00a0", " ".join(str(text).split()))


def sentence(error: object) -> str:
    """Return an error's message as a sentence for Markdown, with ``k=1000`` as pages write it."""
    message = re.sub(r"\bk=(\d+)", lambda k: f"k = {int(k[1]):,}", str(error))
    return escape_markdown(message[:1].upper() + message[1:])


def escape_html(text: object) -> str:
    """Return ``text`` so that Plotly, which reads a little HTML, shows it literally."""
    return html.escape(str(text), quote=False)


def value(attribute: Attribute, code: float) -> str:
    """Return the value of an attribute that records hold as ``code``."""
    if attribute.taxonomy is not None:
        return attribute.taxonomy.names[int(code)]
    if attribute.levels:
        return attribute.levels[int(code)]
    unit = getattr(attribute, "unit", "")
    return str(np.datetime64(round(code), "D").astype(f"M8[{unit[0].upper()}]")) if unit else number(code)


def kind_title(column: Column, kind: str, form: str) -> str:
    """Return the title of a kind with its form, with an example where numbers can be read in two ways."""
    if form in dates.FORMS:
        first = {None: "", True: ", day first", False: ", month first"}[dates.day_first(form)]
        return f"Date{first}{', released as year' if dates.unit(form) == 'year' else ''}"
    examples = {read.notation: f": {read.example} is {read.number}" for read in column.offers}
    return kind.capitalize() + (examples.get(form, "") if len(examples) > 1 else "")


def count(n: int, noun: str, plural: str = "") -> str:
    """Return ``1 record``, ``1,080 records``."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def named(names: Sequence[object]) -> str:
    """Return ``'a', 'b' and 3 more``: names in quotes, those beyond six as a number."""
    return listing([repr(shortened(name)) for name in names], 6)


# Names that Windows keeps for devices, with any ending.
_DEVICES = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)
_LONGEST = 150  # bytes of a name, within the 255 of a file system, with room for an ending


def file_name(text: object) -> str:
    """Return ``text`` as a name for every file system, without an ending."""
    clean = re.sub(r"[^\w.-]+", "_", str(text)).encode()[:_LONGEST].decode(errors="ignore")
    name = clean.strip("._-") or "file"  # a leading - would be a flag of a command
    return f"_{name}" if _DEVICES.fullmatch(name) else name
