"""The checks of a release: problems and warnings, each with its remedies, and the checks that passed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial

import streamlit as st

from microagg import Release
from microagg.columns.recodes import interval_recodings
from microagg.release import Change, Finding, try_remedies, without_outliers
from microagg.release.checks import CHECKS
from microagg.tables import digest_bytes
from microagg.validation import FloatArray, quoted
from pages.shared import columns, jobs, limits, released, shell, state
from pages.shared.limits import Verdict
from pages.shared.tables import Table
from pages.shared.text import count, escape_markdown, percent, sentence
from pages.shared.workspace import Workspace

_ICONS = {
    "stop": ":red[:material/block:]",
    "warn": ":orange[:material/warning:]",
    "ok": ":green[:material/check_circle:]",
}
_MOST_REMEDIES = 6
_FEW_COLUMNS, _MOST_COLUMNS = 2, 6  # with more than the first, the only remedy is to leave columns out
_DIVERSE = 2  # values in each class that are offered where there is only one
_REQUEST = "remedies_asked"

Remedies = list[tuple[str, Callable[[], None]]]


def all_findings(workspace: Workspace, release: Release, counted: Finding, verdict: Verdict) -> list[Finding]:
    """Return all findings on the release, the worst first; ``counted`` is the one on the file's bytes."""
    others = [finding for finding in release.findings if finding.code not in {"undecided", "k"}]
    decided = Finding("ok", "undecided", (), "Every column has a role.")
    if names := columns.undecided(workspace.table):
        text = f"The roles of {quoted(names)} are suggestions that nobody has confirmed. Accept or change them."
        decided = Finding("stop", "undecided", tuple(names), text)
    findings = [decided, counted, *_limits(release, verdict), *others]
    return sorted(findings, key=lambda finding: list(_ICONS).index(finding.level))


def _limits(release: Release, verdict: Verdict) -> list[Finding]:
    """Findings on the largest acceptable risk and loss, if they are set: whether the release meets them."""
    findings, acceptable, lost = [], verdict.limits, release.report.measured
    if verdict.risk is None and acceptable.risk < limits.NONE:
        findings.append(Finding("warn", "unchecked", (), "The risk is being measured."))
    elif acceptable.risk < limits.NONE:
        finding = Finding("ok", "risk", (), "The risk is within its limit.")
        if not verdict.meets_risk:
            cause = released.cause(release, verdict)
            finding = Finding("warn", "risk", cause.columns, f"The risk is above its limit. {cause.sentence}".strip())
        findings.append(finding)
    if acceptable.loss < limits.NONE:
        finding = Finding("ok", "loss", (), "The loss is within its limit.")
        if not verdict.meets_loss:
            worst = max(lost.attributes, key=lambda name: lost.attributes[name])
            text = f"The loss is above its limit. It is highest for {quoted([worst])}."
            if lost.lower_bound is not None and not limits.is_within(lost.lower_bound, acceptable.loss):
                least = limits.written(lost.lower_bound, acceptable.loss)
                text += f" No partition with k = {release.report.k:,} can meet it: the lower bound is {least}."
            finding = Finding("warn", "loss", (worst,), text)
        findings.append(finding)
    return findings


def problems(findings: Sequence[Finding], identity: Hashable) -> list[Finding]:
    """Return the findings that block the release and are not overridden."""
    overridden = _overridden(findings, identity)
    return [finding for finding in findings if finding.level == "stop" and finding not in overridden]


def accepted(release: Release, identity: Hashable) -> Release:
    """Return the release with the overrides in its report: codes all of whose stops are overridden."""
    stops = [finding for finding in release.findings if finding.level == "stop"]
    overridden = _overridden(stops, identity)
    for code in dict.fromkeys(finding.code for finding in stops):
        reasons = [overridden.get(finding) for finding in stops if finding.code == code]
        if None not in reasons:
            release = release.accept(code, reason="; ".join(dict.fromkeys(filter(None, reasons))))
    return release


def _overridden(findings: Iterable[Finding], identity: Hashable) -> dict[Finding, str]:
    """Return the findings that the user overrode for this release, each with the reason."""
    reasons = dict(entry.split(":", 1) for entry in state.current().overridden if ":" in entry)
    return {finding: reasons[digest] for finding in findings if (digest := _digest(finding, identity)) in reasons}


def _digest(finding: Finding, identity: Hashable) -> str:
    """Return the digest of a finding in this release: other words or other choices need a new override."""
    return digest_bytes(repr((identity, finding)).encode("utf-8", "replace"))[:8]


