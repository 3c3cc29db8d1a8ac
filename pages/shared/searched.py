"""The partitions that searches of this session have found, and which of them a page goes by.

While somebody looks at Choose k they become better. The other pages go by what there was when they were entered, so that
what is released does not change under somebody's hands.
"""

from __future__ import annotations

from collections import OrderedDict

import streamlit as st

from microagg.optimum.certificate import Certificate
from microagg.partition import Partition
from microagg.studies.experiment import Method, Result
from pages.shared import jobs
from pages.shared.workspace import Workspace

#: How many certificates are kept: each holds a linear program and a partition.
MOST = 24

#: What certificates are kept by: the digest of the data, and k.
Key = tuple[str, int]

# What the page that is shown goes by, by key, None of what had not been searched; and the page. There is nothing on the
# page that goes by what there is at each moment.
_TAKEN, _PAGE = "searched_taken", "searched_page"


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


def take_newest() -> None:
    """Have the page go by what has been found by now."""
    st.session_state[_TAKEN] = {}


def found(workspace: Workspace, k: int) -> Result | None:
    """Return the best partition for ``k`` that the page goes by, or None if there was no search."""
    taken = st.session_state.get(_TAKEN)
    if taken is None:
        return newest(workspace, k)
    if (workspace.digest, k) not in taken:
        taken[workspace.digest, k] = newest(workspace, k)
    result: Result | None = taken[workspace.digest, k]
    return result


def newest(workspace: Workspace, k: int) -> Result | None:
    """Return the best partition that a search of this session has found for ``k``, or None if there was no search."""
    certificate = certificates(workspace).get(k)
    if certificate is None:
        return None
    partition = Partition(certificate.labels, k)
    measures = workspace.problem.row(partition, partition)
    return Result(Method("iterated-local-search"), k, {}, 1, partition, measures, certificate.seconds)


def is_there(workspace: Workspace, k: int) -> bool:
    """Return whether :func:`found` returns a partition."""
    live = st.session_state.get(_TAKEN) is None
    return k in certificates(workspace) if live else found(workspace, k) is not None
