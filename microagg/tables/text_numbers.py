"""Numbers as text files write them: which cells are numbers, and whether a number keeps all that a cell says.

A number that is released as it was read must say what its cell said. So ``01067``, ``+49``, ``10E2`` and numbers with
more digits than a float holds are no plain numbers, although they could be read as such.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal

from microagg.tables.lossless import EXACT_DIGITS, EXACT_WHOLE

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


@dataclass
class Count:
    """How many cells are of some kind, and the first of them."""

    cells: int = 0
    example: str = ""

    def add(self, cell: str, cells: int = 1) -> None:
        """Count a cell that occurs ``cells`` times."""
        self.example = self.example or cell
        self.cells += cells


@dataclass
class Kinds:
    """What the cells of a column are.

    Attributes
    ----------
    text : bool
        Some cell is no number at all; nothing else is known then.
    points : bool
        Some cell has digits after a point.
    lossy : Count
        Cells that would lose something as a number.
    powers : Count
        Powers of ten, which are numbers in a column with decimals only: ``1e5`` may be a code.
    """

    text: bool
    points: bool
    lossy: Count
    powers: Count

    @classmethod
    def none(cls) -> Kinds:
        """Return what is known before any cell is looked at."""
        return cls(False, False, Count(), Count())


def is_number(cell: str) -> bool:
    """Whether a cell may be a number, whatever it would lose as one."""
    return _ANY.fullmatch(cell.strip(_BLANKS)) is not None


def is_plain(cell: str) -> bool:
    """Whether a cell is a number that loses nothing, but perhaps some digits."""
    stripped = cell.strip(_BLANKS)
    return (_WHOLE.fullmatch(stripped) or _DECIMAL.fullmatch(stripped) or _POWER.fullmatch(stripped)) is not None


def whole_numbers(cells: Collection[str]) -> list[int] | None:
    """Return cells as whole numbers if each is written as Python writes it."""
    try:
        values = list(map(int, cells))
    except ValueError:
        return None
    return values if list(map(str, values)) == cells else None


def decimals(cells: list[str]) -> list[float] | None:
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


def look_at(cells: Iterable[tuple[str, int]], kinds: Kinds) -> None:
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
            if not is_float(int(cell)):
                kinds.lossy.add(cell, times)


def is_float(value: int) -> bool:
    """Whether a float is written with the digits of a whole number."""
    return abs(value) <= EXACT_WHOLE or Decimal(repr(float(value))) == value


def _keeps(text: str) -> bool:
    """Whether the float of ``text`` has all its digits.

    ``0.10000000000000001`` has the digits of the float 0.1, so nothing is lost, though it is written as 0.1.
    """
    digits = re.split("[eE]", text)[0].replace(".", "").lstrip("-0")
    value = float(text)
    if math.isinf(value) or (value == 0 and digits) or len(digits) > _MOST_DIGITS:
        return False
    if len(digits) <= EXACT_DIGITS and (value == 0 or abs(value) > 1e-300):
        return True
    return Decimal(text) in (Decimal(repr(value)), Decimal(f"{value:.{len(digits) - 1}e}"))


def loss_of(cell: str) -> str:
    """Return what a cell would lose as a number: the end of a sentence about "it"."""
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