def _take_back(finding: Finding, identity: Hashable) -> None:
    prefix = f"{_digest(finding, identity)}:"
    state.update(overridden=tuple(entry for entry in state.current().overridden if not entry.startswith(prefix)))


def headline(findings: Sequence[Finding], identity: Hashable) -> str:
    """Return the verdict in Markdown: blocked, ready, or ready with conditions: limits that are not met, warnings."""
    if blocking := problems(findings, identity):
        return f"{_ICONS['stop']} Blocked: fix {count(len(blocking), 'problem')}"
    levels = [finding.level for finding in findings]
    exceeded = [finding.code for finding in findings if _is_exceeded(finding)]
    n_warnings = levels.count("warn") - len(exceeded)
    parts = [
        f"{count(levels.count('stop'), 'problem')} overridden" if "stop" in levels else "",
        f"{' and '.join(exceeded)} above the limit" if exceeded else "",
        count(n_warnings, "warning") if n_warnings else "",
    ]
    conditions = ", ".join(filter(None, parts))
    return f"{_ICONS['warn']} Ready with conditions: {conditions}" if conditions else f"{_ICONS['ok']} Ready"


def _is_exceeded(finding: Finding) -> bool:
    """Whether a finding says that the largest acceptable risk or loss is exceeded."""
    return finding.level == "warn" and finding.code in ("risk", "loss")


def show(workspace: Workspace, findings: Sequence[Finding], identity: Hashable) -> None:
    """Draw problems and limits that are not met with their remedies, then warnings and passed checks, folded."""
    stops, warnings, passed = ([each for each in findings if each.level == level] for level in ("stop", "warn", "ok"))
    _draw(workspace, [*stops, *filter(_is_exceeded, warnings)], identity)
    warnings = [finding for finding in warnings if not _is_exceeded(finding)]
    if warnings:
        with st.expander(f"Warnings ({len(warnings)})", key="warnings"):
            _draw(workspace, warnings, identity)
    with st.expander(f"Checks passed ({len(passed)})", key="passed"):
        for finding in passed:
            st.markdown(f"{_ICONS['ok']} {sentence(finding.text)}")


def _draw(workspace: Workspace, findings: Sequence[Finding], identity: Hashable) -> None:
    for finding in findings:
        with st.container(border=True):
            _finding(workspace, finding, identity)


def _finding(workspace: Workspace, finding: Finding, identity: Hashable) -> None:
    """Draw a problem or a warning with its remedies."""
    overridden, code = _overridden([finding], identity), finding.code
    # A code can have several findings, each on other columns.
    key = f"{code}_{'_'.join(map(str, finding.columns))}"
    st.markdown(f"{_ICONS[finding.level]} {sentence(finding.text)}")
    is_requested = code == "loss" and st.session_state.get(_REQUEST) == identity
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for label, act in _remedies(workspace, finding):
            st.button(escape_markdown(label), on_click=act, key=f"remedy_{key}_{label}", wrap=True)
        if code == "loss" and not is_requested:
            request = partial(st.session_state.update, {_REQUEST: identity})
            st.button("Suggest fixes", on_click=request, key="suggest_fixes")
        if CHECKS[code].page and not (code == "risk" and finding.columns):  # another k does not cure a prediction
            page, label = CHECKS[code].page, CHECKS[code].cure
            if code == "homogeneity" and not workspace.schema.confidential:
                page, label = "data", "Mark confidential columns"
            if code == "one-value" and 2 * state.current().k > workspace.n_complete:  # all records form one group
                page, label = "choose_k", "Choose another k"
            st.button(f"{label} →", on_click=shell.lead_to, args=(page,), key=f"cure_{key}")
        if finding in overridden:
            st.caption(f"Overridden: {escape_markdown(overridden[finding] or 'no reason given')}. The report has it.")
            st.button("Take back the override", on_click=_take_back, args=(finding, identity), key=f"back_{key}")
        elif finding.level == "stop" and CHECKS[code].acceptable and code != "undecided":
            _override(finding, key, identity)
    if is_requested:
        _suggest_fixes(workspace, identity)


def _override(finding: Finding, key: str, identity: Hashable) -> None:
    def override() -> None:
        entry = f"{_digest(finding, identity)}:{st.session_state[f'reason_{key}']}"
        state.update(overridden=(*state.current().overridden, entry))

    with st.popover("Release anyway …", key=f"in_spite_{key}"):
        hint = "Contract forbids linking"
        st.text_input("Reason, which the report will state", key=f"reason_{key}", placeholder=hint)
        st.button("Override this problem", on_click=override, key=f"override_{key}")


