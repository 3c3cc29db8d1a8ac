"""The risks of a release against a naive intruder, for each kind of column and each way to release it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg import microaggregate
from microagg.metrics.risk import mixed_linkage
from microagg.release import risks_of_file
from tests.cases import for_each
from tests.naive_mixed import found_by_linkage, within_deviations
from tests.release.generated import KINDS, OPTIONS, SIZES, rows_of, table, values

WAYS = (("mean", "ancestor"), ("median", "ancestor"), ("generalize", "ancestor"), ("generalize", "set"))


def released(frame, names, statistic, categories, labels, by=None):
    options = {key: {name: own[name] for name in names if name in own} for key, own in OPTIONS.items()}
    others = [name for name in frame.columns if name not in {*names, "secret", by}]
    roles = {"quasi_identifiers": names, "confidential": "secret", "others": others, "by": by}
    how = {"statistic": statistic, "categories": categories}
    return microaggregate(frame, k=2, labels=labels, **roles, **how, **options)


def every_case():
    for way in WAYS:
        for name in KINDS:
            yield ([name], way, None)
        for seed in range(8):
            rng = np.random.default_rng(seed)
            names = sorted(rng.choice(list(KINDS), 2 + seed % 4, replace=False).tolist())
            yield (names, way, "stratum" if seed % 4 == 3 else None)
        yield (["whole", "decimal", "day"], way, None)
        yield (["whole", "decimal"], way, "stratum")


CASES = list(every_case())


def classes_of(frame, names):
    """Return the positions of the records that agree in ``names``, a list for each class."""
    classes = {}
    for i, row in enumerate(rows_of(frame, names)):
        classes.setdefault(row, []).append(i)
    return list(classes.values())


@for_each(("names", "way", "by"), CASES)
def test_each_risk_is_that_of_a_naive_intruder(names, way, by):
    n = 22
    frame = table(np.random.default_rng(len(names)), n)
    # Groups at random are far from what they should be, so that many a record is nearer to another group.
    labels = np.arange(n) % 2 + 2 * (np.arange(n) // 2 * 5 // n)
    release = released(frame, names, *way, labels, by)
    found = release.assess(sampling_fraction=0.5)
    kinds = [KINDS[name] for name in names]

    linked = found.of("record_linkage")
    strata = None if by is None else frame[by].tolist()
    by_all, by_each = found_by_linkage(kinds, rows_of(frame, names), rows_of(release.frame, names), strata)
    assert linked[0].after == pytest.approx(np.mean(by_all), abs=1e-9)
    most = max(map(np.mean, by_each))
    if most > np.mean(by_all) + 1e-9:
        assert linked[1].after == pytest.approx(most)
        assert names[int(np.argmax([np.mean(own) for own in by_each]))] == linked[1].attribute
    else:
        assert len(linked) == 1

    known = [*names, *([] if by is None else [by])]
    for side, table_of in (("before", frame), ("after", release.frame)):
        classes = classes_of(table_of, known)
        smallest = min(map(len, classes))
        # The table's days and years follow from each other.
        follows = side == "after" and ("day" in names) != ("year" in names)
        assert getattr(found.of("max_reidentification")[0], side) == (1.0 if follows else 1 / smallest)
        assert getattr(found.of("uniqueness")[0], side) == sum(len(own) == 1 for own in classes) / n
        uniform = sum(len(own) for own in classes if len({frame["secret"][i] for i in own}) == 1)
        assert getattr(found.of("homogeneous")[0], side) == pytest.approx(uniform / n)
    assert linked[0].after <= found.of("max_reidentification")[0].after + 1e-12
    assert linked[0].before == len(classes_of(frame, known)) / n

    numbers = [name for name in names if KINDS[name] in ("number", "float32", "date")]
    for own in found.of("interval_disclosure_sd") if "yes" not in names else []:
        shares = [
            within_deviations(KINDS[name], values(frame, name), values(release.frame, name), 0.05) for name in numbers
        ]
        assert own.after == pytest.approx(np.mean(shares))
        assert (f"{len(numbers)} of {len(names)} quasi" in own.sentence) is (len(numbers) < len(names))
    if numbers:
        assert found.of("interval_disclosure_sd")


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_of_anybodys_file_all_quasi_identifiers_count_too(way):
    names = ["whole", "day", "size", "color", "yes"]
    frame = table(np.random.default_rng(3), 30)
    release = released(frame, names, *way, np.arange(30) // 3)
    typed = frame.assign(size=pd.Categorical(frame["size"], SIZES, ordered=True))
    figures = risks_of_file(release.frame, names, original=typed)
    linked = [own for own in figures if own.measure.key == "record_linkage"]
    kinds = [KINDS[name] for name in names]
    by_all, by_each = found_by_linkage(kinds, rows_of(frame, names), rows_of(release.frame, names))
    assert linked[0].after == pytest.approx(np.mean(by_all))
    assert max(own.after for own in linked) >= max(map(np.mean, by_each)) - 1e-12
    assert "interval_disclosure_sd" in {own.measure.key for own in figures}
    # A text that is no category stands for those that were released as it.
    frame = pd.DataFrame({"town": list("aabbccdd")})
    release = pd.DataFrame({"town": ["west"] * 4 + ["east"] * 4})
    [linked] = [own for own in risks_of_file(release, ["town"], original=frame) if own.measure.key == "record_linkage"]
    assert linked.after == pytest.approx(1 / 4)


def test_one_attribute_may_tell_more_than_all_of_them():
    # By x alone everybody is nearest to their own group; by all the others the first record is nearer to the other one.
    frame = pd.DataFrame({"x": [0.0, 1, 10, 11], **{f"y{i}": [0.0, 30, 10, 0] for i in range(6)}})
    release = microaggregate(frame, k=2, labels=[0, 0, 1, 1])
    by_all, by_x = release.assess().of("record_linkage")
    assert by_x.attribute == "x"
    assert by_x.after == pytest.approx(1 / 2)
    assert by_all.after < by_x.after


def test_middles_decide_among_ranges_that_are_as_near_also_in_32_bits():
    x = np.array([0, 0.5, 1, 0, 0.501, 1.001, 2, 2, 20], dtype=np.float32)
    release = pd.DataFrame({"x": ["[0, 1]"] * 3 + ["[0, 1.001]"] * 3 + ["[2, 20]"] * 3})
    figures = risks_of_file(release, ["x"], original=pd.DataFrame({"x": x}))
    linked = next(own for own in figures if own.measure.key == "record_linkage")
    # 0 and 0.5 are nearer to the middle of [0, 1], 0.501 to that of [0, 1.001]; 1 and the other 0 are not found. By
    # ranges alone the first five would have six as near; by middles alone 2 would be nearer to that of [0, 1].
    assert linked.after == pytest.approx(7 / 3 / 9)


def test_a_release_of_records_as_they_are_is_not_said_to_have_none_that_are_alone():
    frame = pd.DataFrame({"town": list("aabc"), "age": [1, 1, 2, 3]})
    found = microaggregate(frame, k=1, quasi_identifiers=["town", "age"], labels=[0, 0, 1, 2])
    [alone] = found.assess(sampling_fraction=0.5).of("population_uniques")
    assert alone.after == alone.before > 0
    assert "In the release none is" not in alone.sentence


def test_of_releases_with_very_many_rows_fewer_records_are_looked_up(monkeypatch):
    monkeypatch.setattr(mixed_linkage, "_MAX_PAIRS", 300)
    monkeypatch.setattr(mixed_linkage, "_MIN_RECORDS", 20)
    frame = table(np.random.default_rng(0), 60)
    [found] = released(frame, ["color", "size"], *WAYS[0], np.arange(60) // 2).assess().of("record_linkage")
    assert 20 <= found.n < 60
    assert f"{found.n} of them" in found.sentence
