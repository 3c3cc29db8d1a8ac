"""Widgets that algorithms bring along: their Info and Params draw the controls, no page knows one of them by name."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import streamlit as st

from microagg import ALGORITHMS, Param
from pages.ui import state
from pages.ui.text import escape_markdown


def title_of(key: str) -> str:
    """Return an algorithm's title, for pickers."""
    return ALGORITHMS[key].info.title


def families() -> dict[str, list[str]]:
    """Return the algorithms' keys by family."""
    found: dict[str, list[str]] = {}
    for key, cls in ALGORITHMS.items():
        found.setdefault(cls.info.family, []).append(key)
    return found


def _title_and_family(key: str) -> str:
    return f"{title_of(key)} ({ALGORITHMS[key].info.family})"


def pick_method(label: str, field: str, **options: Any) -> None:
    """Draw a picker of one algorithm, searched by typing, tied to the field ``field`` of the choices."""
    state.bound(st.selectbox, label, field, options=list(ALGORITHMS), format_func=_title_and_family, **options)


def pick_methods(label: str) -> None:
    """Draw a picker of several algorithms: searched by typing, or chosen family by family."""
    listed, grouped = st.columns([5, 1], vertical_alignment="bottom")
    with listed:
        state.bound(st.multiselect, label, "methods", options=list(ALGORITHMS), format_func=title_of)
    with grouped, st.popover("By family", width="stretch"):
        for family, keys in families().items():
            _pick_in_family(family, keys)
        st.button("The usual four", on_click=state.update, kwargs={"methods": state.DEFAULT_METHODS})


def _pick_in_family(family: str, keys: list[str]) -> None:
    widget_key = f"w_family_{family}"
    st.session_state[widget_key] = [key for key in keys if key in state.current().methods]

    def commit() -> None:
        chosen = st.session_state[widget_key]
        kept = [key for key in state.current().methods if key not in keys or key in chosen]
        state.update(methods=tuple(kept + [key for key in keys if key in chosen and key not in kept]))

    st.pills(
        family,
        keys,
        selection_mode="multi",
        format_func=lambda key: escape_markdown(title_of(key)),
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
    label = f"{name} of {title_of(key)}".replace("*", r"\*")

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


def has_grid(keys: tuple[str, ...]) -> list[tuple[str, Param]]:
    """Return the parameters among ``keys`` for which the literature reports the best of a grid."""
    return [(key, param) for key in keys for param in ALGORITHMS[key].params if param.grid]
