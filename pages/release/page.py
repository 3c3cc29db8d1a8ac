"""Release: a checklist with reasons and remedies, the files, risk and utility, and what changed."""

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any

import streamlit as st

from microagg import Release
from microagg.columns.recodes import interval_recodings
from microagg.release import Change, Finding, guarantees, loss_finding, without_outliers
from microagg.tables import digest_bytes
from microagg.validation import quoted
from pages.release import before_after, earlier, making, report
from pages.shared import certificate, columns, limits, methods, recodings, searched, shell, state, tables
from pages.shared.text import count, describe_gap, escape_markdown, percent, sentence
from pages.shared.workspace import Workspace, chosen_workspace

_STATISTICS = {"mean": "Mean", "median": "Median", "ancestor": "Range or common ancestor", "set": "Range or set"}

_ICONS = {
    "stop": ":red[:material/block:]",
    "warn": ":orange[:material/warning:]",
    "ok": ":green[:material/check_circle:]",
}
_LINKS = {
    "undecided": ("data", "Decide on Data →"),
    "gaps": ("data", "Decide on Data →"),
    "homogeneity": ("choose_k", "Another k or method →"),
    "loss": ("choose_k", "Another k or method →"),
}
_MOST_REMEDIES = 6
_FEW_COLUMNS, _MOST_COLUMNS = 2, 6  # with more than the first, the only remedy is to leave columns out
_REQUEST = "remedies_asked"


def body() -> None:
    workspace = chosen_workspace()
    choices = state.current()
    whole = workspace.table.whole
    tables.say_sample(workspace.table)
    n, dropped = workspace.n_complete, workspace.source.n_dropped
    records = (
        f"{n:,} of {count(n + dropped, 'record')} ({dropped:,} with gaps are left out)"
        if dropped
        else count(n, "record")
    )
    all_of = "The sample of " if whole is not None else "" if dropped else "All "
    st.markdown(
        f"{all_of}{records} in groups of at least **{choices.k}** by "
        f"**{escape_markdown(methods.title(methods.chosen(workspace)))}**: what must be settled first, what changes, and the files."
    )
    _say_partition(workspace)
    _values(workspace)
    _beyond_k(workspace)
    identity = making.identity(workspace)
    release = making.release_of(workspace, identity)
    if release is None:
        return
    data, counted = making.written(identity, choices.release.format, release, workspace.table.read)
    if whole is None and (held := earlier.chosen(workspace)):
        identity = identity, held[0], digest_bytes(held[1])
        release = earlier.compared(workspace, release, identity, *held)
        if release is None:
            return
    st.subheader("1. Checklist")
    findings = _findings(workspace, release, counted)
    ready = _checklist(workspace, release, findings, identity)
    accepted = _accepted(release, identity)
    if whole is None:
        st.subheader("2. Files")
        making.show(workspace, accepted, data, ready=ready)
        reports = st.container()  # filled once it is known what the report says of risk and utility
        making.program(workspace, accepted)
    else:
        st.subheader("2. The whole file")
        making.show_whole(workspace, identity, ready=ready)
    of_sample = "" if whole is None else ", of the sample"
    st.subheader(f"3. Risk and utility{of_sample}")
    report.show_assessment(workspace, release, identity)
    if whole is None:
        with reports:
            report.show(workspace, accepted, identity, findings, data)
    st.subheader(f"4. Before and after{of_sample}")
    before_after.show(workspace, release, identity)


def _say_partition(workspace: Workspace) -> None:
    """Describe the best partition that is released, and offer a better one if there is one now."""
    k = state.current().k
    best, newest = searched.best(workspace, k), searched.newest(workspace, k)
    if methods.chosen(workspace) != state.FOUND or best is None or newest is None:
        return
    least = certificate.floors(workspace, [k])[0].information_loss
    merged = ", before groups are merged for what is guaranteed" if columns.guarantees(workspace.table) else ""
    says = f"It loses {percent(best.information_loss, 4)}, {describe_gap(best.information_loss, least)}{merged}."
    if best is searched.stored_result(workspace, k):
        says = f"{says} It came with the package."
        if alone := certificate.loss_alone(workspace, k):
            says = f"{says} Of a better one only the loss is known, {percent(alone, 4)}."
    with st.container(horizontal=True, vertical_alignment="center"):
        if newest.information_loss >= best.information_loss * (1 - searched.ROUNDING):
            st.caption(says, width="content")
            return
        st.caption(
            f"{says} It stays as it was when this page was opened; {percent(newest.information_loss, 4)} has been found "
            "since.",
            width="content",
        )
        st.button("Take the better one", on_click=searched.take_newest)


