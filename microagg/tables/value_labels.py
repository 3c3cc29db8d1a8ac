"""Labels of single values among numbers: top and bottom codes, and codes for missing values.

Age with labels only for 85 ("85 and over") and 99 ("don't know") holds numbers, not 75 categories. The reader of Stata
and SPSS files decides by these rules, and suggestions of missing-value codes use them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from microagg.tables.notices import Notice, Offer
from microagg.validation import listing

# Words of labels for no value, in English, German, Spanish and French.
_NO_VALUE = re.compile(
    r"do(n['’]?t| not) know|\b(dk|nk|niu|nap|ns/?nr|nsp|k\.? ?a\.?|n\.?/?a\.?)(?!\w)|\brefus|\bno answer"
    r"|no(n-?| )response|no data|\bnot (answer|applic|in universe|stated|asked|avail|ascert|report|record|determ)"
    r"|inapplicable|\bunknown|\bmissing|legitimate skip|\bskipped|wei(ß|ss) nicht|keine? (angabe|antwort)"
    r"|trifft nicht zu|verweigert|\bno (sabe|responde|contesta|aplica)|ne sait pas|(sans|non) r[ée]ponse|sans objet",
    re.IGNORECASE,
)

# A column has numbers if at least the first number of its values have no label, and the labels of values are at their
# ends, or at most the share of all values, of which at least the second number have no label.
_FEWEST, _MANY, _SHARE = 3, 10, 0.2


def means_no_value(label: str) -> bool:
    """Whether a label says that a value is missing, such as "don't know"."""
    return _NO_VALUE.search(label) is not None


def are_numbers(values: Sequence[float], labels: Mapping[Any, str], *, nominal: bool = False) -> bool:
    """Whether the distinct ``values`` of a column are numbers, of which few have ``labels``.

    Labels that say that there is no value, or only the number, do not count. Labels at the ends show nothing if the
    file says that the column is ``nominal``.
    """
    labelled = {code for code, text in labels.items() if not (means_no_value(text) or text.strip() == f"{code:g}")}
    free = [value for value in values if value not in labelled and not means_no_value(labels.get(value, ""))]
    if len(free) < _FEWEST:
        return False
    low, high = min(free), max(free)
    at_ends = len(labelled) <= len(free) and all(code < low or code > high for code in labelled)
    is_small_share = len(free) >= _MANY and len(labelled) <= _SHARE * (len(labelled) + len(free))
    return is_small_share or (at_ends and not nominal)


def notice(name: str, n_values: int, labels: Mapping[Any, str]) -> Notice:
    """Notice that a column with these ``labels`` of values of the file is read as numbers."""
    texts = {code: f"{code:g} {text!r}" for code, text in sorted(labels.items())}
    missing = [texts[code] for code in texts if means_no_value(labels[code])]
    values = [text for text in texts.values() if text not in missing]
    clauses = [f"{listing(values, 4)} count{'s' if len(values) == 1 else ''} as numbers"] if values else []
    clauses += [f"declare {listing(missing, 4)} as missing-value code{'s' * (len(missing) > 1)}"] if missing else []
    text = (
        f"column {name!r} has labels for {len(texts)} of {n_values:,} values, so it is read as numbers: "
        f"{', and '.join(clauses)}. A release as the same kind of file keeps the labels of values that it has."
    )
    offer = Offer("Take values with labels as categories", {"labels": True})
    return Notice(
        "value-labels", text, column=name, count=len(texts), example=next(iter(texts.values())), offers=(offer,)
    )
