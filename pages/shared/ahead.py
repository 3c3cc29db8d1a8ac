"""What is compiled ahead, in a process of its own from the first visit on, in the order in which pages need it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from pages.shared import compiling


@st.cache_resource(show_spinner=False)
def _ahead() -> compiling.Ahead:
    return compiling.Ahead(compiling.FIRST)


def begin() -> None:
    """See to it that what is needed first is compiled ahead, before anything has been imported that takes long."""
    _ahead()


def say() -> None:
    """See to it that all kernels are compiled ahead, and say so, small, as long as that is under way."""
    _ahead().add(compiling.tasks())
    if left():
        _say()


@st.fragment(run_every=2.0)
def _say() -> None:
    from pages.shared.text import count

    if todo := _ahead().left:
        st.caption(
            f":material/hourglass: Preparing {compiling.title(todo[0])}",
            help=f"Methods are compiled for this machine, once: {count(len(todo), 'part')} left. Pages can be used "
            "meanwhile; what they need goes first.",
            width="content",
        )


def left() -> set[str]:
    """Return the tasks that are still to be compiled by the other process."""
    return set(_ahead().left)


def prefer(tasks: Iterable[str]) -> None:
    """Have ``tasks`` done before all others, in their order."""
    _ahead().prefer(tasks)


def load(task: str) -> None:
    """Load what is compiled for a task; wait for it if it is not compiled yet, other pages going on meanwhile."""
    _ahead().wait(task)
    compiling.compile_task(task)


def prepare(tasks: Sequence[str]) -> None:
    """Load what is compiled for ``tasks``, which are done before all others if they are not yet."""
    prefer(tasks)
    for task in tasks:
        load(task)