def _values(workspace: Workspace) -> None:
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    statistic = making.statistic(workspace)
    with left:
        says = (
            "Mean or median of numbers and dates, of ordered categories the middle one, of others the most frequent. Or "
            "what the records of a group have in common: [30, 45] and Blue collar, or {Craft-repair, Sales}."
        )
        state.either(
            "Values of a group become their", "statistic", _STATISTICS, selected=statistic, wrap=True, help=says
        )
    with right, st.container(horizontal=True):
        if statistic in ("mean", "median"):
            says = (
                "Off: means are rounded to as many decimals as the file has, and integers stay whole. k is counted "
                "after rounding."
            )
            state.bound(st.toggle, "Keep all digits", "exact", help=says)
        if shuffle := state.current().release.shuffle:
            st.button("Keep the order of the file", on_click=state.update, kwargs={"shuffle": None})
            says = "The recipe then holds the seed of the order: whoever has it can restore the order of the file."

            def record(on: bool) -> None:
                state.update(shuffle="recorded" if on else True)

            state.tied(st.toggle, "Record the order", "w_recorded", shuffle == "recorded", record, help=says)
    recodings.show(workspace.table)


def _beyond_k(workspace: Workspace) -> None:
    """Draw the guarantees for confidential columns in each class, beyond k."""
    names = columns.confidential(workspace.table)
    if not names:
        return
    requested = columns.guarantees(workspace.table)
    with st.expander("Guarantees beyond k: what may be learned of confidential columns", expanded=bool(requested)):
        st.caption(
            "All records of a group may have the same confidential value: anyone who finds a person's group learns it. "
            "Groups that lack what is asked for here are merged, which loses more; Least loss forms groups that have it, which "
            "loses less."
        )
        name = st.selectbox("Confidential column", names, key="w_guaranteed")
        limit, t = (requested.get(option, {}).get(name) for option in ("diversity", "closeness"))
        distinct, entropy = (None, limit[1]) if isinstance(limit, tuple) else (limit, None)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            says = "Distinct l-diversity: each class has so many values of the column."
            _limit("Distinct values, at least", "distinct", name, distinct, says, min_value=1, step=1)
            says = (
                "Entropy l-diversity: the values of each class are as diverse as so many of equal frequency. It takes "
                "the place of distinct values."
            )
            how: dict[str, Any] = {"min_value": 1.0, "step": 0.1, "format": "%g"}
            _limit("Equally frequent values, at least", "entropy", name, entropy, says, **how)
            says = (
                "t-closeness: how far the values of a class may be from those of all records, by the earth mover's "
                "distance from 0, the same, to 1; of numbers, dates and ordered categories by their ranks."
            )
            how = {"min_value": 0.0, "max_value": 1.0, "step": 0.05, "format": "%g"}
            _limit("Distance from all records, at most", "closeness", name, t, says, **how)
        if requested:
            st.caption(f"Asked for: {escape_markdown(guarantees.describe(guarantees.requested(**requested)))}.")


def _limit(label: str, rule: str, name: str, value: float | None, says: str, **bounds: Any) -> None:
    """Draw the field of a limit by a rule of :class:`microagg.release.guarantees.Guarantee`; empty for none."""
    option = "closeness" if rule == "closeness" else "diversity"

    def take(entered: float | None) -> None:
        state.guarantee(option, name, ("entropy", entered) if rule == "entropy" and entered is not None else entered)

    how = {"value": None, "placeholder": "none", "help": says, "width": 230}
    state.tied(st.number_input, label, f"w_{rule}", value, take, **how, **bounds)


# --- the checklist ------------------------------------------------------------------------------------------------------


def _findings(workspace: Workspace, release: Release, counted: Finding) -> list[Finding]:
    """Return all findings on the release, the worst first; ``counted`` is the one on the file's bytes."""
    others = [finding for finding in release.findings if finding.code not in {"undecided", "k"}]
    decided = Finding("ok", "undecided", (), "Every column is decided.")
    if names := columns.undecided(workspace.table):
        text = f"Nobody has decided yet what these columns are: {quoted(names)}. Agree to the guesses, or change them."
        decided = Finding("stop", "undecided", tuple(names), text)
    findings = [decided, counted, *others, loss_finding(release.report, limits.current().loss)]
    return sorted(findings, key=lambda finding: list(_ICONS).index(finding.level))


def _accepted(release: Release, identity: Hashable) -> Release:
    """Return the release with the overrides in its report: codes all of whose stops are overridden."""
    stops = [finding for finding in release.findings if finding.level == "stop"]
    overridden = _overridden(stops, identity)
    for code in dict.fromkeys(finding.code for finding in stops):
        reasons = [overridden.get(finding) for finding in stops if finding.code == code]
        if None not in reasons:
            release = release.accept(code, reason="; ".join(dict.fromkeys(filter(None, reasons))))
    return release


