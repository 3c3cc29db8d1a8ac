"""Release: a checklist first, the files, risk and utility, and what changed.

Each line of the checklist is green, amber or red, with its reason and its remedy as a button.
"""

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any

import streamlit as st

from microagg import Release
from microagg.columns.recodes import of_intervals
from microagg.release import Change, Finding, guarantees, loss_finding, without_outliers
from microagg.tables import digest_bytes
from microagg.validation import quoted
from pages.release import before_after, earlier, making, report
from pages.shared import certificate, columns, methods, recodings, searched, shell, state, tables
from pages.shared.text import count, escape_markdown, gap_in_words, percent, sentence
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
_FEW_COLUMNS, _MOST_COLUMNS = 2, 6  # of more than the first only leaving them out is offered
_ASKED = "remedies_asked"


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
    _say_found(workspace)
    _values(workspace)
    _beyond_k(workspace)
    identity = making.identity(workspace)
    release = making.made(workspace, identity)
    if release is None:
        return
    data, counted = making.written(identity, choices.release.format, release, workspace.table.read)
    if whole is None and (held := earlier.chosen(workspace)):
        identity = identity, held[0], digest_bytes(held[1])
        release = earlier.compared(workspace, release, identity, *held)
        if release is None:
            return
    st.subheader("1. Checklist")
    found = _findings(workspace, release, counted)
    ready = _checklist(workspace, release, found, identity)
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
            report.show(workspace, accepted, identity, found, data)
    st.subheader(f"4. Before and after{of_sample}")
    before_after.show(workspace, release, identity)


def _say_found(workspace: Workspace) -> None:
    """Say which of the best partitions is released, and offer a better one that has been found since."""
    k = state.current().k
    own, newest = searched.found(workspace, k), searched.newest(workspace, k)
    if methods.chosen(workspace) != state.FOUND or own is None or newest is None:
        return
    least = certificate.floors(workspace, [k])[0].information_loss
    merged = ", before groups are merged for what is guaranteed" if columns.guarantees(workspace.table) else ""
    says = f"It loses {percent(own.information_loss, 4)}, {gap_in_words(own.information_loss, least)}{merged}."
    if own is searched.stored_result(workspace, k):
        says = f"{says} It came with the package."
        if alone := certificate.loss_alone(workspace, k):
            says = f"{says} Of a better one only the loss is known, {percent(alone, 4)}."
    with st.container(horizontal=True, vertical_alignment="center"):
        if newest.information_loss >= own.information_loss * (1 - searched.ROUNDING):
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
    shown = making.statistic(workspace)
    with left:
        says = (
            "Mean or median of numbers and dates, of ordered categories the middle one, of others the most frequent. Or "
            "what the records of a group have in common: [30, 45] and Blue collar, or {Craft-repair, Sales}."
        )
        state.either("Values of a group become their", "statistic", _STATISTICS, shown=shown, wrap=True, help=says)
    with right, st.container(horizontal=True):
        if shown in ("mean", "median"):
            says = (
                "Off: means are rounded to as many decimals as the file has, and integers stay whole. k is counted "
                "after rounding."
            )
            state.bound(st.toggle, "Keep all digits", "exact", help=says)
        if shuffle := state.current().release.shuffle:
            st.button("Keep the order of the file", on_click=state.update, kwargs={"shuffle": None})
            says = "The recipe then holds the seed of the order: whoever has it can restore the order of the file."
            state.tied(st.toggle, "Record the order", "w_recorded", shuffle == "recorded", _record, help=says)
    recodings.show(workspace.table)


def _record(on: bool) -> None:
    state.update(shuffle="recorded" if on else True)


def _beyond_k(workspace: Workspace) -> None:
    """Draw what is guaranteed of confidential columns in each class, beyond k."""
    names = columns.confidential(workspace.table)
    if not names:
        return
    asked = columns.guarantees(workspace.table)
    with st.expander("Guarantees beyond k: what may be learned of confidential columns", expanded=bool(asked)):
        st.caption(
            "All records of a group may have the same confidential value: anyone who finds a person's group learns it. "
            "Groups that lack what is asked for here are merged, which loses more; Least loss forms groups that have it, which "
            "loses less."
        )
        name = st.selectbox("Confidential column", names, key="w_guaranteed")
        limit, t = (asked.get(option, {}).get(name) for option in ("diversity", "closeness"))
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
        if asked:
            st.caption(f"Asked for: {escape_markdown(guarantees.in_words(guarantees.asked(**asked)))}.")


