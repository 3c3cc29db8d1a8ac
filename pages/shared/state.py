"""The choices of the user: one typed place, mirrored in the address.

A page draws a widget with :func:`bound`, which ties it to a choice; callbacks use :func:`update`. The address holds
every choice that is not the default, so a link reproduces the view.
"""

from __future__ import annotations

import dataclasses
import os
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from microagg import ALGORITHMS, datasets, explain
from microagg.algorithms.base import LOCAL_SEARCH, check_params
from microagg.algorithms.method import VARIANTS
from microagg.release import CATEGORIES, STATISTICS
from microagg.release.choices import OPTIONS
from microagg.studies import landscape, literature
from microagg.studies.experiment import Method
from microagg.studies.sweeps import RISKS
from pages.shared.decisions import argument, option_of_column, recoding

UPLOAD = "upload"
_LONGEST = 6_000  # characters of an address about the file: servers and proxies refuse addresses of some 8,000
_OF_FILE = ("reading", "columns", "recode", "agreed", "entered", "overridden")  # which may be too long for an address
_OPTIONS = {option.name: option for option in OPTIONS}
_CHOICES, _PROBLEMS, _WENT = "choices", "address_problems", "went"
FOUND = "found"  # in the address: the best partition of this session's searches
NOTHING = "-"  # in the address: no choice
AGAINST = ("k", "records", "class_penalty")  # the experiments among the stored results
BYUN = "byun-2007"
PAPERS = {**literature.PAPERS, BYUN: "Byun, Kamra, Bertino & Li 2007 (Adult)"}  # whose printed results are shown
# What entries of earlier addresses are now.
_EARLIER = {("stored", "adult"): {"stored": "printed", "paper": BYUN}, ("stored", "beyond"): {"stored": "best"}}
FILE = "MICROAGG_FILE"  # the environment variable that names a file to begin with
AS_USUAL = -1  # records compared by default: all, or a sample where there are categories and many


def default_data() -> str:
    """Return the file of the server, or Census if it is here, or a set without a download."""
    if FILE in os.environ:
        return UPLOAD
    return "census" if datasets.is_available("census") else "wine"


def _field(default: Any, read: Callable[[str], Any], *, key: str = "", option: str = "") -> Any:
    """Return a field that ``read`` parses from the address. ``default`` may be a function."""
    metadata = {"read": read, "key": key, "option": option}
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def _checked(parse: Callable[[str], Any], is_allowed: Callable[[Any], bool]) -> Callable[[str], Any]:
    """Wrap a parser so that invalid values raise ValueError."""

    def checked(text: str) -> Any:
        if is_allowed(value := parse(text)):
            return value
        raise ValueError

    return checked


def _one_of(allowed: Collection[str], default: Any = "", *, key: str = "") -> Any:
    return _field(default, _checked(str, allowed.__contains__), key=key)


def _option(name: str, *, key: str = "") -> Any:
    """Return a field with the values and the default of an option of a release."""
    option = _OPTIONS[name]
    return _field(option.default, lambda text: option.kind.of_shell(name, text, {}), key=key, option=name)


def limits(option: str, texts: Collection[str]) -> dict[str, Any]:
    """Return the limits of an option of a release by column, from texts of the shell."""
    return _OPTIONS[option].kind.of_shell(option, texts, {name: name for name in map(column_of, texts)}) or {}


def column_of(text: str) -> str:
    return text.rpartition("=")[0]


def _limits(option: str) -> Any:
    """Return a field of texts COLUMN=LIMIT for an option of a release."""

    def is_allowed(text: str) -> bool:
        [limit] = limits(option, [text]).values()
        return (limit[1] if isinstance(limit, tuple) else limit) < 1e9

    return _field((), _checked(str, is_allowed))


def _shuffled(text: str) -> bool | str:
    return text if text == "recorded" else _READ["int"](text) >= 0  # a seed of an old link: another one is drawn


# The parsers of the address by the type of a field.
_READ: dict[str, Callable[[str], Any]] = {
    "int": _checked(int, lambda value: value >= 0),
    "float": _checked(float, lambda value: 0 <= value < 1e9),
    "bool": lambda text: bool(int(text)),
}
# A live view: algorithms may be registered later.
_METHODS: Mapping[str, Any] = ChainMap[str, Any]({FOUND: ""}, VARIANTS)  # type: ignore[arg-type]
_MEASURES = ("information_loss", "gap", "discernibility", "classification", "seconds", "risk").__contains__
_at_least_one = _checked(int, lambda value: value >= 1)


