"""What columns are called in files whose programs do not take every name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from microagg.errors import DataError


class _Rule(NamedTuple):
    """Which names a program takes: ``others`` are characters beside letters and digits, ``firsts`` may begin a name."""

    program: str
    others: str
    firsts: str
    reserved: frozenset[str]
    most: int
    size: Callable[[str], int]
    key: Callable[[str], str]
    label: int


def _bytes(text: str) -> int:
    return len(text.encode())


# help varname of Stata, and what pandas keeps from being a name beyond that.
_STATA_WORDS = """
    _all _b _coef _cons _n _N _pi _pred _rc _se _skip byte double float if in int long strL using with
    aggregate array boolean break case catch class colvector complex const continue default delegate delete do else
    eltypedef end enum explicit export external for friend function global goto inline local NULL pragma protected quad
    rowvector short typedef typename virtual
"""
_SPSS_WORDS = "ALL AND BY EQ GE GT LE LT NE NOT OR TO WITH"

_RULES = {
    ".dta": _Rule("Stata", "_", "_", frozenset(_STATA_WORDS.split()), 32, len, str, 80),
    ".sav": _Rule("SPSS", "_.@#$", "@", frozenset(_SPSS_WORDS.lower().split()), 64, _bytes, str.lower, 255),
}


def file_names(names: Sequence[str], ending: str) -> list[str]:
    """Return what the columns ``names`` are called in a file with this ending, in the same order.

    Names in .csv, .parquet and .xlsx files are free. In a name for Stata (.dta) or SPSS (.sav), every character that
    is no letter, digit or ``_`` (for SPSS also ``.``, ``@``, ``#`` and ``$``) becomes ``_``. A name gets ``v_`` before
    it if it begins with another character than a letter (for Stata also ``_``, for SPSS ``@``), is a word of the
    program's language, or nothing but ``_``. What is longer than 32 characters (Stata) or 64 bytes (SPSS) is cut.
    Where two names become the same, the later one gets ``_2``, ``_3`` and so on at its end; names that are fine as
    they are always stay. SPSS does not tell ``a`` from ``A``.

    Raises
    ------
    DataError
        If a name that has to be changed is too long for the label which keeps it, 80 characters in Stata and 255
        bytes in SPSS.
    """
    rule = _RULES.get(ending)
    if rule is None:
        return list(names)
    fitted = [_fit(name, rule) for name in names]
    taken: set[str] = set()
    # Names that are fine come first, so that no changed name drives one of them out.
    for name, fit in zip(names, fitted, strict=True):
        if name == fit:
            taken.add(rule.key(name))
    kept: set[str] = set()
    result = []
    for name, fit in zip(names, fitted, strict=True):
        if name == fit and rule.key(name) not in kept:
            kept.add(rule.key(name))
            result.append(name)
            continue
        final = _free(fit, taken, rule)
        taken.add(rule.key(final))
        _check_label(name, final, rule, ending)
        result.append(final)
    return result


def _fit(name: str, rule: _Rule) -> str:
    fit = "".join(c if _is_letter(c) or c in "0123456789" or c in rule.others else "_" for c in name)
    if not fit.strip("_") or not (_is_letter(fit[0]) or fit[0] in rule.firsts) or _is_reserved(fit, rule):
        fit = f"v_{fit}"
    fit = _cut(fit, rule.most, rule)
    # SPSS takes a full stop at the end for the end of a command.
    return f"{fit[:-1]}_" if fit.endswith(".") else fit


def _is_letter(character: str) -> bool:
    return character.isalpha() and (character.isascii() or ord(character) >= 192)


def _is_reserved(name: str, rule: _Rule) -> bool:
    # Stata's own types of text are str1 to str2045.
    return rule.key(name) in rule.reserved or (rule.program == "Stata" and name[:3] == "str" and name[3:].isdigit())


def _cut(name: str, most: int, rule: _Rule) -> str:
    while rule.size(name) > most:
        name = name[:-1]
    return name


def _free(name: str, taken: Iterable[str], rule: _Rule) -> str:
    number, candidate = 1, name
    while rule.key(candidate) in taken:
        number += 1
        suffix = f"_{number}"
        candidate = _cut(name, rule.most - len(suffix), rule) + suffix
    return candidate


def _check_label(name: str, final: str, rule: _Rule, ending: str) -> None:
    if rule.size(name) > rule.label:
        unit = "characters" if rule.size is len else "bytes"
        raise DataError(
            f"column {name[:40] + '…'!r} is called {final!r} in {ending} files, and its full name is longer than the "
            f"{rule.label} {unit} of a label in {rule.program}: give it a shorter name first."
        )
