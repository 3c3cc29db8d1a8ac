"""Digests: equal data have equal ones."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import ParameterError


def digest_bytes(data: bytes | bytearray | memoryview) -> str:
    """Return the SHA-256 sum of ``data`` as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest_array(X: ArrayLike) -> str:
    """Return the SHA-256 sum of an array's type, shape and values as 64 hexadecimal digits.

    Arrays with the same values give the same digest however they lie in memory.

    Raises
    ------
    ParameterError
        If the array holds Python objects, whose bytes say nothing about their values.
    """
    array = np.asarray(X)
    if array.dtype.hasobject:
        raise ParameterError(f"X must be an array of numbers, not of {array.dtype}.")
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
