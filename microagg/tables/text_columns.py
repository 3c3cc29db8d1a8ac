"""The columns of text files: which become numbers, what a cell would lose as one, and what there is to say of that.

A number that is released as it was read must say what its cell said. So ``01067``, ``+49``, ``10E2`` and numbers with
more digits than a float holds are no plain numbers, although they could be read as such.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.tables.lossless import EXACT_DIGITS, EXACT_WHOLE, Filled, texts, whole_numbers
from microagg.tables.notices import MISSING, Notice, Offer
from microagg.validation import counted, shortened

#: What stands between the cells of a chunk; no text file with this character is read.
SEPARATOR = "\0"

_SHOWN = 40
_BLANKS = " \t"

# No float has more digits than this.
_MOST_DIGITS = 800

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)?\.[0-9]+")
# Powers of ten as programs write them; 10E2 is more likely a code.
_POWER = re.compile(r"-?(?:[0-9]|(?:0|[1-9][0-9]*)?\.[0-9]+)[eE][+-]?[0-9]+")
_ANY = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?)", re.IGNORECASE)

# Cells of one column, each followed by a zero character: plain decimal numbers.
_DECIMALS = re.compile(r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?\0)*+")

# What is in the text of a column of floats if one is written otherwise than Python writes it: a superfluous 0 at the
# end, no point, no digit before it, an exponent, or more digits than a float needs.
_RESPELLED = re.compile(r"\.[0-9]+0(?=[ \t]*\0)|\0[ \t]*-?[0-9]+(?=[ \t]*\0)|\0[ \t]*-?\.|[eE]|[0-9.]{17}")

# Texts without these, and with a point in each cell of at most _SHORT characters, hold nothing of that.
_UNUSUAL = (f"0{SEPARATOR}", f"{SEPARATOR}.", f"{SEPARATOR}-.", "e", "E", " ", "\t")
_SHORT = 16


@dataclass
class _Count:
    """How many cells are of some kind, and the first of them."""

    cells: int = 0
    example: str = ""

    def add(self, cell: str, cells: int = 1) -> None:
        self.example = self.example or cell
        self.cells += cells


@dataclass
class _Kinds:
    """What the cells of a column are."""

    text: bool = False  # some cell is no number at all; nothing else is known then
    points: bool = False  # some cell has digits after a point
    lossy: _Count = field(default_factory=_Count)  # cells that would lose something as a number
    powers: _Count = field(default_factory=_Count)  # of ten, numbers beside decimals only: 1e5 may be a code


class _Piece(NamedTuple):
    """The numbers in a chunk, and where there are any, shape (cells,), or None for everywhere."""

    values: NDArray[Any]
    present: NDArray[np.bool_] | None


def read_column(chunks: Sequence[str], name: str, decimal: str, missing: Sequence[str]) -> Filled:
    """Return a column whose cells stand in ``chunks``, divided by :data:`SEPARATOR`.

    Cells that are missing in a column of numbers are those in ``missing``, and in :data:`MISSING`; in a column of text
    only the former. Empty cells always are.
    """
    kinds = _Kinds()
    absent, no_number = frozenset(["", *missing]), frozenset(["", *MISSING, *missing])
    pieces = _read_numbers(chunks, decimal, no_number, kinds)
    notices: list[Notice] = []
    if pieces is not None and any(len(piece.values) for piece in pieces):
        values = _together(pieces, kinds)
        if values is not None and not kinds.lossy.cells:
            is_float = values.dtype.kind == "f"
            notices = _respelled(chunks, pieces, name, decimal, no_number) if is_float else []
            return pd.Series(values, copy=False), notices
        notices = [_kept_as_text(name, kinds.lossy, decimal)]
    elif pieces is not None and all(absent.issuperset(chunk.split(SEPARATOR)) for chunk in chunks):
        n = sum(chunk.count(SEPARATOR) + 1 for chunk in chunks)
        return pd.Series(np.full(n, np.nan)), _missing_in_text(chunks, name, missing)
    return _texts(chunks, absent), notices + _missing_in_text(chunks, name, missing)


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell may be a number, whatever it would lose as one."""
    return _ANY.fullmatch(_pointed(cell, decimal).strip(_BLANKS)) is not None


def is_number_but_for(chunks: Sequence[str], decimal: str) -> bool:
    """Whether all cells are numbers, apart from the first, which is none; some must be."""
    first, *rest = chunks[0].split(SEPARATOR)
    if not first.strip() or is_number(first, decimal) or first in MISSING:
        return False
    sample = [cell for cell in rest[:50] if cell not in ("", *MISSING)]
    if not sample or not all(is_number(cell, decimal) for cell in sample):
        return False
    others = [SEPARATOR.join(rest), *chunks[1:]]
    return _read_numbers(others, decimal, frozenset(["", *MISSING]), _Kinds()) is not None


def _pointed(text: str, decimal: str) -> str:
    """Return cells with a point where the decimal mark stands, and a comma where a point stands; and the other way."""
    return text.translate({44: 46, 46: 44}) if decimal == "," else text


