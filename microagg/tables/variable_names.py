"""Names of variables in files of Stata and SPSS, which do not allow every name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from microagg.tables import limits


class _Rule(NamedTuple):
    """The names that a program allows."""

    ending: str
    others: str  # allowed characters besides letters and digits
    firsts: str  # the same at the beginning
    reserved: frozenset[str]
    key: Callable[[str], str]  # equal for names that count as the same


# Stata's help varname, and further names that pandas does not allow.
_STATA_WORDS = """
    _all _b _coef _cons _n _N _pi _pred _rc _se _skip byte double float if in int long strL using with
    aggregate array boolean break case catch class colvector complex const continue default delegate delete do else
    eltypedef end enum explicit export external for friend function global goto inline local NULL pragma protected quad
    rowvector short typedef typename virtual
"""
_SPSS_WORDS = frozenset(("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"))

_RULES = {
    ".dta": _Rule(".dta", "_", "_", frozenset(_STATA_WORDS.split()), str),
    ".sav": _Rule(".sav", "_.@#$", "@", _SPSS_WORDS, str.lower),
}


def file_names(names: Sequence[str], ending: str) -> list[str]:
    """Names of the columns ``names`` in a file with this ending, in the same order.

    A name gets ``v_`` before it if the program does not allow its first character, or it is a reserved word, or only
    ``_``. If two names become the same, the later one gets ``_2``, ``_3`` and so on at its end; allowed names are never
    changed.
    """
    rule = _RULES.get(ending)
    if rule is None:
        return list(names)
    fitted = [_fit(name, rule) for name in names]
    # Allowed names come first, so that no changed name replaces one of them.
    taken = {rule.key(name) for name, fitted_name in zip(names, fitted, strict=True) if name == fitted_name}
    used: set[str] = set()
    finals = []
    for name, final in zip(names, fitted, strict=True):
        if name == final and rule.key(name) not in used:
            used.add(rule.key(name))
        else:
            number, stem = 1, final
            while rule.key(final) in taken:
                number += 1
                final = f"{limits.cut(stem, ending, 'name', room=len(f'_{number}'))}_{number}"
            taken.add(rule.key(final))
        finals.append(final)
    return finals


def _fit(name: str, rule: _Rule) -> str:
    fit = "".join(c if _is_letter(c) or c in "0123456789" or c in rule.others else "_" for c in name)
    starts = fit.strip("_") and (_is_letter(fit[0]) or fit[0] in rule.firsts)
    # Stata's own types of text are str1 to str2045.
    is_type = rule.ending == ".dta" and fit[:3] == "str" and fit[3:].isdigit()
    fit = fit if starts and not is_type and rule.key(fit) not in rule.reserved else f"v_{fit}"
    fit = limits.cut(fit, rule.ending, "name")
    # SPSS reads a full stop at the end as the end of a command.
    return f"{fit[:-1]}_" if fit.endswith(".") else fit


def _is_letter(character: str) -> bool:
    return character.isalpha() and (character.isascii() or ord(character) >= 192)
