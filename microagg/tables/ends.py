"""The ends of tables: what last records are called that are totals, and the offer to leave them out."""

from __future__ import annotations

import re

from microagg.tables.notices import Offer
from microagg.validation import counted

_TOTALS = frozenset(
    (
        *("total", "totals", "grand total", "grand totals", "overall total", "sum total", "sum", "sums", "grand sum"),
        *("subtotal", "subtotals", "sub-total", "sub-totals", "subsum", "summe", "summen", "gesamt", "gesamtsumme"),
        *("endsumme", "zwischensumme", "insgesamt", "zusammen", "suma", "suma total", "total general", "totales"),
        *("totale", "somma", "somme", "total général", "totaux", "totaal", "итого", "всего"),
        *("合计", "合計", "总计", "計", "합계"),
    )
)


def is_total(text: str) -> bool:
    """Whether a text is what a record of totals is called, in one of several languages: ``Total:``, ``Insgesamt``."""
    return re.sub(r"\W+$", "", text.strip()).casefold() in _TOTALS


def leave_out_last(count: int, noun: str, skipped: int = 0) -> Offer:
    """Return the offer to leave out the last ``count`` records, rows or lines, beside those ``skipped`` already."""
    label = f"Leave out the last {noun if count == 1 else counted(count, noun)}"
    return Offer(label, {"skip_last": skipped + count})
