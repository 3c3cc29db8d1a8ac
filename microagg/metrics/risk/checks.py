"""Checks on what measures of risk are given; each failure is one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from microagg.errors import DataError, ParameterError
from microagg.validation import FloatArray, check_finite, check_matrix, is_whole


def paired(X: ArrayLike, released: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return originals and their release, record i of the one being that of the other, both of shape (n, d).

    Raises
    ------
    DataError
        If one of them is no table of finite numbers, or they differ in shape, or have no records.
    """
    original = check_matrix(X)
    check_finite(original)
    try:
        masked = check_matrix(released)
        check_finite(masked)
    except DataError as error:
        raise DataError(f"the release: {error}") from None
    if original.shape != masked.shape:
        raise DataError(
            f"the original has the shape {original.shape}, the release {masked.shape}: give the same records and "
            "attributes, in the same order."
        )
    if len(original) == 0:
        raise DataError("there are no records: give at least one.")
    return original, masked


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
