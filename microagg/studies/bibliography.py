"""The literature: what the algorithms and figures of the package are from, with titles and DOIs, and how to cite it.

``bibliography.csv`` has each work under the name by which docstrings cite it, such as "Kabir, Wang & Zhang 2010".
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
    """Something that can be cited; fields are empty where nothing is known."""

    cited: str  # the name by which docstrings cite it
    authors: str = ""  # ``Family, G.; Family, G.``
    title: str = ""
    published: str = ""  # where, with volume and pages
    doi: str = ""
    note: str = ""  # what of it is here or not

    @property
    def year(self) -> str:
        """The year, as it is cited."""
        return self.cited[-4:]

    def text(self) -> str:
        """Return it as a line of a list of references."""
        if not self.title:
            return self.cited
        doi = f" https://doi.org/{self.doi}" if self.doi else ""
        return f"{self.authors.replace(';', ',')} ({self.year}). {self.title}. {self.published}.{doi}"

    def bibtex(self) -> str:
        """Return it as an entry of BibTeX."""
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
    """Return all works of the bibliography, in alphabetical order."""
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return tuple(Work(**row) for row in csv.DictReader(file))


def works_of(reference: str) -> list[Work]:
    """Return the works that a text cites, such as the reference of an algorithm, in its order.

    What cites none of the bibliography is one itself; ``microagg`` is the package.
    """
    if reference == "microagg":
        title = "microagg: k-anonymous microdata at little information loss"
        return [Work(f"microagg {YEAR}", "the microagg developers", title, f"Python package, version {__version__}")]
    by_name = {work.cited: work for work in works()}
    # Of a name that another one ends with, the longer.
    names = re.findall("|".join(re.escape(name) for name in sorted(by_name, key=len, reverse=True)), reference)
    return [by_name[name] for name in dict.fromkeys(names)] or [Work(reference)]


def cite(*what: str | type[Microaggregator], style: Literal["text", "bibtex"] = "text") -> str:
    r"""Return how to cite algorithms, or with no argument microagg itself.

    >>> import microagg
    >>> print(microagg.cite("mdav-star"))
    Thaeter, F., Reischuk, R. (2018). Improving anonymization clustering. SICHERHEIT 2018, LNI P-281, 69–82. https://doi.org/10.18420/sicherheit2018_05

    Parameters
    ----------
    what : str or type
        Keys of algorithms, or classes; or names of works as the package cites them, such as ``"Spagnolo 2016"``.
    style : {"text", "bibtex"}, default "text"
        References to be read, one a line, or entries of BibTeX.

    Raises
    ------
    ParameterError
        If something is neither an algorithm nor a work, or ``style`` is none of the two.
    """
    if style not in ("text", "bibtex"):
        raise ParameterError(f"style must be 'text' or 'bibtex', not {style!r}.")
    works = dict.fromkeys(work for reference in map(_reference, what or ("microagg",)) for work in works_of(reference))
    return "\n".join(work.text() if style == "text" else work.bibtex() for work in works)


def _reference(what: str | type[Microaggregator]) -> str:
    if isinstance(what, type) and issubclass(what, Microaggregator):
        return what.info.reference
    names = ("microagg", *(work.cited for work in works()))
    return what if isinstance(what, str) and what in names else algorithm(what).info.reference
