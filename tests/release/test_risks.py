"""The risks of a release against a naive intruder, for each kind of column and each way to release it."""

import numpy as np
import pandas as pd
import pytest

from microagg import microaggregate
from microagg.columns.records import Attribute
from microagg.metrics.risk import linkage, mixed_linkage
from tests.cases import for_each
from tests.naive_mixed import found_by_linkage, within_deviations
from tests.release.generated import KINDS, OPTIONS, rows_of, table, values

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
    found = release.assess()
    kinds = [KINDS[name] for name in names]

    linked = found.of("record_linkage")
    strata = None if by is None else frame[by].tolist()
    by_all = found_by_linkage(kinds, rows_of(frame, names), rows_of(release.frame, names), strata)
    assert [own.after for own in linked] == [pytest.approx(np.mean(by_all), abs=1e-9)]

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
    for own in found.of("interval_disclosure") if "yes" not in names else []:
        pairs = {name: (values(frame, name), values(release.frame, name)) for name in numbers}
        shares = [within_deviations(KINDS[name], *pair, 0.05) for name, pair in pairs.items()]
        assert own.after == pytest.approx(np.mean(shares))
        assert (f"{len(numbers)} of {len(names)} quasi" in own.sentence) is (len(numbers) < len(names))
    if numbers:
        assert found.of("interval_disclosure")


def linked(before, after, kind="numeric"):
    """The share that is linked by the one column x."""
    frames = (pd.DataFrame({"x": each}) for each in (before, after))
    return mixed_linkage(*frames, [Attribute("x", kind)]).share


def test_middles_decide_among_ranges_that_are_as_near_also_in_32_bits():
    x = np.array([0, 0.5, 1, 0, 0.501, 1.001, 2, 2, 20], dtype=np.float32)
    # 0 and 0.5 are nearer to the middle of [0, 1], 0.501 to that of [0, 1.001]; 1 and the other 0 are not found. By
    # ranges alone the first five would have six as near; by middles alone 2 would be nearer to that of [0, 1].
    assert linked(x, ["[0, 1]"] * 3 + ["[0, 1.001]"] * 3 + ["[2, 20]"] * 3) == pytest.approx(7 / 3 / 9)


def test_a_text_that_is_no_category_stands_for_those_that_were_released_as_it():
    assert linked(list("aabbccdd"), ["west"] * 4 + ["east"] * 4, "nominal") == pytest.approx(1 / 4)


def test_of_releases_with_very_many_rows_fewer_records_are_looked_up(monkeypatch):
    monkeypatch.setattr(linkage, "_MAX_PAIRS", 300)
    monkeypatch.setattr(linkage, "_MIN_RECORDS", 20)
    frame = table(np.random.default_rng(0), 60)
    [found] = released(frame, ["color", "size"], *WAYS[0], np.arange(60) // 2).assess().of("record_linkage")
    assert 20 <= found.n < 60
    assert f"{found.n} of them" in found.sentence
