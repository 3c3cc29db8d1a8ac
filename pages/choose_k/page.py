"""Choose k: the limits of risk and loss, the curve of each method with the lower bound, and which run meets both limits.

k is set by a click on the curve, by a limit (``answer``) or by its field at the top (``pages.shared.shell``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from microagg import ParameterError, metrics
from microagg.algorithms.method import VARIANTS
from microagg.optimum.bounds import Bound
from microagg.release import guarantees
from microagg.studies import sweeps
from microagg.studies.experiment import Method
from microagg.tables import to_csv
from microagg.validation import spread
from pages.choose_k import answer, comparison, risk_map, search
from pages.choose_k.comparison import Picture
from pages.shared import certificate, curves, jobs, limits, methods, released, shell, state
from pages.shared.figures import download, show_table
from pages.shared.job_queue import Job
from pages.shared.measures import FLOOR, MAP, RISKS, measures
from pages.shared.text import count, escape_markdown, listing, percent, sentence
from pages.shared.workspace import Workspace, chosen_workspace

_CHART = "loss_chart"


def body() -> None:
    workspace = chosen_workspace()
    names = methods.compared(workspace)
    measure = _measure(workspace)
    try:
        ks = comparison.ks(workspace)
    except ParameterError as error:  # the field stays, so that it can be corrected
        _draw_controls(workspace)
        st.error(sentence(error))
        return
    variants = methods.sweep_methods(workspace, names)
    chosen = methods.with_chosen(workspace, variants)
    answer.controls(workspace, lambda: answer.runs(workspace, chosen, _all_ks(workspace, ks)))
    cells, risks = _cells(workspace, variants, ks)
    job = jobs.sweep(workspace, cells, risks=risks) if names else None
    _draw_answer(workspace, chosen, ks, job)
    on_map = _draw_controls(workspace)
    comparison.show_left_out(workspace)
    if job is None:
        st.info("Choose at least one method above.")
        return
    comparison.show_sample(workspace)
    choices = state.current()

    def draw() -> None:
        if state.current() != choices:
            st.rerun()  # the whole page changes after a click
        _picture(workspace, variants, ks, measure, on_map, complete=not job.running).show()

    if job.running:
        st.fragment(draw, run_every=2.0)()
        jobs.watch(job)
        return
    jobs.ended_early("sweep")
    rows = certificate.rows(workspace, variants, ks)
    if rows.empty:
        return
    searching = search.is_under_way()
    draw()
    certificate.watch_floor(workspace)
    search.section(workspace, rows, searching=searching)
    _draw_table(workspace, rows, ks, risks=risks)


def _all_ks(workspace: Workspace, ks: Sequence[int]) -> list[int]:
    """Return the compared values of k, the chosen one, and the smallest that meets the limit of the risk."""
    acceptable = limits.current()
    further = {state.current().k, acceptable.smallest_k if acceptable.by_k else ks[0]}
    return sorted({*ks, *(k for k in further if k <= certificate.most_k(workspace))})


def _cells(workspace: Workspace, variants: Mapping[Method, str], ks: Sequence[int]) -> tuple[list[jobs.Cell], bool]:
    """Return what is to be computed, in this order, and whether with its risks."""
    risks = bool(workspace.requested) or not limits.current().by_k
    # Polishing takes long: the chosen k goes first then.
    order = spread(ks, first=state.current().k if any(method.polish for method in variants) else None)
    cells = [(method, k) for k in order for method in variants]
    name = methods.chosen(workspace)
    chosen = [method for method, variant in methods.with_chosen(workspace, variants).items() if variant == name]
    of_chosen = [(method, k) for method in chosen for k in _all_ks(workspace, ks)]
    cells = [*(cell for cell in of_chosen if cell not in cells), *cells]
    if not risks:
        cells = certificate.not_stored(workspace, cells)
    return cells, risks


def _draw_answer(workspace: Workspace, variants: Mapping[Method, str], ks: Sequence[int], job: Job | None) -> None:
    """Draw the answer to the limits, anew while runs are computed."""
    if job is None:
        return

    # Of all records, and after the runs that the page waits for.
    is_exact = not workspace.is_sample and not job.running
    exact = released.in_background(workspace) if is_exact else None

    def draw() -> None:
        all_ks, prefix = _all_ks(workspace, ks), workspace.estimated
        rows = answer.runs(workspace, variants, all_ks)
        answer.draw(workspace, rows, complete=not job.running, prefix=prefix, exact=exact)

    @st.fragment(run_every=0.5)
    def wait() -> None:
        if released.in_background(workspace) or not released.is_under_way():
            st.rerun()

    if job.running:
        st.fragment(draw, run_every=1.0)()
        return
    draw()
    if is_exact and exact is None and (released.is_under_way() or released.in_background(workspace)):
        wait()


def _picture(
    workspace: Workspace,
    variants: Mapping[Method, str],
    ks: Sequence[int],
    measure: str,
    on_map: tuple[str, str] | None,
    *,
    complete: bool,
) -> Picture:
    """Return the figure of a measure, or the risk map ``on_map``, of the rows so far; its headline once all are there."""
    # Computed whatever is shown, as its state stands below the figure and in the table.
    floors = certificate.floors(workspace, ks)
    rows = certificate.rows(workspace, variants, ks)
    title = _measures(workspace)[measure]
    if on_map:
        picture = risk_map.picture(workspace, rows, ks, on_map, lambda: _choose_clicked_run(risk_map.CHART))
    else:
        picture = _curves(workspace, rows, measure, ks, floors, complete=complete)
        title += " by k"
    n_stored = 0 if rows.empty else int(rows["stored"].sum())
    stored = f"{n_stored:,} of {count(len(rows), 'run')} stored with microagg, timed on another machine."
    captions = [*picture.captions, stored if n_stored else ""]
    return replace(picture, title=picture.title if complete else title, captions=captions)


def _measures(workspace: Workspace) -> dict[str, str]:
    """Return the label of each view."""
    bounded = not workspace.is_sample
    available = measures(numeric=workspace.is_numeric, classes=workspace.classes is not None, bounded=bounded)
    return {name: measure.label for name, measure in available.items()} | {MAP: "Risk and loss"}


def _measure(workspace: Workspace) -> str:
    chosen = state.current().compare.measure
    return chosen if chosen in _measures(workspace) else "information_loss"


def _draw_controls(workspace: Workspace) -> tuple[str, str] | None:
    """Draw the controls of the figure in one line, and return the risk and the loss of the map, if it is shown."""
    with st.container(horizontal=True, vertical_alignment="center", key="options"):
        measure = methods.pick_one(_measures(workspace), "w_measure")
        comparison.controls(workspace)
    return risk_map.options(workspace) if measure == MAP else None


def _curves(
    workspace: Workspace, rows: pd.DataFrame, name: str, ks: Sequence[int], floors: Sequence[Bound], *, complete: bool
) -> Picture:
    """Return the curves of a measure, with the lower bound if it is the loss."""
    measure = measures(numeric=workspace.is_numeric, bounded=True)[name]
    is_loss, has_floor = name == "information_loss", name == "information_loss" and not workspace.is_sample
    drawn = certificate.with_best(workspace, rows, ks) if is_loss or len(rows) else rows
    if name == "gap":
        drawn = certificate.with_gaps(workspace, drawn)
    if drawn.empty or drawn[name].isna().all():
        return comparison.waiting(measure, curves.HEIGHT)
    choices = state.current()
    of_methods = drawn[drawn["variant"] != state.FOUND].dropna(subset=name)
    return Picture(
        curves.measure_curves(
            drawn,
            name,
            floor=[bound for bound in floors if bound.converged or bound.sse > 0] if has_floor else (),
            best=certificate.best_known(workspace, ks, rows) if is_loss else None,
            limits=_limits(workspace, complete=complete) if is_loss else (None, None),
            line=_reference_line(workspace, name, ks),
            selected=(methods.chosen(workspace), choices.k),
        ),
        sweeps.summary(of_methods, name, choices.k) if len(rows) else measure.label,
        _CHART,
        f"{measure.label} against k for {listing(list(dict.fromkeys(drawn['title'])))}; the table below has the same "
        "numbers.",
        captions=[
            "Click a value of k to choose it: larger groups protect better and lose more detail. ▲: a threshold used in "
            f"practice. Ring: the chosen run. {measure.meaning}"
            f"{f' {FLOOR}' if has_floor else ''}",
            _guaranteed_in_words(workspace, drawn) if is_loss else "",
        ],
        options={"on_select": lambda: _choose_clicked_run(_CHART), "selection_mode": "points"},
    )


def _limits(workspace: Workspace, *, complete: bool) -> tuple[int | None, float | None]:
    """Return the smallest k whose risk is acceptable, if k decides the risk, and the largest acceptable loss."""
    acceptable = limits.current()
    k = acceptable.smallest_k if acceptable.by_k and acceptable.risk < limits.NONE else None
    if k and complete and not workspace.is_sample and (exact := released.in_background(workspace)):
        k = None if released.cause(*exact).raises else k
    return k, acceptable.loss if acceptable.loss < limits.NONE else None


def _guaranteed_in_words(workspace: Workspace, rows: pd.DataFrame) -> str:
    """Return in Markdown what the guarantees beyond k cost; empty if there are none."""
    if not workspace.requested:
        return ""
    if workspace.rules[1]:
        return f"**The guarantees beyond k cannot be met.** {sentence(workspace.rules[1])}"
    required = escape_markdown(guarantees.describe(workspace.requested))
    guaranteed = f"**Guarantees beyond k**, as chosen on Release: {required}."
    held = _of_chosen(workspace, rows).dropna(subset="guaranteed") if "guaranteed" in rows else rows.iloc[:0]
    if held.empty:
        return f"{guaranteed} Their loss is being computed."
    row = held.iloc[(held["k"] - state.current().k).abs().argmin()]
    return (
        f"{guaranteed} With them {escape_markdown(row['title'])} has a loss of {percent(row['guaranteed'])} instead "
        f"of {percent(row['information_loss'])} at k = {row['k']}. The lower bound holds with them, too."
    )


def _reference_line(workspace: Workspace, name: str, ks: Sequence[int]) -> tuple[str, Mapping[int, float]] | None:
    """Return the reference line of a measure: its name, and its value at each k."""
    if name == "discernibility":
        least = {k: float(metrics.generalization.least_discernibility(workspace.n, k)) for k in ks}
        return "lowest possible", least
    if name == "classification":
        whole = 1 - max(pd.Series(workspace.classes).value_counts(normalize=True))
        return "all records in one group", dict.fromkeys(ks, whole)
    return None


def _choose_clicked_run(chart: str) -> None:
    points = st.session_state[chart].selection.points
    if not points or not isinstance(points[0].get("customdata"), list):
        return
    # A click beside the lines chooses a k, but no method.
    name, k = points[0]["customdata"][:2]
    chosen = {"method": name} if name in VARIANTS or name == state.FOUND else {}
    state.update(k=int(k), **chosen)


def _of_chosen(workspace: Workspace, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the chosen method, or if it is not compared of the best one."""
    ks = sorted(set(rows["k"]))
    if all(certificate.best(workspace, k) for k in ks):
        rows = certificate.with_best(workspace, rows, ks)
    name = methods.chosen(workspace)
    if name not in set(rows["variant"]):
        name = str(rows.groupby("variant", sort=False)["information_loss"].mean().idxmin())
    return rows[rows["variant"] == name]


