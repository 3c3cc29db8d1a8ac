"""Digests of bytes and arrays."""

import numpy as np
import pytest

from microagg.errors import ParameterError
from microagg.tables import digest_array, digest_bytes


def test_digest_of_bytes():
    assert digest_bytes(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_digest_of_arrays():
    X = np.arange(12.0).reshape(4, 3)
    assert digest_array(X) == digest_array(X.copy(order="F")) == digest_array(X.tolist())
    others = [X.reshape(3, 4), X.astype(np.float32), X + 1e-9, X[:0], X.ravel(), X.astype("M8[D]")]
    assert len({digest_array(other) for other in [X, *others]}) == 7
    assert digest_array(np.float64(1.5)) != digest_array(np.float64(2.5))
    with pytest.raises(ParameterError, match="array of numbers"):
        digest_array(np.array(["a", None], dtype=object))
