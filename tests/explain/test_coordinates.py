"""Records as points on a plane, against distances by a plain double loop and eigenvectors by numpy."""

import numpy as np
import pytest

from microagg import DataError
from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from microagg.explain.coordinates import principal_coordinates
from tests.naive_mixed import common, line

TREE = Taxonomy.from_nested({"*": {"a": {"b": ["c", "d"], "e": ["f"]}, "g": {"h": ["i", "j"]}}})


@pytest.fixture
def records():
    rng = np.random.default_rng(3)
    attributes = (
        Attribute("x"),
        Attribute("y", "ordinal", levels=tuple("01234")),
        Attribute("z", "nominal", taxonomy=TREE),
        Attribute("one value only"),
    )
    columns = [rng.normal(size=30), rng.integers(1, 4, 30), rng.choice(TREE.leaves, 30), np.full(30, 7.0)]
    return Records(attributes, np.column_stack(columns))


def height(node):
    """Return how far the leaves below a node are, of the three levels below the root."""
    return 3 - (len(line(TREE.parents, node)) - 1)


def squared_distances(records):
    """Return the squared distances of ``records``, as the fixture makes them: two at a time."""
    squared = np.zeros((len(records), len(records)))
    width = records.values[:, 0].max() - records.values[:, 0].min()
    for i, one in enumerate(records.values):
        for j, other in enumerate(records.values):
            shared = common(TREE.parents, [int(one[2]), int(other[2])])
            squared[i, j] = ((one[0] - other[0]) / width) ** 2 + ((one[1] - other[1]) / 4) ** 2 + height(shared) / 3
    return squared


def numbers(*columns):
    return Records.of_numbers(np.column_stack([np.array(column, dtype=float) for column in columns]))


def between(points):
    return np.sqrt(np.square(points[:, np.newaxis] - points).sum(axis=2))


def test_coordinates_are_those_of_classical_scaling(records):
    # Gower 1966: of squared distances D the eigenvectors of -½ J D J, where J subtracts the mean.
    plane = principal_coordinates(records)
    J = np.eye(30) - 1 / 30
    values, vectors = np.linalg.eigh(-0.5 * J @ squared_distances(records) @ J)
    assert values[0] > -1e-9  # these distances are Euclidean
    for axis in (0, 1):
        expected = np.sqrt(values[-1 - axis]) * vectors[:, -1 - axis]
        expected *= np.sign(expected[np.argmax(np.abs(expected))])
        assert plane.points[:, axis] == pytest.approx(expected, abs=1e-9)
        assert plane.shares[axis] == pytest.approx(values[-1 - axis] / values.sum())
    assert plane.points.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert plane.rows.tolist() == list(range(30))


def test_one_attribute_is_a_line_and_three_categories_are_a_triangle():
    # As shares of the domain 0, 1 and 1/4, with the mean 5/12; the largest by its absolute value is positive.
    for values in ([20, 60, 30], [60, 20, 50]):
        line = principal_coordinates(numbers(values))
        assert line.points[:, 0] == pytest.approx([-5 / 12, 7 / 12, -2 / 12])
        assert line.points[:, 1].tolist() == [0, 0, 0]
        assert line.shares == pytest.approx([1, 0])
    tree = Taxonomy.flat("abc")
    triangle = principal_coordinates(Records((Attribute("z", "nominal", taxonomy=tree),), np.array([[1.0], [2], [3]])))
    assert between(triangle.points) == pytest.approx(1 - np.eye(3))
    assert triangle.shares == pytest.approx([0.5, 0.5])


def test_of_many_records_a_sample_keeps_the_domains_of_the_file():
    x = np.arange(1_500.0)
    plane = principal_coordinates(numbers(x))
    assert len(plane.points) == len(set(plane.rows)) == 1_000
    assert (np.diff(plane.rows) > 0).all()
    assert between(plane.points)[0] == pytest.approx(np.abs(x[plane.rows] - x[plane.rows[0]]) / 1_499)
    assert np.array_equal(plane.points, principal_coordinates(numbers(x)).points)


def test_equal_records_are_one_point_and_none_are_refused(records):
    for n in (1, 2, 3, 8):
        point = principal_coordinates(numbers([7] * n, [1] * n))
        assert point.points.tolist() == [[0, 0]] * n
        assert point.shares.tolist() == [0, 0]
    with pytest.raises(DataError, match="there are no records"):
        principal_coordinates(records.take(np.arange(0)))
    records.values[4, 0] = np.nan
    with pytest.raises(DataError, match="column 'x' has NaN"):
        principal_coordinates(records)
