"""Widgets that algorithms bring along: their Info and Params draw the controls, no page knows one of them by name."""

from __future__ import annotations

from typing import Any

import streamlit as st

from microagg import ALGORITHMS, Param
from pages.ui import state


def title_of(key: str) -> str:
    """Return an algorithm's title, for pickers."""
    return ALGORITHMS[key].info.title


def pick_method(label: str, field: str, **options: Any) -> None:
    """Draw a picker of one algorithm, tied to the field ``field`` of the choices."""
    state.bound(st.selectbox, label, field, options=list(ALGORITHMS), format_func=title_of, **options)


def params_of(key: str) -> None:
    """Draw a control for each parameter of an algorithm, tied to the choices."""
    for param in ALGORITHMS[key].params:
        _param(key, param)


def _param(key: str, param: Param) -> None:
    widget_key = f"w_{key}.{param.name}"
    st.session_state[widget_key] = state.current().params_of(key)[param.name]
    label = f"{param.symbol or param.name} of {title_of(key)}".replace("*", r"\*")

    def commit() -> None:
        state.set_params(key, state.current().params_of(key) | {param.name: st.session_state[widget_key]})

    common = {"key": widget_key, "help": param.help.replace("*", r"\*"), "on_change": commit}
    if param.kind == "choice":
        st.selectbox(label, options=list(param.bounds), **common)
    elif param.kind == "bool":
        st.toggle(label, **common)
    else:
        low, high = param.bounds
        step = 1 if param.kind == "int" else 0.1
        form = {} if param.kind == "int" else {"format": "%g"}
        st.number_input(label, min_value=low, max_value=high, step=step, **form, **common)


def has_grid(keys: tuple[str, ...]) -> list[tuple[str, Param]]:
    """Return the parameters among ``keys`` for which the literature reports the best of a grid."""
    return [(key, param) for key in keys for param in ALGORITHMS[key].params if param.grid]
