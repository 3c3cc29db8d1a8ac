"""What every algorithm must do, whatever it is; run over the registry, and over the template for new ones."""

import doctest
import importlib.util
import inspect
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from microagg import ALGORITHMS, DataError, Microaggregator, Param, ParameterError, Partition, make, metrics, optimum
from microagg.algorithms import registry
from microagg.columns.records import Records
from microagg.kernels.neighbors import brute_force
from microagg.progress import Cancelled, watched
from tests.cases import for_each
from tests.conftest import ROOT

# Groups have k records whatever the data, so no algorithm can find three clusters of fifty records.
EXPECTED_FAILURES = {
    "check_clustering": "groups of k records are not the clusters that the check looks for",
    "check_methods_sample_order_invariance": "records that were fitted get the centroid of their own group, others, "
    "also the same in another order, the nearest one",
    "check_methods_subset_invariance": "as above",
}


_SPEC = importlib.util.spec_from_file_location("algorithm_template", ROOT / "docs" / "algorithm_template.py")
_MODULE = sys.modules[_SPEC.name] = importlib.util.module_from_spec(_SPEC)  # pickle looks for it there
_SPEC.loader.exec_module(_MODULE)
TEMPLATE = _MODULE.Shells
every_algorithm = pytest.mark.parametrize("cls", [*ALGORITHMS.values(), TEMPLATE], ids=lambda cls: cls.info.key)
#: Fitting is the same code for all, as test_all_share_one_fit makes sure, so one for each reader of X stands for all.
REPRESENTATIVES = [ALGORITHMS["v-mdav"], ALGORITHMS["k-member"]]
each_reader = pytest.mark.parametrize("cls", REPRESENTATIVES, ids=lambda cls: cls.info.key)


@pytest.fixture
def X():
    return np.random.default_rng(4).normal(size=(60, 3))


@every_algorithm
def test_all_share_one_fit(cls):
    overridden = {name for name in vars(cls).keys() & set(dir(Microaggregator)) if not name.startswith("__")}
    # The last is what scikit-learn notes of every class whose output can be set.
    assert overridden - {"info", "params"} == {"_partition", "_sklearn_auto_wrap_output_keys"}
    assert cls.__init__.__code__ is REPRESENTATIVES[0].__init__.__code__
    assert cls.__mro__[1] is Microaggregator


@every_algorithm
def test_info_is_complete(cls):
    info = cls.info
    assert ALGORITHMS.get(info.key, TEMPLATE) is cls
    assert info.title
    assert info.family
    assert info.summary.endswith(".")
    assert info.reference
    assert 1990 < info.year < 2100
    assert info.sizes in {"fixed", "variable"}
    assert info.complexity.startswith("O(")
    assert info.checked_by in {"oracle", "properties"}
    for preset in info.presets:
        cls(**preset.params)
    for param in cls.params:
        assert param.check(param.default) == param.default
        assert param.help.endswith(".")
        for value in param.grid:
            assert param.check(value) == value


@every_algorithm
def test_a_parameter_has_the_same_name_everywhere(cls):
    declared = {param.name: param.default for param in cls.params}
    first, *others = inspect.signature(cls).parameters.values()
    assert (first.name, first.default) == ("k", 3)
    assert {parameter.name: parameter.default for parameter in others} == declared
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in others)
    assert cls().get_params() == {"k": 3} | declared
    hook = inspect.signature(cls._partition).parameters.values()
    taken = [parameter.name for parameter in hook if parameter.kind is inspect.Parameter.KEYWORD_ONLY]
    assert taken == [*declared, *(["classes"] if any(param.needs_classes for param in cls.params) else [])]


@every_algorithm
def test_docstring_says_it_all_and_its_example_is_true(cls, monkeypatch):
    text = inspect.getdoc(cls)
    sections = ["Parameters\n---", "Attributes\n---", "Notes\n---", "References\n---", "Examples\n---"]
    assert sorted(sections, key=text.index) == sections
    for word in ["k", *(param.name for param in cls.params), "labels_", "partition_", "n_features_in_"]:
        assert f"\n{word} : " in text
    words = " ".join(text.split())
    for said in (cls.info.summary, cls.info.note, cls.info.reference, cls.info.complexity):
        assert said in words
    monkeypatch.setattr(registry, "ALGORITHMS", {**ALGORITHMS, cls.info.key: cls})
    example = doctest.DocTestParser().get_doctest(text, {}, cls.info.key, None, None)
    assert doctest.DocTestRunner().run(example) == (0, 3)


