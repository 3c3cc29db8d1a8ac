"""The methods that fit the data in use, the chosen ones, and the widgets for them, drawn from their declarations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import streamlit as st

from microagg import ALGORITHMS, Param
from microagg.algorithms.base import is_own
from microagg.algorithms.method import VARIANTS
from microagg.studies.experiment import Method
from pages.shared import state
from pages.shared.text import percent
from pages.shared.workspace import Workspace

#: The default methods for numbers, the quickest on very many records.
MDAV_FAMILY = ("mdav", "mdav-plus", "v-mdav", "mdav-star")

# It searches for seconds at each k, so it is compared only if chosen.
_LONG = "least-loss"

#: Why the methods for closeness are not offered.
CLOSENESS_FIRST = (
    "For t-closeness of a confidential column only: set it on the page Release, under Guarantees beyond k:"
)

# The default for categories among very many columns: others take minutes.
_QUICK = "mondrian"


# The reasons on each data set, and what they hold for: a page asks for them a hundred times.
_latest: WeakKeyDictionary[Workspace, tuple[object, dict[str, str]]] = WeakKeyDictionary()


def reasons(workspace: Workspace) -> dict[str, str]:
    """Return for each variant the reason why it does not work on these data, or an empty text."""
    choices = state.current()
    held_for, texts = _latest.get(workspace, (None, {}))
    if held_for != (choices.params, list(VARIANTS)):
        close = any(rule == "closeness" for _, rule, _ in workspace.requested)
        texts = {
            name: CLOSENESS_FIRST
            if variant.needs_closeness and not close
            else workspace.problem.why_not(choices.method_of(name, polish=False))
            for name, variant in VARIANTS.items()
        }
        _latest[workspace] = (choices.params, list(VARIANTS)), texts
    return texts


def fitting(workspace: Workspace) -> list[str]:
    """Return the variants that work on these data, those for categories first if there are any."""
    return [name for name, reason in reasons(workspace).items() if not reason]


def usual(workspace: Workspace) -> tuple[str, ...]:
    """Return the variants that are compared by default."""
    from_user = tuple(name for name, variant in VARIANTS.items() if is_own(ALGORITHMS[variant.key]))
    if workspace.is_numeric:
        return MDAV_FAMILY + from_user
    return tuple(name for name in fitting(workspace) if name != _LONG and not VARIANTS[name].needs_closeness)


def compared(workspace: Workspace) -> list[str]:
    """Return the chosen variants that work on these data, or the default ones."""
    able = fitting(workspace)
    return [name for name in state.current().compare.methods or usual(workspace) if name in able]


def left_out(workspace: Workspace) -> dict[str, str]:
    texts = reasons(workspace)
    return {name: texts[name] for name in state.current().compare.methods if texts[name]}


def chosen(workspace: Workspace) -> str:
    """Return the chosen variant or :data:`.state.FOUND`, by default the usual one, whatever has been searched since."""
    name, able = state.current().method, fitting(workspace)
    if name in able or name == state.FOUND:
        return name
    best = "mdav-star" if workspace.is_numeric else _QUICK if workspace.is_wide else "k-member"
    return best if best in able else able[0]


def second(workspace: Workspace) -> str:
    name = state.current().clusters.second
    able, first = fitting(workspace), chosen(workspace)
    if name in able:
        return name
    usual_beside = ("v-mdav", "mdav-star") if workspace.is_numeric else usual(workspace)
    return next((other for other in usual_beside if other in able and other != first), first)


def method(workspace: Workspace, name: str) -> Method:
    """Return a variant with its chosen parameters, polished if chosen and possible."""
    return state.current().method_of(name, polish=workspace.is_numeric)


def sweep_methods(workspace: Workspace, names: Sequence[str]) -> dict[Method, str]:
    """Return the variants with their chosen parameters, each with its name."""
    return {method(workspace, name): name for name in names}


def with_chosen(workspace: Workspace, variants: Mapping[Method, str]) -> dict[Method, str]:
    """Return compared methods, and the chosen one if it is not among them."""
    name = chosen(workspace)
    is_compared = name == state.FOUND or name in variants.values()
    return {**variants} if is_compared else {**variants, method(workspace, name): name}


def title(name: str) -> str:
    return "Best known" if name == state.FOUND else VARIANTS[name].title


def offer(name: str, loss: float, instead: float) -> str:
    """Return the label of a button for a run of lower loss, which says what it gains; losses in percent."""
    what = "the best known partition" if name == state.FOUND else title(name)
    return f"Use {what}: loss {percent(loss).removesuffix(' %')} instead of {percent(instead)}"


def title_of(key: str) -> str:
    return ALGORITHMS[key].info.title


def params_of(key: str, *, classes: bool = False, without: Collection[str] = ()) -> None:
    """Draw a control for each parameter of an algorithm except ``without``. Some need ``classes``."""
    for param in ALGORITHMS[key].params:
        if param.name not in without and (classes or not param.needs_classes):
            _param(key, param)


def _param(key: str, param: Param) -> None:
    field, name = f"{key}.{param.name}", param.symbol or param.name.replace("_", " ").capitalize()
    label, tip = f"{name} of {title_of(key)}", {"help": param.help.replace("*", r"\*")}
    if param.kind == "algorithm":
        state.bound(st.selectbox, label, field, options=list(param.choices), format_func=title_of, **tip)
    elif param.kind == "choice":
        state.bound(st.selectbox, label, field, options=list(param.bounds), **tip)
    elif param.kind == "bool":
        state.bound(st.toggle, label, field, **tip)
    else:
        low, high = param.bounds
        step: dict[str, Any] = {"step": 1} if param.kind == "int" else {"step": 0.1, "format": "%g"}
        state.bound(st.number_input, label, field, min_value=low, max_value=high, **step, **tip)


def polish(key: str) -> None:
    text = (
        "Improves each partition by moving and exchanging records between neighboring groups, and by cutting "
        "groups anew, until no such step lowers the loss. The table on the page Choose k has the loss before."
    )
    state.bound(st.toggle, "Polish by local search", "polish", key=key, help=text)


def pick_one(labels: Mapping[str, str], key: str, field: str = "measure", label: str = "Measure") -> str:
    """Draw buttons for the choice ``field``, such as a measure, and return it, or the first of ``labels``."""
    chosen = state.current().value(field)
    picked = chosen if chosen in labels else next(iter(labels))
    state.either(label, field, labels, key=key, selected=picked, wrap=True, label_visibility="collapsed")
    return picked
