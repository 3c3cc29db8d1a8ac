"""The literature: all that algorithms and figures cite is in it, and can be cited."""

import dataclasses
import re

import pytest
import yaml

import microagg
from microagg.algorithms.base import Microaggregator
from microagg.studies import bibliography, literature
from tests.conftest import ROOT


def test_whatever_an_algorithm_or_a_figure_is_from_has_a_title():
    for text in (*(cls.info.reference for cls in microagg.ALGORITHMS.values()), *literature.PAPERS.values()):
        rest = text
        for work in bibliography.cited_works(text):
            assert work.title, f"add {work.cited!r} to microagg/studies/bibliography.csv"
            rest = rest.replace(work.cited, "")
        assert not re.search(r"\b(19|20)\d\d", rest), f"{rest!r} is not in the bibliography"


def test_works_are_in_order_and_once():
    works = bibliography.works()
    assert [work.cited for work in works] == sorted({work.cited for work in works})
    dois = [work.doi for work in works if work.doi]
    assert len(set(dois)) == len(dois) >= 14
    assert all(re.fullmatch(r"10\.\d{4,5}/\S+", doi) for doi in dois)
    for work in works:
        assert 1980 < int(work.year) <= bibliography.YEAR
        families = [author.partition(",")[0] for author in work.authors.split("; ")]
        assert work.cited == re.sub(r", (?=[^,]*$)", " & ", ", ".join(families)) + f" {work.year}" or work.note


def test_references_are_those_of_the_algorithm_and_no_others():
    mdav = microagg.cite("mdav")
    assert "Privacy in statistical databases" in mdav
    assert "V-MDAV" not in mdav  # whose authors are two of the three
    assert microagg.cite(microagg.ALGORITHMS["mdav"]) == mdav
    both = microagg.cite("mdav-star", "mdav-plus", "Spagnolo 2016").splitlines()
    assert [line[:9] for line in both] == ["Thaeter, ", "Spagnolo "]
    entry = microagg.cite("k-member", style="bibtex")
    assert entry.startswith("@misc{byun-kamra-bertino-li-2007,\n  author = {Byun, J.-W. and Kamra, A. and ")
    assert "  doi = {10.1007/978-3-540-71703-4_18},\n}" in entry


def test_a_class_of_ones_own_is_cited_by_its_reference():
    info = dataclasses.replace(microagg.ALGORITHMS["mdav"].info, key="own", reference="A thesis")
    own = type("Own", (Microaggregator,), {"info": info})
    assert microagg.cite(own) == "A thesis"
    assert microagg.cite(own, style="bibtex") == "@misc{a-thesis,\n  note = {A thesis},\n}"


def test_the_package_is_cited_as_the_repository_says():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(said["version"]) == microagg.__version__
    [author] = said["authors"]
    who, version = f"{author['name']} ({bibliography.YEAR})", f"version {said['version']}"
    assert microagg.cite() == f"{who}. {said['title']}. Python package, {version}."


def test_what_is_neither_an_algorithm_nor_a_work_is_refused():
    with pytest.raises(microagg.ParameterError, match=r"there is no algorithm 'mdaf'.*mdav"):
        microagg.cite("mdaf")
    with pytest.raises(microagg.ParameterError, match="style must be 'text' or 'bibtex', not 'apa'"):
        microagg.cite(style="apa")
