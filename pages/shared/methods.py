"""Which methods fit the data in use, and which of them are chosen: one list for all pages."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.algorithms.method import VARIANTS
from microagg.studies.experiment import Method
from pages.shared import state
from pages.shared.workspace import Workspace

#: What is compared at first on numbers; of all methods these take least on very many records.
MDAV_FAMILY = ("mdav", "mdav-plus", "v-mdav", "mdav-star")

# What is chosen at first where categories stand among very many columns: others would take minutes.
_QUICK = "mondrian"


def reasons(workspace: Workspace) -> dict[str, str]:
    """Return for each variant why it does not work on these data; empty where it does."""
    choices = state.current()
    return {name: workspace.problem.why_not(choices.method_of(name, polish=False)) for name in VARIANTS}


def fitting(workspace: Workspace) -> list[str]:
    """Return the variants that work on these data, those made for categories first where there are any."""
    return [name for name, reason in reasons(workspace).items() if not reason]


def usual(workspace: Workspace) -> tuple[str, ...]:
    """Return the variants that are compared unless others are chosen."""
    return MDAV_FAMILY if workspace.is_numeric else tuple(fitting(workspace))


def compared(workspace: Workspace) -> list[str]:
    """Return the chosen variants that work on these data, or the usual ones where none is chosen."""
    able = fitting(workspace)
    return [name for name in state.current().compare.methods or usual(workspace) if name in able]


def left_out(workspace: Workspace) -> dict[str, str]:
    """Return the chosen variants that do not work on these data, each with its reason."""
    why = reasons(workspace)
    return {name: why[name] for name in state.current().compare.methods if why[name]}


def chosen(workspace: Workspace) -> str:
    """Return the chosen variant or :data:`~pages.shared.state.FOUND`; the usual one if it does not work on these data."""
    name, able = state.current().method, fitting(workspace)
    if name in able or (name == state.FOUND and workspace.is_numeric):
        return name
    best = "mdav-star" if workspace.is_numeric else _QUICK if workspace.is_wide else "k-member"
    return best if best in able else able[0]


def second(workspace: Workspace) -> str:
    """Return the variant that stands beside the chosen one."""
    name = state.current().clusters.second
    able, first = fitting(workspace), chosen(workspace)
    if name in able:
        return name
    usual_beside = ("v-mdav", "mdav-star") if workspace.is_numeric else able
    return next((other for other in usual_beside if other in able and other != first), first)


def method(workspace: Workspace, name: str) -> Method:
    """Return a variant with its chosen parameters, polished if that is chosen and possible."""
    return state.current().method_of(name, polish=workspace.is_numeric)


def sweep_methods(workspace: Workspace, names: Sequence[str]) -> dict[Method, str]:
    """Return the variants as sweeps run them, each with its name."""
    choices = state.current()
    return {choices.sweep_method(name, polish=workspace.is_numeric): name for name in names}


def title(name: str) -> str:
    """Return what the screen calls a variant."""
    return "Best found by search" if name == state.FOUND else VARIANTS[name].title