def _checklist(workspace: Workspace, release: Release, findings: list[Finding], identity: Hashable) -> bool:
    overridden = _overridden(findings, identity)
    stops = [f for f in findings if f.level == "stop" and f not in overridden]
    warnings = [f for f in findings if f.level == "warn"]
    if stops:
        st.error(f"{count(len(stops), 'red line')} below hold{'s' if len(stops) == 1 else ''} up the release.")
    else:
        also = f", {len(overridden)} red overridden" if overridden else ""
        also += f"; {count(len(warnings), 'amber line')} to read" if warnings else ""
        if workspace.table.whole is not None:
            st.success(f"Nothing in the sample holds up the release of the whole file{also}.")
        else:  # a file that does not keep k cannot be overridden, so this holds of the very bytes
            st.success(
                f"{release.report.n_records:,} records protected: each combination of quasi-identifiers occurs at least "
                f"{count(release.report.k, 'time')}, counted on the file to be downloaded{also}."
            )
    for finding in findings:
        if finding.level != "ok":
            _line(workspace, finding, release.report.measured.information_loss, identity)
    done = [f for f in findings if f.level == "ok"]
    with st.expander(f"{count(len(done), 'check')} passed", expanded=not stops and not warnings):
        for finding in done:
            st.markdown(f"{_ICONS['ok']} {sentence(finding.text)}")
    return not stops


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


def _line(workspace: Workspace, finding: Finding, loss: float, identity: Hashable) -> None:
    overridden, code = _overridden([finding], identity), finding.code
    # A code can have several findings, each on other columns.
    key = f"{code}_{'_'.join(map(str, finding.columns))}"
    with st.container(border=True):
        st.markdown(f"{_ICONS[finding.level]} {sentence(finding.text)}")
        is_requested = code == "loss" and st.session_state.get(_REQUEST) == identity
        with st.container(horizontal=True, vertical_alignment="center"):
            for label, act in _remedies(workspace, finding):
                st.button(escape_markdown(label), on_click=act, key=f"remedy_{key}_{label}")
            if code == "loss" and not is_requested:
                st.button(
                    "What would help?",
                    on_click=lambda: st.session_state.update({_REQUEST: identity}),
                    key="what_would_help",
                )
            if code in _LINKS:
                shell.link(*_LINKS[code])
            if finding in overridden:
                st.caption(
                    f"Overridden: {escape_markdown(overridden[finding] or 'no reason given')}. The report says so."
                )
                st.button("Take back", on_click=_take_back, args=(finding, identity), key=f"back_{key}")
            elif finding.level == "stop" and code not in {"undecided", "bytes"}:
                _override(finding, key, identity)
        if is_requested:
            _what_would_help(workspace, identity)
        if code == "homogeneity" and finding.columns:
            _diversify(workspace, finding.columns[0], loss, identity)
        if code == "predicted" and len(finding.columns) == 1:
            _protect(workspace, str(finding.columns[0]), loss, identity)
        if code == "outliers" and workspace.table.whole is None:  # a sample does not have all outliers
            for name in map(str, finding.columns[:_FEW_COLUMNS]):
                _leave_out(workspace, name, loss, identity)


def _diversify(workspace: Workspace, name: Hashable, loss: float, identity: Hashable) -> None:
    """Offer more than one value of a confidential column in each class, once the loss with it is computed."""
    after = making.diversified(workspace, identity, str(name))
    if isinstance(after, str):
        st.caption(f"{making.DIVERSE} values in each class cannot be had. {sentence(after)}")
    elif after is not None:
        then, now = percent(after.measured.information_loss, 4), percent(loss, 4)
        st.button(
            f"Have at least {making.DIVERSE} values in each class: loses {'no more' if then == now else f'{then} instead of {now}'}",
            on_click=partial(state.guarantee, "diversity", str(name), making.DIVERSE),
            key=f"diversify_{name}",
            help="The method forms groups that have them if it can; groups of other methods that lack them are merged.",
        )


def _protect(workspace: Workspace, name: str, loss: float, identity: Hashable) -> None:
    """Offer to protect a column that follows from the quasi-identifiers, once the loss with it is computed."""
    if not columns.columns(workspace.table)[name].kind:
        return
    after = making.protected(workspace, identity, name)
    if isinstance(after, str):
        st.caption(f"{escape_markdown(name)} cannot be protected too. {sentence(after)}")
    elif after is not None:
        then, now = percent(after.measured.information_loss, 4), percent(loss, 4)
        act = partial(columns.decide, workspace.table, name, role="quasi_identifiers")
        st.button(
            f"Protect {escape_markdown(name)} too: loss {then} instead of {now}", on_click=act, key=f"protect_{name}"
        )


