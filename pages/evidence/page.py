"""Evidence: methods compared on benchmarks, the printed figures of the papers, and the best known partitions."""

import streamlit as st

from pages.evidence import best_known, compare, printed
from pages.shared import shell, state

_PARTS = {
    "compare": ("Compare methods", compare.section),
    "printed": ("Printed figures", printed.section),
    "best": ("Best known", best_known.section),
}


def body() -> None:
    key, names = "w_stored", {label: name for name, (label, _) in _PARTS.items()}
    st.session_state[key] = _PARTS[state.current().evidence.part][0]
    tabs = st.tabs(list(names), key=key, on_change=lambda: state.update(stored=names[st.session_state[key]]))
    for (_, draw), tab in zip(_PARTS.values(), tabs, strict=True):
        with tab:
            if tab.open:
                draw()


shell.show(body)
