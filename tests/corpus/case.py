"""What one bad file of the corpus is, and what is to become of it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from microagg.errors import DataError
from microagg.tables import Offer, UnreadableError, read_file


@dataclass(frozen=True)
class Case:
    """A file that somebody may choose, and the outcomes that are right."""

    name: str  # what is wrong with it
    file: str
    make: Callable[[], bytes]  # returns its bytes
    # If it is read: the cells of the columns as text, or its numbers of records and columns if it is long.
    cells: dict[str, list[str | None]] | None = None
    shape: tuple[int, int] | None = None
    says: str = ""  # if it is read: a pattern of one of the notices; without it there must be none
    refuses: str = ""  # a pattern of the refusal; together with ``says`` or ``cells``, either outcome is right
    reading: dict[str, Any] = field(default_factory=dict)  # arguments of read_file
    offer: str = ""  # a pattern of the first of the offers, by which the table with these ``cells`` is read
    done: str = ""  # if there is an offer: a pattern of a sentence on what was left out, mended or named
    heavy: bool = False  # whether it claims much more than it has, so that its memory is measured
    page: bool = False  # whether it is uploaded on the page, too


def texts_of(series):
    """Return the cells of a column as text, None where there is no value; whole days and whole numbers as such."""
    cells = [None if absent else str(cell) for cell, absent in zip(series, series.isna(), strict=True)]
    for tail in (" 00:00:00", ".0"):
        if all(cell is None or cell.endswith(tail) for cell in cells) and series.dtype.kind in "Mf":
            cells = [cell and cell.removesuffix(tail) for cell in cells]
    return cells


def offers_of(case: Case, data: bytes) -> list[Offer]:
    """Return what is offered of a file, whether it is read or not, in the order of the screen."""
    try:
        notices = read_file(data, name=case.file, **case.reading).notices
    except UnreadableError as error:
        return list(error.offers)
    return [offer for notice in notices for offer in notice.offers]


def check_offer(case: Case, data: bytes) -> None:
    """Read the file of a case by its first offer, and assert that this is the table that is meant."""
    first = offers_of(case, data)[0]
    assert re.search(case.offer, first.label), first.label
    reading = read_file(data, name=case.file, **{**case.reading, **first.reading})
    assert {name: texts_of(reading.frame[name]) for name in reading.frame} == case.cells
    done = [notice.text for notice in reading.done]
    assert any(re.search(case.done, text) for text in done) if case.done else not done, done
    if case.done:
        # A report has these sentences, and no value of the file.
        values = {cell for cells in (case.cells or {}).values() for cell in cells if cell and len(cell) > 4}
        assert not [value for value in values for text in done if value in text]


def check(case: Case, data: bytes) -> None:
    """Read the file of a case, and assert that what becomes of it is right."""
    if case.offer:
        check_offer(case, data)
        return
    try:
        reading = read_file(data, name=case.file, **case.reading)
    except DataError as error:
        message = str(error)
        assert case.refuses, f"refused: {message}"
        assert re.search(case.refuses, message, re.IGNORECASE), message
        # One sentence that a person can act upon.
        assert "\n" not in message
        assert message.endswith(".")
        assert len(message) < 1500
        return
    said = [notice.text for notice in reading.notices]
    frame = reading.frame
    assert case.cells is not None or case.shape or case.says, f"read, though it should be refused: {frame.head()}"
    if case.shape:
        assert frame.shape == case.shape
    if case.cells is not None:
        assert {name: texts_of(frame[name]) for name in frame} == case.cells
    if case.says:
        assert any(re.search(case.says, text, re.IGNORECASE | re.DOTALL) for text in said), said
    else:
        assert said == []
