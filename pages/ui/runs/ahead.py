"""What is compiled ahead, in a process of its own from the server's start, in the order in which pages need it."""

from __future__ import annotations

import streamlit as st

from microagg import compiling
from pages.ui.text import count


@st.cache_resource(show_spinner=False)
def _ahead() -> compiling.Ahead:
    return compiling.Ahead()


def begin() -> None:
    """See to it that kernels are compiled ahead, and say so, small, as long as that is under way."""
    if _ahead().left:
        _say()


@st.fragment(run_every=2.0)
def _say() -> None:
    if left := _ahead().left:
        st.caption(
            f":material/hourglass: Preparing {compiling.title(left[0])}",
            help=f"Methods are compiled for this machine, once: {count(len(left), 'part')} left. Pages can be used "
            "meanwhile; what they need goes first.",
            width="content",
        )


def prepare(task: str) -> None:
    """Load what is compiled for a task; wait for it if it is not compiled yet, other pages going on meanwhile."""
    _ahead().wait(task)
    compiling.compile_task(task)
