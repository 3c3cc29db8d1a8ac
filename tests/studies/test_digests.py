"""Digests of code: what changes them, and what does not."""

import json
import shutil

import pytest

from benchmarks import adult, digests, landscape, published
from benchmarks.digests import code_digest
from microagg.studies import literature

ALGORITHM = '''"""Words of the module."""

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.shared import nearest


class MDAV(Microaggregator):
    """Words."""

    info = Info(key="mdav", title="Any")

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return _groups(X, k)


def _groups(X, k):
    nearest = X.min()  # a value of this function, not the kernel
    return nearest + k


def _of_another_algorithm(X):
    return nearest(X)
'''
KERNEL = "from microagg.kernels import other\n\n\ndef nearest(X):\n    return other.LEAST * X\n"
OTHER = "LEAST = 1\n"


@pytest.fixture
def digest_of(tmp_path, monkeypatch):
    """Return the digest of MDAV where its file and two kernels have other texts."""
    monkeypatch.setattr(digests, "PACKAGE", tmp_path)

    def digest(algorithm=ALGORITHM, kernel=KERNEL, other=OTHER, module="shared"):
        files = {"algorithms/mdav": algorithm, f"kernels/{module}": kernel, "kernels/other": other}
        for name, text in files.items():
            path = tmp_path / f"{name}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        digests._module.cache_clear()
        digests._text_and_names.cache_clear()
        return code_digest(["mdav"])

    yield digest
    digests._module.cache_clear()
    digests._text_and_names.cache_clear()


CALLING = ALGORITHM.replace(
    "nearest = X.min()  # a value of this function, not the kernel", "least = nearest(X)"
).replace("nearest + k", "least + k")


def test_words_do_not_count(digest_of):
    before = digest_of(CALLING)
    assert digest_of(CALLING.replace("Words", "Other words").replace("return _", "# why\n        return _")) == before
    assert digest_of(CALLING.replace("X: FloatArray", "X").replace('title="Any"', 'title="Other"')) == before
    assert digest_of(CALLING.replace("def _groups", "@kernel\ndef _groups")) == before


def test_nor_does_where_a_definition_stands(digest_of):
    before = digest_of(CALLING)
    assert digest_of(CALLING.replace("kernels.shared", "kernels.moved"), module="moved") == before
    definition = KERNEL[KERNEL.index("def") :]
    moved = CALLING.replace("from microagg.kernels.shared import nearest", "from microagg.kernels import other")
    assert digest_of(moved + definition) == before


def test_code_that_is_reached_counts_and_no_other(digest_of):
    before = digest_of(CALLING)
    assert digest_of(CALLING.replace("least + k", "least - k")) != before
    assert digest_of(CALLING, KERNEL.replace("* X", "/ X")) != before
    assert digest_of(CALLING, other="LEAST = 2\n") != before
    assert digest_of(CALLING.replace("_of_another_algorithm", "_of_a_third")) == before
    assert digest_of(CALLING, KERNEL + "\n\ndef farthest(X):\n    return X\n", OTHER + "MOST = 3\n") == before
    # Where a function has a value of the same name as a kernel, it does not reach the kernel.
    assert digest_of(kernel=KERNEL.replace("* X", "/ X")) == digest_of()


def test_a_parameter_counts_but_not_its_help(digest_of):
    def with_param(default, words):
        return ALGORITHM.replace(
            '    info = Info(key="mdav", title="Any")',
            f'    params = (Param("gamma", "float", (0.0, None), {default}, "{words}", symbol="{words}"),)',
        )

    assert digest_of(with_param(0.2, "a")) == digest_of(with_param(0.2, "b")) != digest_of(with_param(0.3, "a"))


def test_the_algorithm_that_a_search_starts_from_counts():
    assert code_digest(["local-search"]) == code_digest(["local-search", "mdav-star"])
    assert code_digest(["mdav"]) != code_digest(["mdav", "cbfs"])
    with pytest.raises(KeyError, match="nonsense"):
        code_digest(["nonsense"])


def test_restamping_changes_digests_and_no_results(tmp_path, monkeypatch):
    before = {}
    for source in (published.RESULTS / "published.json", published.RESULTS / "adult.json", landscape.ABOUT):
        about = json.loads(source.read_text(encoding="utf-8"))
        before[source.name] = about
        stale = about | {"digests": dict.fromkeys(about["digests"], "0" * 16)}
        (tmp_path / source.name).write_text(json.dumps(stale), encoding="utf-8")
    shutil.copy(published.RESULTS / "published.csv", tmp_path)
    results = (tmp_path / "published.csv").read_bytes()
    for module in (published, adult):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(landscape, "ABOUT", tmp_path / "about.json")
    assert published.outdated(literature.Stored.read(tmp_path))
    for module in (published, adult, landscape):
        module.restamp()
    assert published.outdated(literature.Stored.read(tmp_path)) == []
    assert (tmp_path / "published.csv").read_bytes() == results
    for name, about in before.items():
        assert json.loads((tmp_path / name).read_text(encoding="utf-8")) == about