@dataclass(frozen=True)
class CompareChoices:
    methods: tuple[str, ...] = _one_of(VARIANTS, ())  # empty: what is usual for the kinds of the columns
    ks: str = ""
    measure: str = _field("information_loss", _checked(lambda text: "gap" if text == "excess" else text, _MEASURES))
    limit: float = 0.0  # the largest acceptable information loss in percent; 0 or 100: none
    risk: str = _one_of(RISKS, "max_reidentification")  # of the map of risk and loss
    loss: str = _one_of(  # of the same map
        ("information_loss", "discernibility", "classification"), "information_loss", key="lost"
    )
    risk_limit: float = 20.0  # the largest acceptable risk in percent; 0 or 100: none
    sample: int = AS_USUAL  # records that are compared; 0: all
    sample_seed: int = 0


@dataclass(frozen=True)
class ClustersChoices:
    second: str = _one_of(VARIANTS)  # the method beside the chosen one; empty: what is usual
    plane: str = _one_of(("", "components", "loss", "attributes"))  # empty: what fits
    x: str = ""  # the attributes of a plane of two attributes; empty: the first ones
    y: str = ""
    demo: bool = False  # whether the curves of both methods stand above the pictures, for a talk


@dataclass(frozen=True)
class ReleaseChoices:
    statistic: str = _one_of((*STATISTICS[:-1], *CATEGORIES))  # with the last statistic, by categories; empty: usual
    exact: bool = False  # means are released with all their digits, not rounded as the file is
    weights: str = _option("release_weights", key="weights")
    ranges: str = _option("ranges")
    shuffle: bool | str | None = _field(None, _shuffled, option="shuffle")
    diversity: tuple[str, ...] = _limits("diversity")
    closeness: tuple[str, ...] = _limits("closeness")
    format: str = _one_of((".csv", ".parquet", ".xlsx", ".dta", ".sav"), ".csv")  # of the protected file


@dataclass(frozen=True)
class StepsChoices:
    records: str = _one_of(("line", "plane", "data"), "line")
    line: str = "1, 2, 3, 5, 6, 19, 20, 21, 98, 99, 100"  # as typed
    points: str = "0 3; 8 0; 2 0; 4 1; 17 4; 16 7; 14 4; 9 11; 9 15; 11 10; 13 12; 19 14; 15 16; 17 18"  # "x y; x y"
    n_records: int = _field(
        30, _checked(int, range(2, explain.MOST_RECORDS + 1).__contains__), key="few"
    )  # of a data set
    k: int = _field(3, _at_least_one, key="watch_k")
    first: str = _one_of(explain.EXPLAINED, "v-mdav", key="watched")
    second: str = _one_of((*explain.EXPLAINED, NOTHING), "mdav-star", key="beside")
    tick: int = 0  # how far they have been watched


@dataclass(frozen=True)
class EvidenceChoices:
    part: str = _one_of(("compare", "printed", "best"), "compare", key="stored")
    view: str = _one_of(("duel", "matrix", "time"), "duel")  # of compared methods
    first: str = _one_of(landscape.METHODS, "mdav-star")  # of the duel
    rival: str = _one_of(landscape.METHODS, "v-mdav")
    above: str = _one_of(("best", "floor"), "best")  # what losses are compared with
    at_k: int = _field(0, _checked(int, (0, *landscape.KS).__contains__))  # 0: the mean over all
    on: str = _one_of(landscape.DATA)  # the data set; empty: all
    paper: str = _one_of(PAPERS, "thaeter-reischuk")
    table: str = ""  # of the paper; empty: its first
    against: str = _one_of(AGAINST, "k")  # what the results on Adult are drawn against
    best_of: str = _one_of((*landscape.DATA, "adult"), "census")  # the data set whose best partition is looked at
    best_k: int = _field(5, _at_least_one)


