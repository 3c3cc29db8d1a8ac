"""The contents of the report on a release, for JSON, and the choices of a recipe in words."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype

from microagg.algorithms.registry import algorithm
from microagg.columns.schema import column_names
from microagg.errors import DataError, ParameterError
from microagg.optimum.formatting import describe_released, percent
from microagg.release import recipe as recipes
from microagg.release.assessment import Assessment
from microagg.release.choices import OPTIONS
from microagg.release.report.report import FOR_STEWARD, Report
from microagg.tables import digest_bytes
from microagg.validation import counted, listing, plain, quoted, shortened


def _risk(report: Report, assessment: Assessment | None) -> str:
    sentence = f"{report.risk.sentence} {report.of_releases}"
    if report.statistic == "mean" and report.loss is not None:
        sentence += " If all persons of a class but one pool their values, the mean reveals those of the last one."
    figures = [] if assessment is None else assessment.of("homogeneous")
    worst = max(figures, key=lambda figure: figure.after, default=None)
    if worst is None:
        return sentence
    if worst.after > 0.0:
        return f"{sentence} Some classes have one confidential value only. {worst.sentence}"
    return f"{sentence} No class reveals a confidential value for certain: each has several."


# The report will be passed on, so no value of the original file stands in it that the release does not hold: no digests
# of originals, no labels of records left out, no values that gaps were filled with, and no categories of a recipe.

# With so few digits, the difference of two reports does not reveal the part of one record.
_DIGITS = 4
# The maximum number of columns of a role that the report names.
_MOST_NAMES = 60

_LIKE_ORIGINAL = "As the original was: other columns to the byte, numbers and dates in its notation."

# The roles in the order of the report, by their key in a recipe: what they are called, and what they are for.
_ROLES = {
    "quasi_identifiers": "Quasi-identifiers: an outsider may know them",
    "confidential": "Confidential attributes: nobody should learn them",
    "by": "Strata: groups stay within their values",
    "weights": "Weights of the records",
    "others": "Other columns: neither known to others nor confidential",
    "undeclared": "Columns about which nothing was decided",
    "identifiers": "Identifiers: they name a person",
}


def contents(
    release: Any,
    *,
    assessment: Assessment | None = None,
    comparison: pd.DataFrame | None = None,
    file: str | os.PathLike[str] | bytes | None = None,
    file_name: str = "",
    title: str = "",
    prepared_by: str = "",
    prepared_on: str = "",
    origin: Mapping[str, Any] | None = None,
    read: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    for_steward: bool = False,
) -> dict[str, Any]:
    """The contents of the report; see :meth:`microagg.Release.to_html` for the parameters and errors."""
    if assessment is not None and not isinstance(assessment, Assessment):
        raise ParameterError(f"assessment must be what Release.assess returns, not {type(assessment).__name__}.")
    file_facts, report = _file(file, file_name), release.report.to_dict()
    del report["dropped"]
    for filled in report["filled"]:
        del filled["value"]
    measures = {} if assessment is None else {figure.measure.key: figure.measure for figure in assessment.figures}
    named = file_facts["name"] if file_facts else ""
    is_like = named and origin and recipes.is_like(release.recipe, named, origin.get("file", ""))
    sections = {
        "notice": FOR_STEWARD if for_steward else "",
        "title": title or f"Release of {named or 'a protected file'}",
        "prepared": {"by": prepared_by, "on": prepared_on},
        "file": file_facts,
        "original": str((origin or {}).get("file") or (origin or {}).get("dataset") or ""),
        "columns": _columns(release, labels or {}),
        "promise": {
            "promise": " ".join(filter(None, [release.report.protection, release.report.beyond_k])),
            "risk": _risk(release.report, assessment),
            "loss": " ".join(release.report.loss_sentences()),
            "against": release.report.problems,
        },
        "withheld": {},
        "report": report,
        "comparison": None if comparison is None else compared(comparison, release),
        "assessment": None if assessment is None else assessment.to_dict(),
        "choices": [
            *({"what": "How the original was read", "how": sentence} for sentence in read),
            *({"what": what, "how": how} for what, how in choices(release.recipe, release.report)),
            *([{"what": "The file is written", "how": _LIKE_ORIGINAL}] if is_like else []),
        ],
        "versions": dict(release.recipe["versions"]) | {"Python": platform.python_version()},
        "measures": [vars(measure) | {"bounds": list(measure.bounds)} for measure in measures.values()],
    }
    everything: dict[str, Any] = _finite(plain(sections), 17 if for_steward else _DIGITS)
    if not for_steward:
        _withhold(everything)
    return everything


def _file(file: str | os.PathLike[str] | bytes | None, name: str) -> dict[str, Any] | None:
    if file is None:
        return {"name": name, "bytes": None, "sha256": None} if name else None
    if isinstance(file, bytes):
        data = file
    else:
        name = name or PurePath(file).name
        try:
            data = Path(file).read_bytes()
        except OSError as error:
            raise DataError(f"the released file {os.fspath(file)!r} cannot be read: {error.strerror}.") from None
    return {"name": name, "bytes": len(data), "sha256": digest_bytes(data)}


def _columns(release: Any, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    chosen = recipes.choices(release.recipe)
    roles: dict[str, Sequence[Any]] = {role: column_names(role, chosen.get(role)) for role in _ROLES}
    roles["confidential"] = (*roles["confidential"], *column_names("classes", chosen["classes"]))
    roles["undeclared"] = release.report.undeclared_columns
    columns: dict[tuple[str, str], list[Any]] = {}
    seen: set[Any] = set()
    for role, names in roles.items():
        for name in names:
            if name not in seen:
                fate = _fate(role, name, chosen) if name in release.to_pandas() else "left out"
                columns.setdefault((role, fate), []).append(name)
                seen.add(name)
    rows = []
    for (role, fate), names in columns.items():
        shown = [(plain(name), labels.get(plain(name))) for name in names[:_MOST_NAMES]]
        named = [shortened(f"{name} ({label})" if label else name, 80) for name, label in shown]
        rows.append({"role": _ROLES[role], "fate": fate, "n": len(names), "columns": named})
    return rows


def _fate(role: str, name: Any, chosen: Mapping[str, Any]) -> str:
    """What the release has of a column that it contains."""
    if role == "weights" and chosen["release_weights"] == "mean":
        return "replaced by the mean weight of their group"
    if role != "quasi_identifiers":
        return "released as they are"
    if chosen["statistic"] == "generalize":
        common = "the set of categories" if chosen["categories"] == "set" else "the lowest common category"
        return f"replaced by what the group has in common, as text: the range, or {common}"
    if name in chosen["taxonomies"]:
        return "replaced by the most frequent category of the group"
    kind = "median category" if name in chosen["ordinal"] else chosen["statistic"]
    return f"replaced by the {kind} of the group"


def _finite(value: Any, digits: int) -> Any:
    """``value`` with floats of at most ``digits`` significant digits, and None for NaN and infinity."""
    if isinstance(value, dict):
        return {key: _finite(item, digits) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item, digits) for item in value]
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if digits == _DIGITS and mantissa.endswith("5"):  # rounded once more, it might differ from the value's own text
        return float(f"{value:.{digits - 2}e}")
    return float(f"{mantissa}e{exponent}")


# A report to pass on does not have figures that give away the value of a single record; the steward's report has them.
# microagg.metrics.risk.dominated decides whose figures these are; which figures follow is decided here.

# Of an attribute: sums over its records, and what is counted in its standard deviations.
_OF_ATTRIBUTE = {"mean_before", "sd_before", "lost", "sd_ratio", "interval_disclosure"}

# Over all attributes: less those of the others, they are those of the dominated one.
_OVERALL = {"sse", "sst", "information_loss", "total_information_loss", "lower_bound", "variance_change"}
_OVERALL |= {"correlation_change", "correlation_pair", "interval_disclosure"}


def _withhold(contents: dict[str, Any]) -> None:
    """Remove figures that reveal a value of a record from ``contents``, and state the reasons under "withheld"."""
    report, assessment, message = contents["report"], contents["assessment"], contents["withheld"]
    dominated = set(map(str, report["dominated"]))
    if not dominated:
        return
    message["attributes"] = (
        f"Mean, standard deviation and loss of {quoted(report['dominated'])}, and figures counted in them, are "
        "withheld: one or two records dominate them, or there are fewer than 10, and their values could be computed."
    )
    message["overall"] = (
        "The information loss, changes of correlations and other figures over all quasi-identifiers are withheld: "
        "less what the others contribute, they are the figures above."
    )
    contents["promise"]["loss"] = "The information loss is withheld: section 5 says why."
    if contents["comparison"]:
        contents["comparison"] = None
        message["comparison"] = "The comparison with other methods and k is withheld: their losses tell the same value."
    for finding in [*report["findings"], *report["accepted"]]:
        if finding["code"] == "loss":
            finding["text"] = "The steward's report says whether the loss is within the limit."

    def rows(table: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
        hidden = {"correlation_change"}
        return [_blank(row, hidden | (_OF_ATTRIBUTE if str(row[name]) in dominated else set())) for row in table]

    for part in filter(report.get, ("loss", "generalization")):
        figures = report[part]
        report[part] = _blank(figures, _OVERALL) | {"attributes": _blank(figures["attributes"], dominated)}
    if utility := report["utility"]:
        report["utility"] = _blank(utility, _OVERALL) | {"attributes": rows(utility["attributes"], "name")}
    if assessment:
        assessment["attributes"] = rows(assessment["attributes"], "attribute")
        assessment["figures"] = [row for row in assessment["figures"] if row["measure"] not in _OVERALL]


def _blank(row: dict[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: None if key in keys else value for key, value in row.items()}


# Options whose values the report has words for: the subject, and the words by value. Section 1 of the report has roles
# of columns, their released values and weights, and section 2 the guarantees.
_WORDS: dict[str, tuple[str, dict[Any, str]]] = {
    "polish": ("Afterwards", {True: "the groups were improved by local search"}),
    "scale": (
        "Distances",
        {
            "zscore": "each attribute scaled to variance 1",
            "minmax": "each attribute scaled to the range from 0 to 1",
            "none": "as the attributes are, unscaled",
        },
    ),
    "rounding": ("Rounding", {"file": "to the decimals that the column has in the file"}),
    "ranges": (
        "Ranges of numbers and dates are written as",
        {"columns": "two columns, their lower and upper ends", "middle": "their middle"},
    ),
}
# Those of them that apply only if numbers are released as numbers.
_OF_NUMBERS = {"scale", "rounding"}
_GAPS = {
    "drop": "the record is left out",
    "category": "a category of its own",
    "impute": "filled with the median or the most frequent value",
}


def choices(recipe: Mapping[str, Any], report: Report) -> list[tuple[str, str]]:
    """Choices of a recipe, as subjects and words.

    Categories, orders and codes for missing values are counted, not named, as a release need not hold all of them. The
    seed of a random order is left out, as it would undo the order.
    """
    chosen = recipes.choices(recipe)
    of_method = _method_choices(chosen, recipe["params"], report)
    lines = [*of_method, *_worded_choices(chosen, report), *_column_choices(chosen, report)]
    if report.shuffled:
        lines.append(("Order of the records", "random"))
    if chosen["random_state"] is not None:
        lines.append(("Random numbers of the method", f"drawn from the seed {chosen['random_state']}"))
    return [(subject, f"{words[:1].upper()}{words[1:]}.") for subject, words in lines]


def _worded_choices(chosen: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    for name, (subject, words) in _WORDS.items():
        applies = report.loss is not None or name not in _OF_NUMBERS
        if applies and chosen[name] in words:
            yield subject, words[chosen[name]]


def _method_choices(chosen: Mapping[str, Any], params: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    if chosen["method"] is None:
        yield "Method", "the groups were given, and checked"
    else:
        method = algorithm(chosen["method"])
        beforehand = "; the groups were found beforehand, beginning with it, and checked" if report.given else ""
        summary, reference = method.info.summary.rstrip("."), method.info.reference.rstrip(".")
        yield "Method", f"{method.info.title}: {summary} ({reference}){beforehand}"
        usual = {param.name: param.default for param in method.params}
        changed = [f"{name} = {value}" for name, value in params.items() if value != usual.get(name)]
        if changed:
            yield "Parameters of the method", listing(changed)
    yield "Requested smallest group", f"{chosen['k']:,} records (k)"


def _column_choices(chosen: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    for title, name in (("Dates are read or released by", "dates"), ("Numbers are written as", "numbers")):
        forms = chosen[name].items() if isinstance(chosen[name], Mapping) else ()
        if listed := [f"{quoted([column])} ({form})" for column, form in forms if form not in (None, "day")]:
            yield title, listing(listed)
    for option in OPTIONS:
        if option.counted and (of_columns := chosen[option.name]):
            title, noun = option.counted
            yield title, listing([f"{quoted([name])} ({counted(_size(v), noun)})" for name, v in of_columns.items()])
    missing = chosen["missing"]
    for how, words in _GAPS.items():
        by_column = missing.items() if isinstance(missing, Mapping) else ()
        if missing == how:
            yield "Missing quasi-identifiers", words
        elif names := [name for name, treatment in by_column if treatment == how]:
            yield f"Missing values of {quoted(names)}", words
    for filled in report.filled:
        with_what = "as a category of their own" if filled.how == "category" else f"as the {filled.how} value"
        yield f"Filled in {quoted([filled.column])}", f"{counted(filled.n, 'gap')}, {with_what}"


def _size(value: Any) -> int:
    """The number of categories or codes; of a taxonomy, of its leaves."""
    if isinstance(value, Mapping):
        return sum(1 if below is None else _size(below) for below in value.values())
    return len(value) if isinstance(value, Sequence) and not isinstance(value, str) else 1


# --- comparison with other methods and values of k --------------------------------------------------------------------

_NEEDED = ("title", "k", "information_loss")

# Losses whose relative difference is at most this are the same, to within rounding.
_ROUNDING = 1e-9


def compared(comparison: pd.DataFrame, release: Any) -> dict[str, Any] | None:
    """The rows of a comparison with the chosen one marked, and sentences on them; None if it has no rows.

    Raises :class:`DataError` if it is no table with ``title``, ``k`` and ``information_loss``.
    """
    if not isinstance(comparison, pd.DataFrame):
        raise DataError(f"comparison must be a DataFrame such as a sweep returns, not {type(comparison).__name__}.")
    if lacking := [name for name in _NEEDED if name not in comparison]:
        raise DataError(f"comparison lacks {quoted(lacking)}: it needs the columns {quoted(_NEEDED)}.")
    columns = [name for name in (*_NEEDED, "floor") if name in comparison]
    comparison = comparison.reset_index(drop=True).replace([math.inf, -math.inf], math.nan)
    table = comparison[columns].dropna(subset=list(_NEEDED)).copy()
    if table.empty:
        return None
    table["title"] = table["title"].astype(str)
    table["k"] = table["k"].astype("int64")
    table["chosen"] = _is_chosen(comparison.loc[table.index], release)
    table = table.sort_values(["title", "k"], kind="stable", ignore_index=True)
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    all_records, on = release.report.n_records, ""
    if "n_records" in comparison and (n := comparison["n_records"].max()) < all_records:
        on = (
            f"Compared were {counted(int(n), 'record')} of the {all_records:,}, drawn at random: of all of them losses "
            "are lower, as there are nearer neighbors."
        )
    elif table["chosen"].any():
        chosen = float(table.loc[table["chosen"], "information_loss"].iloc[0])
        on = describe_released(chosen, release.report.measured.information_loss, release.report.measure)
    return {"rows": rows, "on": on, "loss_in_words": _loss_in_words(table)}


def _is_chosen(comparison: pd.DataFrame, release: Any) -> pd.Series[bool]:
    """Which row is the release: the one marked, otherwise the one of its method and k."""
    if "chosen" in comparison and is_bool_dtype(comparison["chosen"]):
        return comparison["chosen"].astype(bool)
    method = release.recipe["method"]
    title = "" if method is None else algorithm(method).info.title
    return (comparison["k"] == release.report.k) & (comparison["title"].astype(str) == title)


def _loss_in_words(table: pd.DataFrame) -> str:
    """The loss of the chosen row beside those of other methods at its k, as a sentence."""
    n_methods = table["title"].nunique()
    what = f"{counted(len(table), 'release')} by {counted(n_methods, 'method')} were compared"
    if not table["chosen"].any():
        return f"{what}; the chosen one is not among them."
    row = table[table["chosen"]].iloc[0]
    loss, k = float(row["information_loss"]), int(row["k"])
    sentence = f"{what}. At k = {k:,}, the chosen {row['title']} has a loss of {percent(loss)}"
    others = table[(table["k"] == k) & (table["title"] != row["title"])]
    if others.empty:
        return f"{sentence}; no other method was compared at this k."
    best = others.nsmallest(1, "information_loss").iloc[0]
    if best["information_loss"] >= loss * (1 - _ROUNDING):
        return f"{sentence}, the lowest of all methods compared."
    return f"{sentence}; {best['title']} has the lowest: {percent(float(best['information_loss']))}."
