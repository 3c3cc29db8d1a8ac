"""The choices: data set, quasi-identifiers, scaling, k, algorithms, parameters. One typed place, mirrored in the address.

A page draws a widget with :func:`bound`, which ties it to a field; callbacks use :func:`update`. The address bar holds
every choice that is not the default, so a link reproduces the view.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from microagg import ALGORITHMS, datasets, literature
from microagg.base import check_params
from microagg.experiment import Method
from microagg.scaling import SCALES
from microagg.variants import MIXED_VARIANTS as VARIANTS
from microagg.variants import PENALTY

UPLOAD = "upload"
_CHOICES, _PROBLEMS = "choices", "address_problems"

DEFAULT_METHODS = ("mdav", "mdav-plus", "v-mdav", "mdav-star")

#: The steps of the page Mixed data, the measures that it draws, and what it replaces values by.
STEPS = ("attributes", "compare", "release", "adult")
MEASURES = ("information_loss", "discernibility", "classification", "seconds")
STATISTICS = ("ancestor", "set", "mean", "median")

#: The experiments among the stored results.
AGAINST = ("k", "records", "class_penalty")

#: How many records are compared depends on the file: all, or a sample of a large one.
AS_USUAL = -1


def default_data() -> str:
    """Return Census where it is on this machine, else a real set that needs no download."""
    return "census" if datasets.is_available("census") else "wine"


@dataclass(frozen=True)
class Choices:
    """What the user has chosen, for all pages."""

    data: str = dataclasses.field(default_factory=default_data)
    seed: int = 0
    columns: tuple[str, ...] = ()  # empty: the data set's own quasi-identifiers
    scale: str = "zscore"
    k: int = 3
    method: str = "mdav-star"
    second: str = "mdav"
    methods: tuple[str, ...] = DEFAULT_METHODS
    k_from: int = 2
    k_to: int = 20
    polish: bool = False  # every partition is improved by local search
    best: bool = False  # sweeps take the best parameters of the literature's grid, for each k
    view: str = "loss"  # of the loss curve: "loss" or "excess"
    limit: float = 10.0  # the steward's largest acceptable information loss, percent
    x: str = "PC 1"
    y: str = "PC 2"
    frame: str = "all"  # of the plane on which groups are drawn: "all" or "center"
    params: tuple[tuple[str, Any], ...] = ()  # ("v-mdav.gamma", 0.3), …
    paper: str = "thaeter-reischuk"
    table: str = ""  # of the paper; empty: its first
    toy: str = "1, 2, 3, 5, 6, 19, 20, 21, 98, 99, 100"
    toy_k: int = 3
    toy_gamma: float = 0.2
    step: str = "attributes"  # of the page Mixed data
    attribute: str = ""  # looked at there; empty: the first
    variants: tuple[str, ...] = tuple(VARIANTS)
    ks: str = "2, 5, 10, 20, 50, 100"
    sample: int = AS_USUAL  # records that are compared; 0: all
    sample_seed: int = 0
    measure: str = "information_loss"
    variant: str = next(iter(VARIANTS), "")  # of the release
    mixed_k: int = 10
    statistic: str = "ancestor"
    against: str = "k"  # what the stored results are drawn against

    def params_of(self, key: str) -> dict[str, Any]:
        """Return the chosen parameters of an algorithm, defaults filled in."""
        chosen = {name.split(".", 1)[1]: value for name, value in self.params if name.split(".", 1)[0] == key}
        return check_params(ALGORITHMS[key], chosen)

    def method_of(self, key: str) -> Method:
        """Return the algorithm with its chosen parameters, as the pages for numbers run it: they know no classes."""
        params = ALGORITHMS[key].params
        for_classes = {param.name for param in params if param.needs_classes}
        # An algorithm that starts from another's partition is a local search itself: polishing would repeat it.
        polish = self.polish and not any(param.kind == "algorithm" for param in params)
        return Method(
            key, {name: value for name, value in self.params_of(key).items() if name not in for_classes}, polish
        )

    def method_of_variant(self, name: str) -> Method:
        """Return a variant with its algorithm's chosen parameters."""
        variant = VARIANTS[name]
        params = self.params_of(variant.key) | dict(variant.fixed)
        for param in ALGORITHMS[variant.key].params:
            if param.needs_classes and param.name != variant.penalty:
                params[param.name] = param.default
            elif param.name == variant.penalty:
                params[param.name] = params[param.name] or PENALTY
        return Method(variant.key, params)

    def sweep_method(self, key: str) -> Method:
        """Return the algorithm as sweeps run it: over the literature's grid, if the best is asked for."""
        method = self.method_of(key)
        if not self.best:
            return method
        grids = {param.name: param.grid for param in ALGORITHMS[key].params if param.grid}
        return dataclasses.replace(method, params={**method.params, **grids})

    def with_params(self, key: str, params: dict[str, Any]) -> Choices:
        """Return the choices with an algorithm's parameters replaced; defaults are left out."""
        others = tuple(pair for pair in self.params if pair[0].split(".", 1)[0] != key)
        defaults = check_params(ALGORITHMS[key], {})
        own = tuple((f"{key}.{name}", value) for name, value in params.items() if value != defaults[name])
        return dataclasses.replace(self, params=others + own)