@dataclass(frozen=True)
class Choices:
    """All choices: those that all pages share, and those of single pages.

    Each value but ``params`` has a unique key in the address, its name unless another one is set; widgets and callbacks
    use these keys.
    """

    data: str = _one_of((*datasets.NAMES, UPLOAD), default_data)
    seed: int = 0
    reading: tuple[str, ...] = _field((), argument)  # how an uploaded file is read where that is not usual, NAME=JSON
    digest: str = ""  # of that file
    columns: tuple[str, ...] = ()  # what was decided about columns, see pages.shared.columns
    recode: tuple[str, ...] = _field((), recoding)  # what values become, each COLUMN=VALUE=NEW as in a shell
    agreed: str = ""  # of the file whose suggestions are accepted: the digest of its columns, see pages.shared.columns
    entered: tuple[str, ...] = _field((), option_of_column)  # what options say of columns, see pages.shared.columns
    overridden: tuple[str, ...] = ()  # the problems of a release that are overridden, DIGEST:REASON
    cut: bool = False  # whether more was decided of the file than the address could hold
    classes: str = ""  # the column that users of the release will predict; empty: the data set's own; "-": none
    attribute: str = ""  # whose order, taxonomy or distribution is looked at; empty: the first
    scale: str = _option("scale")
    k: int = _field(5, _at_least_one)
    method: str = _one_of(_METHODS)  # empty: what is usual for the kinds of the columns
    polish: bool = False  # every partition is improved by local search
    params: tuple[tuple[str, Any], ...] = ()  # ("v-mdav.gamma", 0.3), …
    explained: str = _one_of(ALGORITHMS, "mdav-star")  # the algorithm that the page Methods explains
    compare: CompareChoices = CompareChoices()
    clusters: ClustersChoices = ClustersChoices()
    release: ReleaseChoices = ReleaseChoices()
    steps: StepsChoices = StepsChoices()
    evidence: EvidenceChoices = EvidenceChoices()

    def value(self, key: str) -> Any:
        """Return the value of a key, or of a parameter like ``v-mdav.gamma``, perhaps its default."""
        if key not in _PLACES:
            algorithm, _, name = key.partition(".")
            return self.params_of(algorithm)[name]
        place = _PLACES[key]
        return getattr(getattr(self, place.group) if place.group else self, place.name)

    def options(self) -> dict[str, Any]:
        """Return the options of a release as arguments of :func:`microagg.microaggregate`."""
        return {place.option: self.value(key) for key, place in _PLACES.items() if place.option}

    def with_values(self, changes: Mapping[str, Any]) -> Choices:
        """Return the choices with other values of these keys, without parameters at their default."""
        groups: dict[str, dict[str, Any]] = {"": {}}
        params = dict(self.params)
        for key, value in changes.items():
            if place := _PLACES.get(key):
                groups.setdefault(place.group, {})[place.name] = value
            else:
                params[key] = value
        of_all = groups.pop("")
        changed = {group: dataclasses.replace(getattr(self, group), **values) for group, values in groups.items()}
        usual = Choices()
        of_all["params"] = tuple((key, value) for key, value in params.items() if value != usual.value(key))
        return dataclasses.replace(self, **of_all, **changed)

    def params_of(self, key: str) -> dict[str, Any]:
        """Return the parameters of an algorithm, defaults filled in."""
        chosen = {name.split(".", 1)[1]: value for name, value in self.params if name.split(".", 1)[0] == key}
        return check_params(ALGORITHMS[key], chosen)

    def method_of(self, name: str, *, polish: bool = True) -> Method:
        """Return a variant with its algorithm's parameters, polished if that is chosen and ``polish`` is true."""
        variant = VARIANTS[name]
        searches = ALGORITHMS[variant.key].info.family == LOCAL_SEARCH  # polishing would repeat it
        method = variant.method(self.params_of(variant.key))
        return dataclasses.replace(method, polish=self.polish and polish and not searches)


@dataclass(frozen=True)
class _Place:
    """The place of a value: a group of :class:`Choices`, or empty, its name there, and its parser."""

    group: str
    name: str
    read: Callable[[str], Any]
    default: Any
    is_several: bool
    option: str


def _places(group: str, choices: Any) -> dict[str, _Place]:
    """Return the places of a group, and of the groups in it, by their keys."""
    places: dict[str, _Place] = {}
    for field in dataclasses.fields(choices):
        default = getattr(choices, field.name)
        if dataclasses.is_dataclass(default):
            places |= _places(field.name, default)
        elif field.name != "params":
            read = field.metadata.get("read") or _READ.get(str(field.type), str)
            key = field.metadata.get("key") or field.name
            option = field.metadata.get("option", "")
            places[key] = _Place(group, field.name, read, field.default, isinstance(default, tuple), option)
    return places


_PLACES = _places("", Choices())


def load() -> bool:
    """Take the choices from the address at the start of a session or after a step in the browser's history."""
    begins, went = _CHOICES not in st.session_state, st.query_params.get(_WENT)
    if begins or (went is not None and went != st.session_state.get(_WENT)):
        take({name: st.query_params.get_all(name) for name in st.query_params})
        st.session_state[_WENT] = went
    return begins