@every_algorithm
def test_groups_have_at_least_k_records(cls, X):
    for k in (1, 2, 3, 7, 30, 31, 60):
        estimator = cls(k).fit(X)
        partition = estimator.partition_
        assert isinstance(partition, Partition)
        assert partition.sizes.min() >= k
        assert partition.sizes.sum() == len(X)
        if cls.info.sizes == "fixed":
            assert partition.sizes.max() <= 2 * k - 1 + (k - 1)
        assert estimator.labels_ is partition.labels
        if k == 1:
            assert metrics.information_loss(X, estimator.labels_) == pytest.approx(0)


@every_algorithm
def test_same_data_same_labels_and_data_are_left_alone(cls, X):
    before = X.copy()
    labels = cls(4).fit_predict(X)
    X.setflags(write=False)
    for same in (X, np.asfortranarray(before), pd.DataFrame(X, columns=["a", "b", "c"])):
        np.testing.assert_array_equal(labels, cls(4).fit_predict(same))
    np.testing.assert_array_equal(X, before)


@every_algorithm
def test_moving_and_uniform_scaling_change_nothing(cls, X):
    labels = cls(3).fit_predict(X)
    np.testing.assert_array_equal(labels, cls(3).fit_predict(4.0 * X))
    np.testing.assert_array_equal(labels, cls(3).fit_predict(X + 1e8))


@every_algorithm
def test_order_of_attributes_changes_something_only_if_declared(cls, X):
    same = np.array_equal(cls(3).fit_predict(X), cls(3).fit_predict(X[:, ::-1]))
    assert same is not cls.info.order_of_attributes_matters


@every_algorithm
def test_survives_cloning_and_pickling(cls, X):
    estimator = cls(3).fit(X)
    again = pickle.loads(pickle.dumps(estimator))
    assert again.partition_ == estimator.partition_
    assert not again.labels_.flags.writeable
    assert clone(estimator).get_params() == estimator.get_params()


@every_algorithm
def test_no_partition_loses_less_than_the_bound(cls, X):
    for k in (2, 3, 5, 10):
        assert metrics.sse(X, cls(k).fit_predict(X)) >= optimum.bounds.nearest_neighbor(X, k).sse


IN_STEPS = ["p-s", "m-d", "md", "k-ward", "mu-approx"]
OTHERS = ["dba-1", "gsms", "imhm", "rimhm", "pcl", "npn-mhm", "tsp-mhm", "md-mhm"]
SEARCHES = ["local-search", "iterated-local-search", "least-loss"]


@pytest.mark.parametrize("key", IN_STEPS)
def test_many_small_steps_give_the_same(key, monkeypatch):
    X = np.random.default_rng(5).normal(size=(150, 2))
    labels = make(key, k=3).fit_predict(X)
    monkeypatch.setattr(brute_force, "TERMS_AT_A_TIME", 300)
    messages = []
    with watched(lambda message, _: messages.append(message) or True):
        assert np.array_equal(make(key, k=3).fit_predict(X), labels)
    assert len(messages) > 15


@for_each("key", [*IN_STEPS, *OTHERS, *SEARCHES])
def test_a_run_says_where_it_is_and_can_be_cancelled(key):
    X = np.random.default_rng(0).normal(size=(50, 2))
    seen = []
    with watched(lambda *where: seen.append(where)), pytest.raises(Cancelled):
        make(key).fit(X)
    [(message, share)] = seen
    assert message
    assert share is None or 0 <= share <= 1


@each_reader
def test_scikit_learn_estimator(cls):
    from sklearn.utils.estimator_checks import check_estimator  # it imports much of scikit-learn

    with warnings.catch_warnings():
        # The checks feed integers, lists and frames on purpose, and scikit-learn remarks on some of them.
        warnings.simplefilter("ignore")
        checks = check_estimator(cls(), expected_failed_checks=EXPECTED_FAILURES)
    assert {check["check_name"] for check in checks if check["status"] == "xfail"} == set(EXPECTED_FAILURES)


