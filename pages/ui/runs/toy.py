"""The comparison of V-MDAV and MDAV* on a few records, for the pages Start and Toy example."""

from __future__ import annotations

import numpy as np
import streamlit as st

from microagg import DataError, compiling, experiment
from microagg.experiment import Method, Problem, Result
from microagg.validation import check_finite
from pages.ui.runs import ahead
from pages.ui.text import count

#: More records than this do not fit on one line.
MOST_RECORDS = 60


def compare(values: np.ndarray, k: int, gamma: float) -> list[Result]:
    """Return the results of V-MDAV and MDAV* on ``values``, shape (n, 1), unscaled as in the paper."""
    methods = [Method("v-mdav", {"gamma": gamma}), Method("mdav-star")]
    if todo := compiling.tasks_of(method.key for method in methods):
        with st.spinner("Compiling V-MDAV and MDAV* for this machine (some seconds, only once) …"):
            for task in todo:
                ahead.prepare(task)
    return [experiment.run_one(Problem.of(values), method, k) for method in methods]


def parse(text: str) -> np.ndarray:
    """Return the records typed in as numbers, shape (n, 1).

    Raises
    ------
    DataError
        If something is not a number, or there are fewer than two or too many.
    """
    values = []
    for word in text.replace(";", " ").replace(",", " ").split():
        try:
            values.append(float(word))
        except ValueError:
            raise DataError(f"{word!r} is not a number: write numbers, with commas or spaces between.") from None
    if not 2 <= len(values) <= MOST_RECORDS:
        verdict = "is too few" if len(values) == 1 else "are too few" if not values else "do not fit on the line"
        raise DataError(f"{count(len(values), 'record')} {verdict}: write between 2 and {MOST_RECORDS} numbers.")
    array = np.array(values)[:, np.newaxis]
    check_finite(array)
    return array
