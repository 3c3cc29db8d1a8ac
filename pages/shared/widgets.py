"""Widgets that algorithms bring along: their Info and Params draw the controls, no page knows one of them by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from microagg import ALGORITHMS, Param
from microagg.algorithms.method import VARIANTS
from pages.shared import state
from pages.shared.text import escape_markdown


def title_of(key: str) -> str:
    """Return an algorithm's title, for pickers."""
    return ALGORITHMS[key].info.title


def pick_method(
    label: str, field: str, options: Sequence[str], shown: str, titles: Callable[[str], str], **how: Any
) -> None:
    """Draw a picker of one of the methods ``options``, searched by typing, tied to the field ``field`` of the choices.

    ``shown`` is the one in use, which is not that of the choices where these leave it open.
    """
    state.bound(st.selectbox, label, field, shown=shown, options=options, format_func=titles, **how)


def pick_methods(label: str, options: Sequence[str], shown: Sequence[str], usual: Sequence[str]) -> None:
    """Draw a picker of several of the methods ``options``: searched by typing, or chosen family by family."""
    st.session_state["w_methods"] = list(shown)

    def commit() -> None:
        state.update(methods=tuple(st.session_state["w_methods"]))

    st.multiselect(label, options, key="w_methods", format_func=lambda n: VARIANTS[n].title, on_change=commit)
    st.button("The usual ones", on_click=state.update, kwargs={"methods": tuple(usual)})
    with st.expander("By family"):
        by_family: dict[str, list[str]] = {}
        for name in options:
            by_family.setdefault(ALGORITHMS[VARIANTS[name].key].info.family, []).append(name)
        for family, names in by_family.items():
            _pick_in_family(family, names, shown)


def _pick_in_family(family: str, names: list[str], shown: Sequence[str]) -> None:
    widget_key = f"w_family_{family}"
    st.session_state[widget_key] = [name for name in names if name in shown]

    def commit() -> None:
        chosen = st.session_state[widget_key]
        kept = [name for name in shown if name not in names or name in chosen]
        state.update(methods=tuple(kept + [name for name in names if name in chosen and name not in kept]))

    st.pills(
        family,
        names,
        selection_mode="multi",
        format_func=lambda name: escape_markdown(VARIANTS[name].title),
        key=widget_key,
        on_change=commit,
    )


def params_of(key: str, *, classes: bool = False, without: Collection[str] = ()) -> None:
    """Draw a control for each parameter of an algorithm, tied to the choices.

    Parameters that need classes are left out unless ``classes`` are known, and so are those named in ``without``.
    """
    for param in ALGORITHMS[key].params:
        if param.name not in without and (classes or not param.needs_classes):
            _param(key, param)


def _param(key: str, param: Param) -> None:
    widget_key = f"w_{key}.{param.name}"
    st.session_state[widget_key] = state.current().params_of(key)[param.name]
    name = param.symbol or param.name.replace("_", " ").capitalize()
    label = f"{name} of {title_of(key)}"

    def commit() -> None:
        state.set_params(key, state.current().params_of(key) | {param.name: st.session_state[widget_key]})

    common: dict[str, Any] = {"key": widget_key, "help": param.help.replace("*", r"\*"), "on_change": commit}
    if param.kind == "algorithm":
        st.selectbox(label, options=list(param.choices), format_func=title_of, **common)
    elif param.kind == "choice":
        st.selectbox(label, options=list(param.bounds), **common)
    elif param.kind == "bool":
        st.toggle(label, **common)
    else:
        low, high = param.bounds
        step = 1 if param.kind == "int" else 0.1
        form: dict[str, Any] = {} if param.kind == "int" else {"format": "%g"}
        st.number_input(label, min_value=low, max_value=high, step=step, **form, **common)


def polish(key: str) -> None:
    """Draw the switch that has every partition improved by local search."""
    state.bound(
        st.toggle,
        "Polish by local search",
        "polish",
        key=key,
        help="Improves each partition by moving and exchanging records between neighboring groups, and by cutting "
        "groups anew, until no such step lowers the loss. On the page Choose k thin lines show the loss before.",
    )


def has_grid(names: Sequence[str]) -> list[tuple[str, Param]]:
    """Return the parameters among the methods ``names`` for which the literature reports the best of a grid."""
    return [(key, param) for key in (VARIANTS[n].key for n in names) for param in ALGORITHMS[key].params if param.grid]


def pick_one(labels: Mapping[str, str], key: str, field: str = "measure", label: str = "Measure") -> str:
    """Draw buttons of which one is chosen, such as measures, and return that, or the first where it is not there.

    ``labels`` are what the screen calls each of them, ``key`` tells two pickers apart, ``field`` of the choices holds what
    is chosen, and ``label`` is for those who cannot see the picker.
    """
    chosen = state.current().value(field)
    shown: str = state.bound(
        st.segmented_control,
        label,
        field,
        key=key,
        shown=chosen if chosen in labels else next(iter(labels)),
        options=list(labels),
        format_func=labels.__getitem__,
        required=True,
        wrap=True,
        label_visibility="collapsed",
    )
    return shown


def show_table(frame: pd.DataFrame, columns: Mapping[str, Any], **options: Any) -> None:
    """Draw those columns of a table that ``columns`` has, by what it says of each."""
    st.dataframe(frame[list(columns)], hide_index=True, width="stretch", column_config=dict(columns), **options)


def offer_csv(label: str, make: Callable[[], str | bytes], name: str, **options: Any) -> None:
    """Draw a button that saves what ``make`` returns as the file ``name``.csv."""
    st.download_button(label, make, file_name=f"{name}.csv", mime="text/csv", on_click="ignore", **options)
