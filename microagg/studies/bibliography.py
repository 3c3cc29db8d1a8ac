"""The literature: sources of the algorithms and figures of the package, with titles and DOIs, and citations.

``bibliography.csv`` has each work under its name in docstrings, such as "Kabir, Wang & Zhang 2010".
"""

from __future__ import annotations

import csv
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from microagg import __version__
from microagg.algorithms.base import Microaggregator
from microagg.algorithms.registry import algorithm
from microagg.errors import ParameterError

#: The year of this version.
YEAR = 2026


@dataclass(frozen=True)
class Work:
    """A work that can be cited. Unknown fields are empty."""

    cited: str  # its name in docstrings
    authors: str = ""  # ``Family, G.; Family, G.``
    title: str = ""
    published: str = ""  # the journal or series, with volume and pages
    doi: str = ""
    note: str = ""  # the parts of it that the package has or lacks

    @property
    def year(self) -> str:
        """The year of the citation."""
        return self.cited[-4:]

    def text(self) -> str:
        """Line of a list of references."""
        if not self.title:
            return self.cited
        doi = f" https://doi.org/{self.doi}" if self.doi else ""
        return f"{self.authors.replace(';', ',')} ({self.year}). {self.title}. {self.published}.{doi}"

    def bibtex(self) -> str:
        """Entry of BibTeX."""
        plain = unicodedata.normalize("NFKD", self.cited).encode("ascii", "ignore").decode()
        fields = {
            "author": f"{{{self.authors}}}" if self.authors.startswith("the ") else self.authors.replace("; ", " and "),
            "title": f"{{{self.title}}}" if self.title else "",
            "howpublished": self.published,
            "year": self.year if self.title else "",
            "doi": self.doi,
            "note": "" if self.title else self.cited,
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@misc{{{re.sub('[^a-z0-9]+', '-', plain.lower())},", *lines, "}"]).replace("&", r"\&")


@cache
def works() -> tuple[Work, ...]:
    """All works of the bibliography, in alphabetical order."""
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return tuple(Work(**row) for row in csv.DictReader(file))


def cited_works(reference: str) -> list[Work]:
    """Works cited in a text, such as the reference of an algorithm, in its order.

    A text without a work of the bibliography is a work itself; ``microagg`` is the package.
    """
    if reference == "microagg":
        title = "microagg: k-anonymous microdata at little information loss"
        return [Work(f"microagg {YEAR}", "the microagg developers", title, f"Python package, version {__version__}")]
    by_name = {work.cited: work for work in works()}
    # If a name is the end of another one, the longer name matches.
    names = re.findall("|".join(re.escape(name) for name in sorted(by_name, key=len, reverse=True)), reference)
    return [by_name[name] for name in dict.fromkeys(names)] or [Work(reference)]


def cite(*what: str | type[Microaggregator], style: Literal["text", "bibtex"] = "text") -> str:
    """Citations of algorithms, or with no argument of microagg itself.

    >>> import microagg
    >>> print(microagg.cite("mdav-star"))  # doctest: +NORMALIZE_WHITESPACE
    Thaeter, F., Reischuk, R. (2018). Improving anonymization clustering. SICHERHEIT 2018, LNI P-281, 69–82.
    https://doi.org/10.18420/sicherheit2018_05

    Parameters
    ----------
    what : str or type
        Keys of algorithms, or classes; or names of works in docstrings, such as ``"Spagnolo 2016"``.
    style : {"text", "bibtex"}, default "text"
        References as text, or entries of BibTeX.

    Returns
    -------
    str
        One reference per line, or all entries.

    Raises
    ------
    ParameterError
        If an argument is neither an algorithm nor a work, or ``style`` is another one.
    """
    if style not in ("text", "bibtex"):
        raise ParameterError(f"style must be 'text' or 'bibtex', not {style!r}.")
    references = map(_reference, what or ("microagg",))
    works = dict.fromkeys(work for reference in references for work in cited_works(reference))
    return "\n".join(work.text() if style == "text" else work.bibtex() for work in works)


def _reference(subject: str | type[Microaggregator]) -> str:
    if isinstance(subject, type) and issubclass(subject, Microaggregator):
        return subject.info.reference
    names = ("microagg", *(work.cited for work in works()))
    return subject if isinstance(subject, str) and subject in names else algorithm(subject).info.reference
