"""The worst files of the corpus on the page: what is wrong is said in words, and every page goes on without a crash."""

import re

import pytest

from tests.corpus.test_corpus import CASES
from tests.pages.helpers import go_to, plain, settle, unescaped, upload

WORST = [pytest.param(case, id=f"{case.file}: {case.name}") for case in CASES if case.page]


def shown(app):
    """Return the words of a page, in which there is no generic error; `settle` has seen that there is no exception."""
    said = plain(app)
    assert "Something went wrong" not in said
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize("case", WORST)
def test_a_bad_file_on_the_page(case):
    app = upload(case.file, case.make())
    said = shown(app)
    expected = "|".join(f"(?:{pattern})" for pattern in (case.says, case.refuses) if pattern)
    if expected:
        assert re.search(expected, said, re.IGNORECASE | re.DOTALL), said
    errors = unescaped(" ".join(error.value for error in app.error))
    refused = bool(case.refuses and re.search(case.refuses, errors, re.IGNORECASE))
    assert refused or case.says or case.cells is not None
    for page in ("choose_k", "clusters", "release"):
        go_to(app, page)
        said = shown(settle(app))
        # A page that has nothing to show says why.
        assert not refused or app.error or app.warning or app.info, said
