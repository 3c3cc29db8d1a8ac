"""The promise of a release, its risk, its loss and what stands against it, in a sentence or two for lay people."""

from __future__ import annotations

from microagg.release.assessment import Assessment
from microagg.release.report import Report
from microagg.validation import counted
from microagg.words import percent


def promise(report: Report, assessment: Assessment | None) -> dict[str, str]:
    """Return what is promised, what remains of the risk, what is lost and what stands against it, as sentences."""
    return {
        "promise": _promised(report),
        "risk": _risk(report, assessment),
        "loss": _lost(report),
        "against": _against(report),
    }


def _promised(report: Report) -> str:
    realized = report.risk.realized_k
    strata = " and strata" if report.risk.strata else ""
    return (
        "Nobody in this release stands out by what others are taken to know of a person: each combination of released "
        f"quasi-identifiers{strata} is shared by at least {counted(realized, 'record')}. This was counted on the "
        f"release itself; k = {report.k:,} was asked for."
        if realized > 1
        else f"k = {report.k:,} was asked for, so nothing is promised: records may be alone with their released "
        f"quasi-identifiers{strata}."
    )


def _risk(report: Report, assessment: Assessment | None) -> str:
    realized = report.risk.realized_k
    said = [
        "Somebody who knows the true quasi-identifiers of a person, and nothing else, picks the right record with a "
        f"probability of at most 1 in {realized:,} ({percent(100.0 / realized)})."
    ]
    figures = [] if assessment is None else assessment.of("homogeneous")
    if figures:
        worst = max(figures, key=lambda figure: figure.after)
        said.append(
            f"A second danger is that all who share these attributes share a secret, too. {worst.sentence}"
            if worst.after > 0.0
            else "Nor do these attributes tell a confidential value for certain: those who share them have several."
        )
    return " ".join(said)


def _lost(report: Report) -> str:
    if report.loss is not None:
        said = (
            f"Released values lose {percent(report.loss.information_loss)} of the spread of these attributes, by which "
            f"records differ{_no_less(report.k, report.loss.lower_bound)}."
        )
        if (common := report.generalization) is None:
            return said
        least = _no_less(report.k, common.lower_bound)
        return f"{said} With categories counted too, {percent(common.information_loss)} is lost{least}."
    common = report.generalization
    assert common is not None  # a release has numbers, or measures what groups have in common
    return (
        f"Released values lose {percent(common.information_loss)} of the detail of these attributes"
        f"{_no_less(report.k, common.lower_bound)}: 0 % would leave them as they were, 100 % would leave nothing."
    )


def _no_less(k: int, least: float | None) -> str:
    """Return what no release could lose less than, in percent, in brackets; empty where that is not known."""
    return "" if least is None else f" (no release in groups of at least {k:,} could lose less than {percent(least)})"


def _against(report: Report) -> str:
    """Return how many findings say that the file should not be released like this; empty if none does."""
    stops = [finding for finding in report.findings if finding.level == "stop"]
    overridden = [finding for finding in stops if finding in report.accepted]
    left = len(stops) - len(overridden)
    said = []
    if left:
        says = "says" if left == 1 else "say"
        said.append(
            f"{counted(left, 'finding')} of the checklist (section 6) {says}: do not release the file like this."
        )
    if overridden:
        that = ", which says" if len(overridden) == 1 else ", which say"
        codes = ", ".join(dict.fromkeys(finding.code for finding in overridden))
        said.append(
            f"The file is released in spite of {counted(len(overridden), 'finding')} ({codes}){that} not to, for this "
            f"reason: {report.reason.removesuffix('.')}."
        )
    return " ".join(said)
