"""Choose k: the information loss of each method against k, and the proven floor."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from microagg import metrics, optimum
from microagg.algorithms.method import VARIANTS
from microagg.optimum.bounds import Bound
from microagg.release import guarantees
from microagg.studies import sweeps
from microagg.studies.experiment import Method
from microagg.studies.pareto import RULES
from microagg.tables import to_csv
from microagg.validation import spread
from pages.choose_k import comparison, risk_map, search
from pages.choose_k.comparison import WAITING, Paced, Picture
from pages.shared import certificate, curves, jobs, limits, methods, searched, shell, state, tables, tour
from pages.shared.figures import download, show_table
from pages.shared.measures import FLOOR, MAP, RISKS, measures
from pages.shared.text import count, escape_markdown, listing, percent, sentence
from pages.shared.workspace import Workspace, chosen_workspace

_CHART = "loss_chart"


def body() -> None:
    tour.draw("choose_k")
    workspace = chosen_workspace()
    st.markdown(
        "**Click a point.** It chooses a method and k."
        if state.current().compare.measure == MAP
        else "**Click a k.** A larger one protects and loses more."
    )
    names = methods.compared(workspace)
    measure = _options(workspace)
    comparison.say_left_out(workspace)
    ks = comparison.ks(workspace)
    if not names:
        st.info("Choose at least one method above.")
        return
    tables.say_sample(workspace.table)
    comparison.say_sample(workspace)
    variants = methods.sweep_methods(workspace, names)
    on_map = risk_map.options(workspace) if measure == MAP else None
    # Polishing takes long: the chosen k goes first then.
    order = spread(ks, first=state.current().k if any(method.polish for method in variants) else None)
    cells = [(method, k) for k in order for method in variants]
    job = jobs.sweep(workspace, cells)
    picture = Paced(lambda: _picture(workspace, variants, ks, measure, on_map))
    choices, chosen = state.current(), methods.chosen(workspace)

    def draw() -> None:
        # The whole page changes after a click, or once a search has found the first partition of this k.
        if state.current() != choices or methods.chosen(workspace, now=True) != chosen:
            st.rerun()
        picture.show()
        if workspace.is_whole:
            certificate.floor_status(workspace)
            search.status_of_all(workspace, ks)

    if job.running:
        jobs.watch(job, draw)
        return
    jobs.ended_early("sweep")
    rows = certificate.rows(workspace, variants, ks)
    if rows.empty:
        return
    searching = search.is_under_way()
    narrowing = search.all_ks(workspace, ks)
    if narrowing and narrowing.running:
        jobs.watch(narrowing, draw)
    else:
        certificate.while_rising(workspace, ks, draw)
    _results(workspace, variants, rows, ks, on_map)
    search.section(workspace, rows, searching=searching)
    _table(workspace, rows, ks)


def _picture(
    workspace: Workspace,
    variants: Mapping[Method, str],
    ks: Sequence[int],
    measure: str,
    on_map: tuple[str, str] | None,
) -> Picture:
    """Return the figure of a measure, or the risk map ``on_map``, of the rows computed so far."""
    # Asked for whatever is shown, as its state stands below the figure and in the table.
    soon = certificate.soon(workspace, ks)
    rows = certificate.rows(workspace, variants, ks)
    if on_map:
        picture = risk_map.picture(workspace, rows, ks, on_map, lambda: _select(risk_map.CHART))
    else:
        picture = _curves(workspace, rows, measure, ks, soon)
    return replace(picture, captions=[*picture.captions, _stored_in_words(rows)])


def _results(
    workspace: Workspace,
    variants: Mapping[Method, str],
    rows: pd.DataFrame,
    ks: Sequence[int],
    on_map: tuple[str, str] | None,
) -> None:
    st.subheader("What to choose")
    whole = comparison.section_of_all(workspace, variants, ks)
    if on_map:
        risk_map.helper(workspace, rows, ks, on_map)
    else:
        _helper(workspace, rows, whole)
    _go_on(workspace)


def _options(workspace: Workspace) -> str:
    """Draw the controls of the figure in one line, and return the measure."""
    available = measures(numeric=workspace.is_numeric, classes=workspace.classes is not None)
    labels = {name: measure.label for name, measure in available.items()} | {MAP: "Risk and loss"}
    with st.container(horizontal=True, vertical_alignment="center", key="options"):
        chosen = methods.pick_one(labels, "w_measure")
        comparison.controls(workspace)
    return chosen


def _stored_in_words(rows: pd.DataFrame) -> str:
    stored = 0 if rows.empty else int(rows["stored"].sum())
    return (
        f"{count(stored, 'point')} of {len(rows):,} came with the package and are replaced as they are computed here; their "
        "seconds are those of another machine's processor."
        if stored
        else ""
    )


def _curves(workspace: Workspace, rows: pd.DataFrame, name: str, ks: Sequence[int], soon: Sequence[Bound]) -> Picture:
    """Return the curves of a measure, with the floor if it is the loss."""
    measure = measures(numeric=workspace.is_numeric)[name]
    is_loss, has_floor = name == "information_loss", name == "information_loss" and workspace.is_whole
    drawn = certificate.with_best(workspace, rows, ks) if is_loss or len(rows) else rows
    if drawn.empty:
        return Picture(curves.waiting(ks), measure.label, WAITING, "No method has been run yet.")
    choices = state.current()
    everywhere = set(ks) <= set(searched.certificates(workspace))
    floor = certificate.floors(workspace, ks) if everywhere else soon
    held = _guaranteed(workspace, drawn) if is_loss else drawn.iloc[:0]
    return Picture(
        curves.measure_curves(
            pd.concat([drawn, held], ignore_index=True),
            name,
            floor=[bound for bound in floor if bound.converged or bound.sse > 0] if has_floor else (),
            # What a search has proven at single values of k only would bend the floor: it is marked there.
            proven=certificate.marks(workspace, ks) if has_floor and not everywhere else (),
            best=certificate.best_known(workspace, ks, rows) if is_loss else None,
            limit=limits.current().loss if is_loss and limits.current().loss < limits.NONE else None,
            line=_line(workspace, name, ks),
            selected=(methods.chosen(workspace), choices.k),
        ),
        sweeps.summary(rows, name, choices.k) if len(rows) else measure.label,
        _CHART,
        f"{measure.label} against k for {listing(list(dict.fromkeys(drawn['title'])))}; the table below has the same "
        "numbers.",
        captions=[
            f"{measure.meaning}{f' {FLOOR}' if has_floor else ''}{_rules_in_words(ks)}",
            _guaranteed_in_words(workspace, held) if is_loss else "",
        ],
        options={"on_select": lambda: _select(_CHART), "selection_mode": "points"},
    )


def _guaranteed(workspace: Workspace, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the chosen method with its loss once groups meet the guarantees beyond k."""
    if "guaranteed" not in rows:
        return rows.iloc[:0]
    part = _of_chosen(workspace, rows)[0].dropna(subset="guaranteed")
    title = part["title"] + ", guaranteed"
    return part.assign(
        without=part["information_loss"], information_loss=part["guaranteed"], title=title, variant=state.GUARANTEED
    )


