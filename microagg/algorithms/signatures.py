"""The constructor and the docstring of an algorithm, made from the ``info`` and ``params`` that it declares."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

# The type of each kind of parameter in a signature.
_TYPES = {"float": float, "int": int, "bool": bool, "choice": str, "algorithm": str}


def constructor(cls: Any) -> Callable[..., None]:
    """Make an ``__init__(self, k=3, *, …)`` that assigns k and the declared parameters, as scikit-learn requires."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature(
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            inspect.Parameter("k", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=3, annotation=int),
            *(inspect.Parameter(p.name, keyword, default=p.default, annotation=_TYPES[p.kind]) for p in cls.params),
        ]
    )
    defaults = {param.name: param.default for param in cls.params}

    def __init__(self: Any, k: int = 3, **params: Any) -> None:  # noqa: N807 - the name in tracebacks
        for name in params:
            if name not in defaults:
                raise TypeError(f"{cls.__qualname__}.__init__() got an unexpected keyword argument {name!r}")
        self.k = k
        for name, default in defaults.items():
            setattr(self, name, params.get(name, default))

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def documentation(cls: Any, of_base: str) -> str:
    """Return the docstring of ``cls``: its own, a sentence and "Attributes" if any, with all that it declares."""
    info = cls.info
    heading = "\n\nAttributes\n----------\n"
    synopsis, _, attributes = inspect.cleandoc(cls.__doc__ or info.title).partition(heading)
    _, _, common = inspect.cleandoc(of_base).partition(heading)
    parameters = ["k : int, at least 1, default 3", *_indented("The minimum number of records in a group.")]
    for param in cls.params:
        parameters.append(f"{param.name} : {param.described_kind()}, default {param.default!r}")
        parameters += _indented(f"{param.help} ({param.symbol} in the literature.)" if param.symbol else param.help)
        if param.needs_classes:
            parameters += _indented("Any other value needs y, the class of each record.")
    notes = [
        f"{info.family}. "
        f"{'All groups but the last few have k records' if info.sizes == 'fixed' else 'The sizes of groups vary'}. "
        f"Time {info.complexity}, for n records with d attributes.",
        "Attributes may be numeric, ordinal or nominal, see microagg.columns.records; each is compared by a "
        "difference between 0 and 1, so nothing has to be scaled."
        + (" Of numbers alone distances are squared Euclidean on X as given: scale it." if info.numbers_by_sse else "")
        if info.mixed
        else "Distances are squared Euclidean on X as given: scale it before.",
        "" if info.deterministic else "Random: the same seed gives the same groups.",
        f"What the source leaves open: {info.note}" if info.note else "",
        f"The module {cls.__module__} has the steps one by one.",
    ]
    sections = {
        "Parameters": "\n".join(parameters),
        "Attributes": "\n".join(filter(None, [common, attributes])),
        "Notes": "\n\n".join(textwrap.fill(note, _WIDTH) for note in notes if note),
        "References": textwrap.fill(info.reference, _WIDTH),
        "Examples": _EXAMPLE.format(key=info.key),
    }
    head = [synopsis, textwrap.fill(info.summary, _WIDTH)]
    body = [f"{title}\n{'-' * len(title)}\n{text.rstrip()}" for title, text in sections.items() if text]
    return "\n\n".join([*head, *body]) + "\n"


_WIDTH = 88
_EXAMPLE = """>>> import microagg
>>> X = [[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]]
>>> bool(microagg.make({key!r}, k=3).fit(X).partition_.sizes.min() >= 3)
True
"""


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")
