"""What becomes of each file of the corpus: read exactly, read and said, or refused in one sentence; and its memory."""

import pytest

from tests.cases import for_each
from tests.corpus import offered, packed, text, workbooks
from tests.corpus.case import check
from tests.corpus.memory import FIGURES, check_in_processes

CASES = [*text.CASES, *offered.CASES, *packed.CASES, *workbooks.CASES]
HEAVY = [case for case in CASES if case.heavy]


def ids(cases):
    return [f"{case.file}: {case.name}{', by a click' if case.offer else ''}" for case in cases]


def test_the_corpus_is_large_and_every_file_has_its_name():
    assert len(CASES) >= 120
    assert len(set(ids(CASES))) == len(CASES)
    assert len(HEAVY) >= 15
    assert sum(case.page for case in CASES) >= 25
    assert len(offered.CASES) >= 60


@for_each("case", [case for case in CASES if not case.heavy])
def test_outcome(case):
    check(case, case.make())


# The heavy cases in parts, so that several processes of tests share them.
PARTS = {
    "text": [case for case in HEAVY if case in text.CASES],
    "workbooks": [case for case in HEAVY if case in workbooks.CASES],
    "packed 1": [case for case in HEAVY if case in packed.CASES][::2],
    "packed 2": [case for case in HEAVY if case in packed.CASES][1::2],
}


@pytest.mark.skipif(not FIGURES.exists(), reason="only Linux says how much a process took")
@pytest.mark.parametrize("part", PARTS)
def test_outcome_and_memory_of_heavy_files(part, tmp_path):
    check_in_processes(__name__, [CASES.index(case) for case in PARTS[part]], tmp_path)
