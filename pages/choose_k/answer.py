"""The limits of risk and loss above the curve, and under them the answer: which run meets both."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from microagg import Release
from microagg.studies.experiment import Method
from microagg.studies.sweeps import RULES
from pages.shared import certificate, columns, limits, methods, released, shell, state
from pages.shared.limits import NONE, Limits, Verdict
from pages.shared.text import describe_released, escape_markdown, named, percent
from pages.shared.workspace import Workspace

#: The limits that are offered, in percent. Each risk is that of a k, rounded up; 9 % is the threshold of the EMA.
_RISKS = (50.0, 33.34, 25.0, 20.0, 12.5, 10.0, 9.1, 9.0, 5.0, 2.0, 1.0)
_LOSSES = (1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 50.0)

_OK, _NOT = ":green[:material/check_circle:]", ":orange[:material/warning:]"
_OPEN = ":gray[:material/pending:]"

#: The release of the chosen run, and its verdict.
Exact = tuple[Release, Verdict]


def controls(workspace: Workspace, rows: Callable[[], pd.DataFrame]) -> None:
    """Draw the limits in one row; a new limit of the risk chooses the smallest k that meets it, by ``rows()`` if need be."""
    acceptable = limits.current()

    def take_risk(chosen: float | str | None) -> None:
        limit = _limit(chosen)
        if limit is None:
            return
        state.update(risk_limit=limit)
        new = limits.current()
        k = new.smallest_k if new.by_k else _first_within(_judge_runs(rows(), new), methods.chosen(workspace))
        if limit < NONE and k is not None and k <= workspace.n_complete:
            state.update(k=k)

    def take_loss(chosen: float | str | None) -> None:
        limit = _limit(chosen)
        if limit is not None:
            state.update(limit=0.0 if limit >= NONE else limit)

    with st.container(horizontal=True, vertical_alignment="bottom", key="limits"):
        name = "" if acceptable.by_k else f": {limits.risk_name(acceptable)}"
        message = (
            "The re-identification risk of a record: 1 / the size of its group. An outsider who knows its "
            "quasi-identifiers picks the right record with at most this probability. The smallest k that meets the limit "
            "is chosen. A number of percent can be typed, too."
        )
        write = partial(_risk_label, by_k=acceptable.by_k)
        _field(f"Largest acceptable risk{name}", "w_risk_limit", acceptable.risk, _RISKS, write, take_risk, message)
        message = (
            "The information loss: IL of numbers and dates, Total-IL where there are categories. A number of percent can "
            "be typed, too."
        )
        _field("Largest acceptable loss", "w_limit", acceptable.loss, _LOSSES, "{:g} %".format, take_loss, message)
        with st.popover("Thresholds used in practice", type="tertiary", icon=":material/gavel:"):
            for rule in RULES:
                st.markdown(f"**k = {rule.k}** · [{rule.authority}]({rule.url}): {rule.text}.")
            st.caption(
                "Thresholds of tables and reports, read as thresholds of a file. Check the rules that apply to you."
            )


def _field(
    label: str,
    key: str,
    value: float,
    offered: Sequence[float],
    write: Callable[[float], str],
    take: Callable[[Any], None],
    message: str,
) -> None:
    options = sorted({*offered, value, NONE}, reverse=True)

    def written(limit: float) -> str:
        return "none" if limit == NONE else write(limit)

    how: dict[str, Any] = {"options": options, "format_func": written, "accept_new_options": True, "help": message}
    state.tied(st.selectbox, label, key, value, take, width=270, **how)


def _limit(entered: float | str | None) -> float | None:
    """Return what was chosen or typed as a limit in percent; None if it is none."""
    if not isinstance(entered, str):
        return entered
    if entered.strip().casefold() == "none":
        return NONE
    numbers = [float(text.replace(",", ".")) for text in re.findall(r"\d+(?:[.,]\d+)?", entered)]
    if re.match(r"\s*1 in \d", entered) and len(numbers) > 1 and numbers[1] >= 1:
        return 100 / numbers[1]
    return numbers[0] if numbers and 0 < numbers[0] <= NONE else None


def _risk_label(limit: float, *, by_k: bool) -> str:
    k = Limits(limit).smallest_k
    who = ", ".join(rule.authority for rule in RULES if rule.k == k)
    share = f"1 in {k:,}" if limit - 100 / k < 0.02 else f"{limit:g} %"
    return " · ".join(filter(None, [share, f"k = {k:,}" if by_k else "", who]))


def runs(workspace: Workspace, variants: Mapping[Method, str], ks: Sequence[int]) -> pd.DataFrame:
    """Return the runs that can be chosen, the best known partitions among them, each with its ``risk`` and ``loss``."""
    measure = limits.current().measure
    rows = certificate.rows(workspace, variants, ks)
    rows = certificate.with_best(workspace, rows, ks, risks=measure != "max_reidentification")
    if rows.empty:
        return rows
    risk = rows[measure] if measure in rows else pd.Series(np.nan, rows.index)
    loss = rows["guaranteed"].fillna(rows["information_loss"]) if "guaranteed" in rows else rows["information_loss"]
    return rows.assign(risk=100 * risk, loss=loss)


def _judge_runs(rows: pd.DataFrame, acceptable: Limits) -> pd.DataFrame:
    """Return the runs with whether they meet each limit, without those whose risk is not computed yet."""
    known = rows if rows.empty else rows.dropna(subset=["risk", "loss"])
    if known.empty:
        return pd.DataFrame(columns=["variant", "k", "title", "risk", "loss", "meets_risk", "meets_loss"])
    return known.assign(
        meets_risk=[limits.is_within(risk, acceptable.risk) for risk in known["risk"]],
        meets_loss=[limits.is_within(loss, acceptable.loss) for loss in known["loss"]],
    )


def _first_within(rows: pd.DataFrame, name: str) -> int | None:
    """Return the smallest k at which the method ``name``, or any if it was not run, meets the limit of the risk."""
    within = rows[rows["meets_risk"].astype(bool)]
    of_name = within[within["variant"] == name]
    ks = (of_name if len(of_name) else within)["k"]
    return int(ks.min()) if len(ks) else None


def draw(
    workspace: Workspace, rows: pd.DataFrame, *, complete: bool, prefix: str = "", exact: Exact | None = None
) -> None:
    """Draw whether the chosen run meets the limits, and what does if it does not; ``complete`` once all runs are there.

    ``exact`` has the figures of Release. Before, columns that are released as they are may raise the risk of the run.
    """
    acceptable, name, k = limits.current(), methods.chosen(workspace), state.current().k
    judged = _judge_runs(rows, acceptable)
    here = judged[(judged["variant"] == name) & (judged["k"] == k)]
    with st.container(border=True, gap="small", key="answer"):
        # What can be done stands below the words, in each state: nothing jumps when it changes.
        words, row = st.container(gap="xsmall"), st.container(horizontal=True, vertical_alignment="center")
    with row:
        if here.empty:
            words.markdown(_explain_missing_run(workspace, name, k, complete=complete))
        else:
            _draw_run(workspace, judged, here.iloc[0], words, complete=complete, prefix=prefix, exact=exact)
        if complete:
            shell.link("clusters", "Clusters →")
            shell.link("release", "**Release →**")


def _draw_run(
    workspace: Workspace,
    judged: pd.DataFrame,
    run: pd.Series,
    words: DeltaGenerator,
    *,
    complete: bool,
    prefix: str,
    exact: Exact | None,
) -> None:
    """Draw the answer in ``words``, and here the buttons of what it offers."""
    acceptable, offers, further = limits.current(), list[tuple[str, pd.Series]](), ""
    verdict = limits.judge(_name(run), run["risk"], run["loss"], acceptable)
    cause = released.Cause("")
    if exact is not None:
        release, of_release = exact
        verdict = replace(of_release, subject=_name(run))
        cause = released.cause(release, verdict)
        is_run = judged.index == run.name
        judged = judged.assign(  # losses stay those before rounding, by which runs are compared
            risk=judged["risk"].mask(is_run, verdict.risk),
            meets_risk=judged["meets_risk"].mask(is_run, verdict.meets_risk),
            meets_loss=judged["meets_loss"].mask(is_run, verdict.meets_loss),
        )
        run = judged[is_run].iloc[0]
    message = verdict.sentence
    if cause.raises:  # the risk of other runs is not known, either
        further = "" if verdict.meets_risk else cause.sentence
    elif complete and not verdict.meets:
        message, further, offers = _suggest_alternatives(workspace, judged, run, verdict.sentence, acceptable)
    if verdict.meets_risk and (best := _lower_loss(judged, run)) is not None:
        offers = [(label, other) for label, other in offers if other.name != best.name]
        offers.append((methods.offer(best["variant"], best["loss"], run["loss"]), best))
    is_open = exact is None and acceptable.by_k and verdict.meets_risk and bool(released.unprotected(workspace))
    icon = _OPEN if is_open else _OK if verdict.meets else _NOT
    prefix += "By its groups, " if is_open else ""
    words.markdown(f"{icon} **{escape_markdown(prefix + message)}** {escape_markdown(further)}")
    if exact is not None and (text := describe_released(run["loss"], verdict.loss, exact[0].report.measure)):
        words.caption(escape_markdown(text))
    if is_open:
        names = named(released.unprotected(workspace))
        when = "this is being computed" if released.is_under_way() else "Release computes it"
        text = f"Columns that are released as they are may raise the risk: {names}; {when}."
        words.caption(escape_markdown(text))
    for label, other in offers:
        choice = {"method": other["variant"], "k": int(other["k"])}
        key = f"take_{other['variant']}_{other['k']}"
        st.button(label, on_click=state.update, kwargs=choice, key=key, wrap=True)
    if cause.columns and not verdict.meets_risk:
        label = escape_markdown(f"Leave out {', '.join(map(str, cause.columns))}")
        st.button(label, on_click=_leave_out, args=(workspace, cause.columns), key="leave_out")
        st.button("Change roles →", on_click=shell.lead_to, args=("data",), key="change_roles")


def _leave_out(workspace: Workspace, names: Sequence[Hashable]) -> None:
    """Leave columns out of the release; a callback."""
    for name in names:
        columns.decide(workspace.table, str(name), role="identifiers")


def _name(run: pd.Series) -> str:
    return f"{run['title']} at k = {run['k']:,}"


def _explain_missing_run(workspace: Workspace, name: str, k: int, *, complete: bool) -> str:
    title = escape_markdown(methods.title(name))
    if name == state.FOUND and certificate.best(workspace, k) is None:
        return (
            f"{_NOT} No best known partition is stored for k = {k:,}, and this session has not searched there: search "
            "below, or choose another k."
        )
    if k > (most := certificate.most_k(workspace)):
        return f"{_NOT} No groups of k = {k:,} can be formed: choose k of at most {most:,}."
    if not complete:
        return f"{title} at k = {k:,} is being computed."
    return f"{_NOT} {title} at k = {k:,} was not computed: choose another k or method."


def _lower_loss(judged: pd.DataFrame, run: pd.Series) -> pd.Series | None:
    """Return the run of lowest loss that meets the limit of the risk at the same k, if it is another one."""
    same_k = judged[(judged["k"] == run["k"]) & judged["meets_risk"]]
    best = same_k.sort_values("loss", kind="stable").iloc[0]
    return best if best["loss"] < run["loss"] * (1 - certificate.ROUNDING) else None


def _suggest_alternatives(
    workspace: Workspace, judged: pd.DataFrame, run: pd.Series, message: str, acceptable: Limits
) -> tuple[str, str, list[tuple[str, pd.Series]]]:
    """Return sentences on the runs that meet both limits, or the nearest ones if none does, and the offers of them."""
    both = judged[judged["meets_risk"] & judged["meets_loss"]]
    if len(both):
        of_method = both[both["variant"] == run["variant"]]
        best = (of_method if len(of_method) else both).sort_values(["loss", "k"], kind="stable").iloc[0]
        further = limits.judge(_name(best), best["risk"], best["loss"], acceptable).sentence
        return message, further, [(f"Use {_name(best)}", best)]
    offers, parts = [], []
    for met, order in (("meets_risk", ["loss", "risk"]), ("meets_loss", ["risk", "loss"])):
        near = judged[judged[met]].sort_values(order, kind="stable")
        if len(near):
            best = near.iloc[0]
            loss, risk = limits.written(best["loss"], acceptable.loss), limits.written(best["risk"], acceptable.risk)
            lacks = f"loses {loss}" if met == "meets_risk" else f"has {limits.risk_name(acceptable)} {risk}"
            title = "" if best["variant"] == run["variant"] else f" ({best['title']})"
            parts.append(f"k = {best['k']:,}{title} {lacks}")
            offers.append((f"Use {_name(best)}", best))
    if not parts:
        return message, "", []
    proof = ""
    if acceptable.by_k and not workspace.is_sample and acceptable.smallest_k <= workspace.n:
        [bound] = certificate.floors(workspace, [acceptable.smallest_k])
        if bound.information_loss > acceptable.loss:
            proof = f"No partition can: the lower bound at k = {bound.k:,} is {percent(bound.information_loss)}."
    what = "both" if NONE not in (acceptable.risk, acceptable.loss) else "the limit"
    return f"No k meets {what}. Nearest: {' · '.join(parts)}.", proof, offers
