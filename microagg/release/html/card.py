"""How a release shows itself in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from microagg.validation import counted
from microagg.words import percent

if TYPE_CHECKING:
    from microagg.release.released import Release

# So many records and columns are shown.
_RECORDS, _COLUMNS = 5, 8


def card(release: Release) -> str:
    """Return a small table of what matters most, and the first records, as HTML."""
    report = release.report
    facts = [
        ("Records", f"{report.n_records:,}" + (f" ({report.n_dropped:,} left out)" if report.n_dropped else "")),
        ("Groups", f"{report.risk.n_groups:,} of at most {counted(report.risk.largest_group, 'record')}"),
        ("k", f"{report.risk.realized_k:,} counted on the release, {report.k:,} asked for"),
        *_losses(release),
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


def _losses(release: Release) -> list[tuple[str, str]]:
    report, found = release.report, []
    if report.loss is not None:
        found.append(("Information loss", _beside_least(report.loss.information_loss, report.loss.lower_bound)))
    if (common := report.generalization) is not None:
        found.append(("Total-IL", _beside_least(common.information_loss, common.lower_bound)))
    return found


def _beside_least(loss: float, least: float | None) -> str:
    return percent(loss) + ("" if least is None else f"; none in such groups is below {percent(least)}")