def take(query: Mapping[str, Any]) -> None:
    """Take the choices from an address or a project: a text, or several, under each key."""
    changes: dict[str, Any] = {}
    problems: list[str] = []
    for name, held in query.items():
        texts = held if isinstance(held, list) else [held]
        algorithm, dot, param_name = name.partition(".")
        try:
            if texts and (earlier := _EARLIER.get((name, texts[-1]))):
                changes |= earlier
            elif place := _PLACES.get(name):
                values = tuple(place.read(text) for text in texts)
                changes[name] = values if place.is_several else values[-1]
            elif dot and algorithm in ALGORITHMS:
                [param] = [param for param in ALGORITHMS[algorithm].params if param.name == param_name]
                # No seconds: pages form the same groups in several places.
                changes[name] = dataclasses.replace(param, counted="").read(texts[-1])
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            problems.append(f"{name}={texts[-1] if texts else ''}")
    st.session_state[_CHOICES] = Choices().with_values(changes)
    st.session_state[_PROBLEMS] = problems


def current() -> Choices:
    return st.session_state[_CHOICES]


def update(**changes: Any) -> None:
    """Change the choices of some keys, in a callback or before their widgets are drawn."""
    st.session_state[_CHOICES] = current().with_values(changes)
    st.session_state[_PROBLEMS] = []


def guarantee(option: str, column: str, limit: Any) -> None:
    """Callback: set or, with None, remove the limit of an option of a release for a confidential column."""
    texts = [text for text in current().value(option) if column_of(text) != column]
    if limit is not None:
        texts += _OPTIONS[option].kind.in_shell({column: limit})
    update(**{option: tuple(texts)})


def to_query(*, whole: bool = False) -> dict[str, str | list[str]]:
    """Return the choices other than defaults for the address, or with ``whole`` also those too long for it."""
    choices, cut = current(), is_too_long() and not whole
    query: dict[str, str | list[str]] = {}
    for key, place in _PLACES.items():
        value: Any = cut or choices.cut if key == "cut" else choices.value(key)
        if (key == "data" or value != place.default) and not (cut and key in _OF_FILE):
            query[key] = list(value) if place.is_several else _written(value)
    return query | {name: _written(value) for name, value in choices.params}


def is_too_long() -> bool:
    """Whether the decisions on the file are too long for the address, so that they stay in the session."""
    return len(urlencode({key: current().value(key) for key in _OF_FILE}, doseq=True)) > _LONGEST


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(int(value) if isinstance(value, bool) else value)


def publish() -> None:
    query = to_query()
    present = {name: st.query_params.get_all(name) for name in st.query_params}
    if present != {name: value if isinstance(value, list) else [value] for name, value in query.items()}:
        st.query_params.from_dict(query)


def tied(
    widget: Callable[..., Any], label: str, key: str, selected: Any, take: Callable[[Any], None], **how: Any
) -> Any:
    """Draw ``widget`` with the value ``selected``, and return its value. ``take`` gets each entry first."""
    st.session_state[key] = selected
    return widget(label, key=key, on_change=lambda: take(st.session_state[key]), **how)


def bound(
    widget: Callable[..., Any], label: str, field: str, *, key: str = "", selected: Any = None, **options: Any
) -> Any:
    """Draw ``widget`` for the choice ``field``, and return its value. ``selected`` replaces the choice."""
    value = current().value(field) if selected is None else selected
    is_several = field in _PLACES and _PLACES[field].is_several

    def take(entered: Any) -> None:
        if entered is not None:
            update(**{field: tuple(entered) if is_several else entered})

    return tied(widget, label, key or f"w_{field}", list(value) if is_several else value, take, **options)


def either(label: str, field: str, titles: Mapping[Any, str], **options: Any) -> None:
    """Like :func:`bound`, but draw a picker of one of a few, with ``titles``."""
    names = list(titles)
    bound(st.segmented_control, label, field, options=names, format_func=titles.get, required=True, **options)


def choose_data(name: str) -> None:
    """Choose another data set, and forget the decisions on the previous one."""
    default = Choices()
    of_columns = ("classes", "x", "y", "attribute", "diversity", "closeness")
    of_data = (*_OF_FILE, *of_columns, "digest", "cut", "sample")
    update(data=name, **{key: default.value(key) for key in of_data})


def show_problems() -> None:
    """Show the parts of the address that could not be used, until the user chooses something."""
    if problems := st.session_state.get(_PROBLEMS):
        text = f"The address or project holds {', '.join(problems)}, which cannot be used: the usual value is shown instead."
        st.warning(text)
