"""Recipes that somebody else has sent: what no release has written is refused before anything is made of it."""

import ast
import json

import pandas as pd
import pytest

from microagg import ALGORITHMS, MicroaggError, ParameterError, microaggregate, replay
from microagg.release.recipe import script

CODE = "k=3); __import__('os').system('touch owned'); dict(a"


@pytest.fixture(scope="module")
def frame():
    pay = [1.5, 2.5, 3.5, 9.0, 9.5, 8.0, 4.0, 4.5, 5.0]
    return pd.DataFrame({"age": [31, 33, 35, 60, 62, 64, 20, 22, 24], "pay": pay, "ill": list("abcabcabc")})


@pytest.fixture(scope="module")
def recipe(frame):
    return microaggregate(frame, k=3, method="v-mdav", confidential="ill").recipe


def deep(levels):
    nested = None
    for _ in range(levels):
        nested = {"*": nested}
    return nested


class Evil:
    def __repr__(self):
        return "__import__('os').system('touch owned')"


HOSTILE = {
    "a parameter that is code": {"params": {CODE: 1}},
    "a parameter with a line break": {"params": {"gamma\nimport os\n": 0.2}},
    "a parameter in quotes": {"params": {"'": 0.2}},
    "a parameter of another method": {"params": {"p": 1}},
    "a parameter that is an argument": {"params": {"engine": "dask"}},
    "a parameter out of bounds": {"params": {"gamma": -5.0}},
    "a parameter that is no number": {"params": {"gamma": "$(touch owned)"}},
    "a parameter that is infinite": {"params": {"gamma": float("inf")}},
    "a parameter that is an object": {"params": {"gamma": Evil()}},
    "parameters that are a list": {"params": ["gamma"]},
    "a parameter called by a number": {"params": {3: 1}},
    "a method that is code": {"method": CODE},
    "a method that is none": {"method": "nonsense"},
    "a method that is a list": {"method": ["mdav"]},
    "k as text": {"k": "3"},
    "k of 0": {"k": 0},
    "k that is no number": {"k": float("nan")},
    "records as text": {"n": "9"},
    "an unknown scale": {"scale": "zscore'); import os; ('"},
    "an unknown statistic": {"statistic": "$(touch owned)"},
    "an unknown rounding": {"rounding": "file; touch owned"},
    "unknown weights": {"release_weights": "`touch owned`"},
    "unknown categories": {"categories": 3},
    "unknown gaps": {"missing": "explode"},
    "polish as text": {"polish": "yes"},
    "a seed below 0": {"random_state": -1},
    "a seed as text": {"shuffle": "1); import os"},
    "columns that are a text": {"quasi_identifiers": "age"},
    "columns that are lists": {"confidential": [["ill"]]},
    "columns that are objects": {"others": [Evil()]},
    "an object among the dates": {"dates": [["age", Evil()]]},
    "a taxonomy too deep": {"taxonomies": [["age", deep(5000)]]},
    "codes without a column": {"missing_codes": [["age"]]},
    "numbers that are none": {"numbers": None},
    "numbers without a notation": {"numbers": [["pay"]]},
    "numbers of two forms": {"numbers": [["pay", "1,234.5"], "age"]},
    "no number of records": {"n": None},
    "parameters that are none": {"params": None},
    "gaps by a number": {"missing": 5},
    "an order without levels": {"ordinal": [["age"]]},
    "labels as text": {"labels": "0,0,0"},
    "labels that are fractions": {"labels": [0.5] * 9},
    "versions that are an object": {"versions": Evil()},
    "versions with an object": {"versions": {"microagg": Evil()}},
    "a version with a line break": {"versions": {"microagg": "1\nimport os\n"}},
    "a program with a line break": {"versions": {"microagg\rimport os\r": "1"}},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_no_release_has_written_is_refused(frame, recipe, name):
    forged = recipe | HOSTILE[name]
    field = next(iter(HOSTILE[name]))
    said = []
    for make in (lambda: script(forged, "in.csv"), lambda: replay(frame, forged)):
        with pytest.raises(ParameterError) as refused:
            make()
        said.append(str(refused.value))
    assert len(set(said)) == 1
    assert field in said[0] or "gamma" in said[0] or "algorithm" in said[0]


@pytest.mark.parametrize("name", ["it's", 'a"b', "a; touch owned", "$(touch owned)", "--out", "a\nb", "é=1,2", "#"])
def test_programs_hold_names_of_columns_as_literals(name):
    frame = pd.DataFrame({name: [31, 33, 35, 60, 62, 64], "ill": list("abcabc")})
    recipe = json.loads(json.dumps(microaggregate(frame, k=3, quasi_identifiers=[name], confidential="ill").recipe))
    tree = ast.parse(script(recipe, "in.csv"))
    calls = {ast.unparse(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    usual = {"read_file", "print", "Path", "Path('in_protected.csv').write_bytes"}
    assert set(calls) == usual | {"microagg.microaggregate", "release.report.summary", "release.export"}
    chosen = {keyword.arg: ast.literal_eval(keyword.value) for keyword in calls["microagg.microaggregate"].keywords}
    assert chosen["quasi_identifiers"] == [name]


@pytest.mark.parametrize("key", [key for key, cls in ALGORITHMS.items() if not cls.info.mixed])
def test_what_releases_write_is_taken(frame, key):
    try:
        recipe = microaggregate(frame[["age", "ill"]], k=3, method=key, random_state=1, confidential="ill").recipe
    except MicroaggError:
        pytest.skip(f"{key} needs more than one column of nine numbers")
    ast.parse(script(json.loads(json.dumps(recipe)), "in.csv"))
