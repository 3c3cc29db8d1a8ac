"""What is found and what is proven at one k, and the floors that are known at once."""

import time

import numpy as np
import pytest

from microagg import DataError, ParameterError, Partition, datasets, make, metrics
from microagg.columns.records import Attribute, Records
from microagg.metrics.generalization import total_information_loss
from microagg.optimum import certificate
from microagg.optimum.bounds import Bound, LinearProgram, exact, nearest_neighbor
from microagg.optimum.certificate import Certificate, Floors
from microagg.optimum.nearest_neighbors import nearest_mixed_neighbor_curve
from microagg.optimum.problem import Problem
from microagg.progress import Cancelled, watched
from microagg.release.guarantees import Guarantee
from tests.mixed_table import LEVELS, ZIP

CORNERS = np.array([[x + dx, y + dy] for x in (0, 9) for y in (0, 9) for dx in (0, 1) for dy in (0, 1)], dtype=float)


@pytest.fixture
def X():
    return np.random.default_rng(8).normal(size=(200, 3))


def floors(problem, ks):
    return Floors(problem, ks).improve().bounds(ks)


def check_trace(steps, sign):
    seconds, losses = np.array(steps).T
    assert (np.diff(seconds) >= 0).all()
    assert (sign * np.diff(losses) > 0).all()


def test_it_begins_with_mdav_star_or_the_labels_given_and_the_nearest_neighbors(X):
    own = Certificate(X, 3)
    loss = metrics.information_loss(X, make("mdav-star", k=3).fit_predict(X))
    assert own.losses == [(0.0, pytest.approx(loss))]
    assert own.lower_bounds == [(0.0, pytest.approx(nearest_neighbor(X, 3).information_loss))]
    assert own.gap == pytest.approx(loss / nearest_neighbor(X, 3).information_loss - 1)
    assert not own.closed
    labels = np.arange(200) // 4 + 10
    given = Certificate(X, 4, labels)
    assert given.labels.tolist() == (labels - 10).tolist()
    assert given.losses[0][1] == pytest.approx(metrics.information_loss(X, labels))


def test_time_narrows_it_from_both_sides(X):
    own = Certificate(X, 3)
    begun = own.gap
    assert own.narrow(0.5) is own
    check_trace(own.losses, -1)
    check_trace(own.lower_bounds, 1)
    assert own.gap < begun
    assert own.losses[-1][1] == pytest.approx(metrics.information_loss(X, own.labels))
    assert own.lower_bounds[-1][1] == pytest.approx(own.bound.information_loss)
    assert own.lower_bounds[-1][1] <= own.losses[-1][1]
    assert Partition(own.labels, 3).sizes.min() >= 3
    spent, gap, steps = own.seconds, own.gap, len(own.losses)
    own.narrow(0.2)
    assert own.seconds > spent
    assert own.gap <= gap
    check_trace(own.losses, -1)
    assert all(seconds > spent for seconds, _ in own.losses[steps:])


