"""The best partition that there is of the records that are watched."""

from __future__ import annotations

import streamlit as st

from microagg.explain import optimum
from microagg.validation import IntArray
from pages.ui import state
from pages.ui.runs import jobs
from pages.ui.steps.records import Watched


def known(seen: Watched) -> IntArray | None:
    """Return the labels of the best partition, drawing nothing; None if it is not known or not found yet."""
    made = jobs.made("optimum", (seen.identity, state.current().watch_k))
    return None if made is None or made.best is None else made.best.labels


def find(seen: Watched) -> None:
    """Find the best partition in the background, and draw the page anew once it is there."""
    k = state.current().watch_k
    identity = (seen.identity, k)
    if jobs.made("optimum", identity) is not None:
        return
    keys = optimum.needs(seen.X, k)
    if jobs.once("optimum", identity, keys, "Looking for the best possible", lambda: _Found(seen, k)) is not None:
        st.rerun()


class _Found:
    """The best partition, if it could be proven to be that: nothing found is a result, too."""

    def __init__(self, seen: Watched, k: int) -> None:
        self.best = optimum.optimum(seen.X, k)
