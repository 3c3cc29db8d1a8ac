"""Checks on what measures of risk are given; each failure is one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import ParameterError
from microagg.validation import is_whole


def check_attributes(attributes: Sequence[int], d: int) -> list[int]:
    """Return positions of some of ``d`` attributes, or raise :class:`ParameterError` naming what is wrong."""
    chosen = list(attributes)
    if not chosen:
        raise ParameterError("attributes is empty: name at least one that the intruder knows.")
    for position in chosen:
        if not is_whole(position) or not 0 <= position < d:
            raise ParameterError(f"attributes must be whole numbers from 0 to {d - 1}, not {position!r}.")
    if len(set(chosen)) < len(chosen):
        raise ParameterError("attributes must not name one twice: it would count twice in the distances.")
    return [int(position) for position in chosen]