def _limit(label: str, rule: str, name: str, shown: float | None, says: str, **bounds: Any) -> None:
    """Draw the field of a limit by a rule of :class:`microagg.release.guarantees.Guarantee`; empty for none."""
    option = "closeness" if rule == "closeness" else "diversity"

    def take(entered: float | None) -> None:
        state.guarantee(option, name, ("entropy", entered) if rule == "entropy" and entered is not None else entered)

    how = {"value": None, "placeholder": "none", "help": says, "width": 230}
    state.tied(st.number_input, label, f"w_{rule}", shown, take, **how, **bounds)


# --- the checklist ------------------------------------------------------------------------------------------------------


def _findings(workspace: Workspace, release: Release, counted: Finding) -> list[Finding]:
    """Return all that is found about the release, the worst first; ``counted`` is what was counted on the file's bytes."""
    own = [finding for finding in release.findings if finding.code not in {"undecided", "k"}]
    decided = Finding("ok", "undecided", (), "Every column is decided.")
    if names := columns.undecided(workspace.table):
        text = f"Nobody has decided yet what these columns are: {quoted(names)}. Agree to the guesses, or change them."
        decided = Finding("stop", "undecided", tuple(names), text)
    found = [decided, counted, *own, loss_finding(release.report, state.current().compare.limit)]
    return sorted(found, key=lambda finding: list(_ICONS).index(finding.level))


def _accepted(release: Release, identity: Hashable) -> Release:
    """Return the release with what the user overrode in its report: matters all of whose red lines were overridden."""
    stops = [finding for finding in release.findings if finding.level == "stop"]
    overridden = _overridden(stops, identity)
    for code in dict.fromkeys(finding.code for finding in stops):
        reasons = [overridden.get(finding) for finding in stops if finding.code == code]
        if None not in reasons:
            release = release.accept(code, reason="; ".join(dict.fromkeys(filter(None, reasons))))
    return release


def _checklist(workspace: Workspace, release: Release, found: list[Finding], identity: Hashable) -> bool:
    overridden = _overridden(found, identity)
    stops = [f for f in found if f.level == "stop" and f not in overridden]
    warnings = [f for f in found if f.level == "warn"]
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
    for finding in found:
        if finding.level != "ok":
            _line(workspace, finding, release.report.measured.information_loss, identity)
    done = [f for f in found if f.level == "ok"]
    with st.expander(f"{count(len(done), 'check')} passed", expanded=not stops and not warnings):
        for finding in done:
            st.markdown(f"{_ICONS['ok']} {sentence(finding.text)}")
    return not stops


def _overridden(found: Iterable[Finding], identity: Hashable) -> dict[Finding, str]:
    """Return the findings that the user knowingly overrode for this release, each with a reason."""
    reasons = dict(entry.split(":", 1) for entry in state.current().overridden if ":" in entry)
    return {finding: reasons[said] for finding in found if (said := _said(finding, identity)) in reasons}


def _said(finding: Finding, identity: Hashable) -> str:
    """Return the digest of a finding in this release: one in another words, or of other choices, is asked about anew."""
    return digest_bytes(repr((identity, finding)).encode("utf-8", "replace"))[:8]


def _take_back(finding: Finding, identity: Hashable) -> None:
    said = f"{_said(finding, identity)}:"
    state.update(overridden=tuple(own for own in state.current().overridden if not own.startswith(said)))


