"""The step Before and after of the page Mixed data: what is released for each record, and the release itself."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from microagg import ConstantColumnWarning, Release, microaggregate
from microagg.experiment import Method, Result
from microagg.tables import to_csv
from microagg.taxonomy import ANYTHING
from microagg.variants import MIXED_VARIANTS as VARIANTS
from pages.ui import state
from pages.ui.charts import theme
from pages.ui.data import kinds, mixed
from pages.ui.data.tables import Table
from pages.ui.runs import compare, jobs
from pages.ui.runs.preview import STATISTICS, Preview, preview
from pages.ui.text import count, escape_markdown, file_name, listing, percent

_STATISTICS = {
    "ancestor": "Range or common ancestor",
    "set": "Range or set",
    "mean": "Mean or most frequent",
    "median": "Median or most frequent",
}
_SHOWN_RECORDS = 60
_ASKED = "mixed_release_asked"


def show(table: Table) -> None:
    """Draw the step."""
    workspace = mixed.workspace(table)
    choices = state.current()
    runnable = [n for n, variant in VARIANTS.items() if workspace.classes is not None or not variant.needs_classes]
    if choices.variant not in runnable:
        state.update(variant=runnable[0])
    one, two, three = st.columns([3, 1, 4], vertical_alignment="bottom")
    with one:
        state.bound(st.selectbox, "Method", "variant", options=runnable, format_func=lambda name: VARIANTS[name].title)
    with two:
        state.bound(st.number_input, "k", "mixed_k", min_value=1, step=1)
    with three:
        state.bound(
            st.segmented_control,
            "Values of a group become their",
            "statistic",
            options=list(state.STATISTICS),
            format_func=_STATISTICS.__getitem__,
            required=True,
            wrap=True,
            help="Range or common ancestor: [30, 45], Blue collar. Range or set: [30, 45], {Craft-repair, Sales}. Mean or "
            "most frequent: one value, that of ordered categories their median; the release keeps the types of the file.",
        )
    choices = state.current()
    method = choices.method_of_variant(choices.variant)
    if workspace.is_sample:
        compare.say_sample(workspace)
    result = jobs.partitions(workspace, [(method, choices.mixed_k)])[0]
    shown = preview(workspace, result, choices.statistic)
    _costs(workspace, result, shown)
    left, right = st.columns([5, 2])
    with left:
        _records(table, workspace, result, shown)
    with right:
        _by_attribute(shown)
    _release(table, workspace, result)


def _costs(workspace: mixed.Mixed, result: Result, shown: Preview) -> None:
    common, sizes = shown.common, result.partition.sizes
    with st.container(horizontal=True):
        st.metric(
            "Total-IL of the groups",
            percent(common.information_loss),
            help="What ranges and common ancestors lose, in percent of all there is to lose: "
            f"{common.total_information_loss:,.1f} of {workspace.n * workspace.records.d:,}.",
            width="content",
        )
        st.metric(
            "Values changed",
            f"{sum(shown.changed.values()) / len(shown.changed):.1f} %",
            help="The share of values that are not released as they are, over all records and quasi-identifiers.",
            width="content",
        )
        if shown.sse_loss is not None:
            st.metric(
                "IL of the numbers",
                percent(shown.sse_loss),
                help="IL = 100 · SSE / SST of the numeric quasi-identifiers, each scaled to variance 1.",
                width="content",
            )
        if common.classification is not None:
            st.metric(
                "Outside the majority class",
                percent(100 * common.classification),
                help=compare.MEANINGS["classification"],
                width="content",
            )
        st.metric(
            "Discernibility",
            f"{common.discernibility:,}",
            help=compare.MEANINGS["discernibility"],
            width="content",
        )
        st.metric(
            "Groups",
            f"{result.partition.n_groups:,}",
            help=f"Of {sizes.min():,} to {sizes.max():,} records, {sizes.mean():.3g} on average.",
            width="content",
        )


def _records(table: Table, workspace: mixed.Mixed, result: Result, shown: Preview) -> None:
    labels = result.partition.labels
    order = labels.argsort(kind="stable")[:_SHOWN_RECORDS]
    names = [str(name) for name in workspace.schema.quasi_identifiers]
    before, after = workspace.frame[names].iloc[order], shown.released.iloc[order]
    pairs = {}
    for name in names:
        pairs[f"{name} "] = before[name].astype(object).map(str).to_numpy()
        pairs[f"→ {name}"] = after[name].map(_short).to_numpy()
    view = pd.DataFrame({"group": labels[order] + 1, **pairs}, index=range(len(order)))
    band = (labels[order] % 2).astype(bool)

    def tint(column: pd.Series) -> list[str]:
        released = str(column.name).startswith("→ ")
        return [
            f"background-color: {theme.BAND if dark else 'transparent'}; {'font-weight: 600' if released else ''}"
            for dark in band
        ]

    st.markdown(f"**{escape_markdown(_example(names, before, after, labels[order]))}**")
    st.dataframe(
        view.style.apply(tint, axis=0),
        hide_index=True,
        width="stretch",
        height=520,
        column_config={
            "group": st.column_config.NumberColumn("Group", pinned=True, width="small"),
        },
    )
    says = [
        f"The first {len(order)} of {count(len(labels), 'record')}, group by group: beside each value what is released for "
        "it (→)."
    ]
    if (after == ANYTHING).to_numpy().any():
        says.append(f"{escape_markdown(ANYTHING)} stands for anything.")
    left_out = kinds.setup(table).identifiers
    aside = f", but for {escape_markdown(listing(list(left_out)))}, left out" if left_out else ""
    says.append(f"All other columns stay as they are{aside}.")
    st.caption(" ".join(says))


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _example(names: list[str], before: pd.DataFrame, after: pd.DataFrame, labels: np.ndarray) -> str:
    """Return in one sentence what becomes of a value of the first group."""
    for name in names:
        own, released = str(before[name].iloc[0]), _short(after[name].iloc[0])
        if own != released:
            size = int((labels == labels[0]).sum())
            return f"{name} {own} is released as {released}, as are the others of its group" if size else name
    return "The first group keeps all its values"


def _by_attribute(shown: Preview) -> None:
    rows = pd.DataFrame({"attribute": shown.common.attributes.keys(), "share": shown.common.attributes.values()})
    rows = rows.assign(changed=rows["attribute"].map(shown.changed)).sort_values("share", ascending=False)
    most = rows.iloc[0]
    st.markdown(f"**{escape_markdown(f'{most.attribute} loses most: {percent(most.share)}')}**")
    st.dataframe(
        rows,
        hide_index=True,
        width="stretch",
        height="content",
        column_config={
            "attribute": "Attribute",
            "share": st.column_config.ProgressColumn(
                "Lost (%)", format="%.1f", min_value=0.0, max_value=100.0, width="small"
            ),
            "changed": st.column_config.NumberColumn("Changed (%)", format="%.1f", width="small"),
        },
    )


def _release(table: Table, workspace: mixed.Mixed, result: Result) -> None:
    st.subheader("Release")
    choices, said = state.current(), kinds.setup(table)
    method = choices.method_of_variant(choices.variant)
    identity = (table.identity, said.digest, said.identifiers, method, choices.mixed_k, choices.statistic)
    what = f"all {count(workspace.n_complete, 'record')}" if workspace.is_sample else count(workspace.n, "record")
    if identity not in jobs.results().releases and st.session_state.get(_ASKED) != identity:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                f"Protect {what}",
                type="primary",
                on_click=lambda: st.session_state.update({_ASKED: identity}),
            )
            if workspace.is_sample:
                st.caption(
                    "Above is the sample; the release has the whole file, grouped anew. " + _estimate(workspace, result)
                )
        return
    # The roles are read here: the job's thread has no session.
    make = _maker(table.frame, kinds.roles(table, said), said, method, choices.mixed_k, choices.statistic)
    made = jobs.release(identity, method.key, make)
    if made is not None:
        _downloads(table, made)


def _maker(
    frame: pd.DataFrame, roles: dict[str, Any], said: kinds.Setup, method: Method, k: int, statistic: str
) -> Callable[[], Release]:
    """Return what makes the release of all complete records."""
    how, categories = STATISTICS[statistic]

    def make() -> Release:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantColumnWarning)  # the report says it
            return microaggregate(
                frame,
                k=k,
                method=method.key,
                **roles,
                identifiers=said.identifiers,
                classes=said.class_column,
                statistic=how,
                categories=categories,
                missing="drop",
                **method.params,
            )

    return make


def _estimate(workspace: mixed.Mixed, result: Result) -> str:
    seconds = result.seconds * (workspace.n_complete / workspace.n) ** 2
    return f"Going by the sample it takes at most about {max(1, round(seconds)):,} s." if seconds < 3600 else ""


def _downloads(table: Table, made: Release) -> None:
    report = made.report
    st.success(
        f"{report.n_records:,} records protected: each combination of quasi-identifiers occurs at least "
        f"{report.risk.realized_k:,} times, counted on the release."
    )
    stem = file_name(Path(table.title).stem)
    with st.container(horizontal=True):
        st.download_button(
            "Protected file (CSV)",
            lambda: to_csv(made.frame),
            file_name=f"{stem}_protected.csv",
            mime="text/csv",
            on_click="ignore",
            type="primary",
        )
        st.download_button(
            "Report (JSON)",
            lambda: json.dumps(report.to_dict(), indent=2, ensure_ascii=False),
            file_name=f"{stem}_report.json",
            mime="application/json",
            on_click="ignore",
        )
        st.download_button(
            "Recipe (JSON)",
            lambda: json.dumps(made.recipe, indent=2, ensure_ascii=False),
            file_name=f"{stem}_recipe.json",
            mime="application/json",
            on_click="ignore",
            help="What microagg.replay needs, besides the original file, to make the same release again. It belongs with "
            "the original, not with the release.",
        )
    with st.expander("The report in words", expanded=True):
        st.markdown("\n".join(f"- {escape_markdown(line)}" for line in report.summary().splitlines()))
