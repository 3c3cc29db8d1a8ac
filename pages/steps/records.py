"""What the page Step by step takes apart: its records, the player, and the loss of V-MDAV against γ."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg import DataError
from microagg.columns.numerals import COMMA, POINT, parse
from microagg.explain import MOST_RECORDS, optimum, player
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray
from pages.shared import jobs, state, theme
from pages.shared.figures import Axis, finish, ring, show_figure
from pages.shared.text import count, percent
from pages.shared.workspace import chosen_workspace

#: The player. A page runs anew after each click, and would register it anew.
PLAYER = st.components.v2.component(
    "microagg_steps", html="<div></div>", css=player.style(), js=player.script(), isolate_styles=False
)

_DECIMAL_COMMA = re.compile(r"\d,\d")


@dataclass(frozen=True, eq=False)
class Watched:
    X: FloatArray  # shape (n, d), as the algorithms get them
    names: tuple[str, ...]  # length n
    attributes: tuple[str, ...]  # length d
    remark: str = ""  # how they were read or drawn

    @cached_property
    def identity(self) -> str:
        return digest_bytes(f"{digest_array(self.X)}/{self.names}/{self.attributes}".encode())


def watched() -> Watched:
    """Return the chosen records; raise MicroaggError if they are no numbers, too few, or too many."""
    choices = state.current()
    if choices.steps.records == "line":
        return on_a_line(choices.steps.line)
    if choices.steps.records == "plane":
        return on_a_plane(choices.steps.points)
    return _of_the_data_set(choices.steps.n_records)


def on_a_line(text: str) -> Watched:
    """Read numbers separated by commas, semicolons, blanks or line breaks; commas may be decimal marks."""
    words, notation = _words(text)
    values = [_number(word, notation) for word in words]
    _check_number(len(values))
    names = tuple(f"{value:.15g}" for value in values)
    remark = ""
    if notation == COMMA:
        remark = f"Commas within numbers were read as decimal commas: {', '.join(names)}."
    elif _DECIMAL_COMMA.search(text) and re.search(r",\s", text):
        remark = (
            f"Every comma was read as the end of a number: {', '.join(names)}. If you separate numbers by semicolons, "
            "commas are decimal marks."
        )
    return Watched(np.array(values)[:, np.newaxis], names, ("value of the record",), remark)


def on_a_plane(text: str) -> Watched:
    """Read points typed as ``x y; x y; …``; they are named A, B, C and so on."""
    points = []
    for place, pair in enumerate(re.split(r"[;\n]+", text.strip().strip(";")), start=1):
        words, notation = _words(pair)
        if len(words) != 2:
            raise DataError(f"point {place}, {pair.strip()!r}, is not two numbers: write x, a blank, y.")
        points.append([_number(word, notation) for word in words])
    _check_number(len(points))
    return Watched(np.array(points), letters(len(points)), ("x", "y"))


def letters(number: int) -> tuple[str, ...]:
    """Return names of points: letters, or numbers if there are more than 26."""
    return tuple(string.ascii_uppercase[:number]) if number <= 26 else tuple(map(str, range(1, number + 1)))


def _of_the_data_set(few: int) -> Watched:
    """Return a fixed sample of the chosen data set, scaled as on all pages."""
    workspace = chosen_workspace()
    if workspace.X is None:
        raise DataError(
            "the quasi-identifiers are not all numbers, and only numbers are explained step by step: choose another data "
            "set, or other columns on the page Data."
        )
    rows = np.arange(workspace.n)
    if workspace.n > few:
        rows = np.sort(np.random.default_rng(0).choice(workspace.n, few, replace=False))
    names = tuple(str(name) for name in workspace.frame.index[rows])
    sample = f"{count(len(rows), 'record')} of {workspace.n:,}, drawn at random" if workspace.n > few else "All records"
    remark = f"{sample}, scaled as on the other pages, each named by its row."
    return Watched(workspace.X[rows], names, workspace.columns, remark)


def _words(text: str) -> tuple[list[str], str]:
    """Return the words between the separators, and whether numbers have a decimal point or comma."""
    # A comma between two digits is a decimal mark where something else separates the numbers.
    separated = ";" in text or "\n" in text.strip() or bool(re.search(r"\d\s+[-+]?[\d.,]", text.strip()))
    if separated and _DECIMAL_COMMA.search(text) and not re.search(r",\s", text):
        return [word for word in re.split(r"[;\s]+", text) if word], COMMA
    return [word for word in re.split(r"[,;\s]+", text) if word], POINT


def _number(word: str, notation: str) -> float:
    value = parse(word, notation)
    if value is None:
        raise DataError(f"{word!r} is not a number: write numbers, with commas or blanks between.")
    if not np.isfinite(value):
        raise DataError(f"{word!r} is too large: write numbers below 1e300.")
    return value


def _check_number(number: int) -> None:
    if not 2 <= number <= MOST_RECORDS:
        raise DataError(f"{count(number, 'record')} cannot be shown step by step: give between 2 and {MOST_RECORDS}.")


def show(seen: Watched) -> None:
    """Draw the loss of V-MDAV against γ; computed in the background."""
    choices = state.current()
    k, params = choices.steps.k, choices.params_of("v-mdav")
    gamma, leftovers = float(params["gamma"]), str(params["leftovers"])
    st.header("Loss of V-MDAV against γ")
    identity, work = (seen.identity, k, leftovers), lambda: optimum.losses(seen.X, k, leftovers)
    rows = jobs.once("gamma", identity, ["v-mdav", "mdav-star"], "V-MDAV at every γ", work)
    if rows is None:
        return
    alt = "Information loss of V-MDAV against γ, in steps, with those of MDAV* and of the optimum."
    show_figure(_curve(rows, gamma), title=optimum.describe_losses(rows), key="steps_gamma", alt=alt)
    st.caption("γ is chosen before the loss is known, and the best γ differs from file to file.")


def _curve(rows: pd.DataFrame, gamma: float) -> go.Figure:
    """Draw each range of γ as a line on a logarithmic axis; the first and the last one go on beyond it."""
    ends = rows["up_to"].to_numpy()[:-1]
    shown = [float(end) for end in (*ends, optimum.DEFAULT_GAMMA, gamma) if end > 0]
    low, high = min(shown) / 4, max(shown) * 4
    figure = go.Figure()
    for name, title, dash in (("optimum", "optimum", "dot"), ("mdav-star", "MDAV*", "dash")):
        if rows[name].notna().all():
            line = {"dash": dash, "color": theme.NEUTRAL if name == "optimum" else theme.style(name).color, "width": 2}
            hover = f"{title}: %{{y:.3g}} %<extra></extra>"
            loss = rows[name].iloc[0]
            figure.add_scatter(x=[low, high], y=[loss] * 2, mode="lines", name=title, line=line, hovertemplate=hover)
    ranges = zip(rows["above"], rows["up_to"], strict=True)
    figure.add_scatter(
        x=np.clip([low, *np.repeat(ends, 2), high], low, high),
        y=np.repeat(rows["v-mdav"].to_numpy(), 2),
        text=np.repeat([optimum.describe_range(*each) for each in ranges], 2),
        mode="lines",
        name="V-MDAV",
        line={"color": theme.style("v-mdav").color, "width": 2.5},
        hovertemplate="V-MDAV, %{text}: %{y:.3g} %<extra></extra>",
    )
    loss = optimum.loss_at(rows, gamma)
    ring(figure, [max(gamma, low)], [loss], f"γ = {gamma:g}: {percent(loss)}")
    across = {"type": "log", "range": [np.log10(low), np.log10(high)], "dtick": 1, "exponentformat": "none"}
    figure.update_xaxes(title="γ (log scale)", **across)
    losses = rows[["v-mdav", "mdav-star", "optimum"]].to_numpy(float)
    axis = Axis.of(losses[np.isfinite(losses)], steep=True, from_zero=True)
    figure.update_yaxes(title="information loss (%)", **axis.layout())
    return finish(figure, 300)
