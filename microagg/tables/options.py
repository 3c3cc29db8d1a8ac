"""How a table is to be read from a text file or a workbook alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microagg.errors import ParameterError
from microagg.tables.checks import MISSING
from microagg.validation import is_whole


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """What of a file is no record, and which texts are no values; see :func:`microagg.tables.read_file`.

    Raises
    ------
    ParameterError
        If a number is no whole one of at least 0, or ``missing`` no list of texts.
    """

    skip_lines: int = 0
    skip_last: int = 0
    units_row: bool = False
    missing: Sequence[str] = MISSING

    def __post_init__(self) -> None:
        for name in ("skip_lines", "skip_last"):
            value = getattr(self, name)
            if not is_whole(value) or value < 0:
                raise ParameterError(f"{name} must be a whole number of at least 0, not {value!r}.")
        if not isinstance(self.missing, (list, tuple)) or not all(isinstance(word, str) for word in self.missing):
            raise ParameterError(f"missing must be a list of texts such as ['NA'], not {self.missing!r}.")
