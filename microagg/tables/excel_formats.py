"""Number formats of Excel: whether a cell shows its number, or a date, a code with leading zeros, a percentage.

The codes are those of ECMA-376, part 1, 18.8.30 and 18.8.31.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

# What a number format makes of a number.
PLAIN, DATE, TIME, DURATION, ZEROS, PERCENT, SCALED, WORDS = range(8)

# Formats that workbooks name by their number only. Those of East Asia (27 to 36, 50 to 58) are dates everywhere, in
# ways that depend on the language of Excel.
_BUILT_IN = {
    **{1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??"},
    **{14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM"},
    **{20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 49: "@"},
    **dict.fromkeys((*range(27, 37), *range(50, 59)), "yyyy-mm-dd"),
}

# Text in quotes or after a backslash, a blank as wide as a character, a character repeated to fill the cell, what
# stands in brackets, and the rest one by one.
_TOKEN = re.compile(r'"([^"]*)"?|\\(.)|_.|\*.|\[([^\]]*)\]|(General|AM/PM|A/P|[Ee][+-])|(.)', re.DOTALL | re.IGNORECASE)


_CURRENCIES = "$€£¥₹₽₩₺"


@dataclass(frozen=True)
class Format:
    """What a number format shows.

    Attributes
    ----------
    kind : int
        One of PLAIN, DATE (with a time or without), TIME, DURATION, ZEROS (whole numbers with leading zeros), PERCENT,
        SCALED (in thousands or millions), WORDS (text in place of the number).
    unit : str
        The letters and signs of currencies that stand beside the number.
    places : tuple of str
        The digits of ZEROS and what stands between them, from the left: ``0``, ``#``, ``?`` or ``=`` and a text.
    """

    kind: int = PLAIN
    unit: str = ""
    places: tuple[str, ...] = ()

    def code(self, number: int) -> str:
        """Return a whole number of at least 0 as a format of kind ZEROS shows it."""
        digits = str(number)
        shown: list[str] = []
        left = sum(place in "0#?" for place in self.places)
        for place in reversed(self.places):
            if place[0] == "=":
                shown.append(place[1:])
                continue
            left -= 1
            # The first place takes all digits that are left.
            taken, digits = (digits[-1:], digits[:-1]) if left else (digits, "")
            shown.append(taken or {"0": "0", "?": " ", "#": ""}[place])
        return "".join(reversed(shown)).strip()


@lru_cache(maxsize=1024)
def format_of(number: int, code: str | None) -> Format:
    """Return what the format with this number, and a code if the workbook has one, makes of positive numbers."""
    code = _BUILT_IN.get(number, "") if code is None else code
    return _read(code)


def _read(code: str) -> Format:
    """Return what the first section of a code does, which is that of positive numbers."""
    signs, unit = "", ""
    places: list[str] = []
    for found in _TOKEN.finditer(code):
        quoted, escaped, bracket, word, sign = found.groups()
        literal = quoted or escaped
        if bracket is not None:
            # A currency such as [$€-407], an elapsed time such as [h], or a color, a condition or a language.
            literal = bracket[1:].partition("-")[0] if bracket.startswith("$") else None
            signs += "D" if re.fullmatch(r"h+|m+|s+", bracket, re.IGNORECASE) else ""
        elif word is not None:
            signs += {"general": "G", "am/pm": "h", "a/p": "h"}.get(word.lower(), "E")
        elif sign == ";":
            break
        elif sign is not None and sign.lower() in "0#?ymdhsegb.,%/@":
            signs += sign.lower()
            places.append(sign if sign in "0#?" else f"={sign}")
        else:
            literal = literal or sign
        if literal:
            unit += literal
            places.append(f"={literal}")
    kind = _kind(signs) if code.strip() else PLAIN
    unit = "".join(letter for letter in unit if letter.isalpha() or letter in _CURRENCIES)
    return Format(kind, unit, tuple(places) if kind == ZEROS else ())


def _kind(signs: str) -> int:
    """Return the kind of a section from its signs without text: G is General, E an exponent, D an elapsed time."""
    letters = set(signs) & set("ymdhsegb")
    if "D" in signs:
        return DURATION
    if letters and not set(signs) & set("#?"):
        # Months and minutes have the same letter.
        return TIME if letters <= set("hms") and letters != {"m"} else DATE
    if "%" in signs:
        return PERCENT
    if not set(signs) & set("0#?"):
        return PLAIN if set(signs) & set("G@") else WORDS
    # Commas behind the last digit divide by thousands.
    if re.search(r",(\.|$)", re.sub(r"[^0#?.,]", "", signs)):
        return SCALED
    return ZEROS if set(signs) <= set("0#?") and signs.count("0") > 1 else PLAIN