def _read_numbers(chunks: Sequence[str], decimal: str, absent: frozenset[str], kinds: _Kinds) -> list[_Piece] | None:
    """Return the numbers in a column, or None if a cell is none; ``kinds`` is filled with what they are."""
    pieces = []
    for chunk in chunks:
        cells = _pointed(chunk, decimal).split(SEPARATOR)
        present = None
        if not absent.isdisjoint(cells):
            present = np.array([cell not in absent for cell in cells], dtype=np.bool_)
            cells = list(itertools.compress(cells, present))
        values = _values(cells, kinds)
        if values is None:
            return None
        pieces.append(_Piece(values, present))
    if kinds.powers.cells and not kinds.points:
        kinds.lossy.add(kinds.powers.example, kinds.powers.cells)
    return pieces


def _values(cells: list[str], kinds: _Kinds) -> NDArray[Any] | None:
    """Return cells as whole numbers or floats, or None if one is no number; whole ones beyond 64 bits as objects."""
    if not cells:
        return np.empty(0, dtype=np.int64)
    whole = _python_integers(cells)
    if whole is None and (floats := _exact_floats(cells)) is not None:
        kinds.points = True
        return np.array(floats)
    if whole is None:
        _look_at(Counter(cells).items(), kinds)
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


def _python_integers(cells: Collection[str]) -> list[int] | None:
    """Return cells as whole numbers if each is written as Python writes it."""
    try:
        values = list(map(int, cells))
    except ValueError:
        return None
    return values if list(map(str, values)) == cells else None


def _exact_floats(cells: list[str]) -> list[float] | None:
    """Return cells as floats if it is plain that each loses nothing."""
    try:
        values = list(map(float, cells))
    except ValueError:
        return None
    if max(map(len, cells)) <= EXACT_DIGITS:
        plain = _DECIMALS.fullmatch("\0".join(cells) + "\0")
        return values if plain and "-0" not in cells else None
    # A program wrote them with the fewest digits that tell floats apart.
    return values if list(map(repr, values)) == cells and all(map(math.isfinite, values)) else None


def _look_at(cells: Iterable[tuple[str, int]], kinds: _Kinds) -> None:
    """Add to ``kinds`` what distinct cells are, each with how often it occurs."""
    long: list[tuple[str, int]] = []
    for cell, times in cells:
        text = cell.strip(_BLANKS)
        if _WHOLE.fullmatch(text):
            if text == "-0" or len(text) > _MOST_DIGITS:
                kinds.lossy.add(cell, times)
            elif len(text) > EXACT_DIGITS:
                long.append((cell, times))
        elif _DECIMAL.fullmatch(text) or _POWER.fullmatch(text):
            if not _keeps(text):
                kinds.lossy.add(cell, times)
            if "." in text:
                kinds.points = True
            else:
                kinds.powers.add(cell, times)
        elif _ANY.fullmatch(text):
            kinds.lossy.add(cell, times)
        else:
            kinds.text = True
            return
    if kinds.points:
        for cell, times in long:
            if not _is_float(int(cell)):
                kinds.lossy.add(cell, times)


def _is_float(value: int) -> bool:
    """Whether a float is written with the digits of a whole number."""
    return abs(value) <= EXACT_WHOLE or Decimal(repr(float(value))) == value


def _keeps(text: str) -> bool:
    """Whether the float of ``text`` has all its digits, as that of 0.10000000000000001 has, written as 0.1."""
    digits = re.split("[eE]", text)[0].replace(".", "").lstrip("-0")
    value = float(text)
    if math.isinf(value) or (value == 0 and digits) or len(digits) > _MOST_DIGITS:
        return False
    if len(digits) <= EXACT_DIGITS and (value == 0 or abs(value) > 1e-300):
        return True
    return Decimal(text) in (Decimal(repr(value)), Decimal(f"{value:.{len(digits) - 1}e}"))


def _together(pieces: Sequence[_Piece], kinds: _Kinds) -> Any:
    """Return the values of a column, or None if there is a whole number too long for them."""
    whole = all(piece.values.dtype.kind != "f" for piece in pieces)
    values = _whole(pieces, kinds) if whole else np.concatenate([_floats(piece.values, kinds) for piece in pieces])
    if values is None or all(piece.present is None for piece in pieces):
        return values
    present = np.concatenate(
        [np.ones(len(piece.values), dtype=np.bool_) if piece.present is None else piece.present for piece in pieces]
    )
    spread = np.full(len(present), 0 if whole else np.nan, dtype=values.dtype)
    spread[present] = values
    return whole_numbers(spread, ~present) if whole else spread


def _whole(pieces: Sequence[_Piece], kinds: _Kinds) -> NDArray[Any] | None:
    if all(piece.values.dtype.kind == "i" for piece in pieces):
        return np.concatenate([piece.values for piece in pieces])
    values = np.concatenate([piece.values.astype(object) for piece in pieces])
    if values.min() >= 0 and values.max() < 2**64:
        return values.astype(np.uint64)
    for value in values[(values < -(2**63)) | (values >= 2**63)]:
        kinds.lossy.add(str(value))
    return None


