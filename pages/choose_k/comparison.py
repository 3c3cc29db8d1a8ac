"""What the page Choose k compares: methods, values of k, records."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from microagg import ParameterError
from microagg.algorithms import registry
from microagg.algorithms.method import PENALTY, VARIANTS
from pages.shared import certificate, methods, state
from pages.shared.figures import finish, show_figure
from pages.shared.measures import Measure
from pages.shared.text import count, escape_markdown, listing, sentence
from pages.shared.workspace import Workspace

# The sizes of samples that are offered.
_SAMPLES = (500, 1000, 2000, 5000, 10_000, 20_000)


@dataclass(frozen=True)
class Picture:
    """A figure with its captions, in Markdown; the other fields are arguments of :func:`.show_figure`."""

    figure: go.Figure
    title: str
    key: str
    alt: str
    captions: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def show(self) -> None:
        show_figure(self.figure, title=self.title, key=self.key, alt=self.alt, **self.options)
        for caption in filter(None, self.captions):
            st.caption(caption)


def waiting(measure: Measure, height: int) -> Picture:
    """Return the empty figure that stands until the first run is complete."""
    figure = go.Figure().update_xaxes(visible=False).update_yaxes(visible=False)
    text = "The first runs appear here in a moment."
    figure.add_annotation(text=text, xref="paper", yref="paper", x=0.5, y=0.5, showarrow=False)
    return Picture(finish(figure, height), measure.label, "waiting", "No run is complete yet.")


def controls(workspace: Workspace) -> None:
    able, compared = methods.fitting(workspace), methods.compared(workspace)
    with st.popover(count(len(compared), "method"), icon=":material/stacked_line_chart:", key="compared_methods"):
        state.bound(st.multiselect, "Methods", "methods", selected=compared, options=able, format_func=methods.title)
        st.button("Reset methods", on_click=state.update, kwargs={"methods": tuple(methods.usual(workspace))})
    with st.popover(f"k: {_shown_ks(workspace)}", key="compared_ks"):
        state.bound(
            st.text_input,
            "Values of k, the minimum group size",
            "ks",
            placeholder=certificate.usual_ks(workspace),
            help="Single values and ranges with commas between, such as 2–10, 20, 50. Left empty: "
            f"{certificate.usual_ks(workspace)}. Each group has at least k records, so each released combination of quasi-identifiers "
            "occurs at least k times.",
        )
    with st.popover("Settings", icon=":material/tune:"):
        _settings(workspace)


def show_left_out(workspace: Workspace) -> None:
    """Say which methods are not applicable, and which of the user's algorithms could not be loaded."""
    for reason in registry.left_out:
        st.warning(sentence(reason))
    if missed := methods.left_out(workspace):
        titles = listing([escape_markdown(methods.title(name)) for name in missed])
        st.caption(f"Not applicable to these data: {titles}.")


def _settings(workspace: Workspace) -> None:
    _sample(workspace)
    if workspace.is_numeric:
        methods.polish("w_polish")
    if any(VARIANTS[name].needs_classes for name in methods.compared(workspace)):
        st.caption(f"With a class penalty of 0, the method with class penalty takes {PENALTY:g}.")
    st.caption("Choose a method in the header to set its parameters.")


def _sample(workspace: Workspace) -> None:
    n = workspace.n_complete
    chosen = workspace.n if workspace.is_sample else 0
    state.bound(
        st.selectbox,
        "Records compared",
        "sample",
        selected=chosen,
        options=[*sorted({size for size in (*_SAMPLES, chosen) if 0 < size < n}), 0],
        format_func=lambda size: f"{size:,} drawn at random" if size else f"all {n:,}",
        help="The time of many methods grows with the square of the number of records. In a sample neighbors are farther "
        "apart, so losses are higher than on all records.",
    )
    if workspace.is_sample:
        message = "The same seed draws the same records."
        state.bound(st.number_input, "Seed of the sample", "sample_seed", min_value=0, step=1, help=message)


def show_sample(workspace: Workspace) -> None:
    if not workspace.is_sample:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"**Sample: {workspace.n:,} of {workspace.n_complete:,} records.** On all records losses are lower, often by half.",
            width="content",
        )
        label = f"Use all {workspace.n_complete:,}"
        st.button(label, on_click=state.update, kwargs={"sample": 0}, type="tertiary")


def _shown_ks(workspace: Workspace) -> str:
    """Return the values of k for a button: as typed, or the first and the last if that is long."""
    text = state.current().compare.ks.strip(" ,;") or certificate.usual_ks(workspace)
    values = [int(digits) for digits in re.findall(r"[0-9]{1,9}", text)]
    if len(text) <= 8 and re.fullmatch(r"[\d\s,;–-]+", text):
        return text
    return f"{min(values):,} … {max(values):,}" if values else "?"


def ks(workspace: Workspace) -> list[int]:
    """Return the values of k that are compared, ascending; say which are left out because there are too few records."""
    n, where = certificate.most_k(workspace), "" if workspace.strata is None else " in the smallest stratum"
    few = f"there are only {count(n, 'record')}{where}"
    values, beyond = certificate.compared_ks(workspace)
    if not values:
        raise ParameterError(f"{few}: write values of k of at most {n:,}.")
    if beyond:
        st.caption(f"{few.capitalize()}, so the curves end at k = {values[-1]:,}.")
    return values
