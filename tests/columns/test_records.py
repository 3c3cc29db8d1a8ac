"""Records of mixed attributes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg import DataError, Schema
from microagg.columns.records import Attribute, Records, class_codes
from microagg.columns.taxonomy import Taxonomy
from tests.cases import for_each
from tests.mixed_table import LEVELS, MARITAL_TEXT, ZIP, mixed_frame


@pytest.fixture
def frame():
    return mixed_frame()


@pytest.fixture
def schema(frame):
    return Schema.infer(frame, ["age", "zip", "income", "sex"], taxonomies={"zip": ZIP})


def test_domains_and_trees():
    tree = Taxonomy.from_text(MARITAL_TEXT)
    attributes = (
        Attribute("age"),
        Attribute("income", "ordinal", levels=LEVELS),
        Attribute("status", "nominal", taxonomy=tree),
        Attribute("sex", "nominal", taxonomy=Taxonomy.flat("fm")),
        Attribute("same"),
        Attribute("all", "ordinal", levels=("one",)),
    )
    # Nobody has the lowest income or was married abroad: that makes no domain smaller.
    values = np.array([[20.5, 1, 2, 1, -3, 0], [60, 2, 6, 2, -3, 0], [30, 1, 5, 1, -3, 0]])
    records = Records(attributes, values)
    assert (records.n, len(records), records.d) == (3, 3, 6)
    assert records.domains.tolist() == [39.5, 2, 2, 1, 0, 0]
    assert records.nominal.tolist() == [False, False, True, True, False, False]
    parents, heights = records.trees
    assert parents.shape == heights.shape == (6, 7)
    assert parents[2].tolist() == [-1, 0, 1, 1, 0, 4, 4]
    assert parents[3].tolist() == [-1, 0, 0, -1, -1, -1, -1]
    assert heights[2].tolist() == [1, 0.5, 0, 0, 0.5, 0, 0]
    assert heights[3].tolist() == [1, 0, 0, 0, 0, 0, 0]
    others = [0, 1, 4, 5]
    assert (parents[others] == -1).all()
    assert (heights[others] == 0).all()


def test_a_part_of_a_file_keeps_the_domains_of_the_file():
    whole = Records.of_numbers(np.array([[0.0, 5], [10, 5], [4, 9]]))
    part = whole.take(np.array([2, 0]))
    assert part.values.tolist() == [[4, 9], [0, 5]]
    assert part.domains.tolist() == whole.domains.tolist() == [10, 4]
    assert part.take(np.array([1])).domains.tolist() == [10, 4]
    assert part.attributes == whole.attributes
    with pytest.raises(DataError, match=r"one domain for each of 2 attributes, not domains of shape \(3,\)"):
        Records(whole.attributes, whole.values, np.ones(3))


@for_each("shape", [(3,), (3, 1), (3, 3), (1, 3, 2)])
def test_records_need_a_column_for_each_attribute(shape):
    with pytest.raises(DataError, match=r"one column of values for each of 2 attributes .* not values of shape"):
        Records((Attribute("a"), Attribute("b")), np.zeros(shape))
    with pytest.raises(DataError, match="for each of 0 attributes"):
        Records((), np.zeros((3, 0)))


def test_class_codes_number_classes_in_order_of_first_appearance():
    assert class_codes(["b", "a", "b"], 3).tolist() == [0, 1, 0]
    assert class_codes(pd.Series([2, 1, 2], dtype="category"), 3).tolist() == [0, 1, 0]
    assert class_codes([1, 1.0, True, "1"], 4).tolist() == [0, 0, 0, 1]
    with pytest.raises(DataError, match="one class for each of 3 records, not classes of shape"):
        class_codes(["a", "b"], 3)
    with pytest.raises(DataError, match=r"record 1 .* has no class"):
        class_codes(["a", None, "b"], 3)
    with pytest.raises(DataError, match="the classes 'income' hold values that cannot be told apart"):
        class_codes(pd.Series([[1], [2]]), 2, "income")
