"""XML read piece by piece, within bounds: what a part of a workbook holds never stands in memory as a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any, Protocol
from xml.parsers import expat

# How many bytes are parsed at a time, and how many a single tag may have.
_CHUNK, _LONGEST_TAG = 1 << 16, 1 << 22

# How many names of elements and attributes a part may have, and how deep elements may stand in each other.
_MOST_NAMES, _DEEPEST = 10_000, 100


class DamagedError(Exception):
    """A part of a file is not as its format says; the reader turns this into a sentence."""


class Handler(Protocol):
    """What is called for the beginning and the end of each element, and for text."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element; ``tag`` is its name without a prefix if the whole part uses one."""

    def end(self, tag: str) -> None:
        """End an element."""

    def text(self, text: str) -> None:
        """Take a piece of text."""


class Depth:
    """How deep the elements stand in each other; a parser would keep all that are open."""

    def __init__(self) -> None:
        self._depth = 0

    def down(self) -> None:
        """Go into an element."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise DamagedError("elements stand too deep in each other")

    def up(self) -> None:
        """Leave an element."""
        self._depth -= 1


def parse(part: IO[bytes], handler: Handler, after_chunk: Callable[[], None] = lambda: None) -> None:
    """Parse a part with ``handler``, which counts how deep elements stand itself; see :class:`Depth`.

    ``after_chunk`` is called after every 64 kB, so that memory can be checked.

    Raises
    ------
    DamagedError, xml.parsers.expat.ExpatError
        If the part is no XML, declares a document type (with which a few lines can unfold to any size), or has tags
        longer than any that a program writes.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.buffer_size = _CHUNK
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = _first(parser, handler)
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    fed = 0
    while chunk := part.read(_CHUNK):
        parser.Parse(chunk)
        fed += len(chunk)
        # The parser keeps a tag until its end is read, and all names for good.
        if fed - max(parser.CurrentByteIndex, 0) > _LONGEST_TAG or len(parser.intern) > _MOST_NAMES:
            raise DamagedError("a tag is too long, or names are too many")
        after_chunk()
    parser.Parse(b"", True)


def local_name(name: str) -> str:
    """Return the name of an element or attribute without its prefix."""
    return name.rpartition(":")[2]


def _first(parser: Any, handler: Handler) -> Callable[[str, dict[str, str]], None]:
    """Return what takes the first element: if its name has a prefix, all of the part's names lose it."""

    def start(tag: str, attributes: dict[str, str]) -> None:
        prefix = tag[: -len(local_name(tag))]
        if prefix:
            parser.StartElementHandler = lambda name, found: handler.start(name.removeprefix(prefix), found)
            parser.EndElementHandler = lambda name: handler.end(name.removeprefix(prefix))
        else:
            parser.StartElementHandler = handler.start
        handler.start(local_name(tag), attributes)

    return start


def _refuse(*_: Any) -> None:
    raise DamagedError("it declares a document type")
