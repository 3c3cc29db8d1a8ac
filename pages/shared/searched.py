"""The best partitions: those of searches in this session, and those stored for benchmarks.

They improve while Choose k is open. Other pages use the results at their start, so that a release stays the same.
"""

from __future__ import annotations

import math
from collections import OrderedDict

import streamlit as st

from microagg import ParameterError
from microagg.optimum.certificate import Certificate
from microagg.partition import Partition
from microagg.studies import landscape
from microagg.studies.experiment import Method, Result
from microagg.validation import IntArray
from pages.shared import jobs
from pages.shared.workspace import Workspace

#: Losses with at most this relative difference count as equal.
ROUNDING = 1e-6

#: Maximum number of stored certificates, each with a linear program and a partition.
MAX_CERTIFICATES = 24

#: The key of a certificate: the digest of the data, and k.
Key = tuple[str, int]

# The results of the open page by key, None on the page that always takes the newest, and the page.
_TAKEN, _PAGE = "searched_taken", "searched_page"


@st.cache_resource(scope="session", show_spinner=False)
def all_certificates() -> OrderedDict[Key, Certificate]:
    """Return the certificates of this session, to which threads of jobs add with :func:`keep`."""
    return OrderedDict()


def keep(box: jobs.Results, store: OrderedDict[Key, Certificate], key: Key, certificate: Certificate) -> None:
    """Store a certificate of the session, from a thread of a job, without the oldest ones if there are too many."""
    with box.lock:
        jobs.keep(store, key, certificate, MAX_CERTIFICATES)


def certificates(workspace: Workspace) -> dict[int, Certificate]:
    """Return the certificates of this session for these data, by k."""
    store = all_certificates()
    with jobs.results().lock:
        return {k: certificate for (digest, k), certificate in store.items() if digest == workspace.digest}


def enter(page: str, *, live: bool) -> None:
    """Store the open page, and whether it is ``live`` and takes the newest results."""
    if live or st.session_state.get(_PAGE) != page:
        st.session_state[_TAKEN] = None if live else {}
    st.session_state[_PAGE] = page


def take_newest() -> None:
    st.session_state[_TAKEN] = {}


def best(workspace: Workspace, k: int) -> Result | None:
    """Return the best partition for ``k`` of the page, or None."""
    page_results = st.session_state.get(_TAKEN)
    if page_results is None:
        return newest(workspace, k)
    if (workspace.digest, k) not in page_results:
        page_results[workspace.digest, k] = newest(workspace, k)
    result: Result | None = page_results[workspace.digest, k]
    return result


def newest(workspace: Workspace, k: int) -> Result | None:
    """Return the best partition for ``k`` of this session's searches or of a benchmark, or None."""
    search, stored_best = certificates(workspace).get(k), stored_result(workspace, k)
    if search is None or (stored_best and stored_best.information_loss <= search.found[-1][1] * (1 + ROUNDING)):
        return stored_best
    return _searched(workspace.digest, k, search.found[-1][1], workspace, search)


def stored_result(workspace: Workspace, k: int) -> Result | None:
    """Return the best partition stored for ``k`` if the records are a benchmark's, the same object each time."""
    return None if workspace.benchmark is None else _stored_result(workspace.digest, k, workspace)


def stored(workspace: Workspace, k: int) -> landscape.Best | None:
    """Return the stored best partition of a benchmark for ``k``, if any, also in threads of jobs."""
    if workspace.benchmark is None:
        return None
    data, seed = workspace.benchmark
    try:
        return landscape.best(data, k, seed)
    except ParameterError:  # of larger groups nothing is stored
        return None


@st.cache_resource(max_entries=4 * MAX_CERTIFICATES, show_spinner=False)
def _stored_result(digest: str, k: int, _workspace: Workspace) -> Result | None:
    best = stored(_workspace, k)
    return None if best is None else _result(_workspace, k, best.partition.labels, math.nan)


@st.cache_resource(scope="session", max_entries=4 * MAX_CERTIFICATES, show_spinner=False)
def _searched(digest: str, k: int, loss: float, _workspace: Workspace, _certificate: Certificate) -> Result:
    return _result(_workspace, k, _certificate.labels, _certificate.seconds)


def _result(workspace: Workspace, k: int, labels: IntArray, seconds: float) -> Result:
    partition = Partition(labels, k)
    method = Method("iterated-local-search" if workspace.is_numeric else "least-loss")
    return Result(method, k, {}, 1, partition, workspace.problem.row(partition, partition), seconds)
