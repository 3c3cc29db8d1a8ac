"""What the tests of releases share."""

import json
from collections import Counter

import numpy as np
import pandas as pd

from microagg import replay
from microagg.algorithms import registry
from microagg.algorithms.base import Info, Microaggregator

QUASI = ["age", "income", "height"]


def smallest_class(frame, columns):
    """Return the size of the smallest set of rows that are equal in columns, by plain counting."""
    return min(Counter(frame[columns].itertuples(index=False, name=None)).values())


def replayed(frame, release):
    """Make a release again from its recipe as JSON, see that it is the same, and return the recipe."""
    recipe = json.loads(json.dumps(release.recipe, allow_nan=False))
    again = replay(frame, recipe)
    pd.testing.assert_frame_equal(again.frame, release.frame, check_exact=True)
    assert again.partition == release.partition
    assert again.report == release.report
    assert again.recipe == release.recipe == recipe
    return recipe


class Blocks(Microaggregator):
    """Groups the records k by k in their order."""

    info = Info(key="blocks", title="Blocks", family="test", summary="", year=2000, reference="", complexity="O(n)")

    def _partition(self, X, k, **parameters):
        return np.minimum(np.arange(len(X)) // k, len(X) // k - 1)


def use(monkeypatch, *classes):
    monkeypatch.setattr(registry, "ALGORITHMS", {**registry.ALGORITHMS, **{cls.info.key: cls for cls in classes}})