@for_each(
    "use",
    [
        "pickle.loads(pickle.dumps(model)).get_params()",
        "repr(model), dir(model).index('set_output')",
        "sklearn.pipeline.make_pipeline(model).fit(X)",
    ],
)
def test_scikit_learn_is_imported_once_an_algorithm_is_used_as_its_estimator(use):
    code = (
        "import importlib, pickle, sys\n"
        "import numpy as np, pandas as pd, microagg\n"
        "X = np.random.default_rng(0).normal(size=(40, 2))\n"
        "microagg.microaggregate(pd.DataFrame(X, columns=['a', 'b']), k=5)\n"
        "class Mine(microagg.Microaggregator):\n"
        "    info = microagg.Info(**vars(microagg.ALGORITHMS['mdav'].info) | {'key': 'mine'})\n"
        "    def _partition(self, X, k): return np.zeros(len(X), dtype=np.int64)\n"
        "    def transform(self, X): return X\n"
        "model = microagg.make('mdav', k=5)\n"
        "assert model.fit_transform(X).shape == (40, 2) and model.n_features_in_ == 2\n"
        "heavy = {'sklearn', 'narwhals', 'scipy.linalg', 'scipy.optimize', 'scipy.stats'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        f"if {'sklearn' in use}: import sklearn.pipeline\n"
        f"{use}\n"
        "from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin, clone, is_clusterer\n"
        "for each in (model, clone(model), Mine(2), microagg.make('v-mdav')):\n"
        "    assert isinstance(each, BaseEstimator) and isinstance(each, ClusterMixin) and is_clusterer(each)\n"
        "    assert isinstance(each, TransformerMixin) and not hasattr(each, 'nonsense')\n"
        "    assert each.set_output(transform='pandas').fit_transform(X).columns.tolist() == ['x0', 'x1']\n"
        "Mine(2).set_output(transform='pandas').fit(X).transform(X).columns\n"
        "print(repr(model), model.labels_.max(), clone(model).get_params())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "MDAV(k=5) 7 {'k': 5}\n", done.stderr


@each_reader
def test_fit_transform_replaces_each_record_by_its_centroid(cls, X):
    estimator = cls(3)
    released = estimator.fit_transform(X)
    for group in range(estimator.partition_.n_groups):
        members = estimator.labels_ == group
        assert np.allclose(released[members], X[members].mean(axis=0))
        assert len(np.unique(released[members], axis=0)) == 1
    assert np.square(X - released).sum() == pytest.approx(metrics.sse(X, estimator.labels_))


@each_reader
def test_the_output_is_of_the_kind_that_is_set(cls, X):
    frame = pd.DataFrame(X, columns=["age", "income", "rent"], index=range(100, 160))
    plain = cls(4).fit_transform(X)
    assert type(plain) is np.ndarray
    pandas = cls(4).set_output(transform="pandas").fit_transform(frame)
    pd.testing.assert_frame_equal(pandas, pd.DataFrame(plain, columns=frame.columns, index=frame.index))
    of_polars = pl.from_pandas(frame)
    estimator = cls(4).set_output(transform="polars")
    for table in (of_polars, of_polars.to_arrow()):
        released = estimator.fit_transform(table)
        assert released.equals(pl.DataFrame(plain, schema=["age", "income", "rent"]))
        assert estimator.get_feature_names_out().tolist() == ["age", "income", "rent"]
    assert estimator.transform(of_polars).equals(released)
    with pytest.warns(UserWarning, match="no release"):
        assert estimator.transform(of_polars[:5]).columns == ["age", "income", "rent"]


@each_reader
def test_quasi_identifiers_are_protected_within_a_pipeline(cls, X):
    frame = pd.DataFrame(X * [1, 10, 100], columns=["age", "income", "rent"]).assign(ill=[0, 1] * 30)
    protect = ColumnTransformer([("qi", cls(5), ["age", "income"])], remainder="passthrough")
    protect.set_output(transform="pandas")
    released = protect.fit_transform(frame)
    assert released.columns.tolist() == ["qi__age", "qi__income", "remainder__rent", "remainder__ill"]
    np.testing.assert_array_equal(released[["qi__age", "qi__income"]], cls(5).fit_transform(X[:, :2] * [1, 10]))
    np.testing.assert_array_equal(released["remainder__ill"], frame["ill"])
    model = make_pipeline(protect, LinearRegression()).fit(frame, X[:, 0])
    pd.testing.assert_frame_equal(protect.transform(frame), released)
    with pytest.warns(UserWarning, match="no release"):
        assert np.isfinite(model.predict(frame.head(3))).all()


@each_reader
def test_other_records_get_the_nearest_centroid(cls, X):
    estimator = cls(4).fit(X)
    others = np.random.default_rng(9).normal(size=(25, 3))
    np.testing.assert_array_equal(estimator.transform(X), estimator.centroids_[estimator.labels_])
    with pytest.warns(UserWarning, match="nearest centroid, which fewer than k of them may share"):
        released = estimator.transform(others)
    means = [X[estimator.labels_ == group].mean(axis=0) for group in range(estimator.partition_.n_groups)]
    for record, found in zip(others, released, strict=True):
        np.testing.assert_allclose(found, min(means, key=lambda mean: ((record - mean) ** 2).sum()), rtol=1e-12)
    with pytest.raises(DataError, match="yet now missing:\n- b"):
        cls(4).fit(pd.DataFrame(X, columns=list("abc"))).transform(pd.DataFrame(X[:, :2], columns=list("ac")))


def test_records_of_mixed_attributes_are_not_transformed(X):
    records = Records.of_numbers(X)
    estimator = make("k-member", k=4).fit(X)
    assert hasattr(estimator, "centroids_")
    estimator.fit(records)
    for refused in (lambda: estimator.transform(X), lambda: estimator.fit_transform(records)):
        with pytest.raises(DataError, match="have no centroids"):
            refused()


@each_reader
def test_bad_tables_are_named(cls, X):
    gap = "NaN (a missing value) in record 2"
    for bad, says in ((np.nan, gap), (np.inf, "infinity in record 2"), (1e200, "large")):
        X[2, 1] = bad
        with pytest.raises(DataError, match=re.escape(says)):
            cls(3).fit(X)
    frame = pd.DataFrame({"age": range(60), "rent": 1.0})
    frame.loc[[7, 9], "rent"] = np.nan
    with pytest.raises(DataError, match=r"column 'rent' has NaN .* record 7 .* one of 2"):
        cls(3).fit(frame)
    frame["rent"] = frame["rent"].fillna(1.0).astype(object)
    frame.loc[5, "rent"] = "n/a"
    with pytest.raises(DataError, match=r"column 'rent' is not numeric \(record 5 holds 'n/a'\)"):
        cls(3).fit(frame)


@each_reader
@pytest.mark.parametrize("k", [0, -3, 2.5, "3", None, True])
def test_bad_k_is_refused(cls, X, k):
    with pytest.raises(ParameterError, match="k must be"):
        cls(k=k).fit(X)


@every_algorithm
def test_unknown_parameter_is_refused(cls):
    with pytest.raises(TypeError, match="'sigma'"):
        cls(sigma=1)
    with pytest.raises(ParameterError, match="has no parameter 'sigma'"):
        make("mdav", sigma=1)


@pytest.mark.parametrize(("gamma", "says"), [(-0.1, "at least 0"), ("0.2", "finite number"), (np.nan, "finite number")])
def test_parameter_out_of_bounds_is_refused(X, gamma, says):
    with pytest.raises(ParameterError, match=f"gamma must be .*{says}"):
        make("v-mdav", gamma=gamma)
    with pytest.raises(ParameterError, match=f"gamma must be .*{says}"):
        ALGORITHMS["v-mdav"](gamma=gamma).fit(X)
    with pytest.raises(ParameterError, match="first must be one of 's', 'r'"):
        make("md", first="t")


@pytest.mark.parametrize(
    ("kind", "bounds", "text", "value"),
    [
        ("float", (0, 1), "0.5", 0.5),
        ("int", (1, None), "7", 7),
        ("choice", ("s", "r"), "r", "r"),
        ("bool", (), "0", False),
        ("algorithm", (), "mdav", "mdav"),
        ("float", (), "2", 2.0),
        ("float", (0, 1), "2", "between 0 and 1, not 2.0"),
        ("float", (0, 1), "half", "finite number, not 'half'"),
        ("int", (1, None), "1.5", "whole number, not '1.5'"),
        ("bool", (), "yes", "True or False, not 'yes'"),
        ("choice", ("s", "r"), "t", "one of 's', 'r', not 't'"),
        ("algorithm", (), "nonsense", "key of an algorithm"),
    ],
)
def test_a_parameter_is_read_from_text(kind, bounds, text, value):
    param = Param("p", kind, bounds, None, "")
    if isinstance(value, str) and " " in value:
        with pytest.raises(ParameterError, match=f"p must be .*{value}"):
            param.read(text)
    else:
        assert param.read(text) == value


def test_registry_is_ordered_and_read_only():
    families = [cls.info.family for cls in ALGORITHMS.values()]
    assert families == sorted(families)
    with pytest.raises(TypeError):
        ALGORITHMS["x"] = None
