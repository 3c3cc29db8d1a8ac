"""What a report that may leave the house does not say: figures that give away the value of a single record.

Whose figures these are is decided by :func:`microagg.metrics.risk.dominated`; which figures follow is decided here, in
one place. The steward's report has them all.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from microagg.metrics.utility import LEVELS
from microagg.release.predicted_linkage import Predicted
from microagg.validation import quoted

# Of an attribute: sums over its records, and what is counted in its standard deviations.
_OF_ATTRIBUTE = {"mean_before", "sd_before", "lost", "il1s", "mean_change", "sd_ratio", "quantile_change"}
_OF_ATTRIBUTE |= {"wasserstein", "interval_disclosure"}

# Over all attributes: less those of the others, they are those of the dominated one.
_OVERALL = {"sse", "sst", "information_loss", "total_information_loss", "lower_bound", "il1s", "mean_change"}
_OVERALL |= {"variance_change", "quantile_change", "correlation_change", "correlation_pair", "eigenvalue_change"}
_OVERALL |= {"wasserstein", "interval_disclosure_sd"}


def withhold(contents: dict[str, Any]) -> None:
    """Take figures that give away a value out of ``contents`` of a report, whose ``"withheld"`` says which and why."""
    report, assessment, says = contents["report"], contents["assessment"], contents["withheld"]
    dominated, everywhere, overall = set(map(str, report["dominated"])), set(), set()
    for predicted in report["risk"].get("predicted", ()):
        formula = Predicted(**predicted).how
        predicted["formula"] = ""
        for finding in (*report["findings"], *report["accepted"]):
            finding["text"] = finding["text"].replace(formula, "")
    if (n := report["n_records"]) * LEVELS[0] < 2.0:
        everywhere, overall = {"quantile_change"}, {"quantile_change"}
        says["quantiles"] = f"Changes of quantiles are withheld: of {n:,} records, one or two have the outermost ones."
    if dominated:
        everywhere, overall = everywhere | {"correlation_change"}, overall | _OVERALL
        says["attributes"] = (
            f"Mean, standard deviation and loss of {quoted(report['dominated'])}, and figures counted in them, are "
            "withheld: one or two records dominate them, and their values could be computed."
        )
        says["overall"] = (
            "The information loss, changes of correlations and other figures over all quasi-identifiers are withheld: "
            "less what the others contribute, they are the figures above."
        )
        contents["promise"]["loss"] = "How much is lost is withheld: section 5 says why."
        if contents["comparison"]:
            contents["comparison"] = None
            says["comparison"] = (
                "The comparison with other methods and k is withheld: their losses tell the same value."
            )
        for finding in (*report["findings"], *report["accepted"]):
            if finding["code"] == "loss":
                finding["text"] = "The steward's report says whether the loss is within the limit."

    def rows(table: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
        return [_blank(row, everywhere | (_OF_ATTRIBUTE if str(row[name]) in dominated else set())) for row in table]

    for part in filter(report.get, ("loss", "generalization")):
        figures = report[part]
        report[part] = _blank(figures, overall) | {"attributes": _blank(figures["attributes"], dominated)}
    if utility := report["utility"]:
        report["utility"] = _blank(utility, overall) | {"attributes": rows(utility["attributes"], "name")}
    if assessment:
        assessment["attributes"] = rows(assessment["attributes"], "attribute")
        predicted = [("prediction", name) for name in dominated]
        assessment["figures"] = [
            row
            for row in assessment["figures"]
            if row["measure"] not in overall and (row["measure"], str(row["attribute"])) not in predicted
        ]


def _blank(row: dict[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: None if key in keys else value for key, value in row.items()}