def _floats(values: NDArray[Any], kinds: _Kinds) -> NDArray[np.float64]:
    """Return values as floats; whole numbers that lose digits are counted."""
    if values.dtype.kind == "i" and (not len(values) or (values.max() <= EXACT_WHOLE and values.min() >= -EXACT_WHOLE)):
        return values.astype(np.float64)
    if values.dtype.kind == "f":
        return values
    for value in values.tolist():
        if not _is_float(value):
            kinds.lossy.add(str(value))
    return np.array([float(str(value)) for value in values.tolist()])


def _texts(chunks: Sequence[str], absent: frozenset[str]) -> pd.Series[Any]:
    """Return cells as text; as booleans (beside gaps objects) if all are as Python writes them: ``TRUE`` is text."""
    words: dict[str, Any] = {"True": True, "False": False, **dict.fromkeys(absent, np.nan)}
    first = chunks[0].split(SEPARATOR, 1)[0]
    if first in words and all(words.keys() >= set(chunk.split(SEPARATOR)) for chunk in chunks):
        values = [words[cell] for chunk in chunks for cell in chunk.split(SEPARATOR)]
        return pd.Series(np.array(values, dtype=np.bool_ if set(map(type, values)) == {bool} else object))
    parts = []
    for chunk in chunks:
        shared: dict[str, str | None] = dict.fromkeys(absent)  # equal texts are one object
        parts.append(texts([shared.setdefault(cell, cell) for cell in chunk.split(SEPARATOR)]))
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def shown(cell: str) -> str:
    """Return a cell in quotes, the beginning of a long one."""
    return repr(shortened(cell, _SHOWN))


def _kept_as_text(name: str, lossy: _Count, decimal: str) -> Notice:
    cell = _pointed(lossy.example, decimal)
    text = (
        f"Column {shown(name)} is kept as text because of {counted(lossy.cells, 'cell')} such as {shown(cell)}: as a "
    )
    return Notice("kept-as-text", f"{text}number, {_loss_of(lossy.example)}.", name, lossy.cells, cell)


def _loss_of(cell: str) -> str:
    """Return what a cell would lose as a number: the end of a sentence."""
    text = cell.strip(_BLANKS)
    if text.lower().lstrip("+-").startswith("inf"):
        return "it would be infinite"
    if text.startswith("+"):
        return "it would lose its plus sign"
    if re.match(r"-?0[0-9]", text):
        return "it would lose the 0 at its beginning"
    if text == "-0":
        return "it would lose its minus sign"
    if re.fullmatch(r"-?[0-9]+\.", text):
        return "it would lose its full stop"
    if math.isinf(float(text)):
        return "it would be infinite"
    if re.search("[eE]", text) and len(text) <= EXACT_DIGITS:
        return f"it would become {float(text):,.15g}"
    return "it would lose digits"


def _respelled(
    chunks: Sequence[str], pieces: Sequence[_Piece], name: str, decimal: str, absent: frozenset[str]
) -> list[Notice]:
    """Return a notice of the cells of a column of floats that will be written otherwise: ``1.50`` as 1.5, 1 as 1.0."""
    respelled = _Count()
    for chunk, piece in zip(chunks, pieces, strict=True):
        text = f"{SEPARATOR}{_pointed(chunk, decimal)}{SEPARATOR}"
        if (piece.present is None and _is_usual(text)) or _RESPELLED.search(text) is None:
            continue
        for cell, times in Counter(text[1:-1].split(SEPARATOR)).items():
            if cell not in absent and repr(float(cell)) != cell.strip(_BLANKS):
                respelled.add(cell, times)
    if not respelled.cells:
        return []
    cell = _pointed(respelled.example, decimal)
    text = (
        f"Column {shown(name)} is read as numbers, of which {respelled.cells:,} will be written otherwise, such as "
        f"{shown(cell)} as {float(respelled.example)!r}, which is the same number."
    )
    return [Notice("respelled", text, name, respelled.cells, cell)]


def _is_usual(text: str) -> bool:
    """Whether it is plain, without a search for a pattern, that all cells, none missing, are as Python writes them."""
    cells = text[1:-1].split(SEPARATOR)
    if text.count(".") != len(cells) or max(map(len, cells)) > _SHORT:
        return False
    return not any(sign in text for sign in _UNUSUAL)


def _missing_in_text(chunks: Sequence[str], name: str, missing: Sequence[str]) -> list[Notice]:
    """Return a notice of the words in a column of text that count as missing, for they may be names or codes."""
    if not any(word in chunk for word in missing for chunk in chunks):
        return []
    counting = frozenset(missing)
    words = Counter(cell for chunk in chunks for cell in chunk.split(SEPARATOR) if cell in counting)
    if not words:
        return []
    count, first = words.total(), next(iter(words))
    text = (
        f"In column {shown(name)}, {counted(count, 'cell')} such as {shown(first)} count{'s' if count == 1 else ''} as "
        "missing. It may be text of its own, as NA is for Namibia."
    )
    kept = [word for word in missing if word not in words]
    offer = Offer(f"Take {', '.join(sorted(words))} as text", {"missing": kept})
    return [Notice("missing-words", text, name, count, first, (offer,))]