def _remedies(workspace: Workspace, finding: Finding) -> Remedies:
    """Return the remedies that need no computation: the label of each button and what it does."""
    table = workspace.table
    if finding.code == "undecided":
        return [("Accept suggestions", partial(columns.agree, table))]
    if finding.code == "order":
        return [("Shuffle rows", partial(state.update, shuffle=True))]
    if finding.code == "households" and finding.level == "warn":
        name, k = str(finding.columns[0]), state.current().k
        guarantee = partial(state.guarantee, "diversity", name, k)
        return [(f"Form groups with at least {k} values of {name}", guarantee)]
    all_columns = columns.columns(table)
    if finding.code == "homogeneity" and finding.columns:
        name = str(finding.columns[0])
        guarantee = partial(state.guarantee, "diversity", name, _DIVERSE)
        offer = (f"Have at least {_DIVERSE} values in each class", guarantee)
        return [offer] if all_columns[name].n_distinct > 1 else []
    if finding.code == "outliers":
        outliers = {name: without_outliers(numbers) for name, numbers in _dropped(table, finding.columns)}
        return [
            (f"Leave out {each.effect}: {name} {each.words}", partial(columns.recode, name, each.recoding))
            for name, each in outliers.items()
            if each is not None
        ]
    if not CHECKS[finding.code].of_columns:
        return []
    names = [name for name in finding.columns if name in all_columns and not all_columns[name].is_quasi_identifier]
    remedies: Remedies = []
    for name in names[:_MOST_COLUMNS]:
        if name == workspace.schema.weights:
            remedies.append(("Release the mean weight of each group", partial(state.update, weights="mean")))
        remedies.append((f"Leave out {name}", partial(columns.decide, table, name, role="identifiers")))
        numbers = columns.numbers_of(table, str(name))
        for words, effect, recoding in interval_recodings(numbers)[:1] if numbers is not None else ():
            remedies.append((f"Round {name} by {words} ({effect})", partial(columns.recode, str(name), recoding)))
        if all_columns[name].kind and len(names) <= _FEW_COLUMNS:
            remedies.append((f"Protect {name} too", partial(columns.decide, table, name, role="quasi_identifiers")))
    return remedies


def _dropped(table: Table, names: Sequence[Hashable]) -> Iterator[tuple[str, FloatArray]]:
    """Yield the numbers of each of the first columns whose missing values are left out."""
    for name in map(str, names[:_FEW_COLUMNS]):
        numbers = columns.numbers_of(table, name)
        if numbers is not None and columns.columns(table)[name].gaps == "drop":
            yield name, numbers


def _suggest_fixes(workspace: Workspace, identity: Hashable) -> None:
    """Draw each change that lowers the loss as a button, with the loss after it."""
    frame, options = workspace.table.original.frame, released.arguments(workspace)
    compute, n = lambda: list(try_remedies(frame, **options)), workspace.n_complete
    tried = jobs.once("remedies", identity, [options["method"]], "Trying remedies", compute, n)
    if not tried:
        return
    baseline, *remedies = tried
    better = [remedy for remedy in remedies if remedy.loss < remedy.unchanged]
    better = sorted(better, key=lambda remedy: remedy.loss - remedy.unchanged)[:_MOST_REMEDIES]
    scope = f", {baseline.scope} (lower on all records)" if baseline.scope else ""
    result = "" if better else " No such change lowers the loss."
    st.markdown(f"Loss as it is: {escape_markdown(baseline.effect + scope)}.{result}")
    for remedy in better:
        change = remedy.change
        assert change is not None
        # The words of a recoding begin with "with", such as "with 'age' by intervals of 10".
        words = f"Recode {change.words.removeprefix('with ')}" if change.recoding else f"Leave out {change.column}"
        label = escape_markdown(words)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(label, key=f"help_{change.words}", on_click=partial(_apply, workspace, change))
            total = f"; {percent(remedy.total)} in all" if change.recoding else ""
            st.caption(escape_markdown(remedy.effect + total), width="content")


def _apply(workspace: Workspace, change: Change) -> None:
    """Apply a remedy; a callback."""
    name = str(change.column)
    if change.recoding:
        columns.recode(name, change.recoding)
    else:
        columns.decide(workspace.table, name, role="identifiers")
