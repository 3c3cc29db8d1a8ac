"""The columns of text files: what their cells become, and what there is to say of that."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_object_dtype

from microagg.tables import text_numbers
from microagg.tables.lossless import EXACT_WHOLE, TEXT, Filled, whole_numbers
from microagg.tables.notices import MISSING, Notice, Offer
from microagg.tables.text_numbers import Count, Kinds
from microagg.validation import counted, shortened

#: What stands between the cells of a chunk; no text file with this character is read.
SEPARATOR = "\0"

_SHOWN = 40

# What is in the text of a column of floats if one is written otherwise than Python writes it: a superfluous 0 at the
# end, no point, no digit before it, an exponent, or more digits than a float needs.
_RESPELLED = re.compile(r"\.[0-9]+0(?=[ \t]*\0)|\0[ \t]*-?[0-9]+(?=[ \t]*\0)|\0[ \t]*-?\.|[eE]|[0-9.]{17}")

# Texts without these, and with a point in each cell of at most _SHORT characters, hold nothing of that.
_UNUSUAL = (f"0{SEPARATOR}", f"{SEPARATOR}.", f"{SEPARATOR}-.", "e", "E", " ", "\t")
_SHORT = 16


@dataclass(frozen=True)
class _Piece:
    """The numbers in a chunk, and where there are any, shape (cells,), or None for everywhere."""

    values: NDArray[Any]
    present: NDArray[np.bool_] | None


def read_column(chunks: Sequence[str], name: str, decimal: str, missing: Sequence[str]) -> Filled:
    """Return a column whose cells stand in ``chunks``, divided by :data:`SEPARATOR`.

    Cells that are missing in a column of numbers are those in ``missing``, and in :data:`MISSING`; in a column of text
    only the former. Empty cells always are.
    """
    kinds = Kinds.none()
    absent = frozenset(["", *MISSING, *missing])
    pieces = _read_numbers(chunks, decimal, absent, kinds)
    if pieces is not None and not any(len(piece.values) for piece in pieces):
        return _without_values(chunks, name, missing)
    if pieces is not None:
        values = _together(pieces, kinds)
        if values is not None and not kinds.lossy.cells:
            respelled = _count_respelled(chunks, pieces, decimal, absent) if values.dtype.kind == "f" else Count()
            return pd.Series(values, copy=False), _respelled(name, respelled, decimal)
    absent = frozenset(["", *missing])
    notices = [] if pieces is None else [_kept_as_text(name, kinds.lossy, decimal)]
    return _texts(chunks, absent), notices + _missing_in_text(chunks, name, missing)


def is_number(cell: str, decimal: str) -> bool:
    """Whether a cell may be a number, whatever it would lose as one."""
    return text_numbers.is_number(_pointed(cell, decimal))


def is_number_but_for(chunks: Sequence[str], decimal: str) -> bool:
    """Whether all cells are numbers, apart from the first, which is none; some must be."""
    first, *rest = chunks[0].split(SEPARATOR)
    if not first.strip() or is_number(first, decimal) or first in MISSING:
        return False
    shown = [cell for cell in rest[:50] if cell not in ("", *MISSING)]
    if not shown or not all(is_number(cell, decimal) for cell in shown):
        return False
    others = [SEPARATOR.join(rest), *chunks[1:]]
    return _read_numbers(others, decimal, frozenset(["", *MISSING]), Kinds.none()) is not None


# --- numbers ----------------------------------------------------------------------------------------------------------


def _pointed(text: str, decimal: str) -> str:
    """Return cells with a point where the decimal mark stands, and a comma where a point stands; and the other way."""
    return text.translate({44: 46, 46: 44}) if decimal == "," else text


def _read_numbers(chunks: Sequence[str], decimal: str, absent: frozenset[str], kinds: Kinds) -> list[_Piece] | None:
    """Return the numbers in a column, or None if a cell is none; ``kinds`` learns what they are."""
    pieces = []
    for chunk in chunks:
        cells = _pointed(chunk, decimal).split(SEPARATOR)
        mask = None
        if not absent.isdisjoint(cells):
            mask = np.array([cell not in absent for cell in cells], dtype=np.bool_)
            cells = list(itertools.compress(cells, mask))
        values = _values(cells, kinds)
        if values is None:
            return None
        pieces.append(_Piece(values, mask))
    if kinds.powers.cells and not kinds.points:
        kinds.lossy.add(kinds.powers.example, kinds.powers.cells)
    return pieces


def _values(cells: list[str], kinds: Kinds) -> NDArray[Any] | None:
    """Return cells as whole numbers or floats, or None if one is no number; whole ones beyond 64 bits as objects."""
    if not cells:
        return np.empty(0, dtype=np.int64)
    whole = text_numbers.whole_numbers(cells)
    if whole is None and (floats := text_numbers.decimals(cells)) is not None:
        kinds.points = True
        return np.array(floats)
    if whole is None:
        text_numbers.look_at(Counter(cells).items(), kinds)
        if kinds.text:
            return None
        if kinds.lossy.cells:
            return np.zeros(len(cells))  # it will be text
        if any("." in cell or "e" in cell or "E" in cell for cell in cells):
            return np.array(list(map(float, cells)))
        whole = list(map(int, cells))
    try:
        return np.array(whole, dtype=np.int64)
    except OverflowError:
        return np.array(whole, dtype=object)


def _together(pieces: Sequence[_Piece], kinds: Kinds) -> Any:
    """Return the values of a column, or None if there is a whole number too long for them.

    Whole numbers beside missing values have pandas' nullable types.
    """
    if all(piece.values.dtype.kind != "f" for piece in pieces):
        values = _whole(pieces, kinds)
        if values is None or all(piece.present is None for piece in pieces):
            return values
        present = np.concatenate(
            [np.ones(len(piece.values), dtype=np.bool_) if piece.present is None else piece.present for piece in pieces]
        )
        spread = np.zeros(len(present), dtype=values.dtype)
        spread[present] = values
        return whole_numbers(spread, ~present)
    parts = []
    for piece in pieces:
        floats = _floats(piece.values, kinds)
        if piece.present is not None:
            spread = np.full(len(piece.present), np.nan)
            spread[piece.present] = floats
            floats = spread
        parts.append(floats)
    return np.concatenate(parts)


def _whole(pieces: Sequence[_Piece], kinds: Kinds) -> NDArray[Any] | None:
    if all(piece.values.dtype.kind == "i" for piece in pieces):
        return np.concatenate([piece.values for piece in pieces])
    values = np.concatenate([piece.values.astype(object) for piece in pieces])
    if values.min() >= 0 and values.max() < 2**64:
        return values.astype(np.uint64)
    for value in values[(values < -(2**63)) | (values >= 2**63)]:
        kinds.lossy.add(str(value))
    return None


def _floats(values: NDArray[Any], kinds: Kinds) -> NDArray[np.float64]:
    """Return values as floats; whole numbers that lose digits are counted."""
    if values.dtype.kind == "i" and (not len(values) or (values.max() <= EXACT_WHOLE and values.min() >= -EXACT_WHOLE)):
        return values.astype(np.float64)
    if values.dtype.kind == "f":
        return values
    for value in values.tolist():
        if not text_numbers.is_float(value):
            kinds.lossy.add(str(value))
    return np.array([float(str(value)) for value in values.tolist()])


# --- text -------------------------------------------------------------------------------------------------------------


def _without_values(chunks: Sequence[str], name: str, missing: Sequence[str]) -> Filled:
    """Return a column in which all cells would be missing if it had numbers: codes such as NA may be text."""
    n = sum(chunk.count(SEPARATOR) + 1 for chunk in chunks)
    if all(cell in ("", *missing) for chunk in chunks for cell in set(chunk.split(SEPARATOR))):
        return pd.Series(np.full(n, np.nan)), _missing_in_text(chunks, name, missing)
    return _texts(chunks, frozenset(["", *missing])), _missing_in_text(chunks, name, missing)


def _texts(chunks: Sequence[str], absent: frozenset[str]) -> pd.Series[Any]:
    """Return cells as text, or as booleans if all are True or False."""
    if (found := _booleans(chunks, absent)) is not None:
        return pd.Series(found)
    parts = []
    for chunk in chunks:
        cells: list[Any] = chunk.split(SEPARATOR)
        if is_object_dtype(TEXT):
            # Equal texts are one object.
            shared: dict[str, Any] = dict.fromkeys(absent, np.nan)
            cells = [shared.setdefault(cell, cell) for cell in cells]
        elif not absent.isdisjoint(cells):
            cells = [None if cell in absent else cell for cell in cells]
        parts.append(pd.Series(pd.array(cells, dtype=TEXT)))
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def _booleans(chunks: Sequence[str], absent: frozenset[str]) -> NDArray[Any] | None:
    """Return cells as booleans, beside missing values as objects; None if other cells are there.

    Only what Python and pandas write is one: ``TRUE`` would come back as ``True``.
    """
    words: dict[str, Any] = {"True": True, "False": False, **dict.fromkeys(absent, np.nan)}
    first = chunks[0].split(SEPARATOR, 1)[0]
    if first not in words or not all(words.keys() >= set(chunk.split(SEPARATOR)) for chunk in chunks):
        return None
    values = [words[cell] for chunk in chunks for cell in chunk.split(SEPARATOR)]
    kinds = set(map(type, values))
    return np.array(values, dtype=np.bool_ if kinds == {bool} else object)


# --- notices ----------------------------------------------------------------------------------------------------------


def shown(cell: str) -> str:
    """Return a cell in quotes, the beginning of a long one."""
    return repr(shortened(cell, _SHOWN))


def _kept_as_text(name: str, lossy: Count, decimal: str) -> Notice:
    cell = _pointed(lossy.example, decimal)
    text = (
        f"Column {shown(name)} is kept as text because of {counted(lossy.cells, 'cell')} such as {shown(cell)}: as a "
        f"number, {text_numbers.loss_of(lossy.example)}."
    )
    return Notice("kept-as-text", text, name, lossy.cells, cell)


def _count_respelled(chunks: Sequence[str], pieces: Sequence[_Piece], decimal: str, absent: frozenset[str]) -> Count:
    """Return how many cells of a column of floats will be written otherwise, such as ``1.50`` as 1.5, ``1`` as 1.0."""
    found = Count()
    for chunk, piece in zip(chunks, pieces, strict=True):
        text = f"{SEPARATOR}{_pointed(chunk, decimal)}{SEPARATOR}"
        if (piece.present is None and _is_usual(text)) or _RESPELLED.search(text) is None:
            continue
        for cell, times in Counter(text[1:-1].split(SEPARATOR)).items():
            if cell not in absent and repr(float(cell)) != cell.strip(" \t"):
                found.add(cell, times)
    return found


def _is_usual(text: str) -> bool:
    """Whether it is plain, without a search for a pattern, that all cells, none missing, are as Python writes them."""
    cells = text[1:-1].split(SEPARATOR)
    if text.count(".") != len(cells) or max(map(len, cells)) > _SHORT:
        return False
    return not any(sign in text for sign in _UNUSUAL)


def _respelled(name: str, respelled: Count, decimal: str) -> list[Notice]:
    if not respelled.cells:
        return []
    cell = _pointed(respelled.example, decimal)
    text = (
        f"Column {shown(name)} is read as numbers, of which {respelled.cells:,} will be written otherwise, such as "
        f"{shown(cell)} as {float(respelled.example)!r}, which is the same number."
    )
    return [Notice("respelled", text, name, respelled.cells, cell)]


def _missing_in_text(chunks: Sequence[str], name: str, missing: Sequence[str]) -> list[Notice]:
    """Return a notice of the words in a column of text that count as missing, for they may be names or codes."""
    if not missing or not any(word in chunk for word in missing for chunk in chunks):
        return []
    words = frozenset(missing)
    found = Counter(cell for chunk in chunks for cell in chunk.split(SEPARATOR) if cell in words)
    if not found:
        return []
    count, first = sum(found.values()), next(iter(found))
    text = (
        f"In column {shown(name)}, {counted(count, 'cell')} such as {shown(first)} count{'s' if count == 1 else ''} as "
        "missing. It may be text of its own, as NA is for Namibia."
    )
    kept = [word for word in missing if word not in found]
    named = ", ".join(sorted(found))
    offer = Offer(f"Take {named} as text", {"missing": kept})
    return [Notice("missing-words", text, name, count, first, (offer,))]