def _guaranteed_in_words(workspace: Workspace, held: pd.DataFrame) -> str:
    """Return in Markdown what the guarantees beyond k cost; empty if there are none."""
    if not workspace.requested:
        return ""
    if workspace.rules[1]:
        return f"**What is asked for beyond k cannot be had.** {sentence(workspace.rules[1])}"
    guaranteed = (
        f"**Guaranteed beyond k**, as chosen on Release: {escape_markdown(guarantees.describe(workspace.requested))}."
    )
    if held.empty:
        return f"{guaranteed} What that costs is being computed."
    row = held.iloc[(held["k"] - state.current().k).abs().argmin()]
    return (
        f"{guaranteed} {escape_markdown(row['title'])} loses {percent(row['information_loss'])} instead of "
        f"{percent(row['without'])} at k = {row['k']}. The floor holds for it too: fewer partitions are allowed."
    )


def _line(workspace: Workspace, name: str, ks: Sequence[int]) -> tuple[str, Mapping[int, float]] | None:
    """Return the reference line of a measure: its name, and its value at each k."""
    if name == "discernibility":
        least = {k: float(metrics.generalization.least_discernibility(workspace.n, k)) for k in ks}
        return "no method can get below", least
    if name == "classification":
        whole = 1 - max(pd.Series(workspace.classes).value_counts(normalize=True))
        return "all records in one group", dict.fromkeys(ks, whole)
    return None


def _rules_in_words(ks: Sequence[int]) -> str:
    """Return in Markdown the thresholds marked on the axis, each with its source; empty if there are none."""
    marked = [rule for rule in RULES if ks[0] <= rule.k <= ks[-1]]
    if not marked:
        return ""
    rules = "; ".join(f"{rule.k} [{rule.authority}]({rule.url}), {rule.text}" for rule in marked)
    return f" **▲ Rules that some must follow**: {rules}. Check your own."


def _select(chart: str) -> None:
    points = st.session_state[chart].selection.points
    if not points or not isinstance(points[0].get("customdata"), list):
        return
    # A click beside the lines chooses a k, but no method.
    name, k = points[0]["customdata"][:2]
    choices = state.current()
    if name in VARIANTS and choices.compare.best:
        workspace = chosen_workspace()
        [method] = methods.sweep_methods(workspace, [name])
        rows = certificate.rows(workspace, {method: name}, [int(k)])
        if not rows.empty:
            settings = rows["settings"].iloc[0].items()
            state.update(**{f"{VARIANTS[name].key}.{param}": value for param, value in settings})
    chosen = {"method": name} if name in VARIANTS or name == state.FOUND else {}
    state.update(k=int(k), **chosen)