def _line(workspace: Workspace, finding: Finding, loss: float, identity: Hashable) -> None:
    overridden, code = _overridden([finding], identity), finding.code
    # One code can have several lines, each about other columns.
    key = f"{code}_{'_'.join(map(str, finding.columns))}"
    with st.container(border=True):
        st.markdown(f"{_ICONS[finding.level]} {sentence(finding.text)}")
        asked = code == "loss" and st.session_state.get(_ASKED) == identity
        with st.container(horizontal=True, vertical_alignment="center"):
            for label, act in _remedies(workspace, finding):
                st.button(escape_markdown(label), on_click=act, key=f"remedy_{key}_{label}")
            if code == "loss" and not asked:
                st.button(
                    "What would help?",
                    on_click=lambda: st.session_state.update({_ASKED: identity}),
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
        if asked:
            _what_would_help(workspace, identity)
        if code == "homogeneity" and finding.columns:
            _diversify(workspace, finding.columns[0], loss, identity)
        if code == "predicted" and len(finding.columns) == 1:
            _protect(workspace, str(finding.columns[0]), loss, identity)
        if code == "outliers" and workspace.table.whole is None:  # of a sample nobody knows the others
            for name in map(str, finding.columns[:_FEW_COLUMNS]):
                _leave_out(workspace, name, loss, identity)


def _diversify(workspace: Workspace, name: Hashable, loss: float, identity: Hashable) -> None:
    """Offer that each class gets more than one value of a confidential column, once it is known what is lost by it."""
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
        act = partial(columns.decide, workspace.table, name, role="quasi-identifier")
        st.button(
            f"Protect {escape_markdown(name)} too: loss {then} instead of {now}", on_click=act, key=f"protect_{name}"
        )


def _leave_out(workspace: Workspace, name: str, loss: float, identity: Hashable) -> None:
    """Offer to leave out the outliers of a column, by having their values missing, once it is known what is lost then."""
    table = workspace.table
    numbers = columns.numbers_of(table, name) if columns.columns(table)[name].gaps == "drop" else None
    found = None if numbers is None else without_outliers(numbers)
    after = None if found is None else making.without(workspace, identity, name, found.recoding)
    if isinstance(after, str):
        st.caption(f"The outliers of {escape_markdown(name)} cannot be left out. {sentence(after)}")
    elif found is not None and after is not None:
        these = "this record" if found.effect == "1 record" else f"these {found.effect}"
        remain, then = count(after.n_records, "record"), percent(after.measured.information_loss, 4)
        with st.container(horizontal=True, vertical_alignment="center"):
            what = partial(columns.recode, name, found.recoding)
            st.button(f"Leave out {these}", key=f"leave_out_{name}", on_click=what)
            says = f"{remain} remain, and the loss, against their own spread, is {then} instead of {percent(loss, 4)}"
            st.caption(f"{escape_markdown(name)} {found.words}: {says}.", width="content")


def _override(finding: Finding, key: str, identity: Hashable) -> None:
    def override() -> None:
        entry = f"{_said(finding, identity)}:{st.session_state[f'reason_{key}']}"
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
    known = columns.columns(table)
    names = [name for name in finding.columns if name in known and not known[name].is_quasi_identifier]
    found: list[tuple[str, Callable[[], None]]] = []
    for name in names[:_MOST_COLUMNS]:
        if name == workspace.schema.weights:
            found.append(("Release each group's mean weight", partial(state.update, weights="mean")))
        found.append((f"Leave {name} out", partial(columns.decide, table, name, role="identifier")))
        numbers = None if table.whole is not None else columns.numbers_of(table, str(name))
        for words, effect, recoding in of_intervals(numbers)[:1] if numbers is not None else ():
            found.append((f"{name} by {words} ({effect})", partial(columns.recode, str(name), recoding)))
        if known[name].kind and len(names) <= _FEW_COLUMNS and finding.code != "predicted":
            found.append((f"Protect {name} too", partial(columns.decide, table, name, role="quasi-identifier")))
    return found


def _what_would_help(workspace: Workspace, identity: Hashable) -> None:
    """Draw each change that lowers the loss as a button, with what is lost then, once that is known."""
    tried = making.remedies(workspace, identity)
    if not tried:
        return
    now, *others = tried
    better = [own for own in others if own.loss < own.unchanged and _is_possible(workspace, own.change)]
    better = sorted(better, key=lambda remedy: remedy.loss - remedy.unchanged)[:_MOST_REMEDIES]
    # What the first sentence says of the sample holds for all of them.
    of_all = " (of all records, losses are lower)" if ", tried on " in now.sentence else ""
    st.markdown(f"Now: {escape_markdown(now.sentence)}{of_all}. {'' if better else 'No such change lowers the loss.'}")
    for remedy in better:
        change = remedy.change
        assert change is not None
        label = escape_markdown(f"{change.words[:1].upper()}{change.words[1:]}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(label, key=f"help_{change.words}", on_click=partial(_apply, workspace, change))
            said = remedy.sentence.partition(", tried on ")[0].removeprefix(change.words)
            st.caption(f"{escape_markdown(said)}; {percent(remedy.total)} in all", width="content")


def _is_possible(workspace: Workspace, change: Change | None) -> bool:
    """Whether a change can be made: in parts, numbers stay numbers."""
    known = columns.columns(workspace.table)
    whole = workspace.table.whole is not None
    return change is not None and not (whole and change.recoding and known[str(change.column)].is_number)


def _apply(workspace: Workspace, change: Change) -> None:
    """Do what would help; a callback."""
    name = str(change.column)
    if change.recoding:
        columns.recode(name, change.recoding)
    else:
        columns.decide(workspace.table, name, role="identifier")


shell.show(body)