def _whole(low: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = int(text)
        if value < low:
            raise ValueError
        return value

    return read


def _one_of(allowed: Any) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError
        return text

    return read


def _positive(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e9:
        raise ValueError
    return value


_READ: dict[str, Callable[[str], Any]] = {
    "data": _one_of((*datasets.NAMES, UPLOAD)),
    "seed": _whole(0),
    "columns": str,
    "scale": _one_of(SCALES),
    "k": _whole(1),
    "method": _one_of(ALGORITHMS),
    "second": _one_of(ALGORITHMS),
    "methods": _one_of(ALGORITHMS),
    "k_from": _whole(1),
    "k_to": _whole(1),
    "polish": lambda text: bool(int(text)),
    "best": lambda text: bool(int(text)),
    "view": _one_of(("loss", "excess")),
    "limit": _positive,
    "x": str,
    "y": str,
    "frame": _one_of(("all", "center")),
    "paper": _one_of(literature.PAPERS),
    "table": str,
    "toy": str,
    "toy_k": _whole(1),
    "toy_gamma": _positive,
    "step": _one_of(STEPS),
    "attribute": str,
    "variants": _one_of(VARIANTS),
    "ks": str,
    "sample": _whole(0),
    "sample_seed": _whole(0),
    "measure": _one_of(MEASURES),
    "variant": _one_of(VARIANTS),
    "mixed_k": _whole(1),
    "statistic": _one_of(STATISTICS),
    "against": _one_of(AGAINST),
}
_READ_PARAM: dict[str, Callable[[str], Any]] = {
    "float": float,
    "int": int,
    "bool": lambda text: bool(int(text)),
    "choice": str,
    "algorithm": str,
}
_SEVERAL = {"columns", "methods", "variants"}


def load() -> None:
    """Take the choices from the address when a session begins; later ones come from the widgets."""
    if _CHOICES in st.session_state:
        return
    changes: dict[str, Any] = {}
    problems: list[str] = []
    params: dict[str, Any] = {}
    for name in st.query_params:
        texts = st.query_params.get_all(name)
        try:
            if name in _READ:
                values = tuple(_READ[name](text) for text in texts)
                changes[name] = values if name in _SEVERAL else values[-1]
            elif name.split(".", 1)[0] in ALGORITHMS and "." in name:
                params[name] = _read_param(name, texts[-1])
        except (ValueError, TypeError):
            problems.append(f"{name}={texts[-1]}")
    st.session_state[_CHOICES] = dataclasses.replace(Choices(), **changes, params=tuple(params.items()))
    st.session_state[_PROBLEMS] = problems


def _read_param(name: str, text: str) -> Any:
    key, param_name = name.split(".", 1)
    for param in ALGORITHMS[key].params:
        if param.name == param_name:
            return param.check(_READ_PARAM[param.kind](text))
    raise ValueError


def address_problems() -> list[str]:
    """Return what the address said that could not be used, once."""
    return st.session_state.pop(_PROBLEMS, [])


def current() -> Choices:
    """Return the choices."""
    return st.session_state[_CHOICES]


def update(**changes: Any) -> None:
    """Change choices, from a callback or before the widgets tied to them are drawn."""
    st.session_state[_CHOICES] = dataclasses.replace(current(), **changes)


def set_params(key: str, params: dict[str, Any]) -> None:
    """Change an algorithm's parameters."""
    st.session_state[_CHOICES] = current().with_params(key, params)


def to_query() -> dict[str, str | list[str]]:
    """Return the choices that are not the default, as the address has them; the data set always."""
    choices, default = current(), Choices()
    query: dict[str, str | list[str]] = {}
    for name in _READ:
        value = getattr(choices, name)
        if name != "data" and value == getattr(default, name):
            continue
        if name in _SEVERAL:
            query[name] = list(value)
        elif isinstance(value, bool):
            query[name] = str(int(value))
        else:
            query[name] = f"{value:g}" if isinstance(value, float) else str(value)
    return query | {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in choices.params}


def publish() -> None:
    """Mirror the choices in the address bar."""
    wanted = to_query()
    shown = {name: st.query_params.get_all(name) for name in st.query_params}
    if shown != {name: value if isinstance(value, list) else [value] for name, value in wanted.items()}:
        st.query_params.from_dict(wanted)


def bound(widget: Callable[..., Any], label: str, field: str, *, key: str = "", **options: Any) -> Any:
    """Draw ``widget`` tied to the field ``field`` of the choices, and return its value.

    The widget shows the field, and what the user enters goes into the field before anything else runs. ``key`` tells
    apart two widgets for one field.
    """
    key = key or f"w_{field}"
    value = getattr(current(), field)
    st.session_state[key] = list(value) if field in _SEVERAL else value

    def commit() -> None:
        entered = st.session_state[key]
        if entered is not None:
            update(**{field: tuple(entered) if field in _SEVERAL else entered})

    return widget(label, key=key, on_change=commit, **options)


def reset_columns() -> None:
    """Forget the chosen columns and axes, which belong to the data set before."""
    default = Choices()
    update(columns=(), x=default.x, y=default.y, attribute=default.attribute)


def say_problems() -> None:
    """Show, once, what the address said that could not be used."""
    problems = address_problems()
    if problems:
        st.warning(f"The address holds {', '.join(problems)}, which cannot be used: the usual value is shown instead.")