def _draw_table(workspace: Workspace, rows: pd.DataFrame, ks: Sequence[int], *, risks: bool) -> None:
    number = st.column_config.NumberColumn
    percentage = partial(number, format="%.2f")
    columns: dict[str, Any] = {"title": "Method", "k": "k"}
    numeric = workspace.is_numeric
    rows = certificate.with_gaps(workspace, certificate.with_best(workspace, rows, ks, risks=risks))
    loss = "IL" if numeric else "Total-IL"
    gap = percentage("Gap (%)", help=f"100 · ({loss} / lower bound − 1). A search, above, narrows it.")
    if numeric:
        columns |= {
            "information_loss": percentage("IL (%)", help="Information loss: 100 · SSE / SST."),
            "unpolished": percentage("IL before polishing (%)"),
            "gap": gap,
            "sse": number("SSE", format="%.1f", help="In squared units of the scaled data."),
        }
        if not state.current().polish:
            del columns["unpolished"]
    else:
        columns |= {
            "information_loss": percentage("Loss (%)", help="Information loss Total-IL, as a share of the largest."),
            "gap": gap,
            "total_information_loss": number("Total-IL", format="%.1f"),
            "discernibility": number(
                "DM", format="localized", help="Discernibility: the sum of the squared group sizes."
            ),
        }
        if workspace.classes is not None:
            message = "Classification metric: records without their group's most frequent label."
            columns["classification"] = percentage("CM (%)", help=message)
    if workspace.is_sample:
        del columns["gap"]
    for name, risk in RISKS.items():
        if name in rows:
            columns[name] = percentage(f"Risk: {risk.label.lower()} (%)", help=risk.meaning)
    if "guaranteed" in rows:
        columns["guaranteed"] = percentage("Loss with guarantees (%)")
    columns |= {
        "n_groups": "Groups",
        "smallest_group": "Smallest group",
        "largest_group": "Largest group",
        "seconds": number("Time (s)", format="plain", help="On this machine; of stored runs on another one."),
        "params": st.column_config.TextColumn("Parameters", width=230 if numeric else 335),
    }
    st.header("All runs")
    height = min(35 * (len(rows) + 1) + 3, 320)
    shown = rows.sort_values(["k", "information_loss"])[list(columns)]
    shares = [name for name in ("classification", *RISKS) if name in shown]
    # Two significant digits: as a format, they would write 120 seconds as 1.2e+2.
    seconds = [float(f"{time:.2g}") for time in shown["seconds"]]
    show_table(shown.assign(**{name: 100 * shown[name] for name in shares}, seconds=seconds), columns, height=height)
    data = rows.drop(columns=["settings", "title", "stored"], errors="ignore")
    download("Download this table (CSV)", lambda: to_csv(data), "information_loss.csv")


shell.show(body)
