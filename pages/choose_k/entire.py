"""What is said of a file of which a sample is compared: the losses and the floor of all its records, where that is cheap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from microagg import MicroaggError
from microagg.studies.experiment import Method
from pages.shared import certificate, compared, floor, jobs, methods, state
from pages.shared.text import count, escape_markdown, sentence
from pages.shared.workspace import Workspace, all_records


def section(workspace: Workspace, variants: Mapping[Method, str], ks: Sequence[int]) -> pd.DataFrame:
    """Draw in one line what all records of the file lose at the chosen k, if ``workspace`` is a sample of them.

    Return what is known of them, as :func:`.compared.rows`: of the chosen method at all ``ks``, of others at the chosen
    k. Only methods of the MDAV family that are neither polished nor run with several settings are quick enough.
    """
    try:
        whole = all_records(workspace)
        return pd.DataFrame() if whole is None else _draw(whole, variants, ks)
    except MicroaggError as error:
        st.warning(f"Not all records of the file can be looked at. {sentence(error)}")
        return pd.DataFrame()


def _draw(whole: Workspace, variants: Mapping[Method, str], ks: Sequence[int]) -> pd.DataFrame:
    k, chosen = state.current().k, methods.chosen(whole)
    if k > whole.n:
        return pd.DataFrame()
    quick = {
        method: name
        for method, name in variants.items()
        if name in methods.MDAV_FAMILY and not method.polish and len(method.settings()) == 1
    }
    wanted = sorted({*ks, k})
    own = [(method, other) for method, name in quick.items() if name == chosen for other in wanted]
    job = jobs.losses(whole, list(dict.fromkeys([*((method, k) for method in quick), *own])))

    def draw() -> None:
        known = certificate.known_in_words(whole, k, compared.rows(whole, quick, wanted))
        rising = floor.rising_in_words(whole)
        says = f"All {count(whole.n, 'record')} {known}{f'. {rising}' if rising else ''}."
        st.markdown(f"**{escape_markdown(says)}**")

    floor.proven(whole, wanted)
    if job.running:
        jobs.watch(job, draw)
    else:
        jobs.ended_early("losses")
        floor.while_rising(whole, wanted, draw)
    return compared.rows(whole, quick, wanted)
