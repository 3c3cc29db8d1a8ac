"""The best partitions: what searches of this session have found, what is stored of benchmarks, and what a page goes by.

While somebody looks at Choose k they become better. The other pages go by what there was when they were entered, so that
what is released does not change under somebody's hands.
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

#: Losses whose relative difference is at most this are the same, to within rounding.
ROUNDING = 1e-6

#: How many certificates are kept: each holds a linear program and a partition.
MOST = 24

#: What certificates are kept by: the digest of the data, and k.
Key = tuple[str, int]

# What the page that is shown goes by, by key, None where none was known; and the page. There is nothing on the
# page that goes by what there is at each moment.
_TAKEN, _PAGE = "searched_taken", "searched_page"

# Of what there were certificates when the page began to be drawn, by key.
_BEGUN = "searched_begun"


@st.cache_resource(scope="session", show_spinner=False)
def all_certificates() -> OrderedDict[Key, Certificate]:
    """Return the certificates of this session; jobs' threads add to them, by :func:`keep`."""
    return OrderedDict()


def keep(box: jobs.Results, kept: OrderedDict[Key, Certificate], key: Key, certificate: Certificate) -> None:
    """Keep a certificate among all of the session; the oldest go when there are too many. Called from jobs' threads."""
    with box.lock:
        jobs.keep(kept, key, certificate, MOST)


def certificates(workspace: Workspace) -> dict[int, Certificate]:
    """Return by k what searches of this session have found and proven on these data."""
    kept = all_certificates()
    with jobs.results().lock:
        return {k: certificate for (of, k), certificate in kept.items() if of == workspace.digest}


def enter(page: str, *, live: bool) -> None:
    """Note which page is shown, and whether it goes by what there is at each moment."""
    if live or st.session_state.get(_PAGE) != page:
        st.session_state[_TAKEN] = None if live else {}
    st.session_state[_PAGE] = page
    with jobs.results().lock:
        st.session_state[_BEGUN] = frozenset(all_certificates())


def take_newest() -> None:
    """Have the page go by what has been found by now."""
    st.session_state[_TAKEN] = {}


def found(workspace: Workspace, k: int) -> Result | None:
    """Return the best partition for ``k`` that the page goes by, or None if none is known."""
    taken = st.session_state.get(_TAKEN)
    if taken is None:
        return newest(workspace, k)
    if (workspace.digest, k) not in taken:
        taken[workspace.digest, k] = newest(workspace, k)
    result: Result | None = taken[workspace.digest, k]
    return result


def is_there(workspace: Workspace, k: int, *, now: bool = False) -> bool:
    """Return whether there was a partition for ``k`` when the page began to be drawn, or whether there is one ``now``.

    What is chosen must not change while a page is drawn.
    """
    if now or st.session_state.get(_TAKEN) is not None:
        return found(workspace, k) is not None
    return (workspace.digest, k) in st.session_state.get(_BEGUN, ()) or stored_result(workspace, k) is not None


def newest(workspace: Workspace, k: int) -> Result | None:
    """Return the best partition for ``k`` of a search of this session or of a benchmark's, or None if there is none."""
    own, known = certificates(workspace).get(k), stored_result(workspace, k)
    if own is None or (known and known.information_loss <= own.found[-1][1] * (1 + ROUNDING)):
        return known
    return _searched(workspace.digest, k, own.found[-1][1], workspace, own)


def stored_result(workspace: Workspace, k: int) -> Result | None:
    """Return the best partition stored for ``k`` if the records are a benchmark's, the same object each time."""
    return None if workspace.benchmark is None else _stored_result(workspace.digest, k, workspace)


def stored(workspace: Workspace, k: int) -> landscape.Best | None:
    """Return what is stored of a benchmark for ``k``, None of other records and larger k; for threads of jobs, too."""
    if workspace.benchmark is None:
        return None
    data, seed = workspace.benchmark
    try:
        return landscape.best(data, k, seed)
    except ParameterError:  # of larger groups nothing is stored
        return None


@st.cache_resource(max_entries=4 * MOST, show_spinner=False)
def _stored_result(digest: str, k: int, _workspace: Workspace) -> Result | None:
    best = stored(_workspace, k)
    return None if best is None else _result(_workspace, k, best.partition.labels, math.nan)


@st.cache_resource(scope="session", max_entries=4 * MOST, show_spinner=False)
def _searched(digest: str, k: int, loss: float, _workspace: Workspace, _certificate: Certificate) -> Result:
    return _result(_workspace, k, _certificate.labels, _certificate.seconds)


def _result(workspace: Workspace, k: int, labels: IntArray, seconds: float) -> Result:
    partition = Partition(labels, k)
    method = Method("iterated-local-search" if workspace.is_numeric else "least-loss")
    return Result(method, k, {}, 1, partition, workspace.problem.row(partition, partition), seconds)
