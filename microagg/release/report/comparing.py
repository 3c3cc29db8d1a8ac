"""What was compared with a release: other methods and values of k, and where the one that was chosen stands."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from microagg.algorithms.registry import algorithm
from microagg.errors import DataError
from microagg.optimum.formatting import percent
from microagg.release.released import Released
from microagg.release.report.report import Report
from microagg.validation import counted, listing, quoted

_NEEDED = ("title", "k", "information_loss")
_NUMBERS = ("k", "information_loss", "record_linkage", "floor", "n_records")

# Losses and risks whose relative difference is at most this are the same, to within rounding.
_ROUNDING = 1e-9


def compared(comparison: pd.DataFrame, release: Released) -> dict[str, Any] | None:
    """Return the rows of a comparison with the one that was chosen marked, and what they say; None if it has none.

    It is a :class:`DataError` if it is no table with ``title``, ``k`` and ``information_loss``, or holds no numbers.
    """
    _check(comparison)
    shown = [name for name in (*_NEEDED, "record_linkage", "floor") if name in comparison]
    comparison = comparison.reset_index(drop=True).replace([math.inf, -math.inf], math.nan)
    table = comparison[shown].dropna(subset=list(_NEEDED)).copy()
    if table.empty:
        return None
    table["title"] = table["title"].astype(str)
    table["k"] = table["k"].astype("int64")
    table["chosen"] = _chosen(comparison.loc[table.index], release)
    table = table.sort_values(["title", "k"], kind="stable", ignore_index=True)
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return {"rows": rows, "on": _on(comparison, release), "loss_in_words": _loss(table), "risk_in_words": _risk(table)}


def _check(comparison: Any) -> None:
    if not isinstance(comparison, pd.DataFrame):
        raise DataError(f"comparison must be a DataFrame such as a sweep returns, not {type(comparison).__name__}.")
    if lacking := [name for name in _NEEDED if name not in comparison]:
        raise DataError(f"comparison lacks {quoted(lacking)}: it needs the columns {quoted(_NEEDED)}.")
    wrong = [name for name in _NUMBERS if name in comparison and not is_numeric_dtype(comparison[name])]
    if wrong:
        raise DataError(f"comparison has something other than numbers in {quoted(wrong)}.")


def _chosen(comparison: pd.DataFrame, release: Released) -> pd.Series[bool]:
    """Return which row is the release: the one marked, otherwise the one of its method and k, if there is one."""
    if "chosen" in comparison and is_bool_dtype(comparison["chosen"]):
        return comparison["chosen"].astype(bool)
    method = release.recipe["method"]
    title = "" if method is None else algorithm(method).info.title
    return (comparison["k"] == release.report.k) & (comparison["title"].astype(str) == title)


def _on(comparison: pd.DataFrame, release: Released) -> str:
    """Return that only a sample was compared, if so."""
    n = comparison["n_records"].max() if "n_records" in comparison else release.report.n_records
    if not n < release.report.n_records:
        return ""
    return (
        f"Compared were {counted(int(n), 'record')} of the {release.report.n_records:,}, drawn at random: of all "
        "of them losses are lower, as there are nearer neighbors."
    )


def _loss(table: pd.DataFrame) -> str:
    """Return where the loss of the chosen row stands among others of its k, and what other k cost."""
    n_methods = table["title"].nunique()
    what = f"{counted(len(table), 'release')} by {counted(n_methods, 'method')} were compared"
    if not table["chosen"].any():
        return f"{what}; the one that was chosen is not among them."
    own = table[table["chosen"]].iloc[0]
    loss, k = float(own["information_loss"]), int(own["k"])
    here = table[(table["k"] == k) & (table["title"] != own["title"])]
    better = here[here["information_loss"] < loss * (1 - _ROUNDING)]
    said = f"{what}. At k = {k:,}, {own['title']}, which was chosen, loses {percent(loss)}"
    if here.empty:
        said += "; no other method was compared at this k"
    elif better.empty:
        said += ", and no other method compared loses less"
    else:
        best = better.nsmallest(1, "information_loss").iloc[0]
        n_better = better["title"].nunique()
        said += (
            f"; {n_better:,} of the {counted(here['title'].nunique(), 'other method')} "
            f"{'loses' if n_better == 1 else 'lose'} less, {best['title']} least: "
            f"{percent(float(best['information_loss']))}"
        )
    if "floor" in table and pd.notna(own["floor"]) and own["floor"] > 0:
        said += f". No method at all can lose less than {percent(float(own['floor']))} at this k"
    return f"{said}.{_other_k(table[table['title'] == own['title']], k)}"


def _other_k(own: pd.DataFrame, k: int) -> str:
    """Return what the chosen method loses at the nearest k below and above."""
    near = pd.concat([own[own["k"] < k].nlargest(1, "k"), own[own["k"] > k].nsmallest(1, "k")])
    said = [
        f"{percent(loss)} at k = {near_k:,}" for near_k, loss in zip(near["k"], near["information_loss"], strict=True)
    ]
    return f" The same method loses {listing(said)}." if said else ""


def _risk(table: pd.DataFrame) -> str:
    """Return whether another row is as low in risk and loss as the chosen one, and lower in one of them."""
    known = table.dropna(subset=["record_linkage"]) if "record_linkage" in table else table.iloc[:0]
    if not known["chosen"].any():
        return ""
    losses, risks = known["information_loss"], known["record_linkage"]
    loss, risk = (float(figures[known["chosen"]].iloc[0]) for figures in (losses, risks))
    lower_loss, lower_risk = losses < loss * (1 - _ROUNDING), risks < risk * (1 - _ROUNDING)
    not_worse = (losses <= loss * (1 + _ROUNDING)) & (risks <= risk * (1 + _ROUNDING))
    better = known[not_worse & (lower_loss | lower_risk)]
    found_again = f"{percent(100 * risk)} of the records are found again by their nearest values"
    said = f"In the release that was chosen {found_again}"
    if better.empty:
        return f"{said}; none of the others is lower in risk without losing more."
    best = better.nsmallest(1, "information_loss").iloc[0]
    return (
        f"{said}; {counted(len(better), 'other release')} would be at least as low in risk and in loss, such as "
        f"{best['title']} at k = {int(best['k']):,} ({percent(100 * float(best['record_linkage']))} found again, "
        f"{percent(float(best['information_loss']))} lost)."
    )


# How a release shows itself in a notebook.

# So many records and columns are shown.
_RECORDS, _COLUMNS = 5, 8


def card(release: Released) -> str:
    """Return a small table of what matters most, and the first records, as HTML."""
    report = release.report
    facts = [
        ("Records", f"{report.n_records:,}" + (f" ({report.n_dropped:,} left out)" if report.n_dropped else "")),
        ("Groups", f"{report.risk.n_groups:,} of at most {counted(report.risk.largest_group, 'record')}"),
        ("k", f"{report.risk.realized_k:,} counted on the release, {report.k:,} asked for"),
        *_losses(report),
        ("Highest chance to be found", f"1 in {report.risk.realized_k:,}"),
    ]
    for level, what in (("stop", "Do not release as it is"), ("warn", "To think about")):
        left = [finding for finding in report.findings if finding not in report.accepted]
        if codes := dict.fromkeys(finding.code for finding in left if finding.level == level):
            facts.append((what, ", ".join(codes)))
    if report.accepted:
        codes = dict.fromkeys(finding.code for finding in report.accepted)
        facts.append(("Released in spite of", f"{', '.join(codes)}: {report.reason}"))
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in facts
    )
    frame = release.to_pandas()
    first = frame.head(_RECORDS).to_html(max_cols=_COLUMNS, border=0)
    shown = f"The first {counted(min(_RECORDS, len(frame)), 'record')} of the release:"
    return f"<div><strong>Release</strong><table>{rows}</table><p>{shown}</p>{first}</div>"


def _losses(report: Report) -> Iterator[tuple[str, str]]:
    for name, lost in (("Information loss", report.loss), ("Total-IL", report.generalization)):
        if lost is not None:
            floor = "" if lost.lower_bound is None else f"; none in such groups is below {percent(lost.lower_bound)}"
            yield name, percent(lost.information_loss) + floor
