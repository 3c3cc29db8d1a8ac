"""Users' own algorithms, registered, refused, loaded from files and run beside the others; and the variants of all."""

import os
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import microagg
from microagg import ALGORITHMS, Microaggregator, Param, ParameterError, datasets
from microagg.algorithms import registry
from microagg.algorithms.method import VARIANTS, Method
from microagg.cli import cli
from microagg.errors import DataError
from microagg.studies.experiment import sweep
from tests.cases import for_each
from tests.conftest import ROOT
from tests.release.common import Blocks

INFO = replace(Blocks.info, key="by-first", title="By the first attribute", sizes="fixed")
TEMPLATE = ROOT / "docs" / "algorithm_template.py"


def by_first(X, k):
    labels = np.empty(len(X), dtype=np.int64)
    labels[np.argsort(X[:, 0], kind="stable")] = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)
    return labels


def make_class(partition=by_first, **changes):
    class ByFirst(Microaggregator):
        """By the first attribute."""

        info = replace(INFO, **changes)
        params = (Param("reverse", "bool", (), False, "Whether to begin at the other end."),)

        def _partition(self, X, k, *, reverse):
            return partition(-X if reverse else X, k)

    return ByFirst


@pytest.fixture(autouse=True)
def as_before(monkeypatch, registered_as_before):
    """Have none of these registered afterwards, or run."""
    monkeypatch.setattr(registry, "left_out", [])


def test_a_registered_class_is_found_by_its_key(X):
    cls = microagg.register(make_class())
    np.testing.assert_array_equal(microagg.make("by-first", k=4).fit_predict(X), cls(4).fit_predict(X))
    assert ALGORITHMS["by-first"] is cls
    assert VARIANTS["by-first"].title == "By the first attribute (your own)"
    frame = datasets.load("wine").frame
    release = microagg.microaggregate(frame, k=5, method="by-first", quasi_identifiers=list(frame.columns[:4]))
    assert release.partition.sizes.min() == 5
    assert microagg.register(later := make_class()) is later  # as after a change in a notebook
    assert ALGORITHMS["by-first"] is later


@pytest.fixture
def X():
    return np.random.default_rng(1).normal(size=(60, 3))


def changes_records(X, k):
    X -= X.mean(axis=0)
    return by_first(X, k)


@pytest.mark.parametrize(
    ("cls", "says"),
    [
        (int, "is no subclass of microagg.Microaggregator"),
        ("by-first", "is no subclass of microagg.Microaggregator"),
        (Microaggregator, "Microaggregator has no info: declare one"),
        (ALGORITHMS["mdav"], "the key 'mdav' of MDAV is that of MDAV: choose another"),
        (make_class(key="mdav"), "the key 'mdav' of ByFirst is that of MDAV: choose another"),
        (make_class(key="By first"), "'By first' of ByFirst is not of lowercase letters"),
        (
            make_class(lambda X, k: np.arange(len(X)) // 2),
            r"ByFirst\(k=3\) fails on 23 records: group 0 has 2 records, fewer than k=3",
        ),
        (make_class(lambda X, k: by_first(X, k)[:-1]), "X has 23 records, but there are labels for 22"),
        (make_class(lambda X, k: by_first(X, k) / 2), r"ByFirst\(k=3\) fails on 23 records: .*whole numbers"),
        (make_class(changes_records), r"ByFirst\(k=3\) changes the records it is given"),
        (
            make_class(lambda X, k: by_first(np.random.default_rng().normal(size=X.shape), k)),
            r"ByFirst\(k=3\) gives other groups when it is run again: set info.deterministic",
        ),
        (
            make_class(lambda X, k: by_first(X.values, k)[:-1], mixed=True, numbers_by_sse=False),
            r"ByFirst\(k=3\) returns 22 labels for 23 records",
        ),
        (
            make_class(lambda X, k: by_first(X[:, 7:], k)),
            r"By the first attribute, an algorithm of your own, failed: IndexError: index 0 is out",
        ),
    ],
)
def test_what_is_no_algorithm_is_refused(cls, says):
    with pytest.raises(ParameterError, match=says):
        microagg.register(cls)
    assert "by-first" not in ALGORITHMS


def test_an_error_later_on_is_told_as_one_of_the_data(X):
    microagg.register(make_class(lambda X, k: by_first(X[:23], k) if len(X) <= 23 else 1 / 0))
    with pytest.raises(DataError, match="an algorithm of your own, failed: ZeroDivisionError: division by zero"):
        microagg.make("by-first").fit(X)


def test_the_template_is_loaded_from_its_file(monkeypatch, tmp_path):
    broken, empty = tmp_path / "broken.py", tmp_path / "empty.py"
    broken.write_text("1 / 0\n", encoding="utf-8")
    empty.write_text("x = 1\n", encoding="utf-8")
    missing = tmp_path / "missing.py"
    monkeypatch.setenv(registry.FILES, os.pathsep.join(map(str, (broken, TEMPLATE, empty, missing))))
    points = [SimpleNamespace(value="of_class", load=make_class), SimpleNamespace(value="bad", load=lambda: int)]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == "microagg.algorithms" else [])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        registry.load_user_algorithms()
    assert {"shells", "by-first"} <= set(ALGORITHMS)
    said = [str(warning.message) for warning in told]
    assert said == registry.left_out
    for part, sentence in zip(
        (
            "broken.py cannot be run: ZeroDivisionError",
            "defines no subclass of Microaggregator",
            "there is no Python file",
            "the algorithm of bad is left out: <class 'int'> is no subclass",
        ),
        said,
        strict=True,
    ):
        assert part in sentence
    assert microagg.make("shells", k=3).fit_predict(np.arange(7.0)[:, None]).max() == 1