def _helper(workspace: Workspace, rows: pd.DataFrame, whole: pd.DataFrame) -> None:
    of_chosen, others = _of_chosen(workspace, rows)
    left, right = st.columns([1, 4], vertical_alignment="center")
    with left:
        risk_map.limit_of_loss()
    with right:
        st.markdown(f"**{escape_markdown(_choice_in_words(workspace, of_chosen, whole))}**")
        st.caption(
            "A partition for a larger k also serves every smaller one. Where the loss bends depends on the values of k "
            "shown: it is where the curve is farthest from the straight line between its ends."
        )
    if others:
        with st.expander("The same for the other methods"):
            for part in others:
                st.markdown(f"- {escape_markdown(_choice_in_words(workspace, part, whole))}")


def _choice_in_words(workspace: Workspace, part: pd.DataFrame, whole: pd.DataFrame) -> str:
    """Describe the choice for one method: by ``whole``, the rows of all records, if these have each k, else estimated."""
    limit, n = limits.current().loss, workspace.n_file
    part_of_all = (
        whole if whole.empty else whole[(whole["variant"] == part["variant"].iloc[0]) & whole["k"].isin(part["k"])]
    )
    if len(part_of_all) < len(part):
        return workspace.estimated + sweeps.describe_choice(part, limit, workspace.n)
    return f"All {count(n, 'record')}: {sweeps.describe_choice(part_of_all, limit, n)}"


def _of_chosen(workspace: Workspace, rows: pd.DataFrame) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
    """Return the rows of the chosen method, or if it is not compared of the best one, and those of the others."""
    ks = sorted(set(rows["k"]))
    if all(searched.best(workspace, k) for k in ks):
        rows = certificate.with_best(workspace, rows, ks)
    parts = {str(variant): part for variant, part in rows.groupby("variant", sort=False)}
    name = methods.chosen(workspace)
    if name not in parts:
        name = min(parts, key=lambda other: parts[other]["information_loss"].mean())
    return parts.pop(name), list(parts.values())


def _go_on(workspace: Workspace) -> None:
    name, k = methods.chosen(workspace), state.current().k
    if name == state.FOUND and searched.best(workspace, k) is None:
        st.warning(
            f"The chosen partition is the best that a search has found at k = {k}, and this session has not searched "
            "there: search again below, or click a k."
        )
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Chosen now: **{escape_markdown(methods.title(name))}, k = {k}**.", width="content")
        shell.link("clusters", "Clusters →")
        shell.link("release", "**Release →**")


def _table(workspace: Workspace, rows: pd.DataFrame, ks: Sequence[int]) -> None:
    number = st.column_config.NumberColumn
    columns: dict[str, Any] = {"title": "Method", "k": "k"}
    numeric = workspace.is_numeric
    rows = certificate.with_best(workspace, rows, ks)
    floors = {bound.k: bound.information_loss for bound in certificate.floors(workspace, ks)}
    gaps = [100 * optimum.gap(loss, floors[k]) for loss, k in zip(rows["information_loss"], rows["k"], strict=True)]
    rows = rows.assign(floor=rows["k"].map(floors), gap=gaps)
    gap = number(
        "Above the optimum at most (%)",
        format="%.2f",
        help=f"100 · ({'IL' if numeric else 'Total-IL'} − floor) / floor, the floor being what is proven that no "
        "partition can get below. A search for a better floor, above, lowers it.",
    )
    if numeric:
        columns |= {
            "information_loss": number("IL (%)", format="%.4f"),
            "unpolished": number("IL before polishing (%)", format="%.4f"),
            "gap": gap,
            "sse": number("SSE", format="%.4f", help="In squared units of the scaled data."),
        }
        if not state.current().polish:
            del columns["unpolished"]
    else:
        columns |= {
            "information_loss": number("Total-IL (%)", format="%.3f"),
            "gap": gap,
            "total_information_loss": number("Total-IL", format="%.1f"),
            "discernibility": number("DM", format="localized"),
        }
        if workspace.classes is not None:
            columns["classification"] = number("CM", format="percent")
    if not workspace.is_whole:
        del columns["gap"]
    for name, risk in RISKS.items():
        if name in rows:
            columns[name] = number(f"Risk: {risk.label.lower()}", format="percent", help=risk.meaning)
    if "guaranteed" in rows:
        columns["guaranteed"] = number("With what is guaranteed (%)", format="%.4f")
    columns |= {
        "n_groups": "Groups",
        "smallest_group": "Smallest group",
        "largest_group": "Largest group",
        "params": "Parameters",
        "seconds": number("Seconds", format="%.4f"),
    }
    st.subheader("All runs")
    height = min(35 * (len(rows) + 1) + 3, 320)
    show_table(rows.sort_values(["k", "information_loss"])[list(columns)], columns, height=height)
    data = rows.drop(columns=["settings", "title", "stored"])
    download("Download this table (CSV)", lambda: to_csv(data), "information_loss.csv")


shell.show(body)