def test_mixed_records_are_narrowed_from_both_sides():
    rng = np.random.default_rng(3)
    columns = rng.normal(size=200), rng.integers(0, 3, 200), rng.choice(list(ZIP.leaves), 200), rng.normal(size=200)
    attributes = Attribute("x"), Attribute("step", "ordinal", LEVELS), Attribute("zip", "nominal", taxonomy=ZIP)
    records = Records((*attributes, Attribute("y")), np.column_stack(columns).astype(float))
    own = Certificate(records, 3)
    begun = own.losses[0][1]
    neighbors = nearest_mixed_neighbor_curve(records, [3])[0].sse
    # Until both sides have gained something, however busy the machine is.
    assert own.narrow(60, lambda it, _: it.bound.sse < neighbors or it.losses[-1][1] >= begun) is own
    check_trace(own.losses, -1)
    check_trace(own.lower_bounds, 1)
    assert own.losses[-1][1] < begun
    total = total_information_loss(records, own.labels)
    assert own.losses[-1][1] == pytest.approx(100 * total / (200 * records.d))
    assert neighbors <= own.bound.sse <= total
    assert own.lower_bounds[-1][1] == own.bound.information_loss
    assert Partition(own.labels, 3).sizes.min() >= 3
    seen = []
    began = time.monotonic()
    own.narrow(600, lambda _, left: seen.append(left) or len(seen) < 4)
    assert time.monotonic() - began < 60
    given = Certificate(records, 4, np.arange(200) // 4)
    assert given.labels.tolist() == (np.arange(200) // 4).tolist()
    with pytest.raises(DataError, match="fewer than k=201"):
        Certificate(records, 201)
    with pytest.raises(ParameterError, match="k must be"):
        Certificate(records, 0)


def test_four_squares_far_apart_are_grouped_and_proven_to_be_the_optimum():
    # Each square of side 1 has SSE 4 · 0.5; the start mixes them.
    own = Certificate(CORNERS, 4, np.arange(16) % 4).narrow(60)
    assert own.closed
    assert own.labels.tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4
    assert own.losses[-1][1] == pytest.approx(100 * 8 / metrics.sst(CORNERS))
    assert own.gap == pytest.approx(0, abs=1e-6)
    # Once both meet there is nothing left to do.
    seen = []
    own.narrow(60, lambda _, left: seen.append(left) is None)
    assert not seen


def test_cancelled_it_keeps_what_is_known(X):
    calls = []
    own = Certificate(X, 3)
    with pytest.raises(Cancelled), watched(lambda *_: len(calls) < 4 and calls.append(0) is None):
        own.narrow(600)
    assert own.losses[-1][1] == pytest.approx(metrics.information_loss(X, own.labels))
    assert own.lower_bounds[-1][1] == pytest.approx(own.bound.information_loss)
    assert own.narrow(0.0).losses[-1][1] == pytest.approx(metrics.information_loss(X, own.labels))


def test_a_failure_below_ends_the_search_above(X, monkeypatch):
    def fail(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(LinearProgram, "improve", fail)
    with pytest.raises(MemoryError, match="no room"):
        Certificate(X, 3).narrow(600)


def test_floors_known_at_once_are_the_nearest_neighbor_bound_or_the_optimum(X):
    expected = [nearest_neighbor(X, k).sse for k in (2, 5)]
    assert [own.sse for own in floors(Problem.of(X), [2, 5])] == pytest.approx(expected)
    toy = datasets.load("toy").X
    assert [own.sse for own in floors(Problem.of(toy), [2, 3])] == pytest.approx([exact(toy, k)[0] for k in (2, 3)])
    # With fewer than 2k records there is one group, which loses all.
    assert floors(Problem.of(X[:9]), [5])[0].information_loss == pytest.approx(100)
    assert floors(Problem.of(X[:9]), [4])[0].information_loss < 100
    # Of mixed records it is that of Total-IL.
    [mixed] = nearest_mixed_neighbor_curve(Records.of_numbers(X), [5])
    assert floors(Problem.of(Records.of_numbers(X)), [5])[0].sse == mixed.sse > 0
    strata = np.arange(200) % 2
    apart = sum(nearest_neighbor(X[strata == s], 3).sse for s in (0, 1))
    assert floors(Problem.of(X, strata=strata), [3])[0].sse == pytest.approx(apart)


def test_floors_are_0_until_they_are_complete(X):
    own = certificate.Floors(Problem.of(X), [5, 2, 5])
    assert own.ks == (2, 5)
    with watched(lambda message, share: False), pytest.raises(Cancelled):
        own.improve()
    assert not own.complete
    assert [(bound.sse, bound.converged) for bound in own.bounds([2, 4])] == [(0.0, False)] * 2
    assert own.improve().complete
    assert own.bounds([2, 4])[1].sse == nearest_neighbor(X, 4).sse
    assert own.covers([2, 3, 5])
    assert not own.covers([6])


def test_floors_of_one_attribute_are_the_optimum():
    x = np.random.default_rng(1).normal(size=(60, 1))
    own, seen = certificate.Floors(Problem.of(x), [2, 3]), []
    with watched(lambda message, _: seen.append(message) or True):
        own.improve()
    assert seen[-2:] == ["finding the optimum at k = 2", "finding the optimum at k = 3"]
    assert own.bounds([3])[0].sse == pytest.approx(exact(x, 3)[0])
    # The optimum of another k has not been computed, only its neighbors.
    assert not certificate.Floors(Problem.of(x), [2, 5]).covers([3])
    assert certificate.Floors(Problem.of(Records.of_numbers(x)), [2]).improve().complete


def test_what_is_proven_for_a_k_holds_for_larger_ones():
    def bound(k, sse):
        return Bound(k, sse, sse / 2, 0.0)

    bounds = [bound(2, 1.0), bound(3, 2.0), bound(4, 3.0), bound(9, 8.0)]
    found = certificate.raise_bounds(bounds, [bound(3, 4.0), bound(4, 3.5)])
    raised = [(own.k, own.sse, own.information_loss) for own in found]
    assert raised == [(2, 1.0, 0.5), (3, 4.0, 2.0), (4, 4.0, 2.0), (9, 8.0, 4.0)]
    assert certificate.raise_bounds(bounds, []) == bounds


def test_attributes_keep_their_old_names():
    X, guarantee = np.arange(6.0)[:, None], Guarantee("x", "distinct", 2, 3)
    certificate = Certificate(X, 2)
    of_both = (certificate, "found", "losses"), (certificate, "proven", "lower_bounds")
    for subject, old, new in (*of_both, (guarantee, "asked", "requested")):
        with pytest.warns(DeprecationWarning, match=rf"\.{old} is deprecated: it is called {new} now"):
            assert getattr(subject, old) == getattr(subject, new)