def test_a_file_that_fails_halfway_registers_nothing_at_the_next_attempt_either(tmp_path):
    half = tmp_path / "half.py"
    half.write_text(f"{TEMPLATE.read_text(encoding='utf-8')}\n\n1 / 0\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(ParameterError, match=r"half\.py cannot be run: ZeroDivisionError"):
            registry.load_file(str(half))
        assert "shells" not in ALGORITHMS


def test_sweeps_take_classes_and_instances(X):
    cls = make_class()
    table = sweep(X, [cls, cls(4, reverse=True), microagg.make("v-mdav", gamma=0.3), "mdav"], [3])
    assert list(table["method"]) == ["by-first", "by-first", "v-mdav", "mdav"]
    assert list(table["params"][:3]) == ["reverse=False", "reverse=True", "gamma=0.3, leftovers=centroid"]
    for row, estimator in zip(table.itertuples(), (cls(3), cls(3, reverse=True)), strict=False):
        assert row.sse == pytest.approx(microagg.metrics.sse(X, estimator.fit_predict(X)))


@pytest.mark.parametrize("given", [3, None, ("mdav",), ("mdav", 3), {"mdav"}])
def test_what_is_no_method_is_refused(X, given):
    with pytest.raises(ParameterError, match=r"a method is a key, a pair \(key, parameters\), a Method or"):
        sweep(X, [given], [3])


def test_the_shell_takes_a_file(monkeypatch, tmp_path):
    monkeypatch.setenv(registry.FILES, "")
    file, released = tmp_path / "wine.csv", tmp_path / "released.csv"
    datasets.load("wine").frame.to_csv(file, index=False)
    words = ["--plugin", str(TEMPLATE), "run", str(file), "--k", "4", "--method", "shells", "--out", str(released)]
    done = CliRunner().invoke(cli, words, prog_name="microagg")
    assert (done.exit_code, os.environ[registry.FILES]) == (0, str(TEMPLATE)), done.output
    frame = pd.read_csv(released)
    assert frame.groupby(list(frame.columns)).size().min() >= 4
    (tmp_path / "broken.py").write_text("import nothing_such\n", encoding="utf-8")
    done = CliRunner().invoke(cli, ["--plugin", str(tmp_path / "broken.py"), "methods"], prog_name="microagg")
    assert done.exit_code == 2
    assert "broken.py cannot be run: ModuleNotFoundError: No module named 'nothing_such'" in done.stderr


def test_every_algorithm_has_a_variant_for_each_preset_or_one_of_its_own_name():
    assert list(dict.fromkeys(variant.key for variant in VARIANTS.values())) == list(ALGORITHMS)
    assert len(VARIANTS) == sum(max(1, len(cls.info.presets)) for cls in ALGORITHMS.values())
    assert all(variant.name == name for name, variant in VARIANTS.items())
    assert VARIANTS["v-mdav"].title == "V-MDAV"
    assert VARIANTS["mondrian-relaxed"].fixed == {"cut": "relaxed"}
    assert VARIANTS["mondrian-relaxed"].key == "mondrian"


def test_mixed_variants_are_those_that_work_on_categories():
    mixed = {name for name, variant in VARIANTS.items() if variant.mixed}
    close = {name for name, variant in VARIANTS.items() if variant.needs_closeness}
    assert close == {"k-anonymity-first", "t-closeness-first"}
    assert mixed - close == {
        *("k-member", "k-member-classes", "mondrian", "mondrian-relaxed", "mdav-generic-mixed", "least-loss")
    }


@for_each(
    ("name", "given", "runs"),
    [
        ("mdav", {}, Method("mdav")),
        ("v-mdav", {"gamma": 0.4}, Method("v-mdav", {"gamma": 0.4})),
        ("v-mdav", {"gamma": [0.1, 0.4]}, Method("v-mdav", {"gamma": (0.1, 0.4)})),
        # What makes a variant stays.
        ("mondrian-relaxed", {"cut": "strict"}, Method("mondrian", {"cut": "relaxed"})),
        ("mondrian", {}, Method("mondrian", {"cut": "strict"})),
        # A variant without a penalty has none, one with a penalty has at least the usual one.
        ("k-member", {"class_penalty": 3.0, "random_state": 4}, Method("k-member", {"random_state": 4})),
        ("k-member-classes", {}, Method("k-member", {"class_penalty": 2.0})),
        ("k-member-classes", {"class_penalty": 0.0}, Method("k-member", {"class_penalty": 2.0})),
        ("k-member-classes", {"class_penalty": 0.5}, Method("k-member", {"class_penalty": 0.5})),
        ("k-member-classes", {"class_penalty": np.array([0, 1])}, Method("k-member", {"class_penalty": (0, 1)})),
    ],
)
def test_method_of_a_variant(name, given, runs):
    assert VARIANTS[name].method(given) == runs
