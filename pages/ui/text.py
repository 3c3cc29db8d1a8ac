"""Words and numbers for the screen. Column names, cell values and file names are untrusted text: escape them."""

from __future__ import annotations

import html
import math
import re

from microagg import metrics

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:^&])")


def escape_markdown(text: object) -> str:
    """Return ``text`` so that Streamlit's Markdown shows it letter by letter."""
    return _MARKDOWN.sub(r"\\\1", " ".join(str(text).split()))


def sentence(error: object) -> str:
    """Return an error's message as a sentence for Markdown, its first letter a capital."""
    message = str(error)
    return escape_markdown(message[:1].upper() + message[1:])


def escape_html(text: object) -> str:
    """Return ``text`` so that Plotly, which reads a little HTML, shows it letter by letter."""
    return html.escape(str(text), quote=False)


def percent(value: float) -> str:
    """Return an information loss with the digits that the literature prints."""
    digits = 2 if value >= 10 else 3 if value >= 1 else 4
    return f"{value:.{digits}f} %"


def gap_in_words(information_loss: float, floor: float) -> str:
    """Return how far a partition can be from the optimum, as the end of a sentence.

    ``information_loss`` and the proven ``floor`` are in percent.
    """
    gap = metrics.gap(information_loss, floor)
    if information_loss == 0:
        return "which is nothing"
    if gap <= 1e-6:
        return "which is the optimum"
    if gap == math.inf:
        return "and how far that is from the optimum is not known"
    if gap > 1:
        return f"at most {1 + gap:.3g} times the optimum"
    return f"at most {100 * gap:.2g} % above the optimum"


def number(value: float) -> str:
    """Return a quantity with about four significant digits and thousands separated."""
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def count(n: int, noun: str, plural: str = "") -> str:
    """Return ``1 record``, ``1,080 records``."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def listing(words: list[str]) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def file_name(text: object) -> str:
    """Return ``text`` as a name that every file system takes, without an ending of its own."""
    return re.sub(r"[^\w.-]+", "_", str(text)).strip("._") or "file"
