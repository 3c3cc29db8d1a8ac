"""Records as points on a plane, against distances by a plain double loop and eigenvectors by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import skew

from microagg import DataError, ParameterError
from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from microagg.explain.coordinates import asinh_unit, on_scale, principal_components, principal_coordinates, suited_scale
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


def plain_distances(records):
    """Return the distances of ``records``, as the fixture makes them: two at a time."""
    found = np.zeros((len(records), len(records)))
    width = records.values[:, 0].max() - records.values[:, 0].min()
    for i, one in enumerate(records.values):
        for j, other in enumerate(records.values):
            shared = common(TREE.parents, [int(one[2]), int(other[2])])
            found[i, j] = abs(one[0] - other[0]) / width + abs(one[1] - other[1]) / 4 + height(shared) / 3
    return found


def numbers(*columns):
    return Records.of_numbers(np.column_stack([np.array(column, dtype=float) for column in columns]))


def between(points):
    """Return the Euclidean distances of all pairs of points."""
    return np.sqrt(np.square(points[:, np.newaxis] - points).sum(axis=2))


def test_coordinates_are_those_of_classical_scaling(records):
    found = principal_coordinates(records)
    D = plain_distances(records)
    J = np.eye(30) - 1 / 30
    values, vectors = np.linalg.eigh(-0.5 * J @ np.square(D) @ J)
    assert values[0] < -0.01  # these distances are not Euclidean
    for axis in (0, 1):
        expected = np.sqrt(values[-1 - axis]) * vectors[:, -1 - axis]
        expected *= np.sign(expected[np.argmax(np.abs(expected))])
        assert found.points[:, axis] == pytest.approx(expected, abs=1e-9)
        assert found.shares[axis] == pytest.approx(values[-1 - axis] / np.abs(values).sum())
    assert found.points.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert found.rows.tolist() == list(range(30))


def test_one_attribute_is_a_line():
    found = principal_coordinates(numbers([20, 60, 30]))
    # As shares of the domain 0, 1 and 1/4, with the mean 5/12; the largest by its absolute value is positive.
    assert found.points[:, 0] == pytest.approx([-5 / 12, 7 / 12, -2 / 12])
    assert found.points[:, 1].tolist() == [0, 0, 0]
    assert found.shares == pytest.approx([1, 0])
    mirrored = principal_coordinates(numbers([60, 20, 50]))
    assert mirrored.points == pytest.approx(found.points)


def test_three_categories_are_a_triangle_and_what_no_plane_can_show_counts_in_the_shares():
    tree = Taxonomy.flat("abc")
    found = principal_coordinates(Records((Attribute("z", "nominal", taxonomy=tree),), np.array([[1.0], [2], [3]])))
    assert between(found.points) == pytest.approx(1 - np.eye(3))
    assert found.shares == pytest.approx([0.5, 0.5])
    # Sides of 1 and diagonals of 2 instead of √2: the eigenvalues are 2, 2, 0 and -1.
    found = principal_coordinates(numbers([0, 1, 1, 0], [0, 0, 1, 1]))
    assert found.shares == pytest.approx([2 / 5, 2 / 5])


def test_many_records_in_blocks():
    X = np.random.default_rng(4).random((700, 1))
    x = (X[:, 0] - X.min()) / (X.max() - X.min())
    found = principal_coordinates(Records.of_numbers(X))
    assert pdist(found.points, "euclidean") == pytest.approx(pdist(x[:, np.newaxis], "cityblock"), abs=1e-9)


def test_a_sample_keeps_the_domains_of_the_file():
    x = np.arange(101.0)
    found = principal_coordinates(numbers(x), sample=10, random_state=5)
    assert len(found.points) == len(set(found.rows)) == 10
    assert (np.diff(found.rows) > 0).all()
    assert between(found.points) == pytest.approx(np.abs(np.subtract.outer(x[found.rows], x[found.rows])) / 100)
    again = principal_coordinates(numbers(x), sample=10, random_state=5)
    assert np.array_equal(found.points, again.points)
    assert set(found.rows) != set(principal_coordinates(numbers(x), sample=10, random_state=6).rows)
    assert principal_coordinates(numbers(x), sample=101).rows.tolist() == list(range(101))


def test_equal_records_are_one_point_and_two_lie_on_a_line():
    for n in (1, 2, 3, 8):
        found = principal_coordinates(numbers([7] * n, [1] * n))
        assert found.points.tolist() == [[0, 0]] * n
        assert found.shares.tolist() == [0, 0]
    found = principal_coordinates(numbers([3, 5], [9, 1]))
    # Both attributes differ by their whole domain. Of equally large coordinates the first is positive.
    assert found.points == pytest.approx(np.array([[1, 0], [-1, 0]]))
    assert found.shares == pytest.approx([1, 0])


def test_bad_requests_are_refused(records):
    with pytest.raises(DataError, match="there are no records"):
        principal_coordinates(records.take(np.arange(0)))
    with pytest.raises(ParameterError, match="sample must be between 1 and 2000, not 0"):
        principal_coordinates(records, sample=0)
    with pytest.raises(ParameterError, match="random_state must be at least 0"):
        principal_coordinates(records, random_state=-1)
    records.values[4, 0] = np.nan
    with pytest.raises(DataError, match="column 'x' has NaN"):
        principal_coordinates(records)


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_principal_components_are_the_axes_of_largest_variance():
    X = np.random.default_rng(1).normal(size=(50, 4)) @ np.diag([1.0, 5, 2, 0.5]) + 100
    found = principal_components(X)
    values = np.sort(np.linalg.eigvalsh(np.cov(X.T, ddof=0)))[::-1]
    assert found.points.var(axis=0) == pytest.approx(values[:2])
    assert found.points.mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert found.shares == pytest.approx(values[:2] / values.sum())
    assert np.corrcoef(found.points.T)[0, 1] == pytest.approx(0, abs=1e-9)
    assert (found.points.max(axis=0) == np.abs(found.points).max(axis=0)).all()
    assert list(found.rows) == list(range(50))


def test_one_attribute_lies_on_a_line_and_equal_records_in_a_point():
    line = principal_components(np.array([[1.0], [2], [6]]))
    assert line.points.tolist() == [[-2, 0], [-1, 0], [3, 0]]
    assert line.shares.tolist() == [1, 0]
    point = principal_components(np.full((3, 2), 0.1))
    assert point.points.tolist() == [[0, 0]] * 3
    assert point.shares.tolist() == [0, 0]


def test_an_axis_is_logarithmic_where_values_are_skewed_and_positive():
    assert suited_scale(np.arange(100.0)) == "linear"
    skewed = np.r_[np.ones(50), np.full(50, 10.0), 1e6]
    assert suited_scale(skewed) == "log"
    assert suited_scale(skewed - 2) == "asinh"
    assert suited_scale(np.r_[skewed, np.nan]) == "log"
    # One far record among equal ones is as skewed on any scale.
    assert suited_scale(np.r_[np.ones(50), 9.0]) == "linear"
    assert suited_scale(np.ones(9)) == suited_scale(np.array([])) == "linear"
    # It is logarithmic from a skewness of 2 on.
    seen = set()
    for widest in (10, 100, 1e3, 1e4, 1e5, 1e6):
        values = np.geomspace(1, widest, 30)
        seen.add(suited_scale(values))
        assert suited_scale(values) == ("log" if skew(values) > 2 else "linear")
    assert seen == {"linear", "log"}


def test_places_on_an_axis_by_hand():
    values = np.array([-4.0, 0.0, 1.0, 3.0, 1000.0])
    assert asinh_unit(values) == 3.5
    assert on_scale(values, "asinh") == pytest.approx(np.arcsinh(values / 3.5))
    assert on_scale(values, "asinh", 2.0)[0] == pytest.approx(-np.log(2 + np.sqrt(5)))
    assert on_scale(np.array([1.0, 1000.0]), "log").tolist() == [0, 3]
    assert on_scale(values, "linear") is values
    assert asinh_unit(np.zeros(3)) == 1