def _leave_out(workspace: Workspace, name: str, loss: float, identity: Hashable) -> None:
    """Offer to leave out the outliers of a column as missing values, once the loss without them is computed."""
    table = workspace.table
    numbers = columns.numbers_of(table, name) if columns.columns(table)[name].gaps == "drop" else None
    outliers = None if numbers is None else without_outliers(numbers)
    after = None if outliers is None else making.without(workspace, identity, name, outliers.recoding)
    if isinstance(after, str):
        st.caption(f"The outliers of {escape_markdown(name)} cannot be left out. {sentence(after)}")
    elif outliers is not None and after is not None:
        these = "this record" if outliers.effect == "1 record" else f"these {outliers.effect}"
        remain, then = count(after.n_records, "record"), percent(after.measured.information_loss, 4)
        with st.container(horizontal=True, vertical_alignment="center"):
            what = partial(columns.recode, name, outliers.recoding)
            st.button(f"Leave out {these}", key=f"leave_out_{name}", on_click=what)
            says = f"{remain} remain, and the loss, against their own spread, is {then} instead of {percent(loss, 4)}"
            st.caption(f"{escape_markdown(name)} {outliers.words}: {says}.", width="content")


def _override(finding: Finding, key: str, identity: Hashable) -> None:
    def override() -> None:
        entry = f"{_digest(finding, identity)}:{st.session_state[f'reason_{key}']}"
        state.update(overridden=(*state.current().overridden, entry))

    with st.popover("Release in spite of it", key=f"in_spite_{key}"):
        hint = "Contract forbids linking"
        st.text_input("Why? The report will say so", key=f"reason_{key}", placeholder=hint)
        st.button("Override this line", on_click=override, key=f"override_{key}")


def _remedies(workspace: Workspace, finding: Finding) -> list[tuple[str, Callable[[], None]]]:
    table = workspace.table
    if finding.code == "undecided":
        return [("Agree to all guesses", partial(columns.agree, table))]
    if finding.code == "order" and table.whole is None:  # a large file keeps its order
        return [("Shuffle the records", partial(state.update, shuffle=True))]
    if finding.code not in {"identifying", "determines", "predicted"}:
        return []
    all_columns = columns.columns(table)
    names = [name for name in finding.columns if name in all_columns and not all_columns[name].is_quasi_identifier]
    remedies: list[tuple[str, Callable[[], None]]] = []
    for name in names[:_MOST_COLUMNS]:
        if name == workspace.schema.weights:
            remedies.append(("Release each group's mean weight", partial(state.update, weights="mean")))
        remedies.append((f"Leave {name} out", partial(columns.decide, table, name, role="identifiers")))
        numbers = None if table.whole is not None else columns.numbers_of(table, str(name))
        for words, effect, recoding in interval_recodings(numbers)[:1] if numbers is not None else ():
            remedies.append((f"{name} by {words} ({effect})", partial(columns.recode, str(name), recoding)))
        if all_columns[name].kind and len(names) <= _FEW_COLUMNS and finding.code != "predicted":
            remedies.append((f"Protect {name} too", partial(columns.decide, table, name, role="quasi_identifiers")))
    return remedies


def _what_would_help(workspace: Workspace, identity: Hashable) -> None:
    """Draw each change that lowers the loss as a button, with the loss after it."""
    tried = making.remedies(workspace, identity)
    if not tried:
        return
    now, *others = tried
    better = [each for each in others if each.loss < each.unchanged and _is_possible(workspace, each.change)]
    better = sorted(better, key=lambda remedy: remedy.loss - remedy.unchanged)[:_MOST_REMEDIES]
    # The remark on a sample holds for all sentences.
    of_all = " (of all records, losses are lower)" if ", tried on " in now.sentence else ""
    st.markdown(f"Now: {escape_markdown(now.sentence)}{of_all}. {'' if better else 'No such change lowers the loss.'}")
    for remedy in better:
        change = remedy.change
        assert change is not None
        label = escape_markdown(f"{change.words[:1].upper()}{change.words[1:]}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(label, key=f"help_{change.words}", on_click=partial(_apply, workspace, change))
            effect = remedy.sentence.partition(", tried on ")[0].removeprefix(change.words)
            st.caption(f"{escape_markdown(effect)}; {percent(remedy.total)} in all", width="content")


def _is_possible(workspace: Workspace, change: Change | None) -> bool:
    """Whether a change is possible: in parts, numbers stay numbers."""
    all_columns = columns.columns(workspace.table)
    whole = workspace.table.whole is not None
    return change is not None and not (whole and change.recoding and all_columns[str(change.column)].is_number)


def _apply(workspace: Workspace, change: Change) -> None:
    """Apply a remedy; a callback."""
    name = str(change.column)
    if change.recoding:
        columns.recode(name, change.recoding)
    else:
        columns.decide(workspace.table, name, role="identifiers")


shell.show(body)
