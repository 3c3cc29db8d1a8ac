"""What the tests of releases share."""

from __future__ import annotations

from collections import Counter

import numpy as np

from microagg.algorithms import registry
from microagg.algorithms.base import Info, Microaggregator

QUASI = ["age", "income", "height"]


def smallest_class(frame, columns):
    """Return the size of the smallest set of rows that are equal in columns, by plain counting."""
    return min(Counter(frame[columns].itertuples(index=False, name=None)).values())


class Blocks(Microaggregator):
    """Groups the records k by k in their order."""

    info = Info(
        key="blocks",
        title="Blocks",
        family="test",
        summary="",
        year=2000,
        reference="",
        sizes="variable",
        complexity="O(n)",
    )

    def _partition(self, X, k, **parameters):
        return np.minimum(np.arange(len(X)) // k, len(X) // k - 1)


def use(monkeypatch, *classes):
    monkeypatch.setattr(registry, "ALGORITHMS", {**registry.ALGORITHMS, **{cls.info.key: cls for cls in classes}})
