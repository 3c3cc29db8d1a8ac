"""Labels of single values among numbers, and the kinds of missing values of a file of Stata or SPSS.

Age with labels only for 85 ("85 and over") and 99 ("don't know") holds numbers, not 75 categories. The reader of Stata
and SPSS files decides by these rules, and suggestions of missing-value codes use them. Kinds of missing values (.a to
.z of Stata, declared codes of SPSS) are missing in a table, whose ``attrs`` have the kind of each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_integer_dtype

from microagg.tables.notices import Notice, Offer, Reading
from microagg.validation import IntArray, listing

#: The category of missing values without a kind.
GAP = "missing"

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
        f"{', and '.join(clauses)}. A release as .dta or .sav keeps the labels of values that it has."
    )
    offer = Offer("Take values with labels as categories", {"labels": True})
    return Notice(
        "value-labels", text, column=name, count=len(texts), example=next(iter(texts.values())), offers=(offer,)
    )


def left_out(frame: pd.DataFrame, name: str, original: Reading) -> list[Notice]:
    """Notice of the labels of values, and kinds of missing values, of the ``original`` that a file ``name`` has not."""
    lost = []
    for column, series in frame.items():
        of_codes = sorted(original.value_labels.get(str(column), {}).items())
        labels = [f"{code:g} {text!r}" for code, text in of_codes if (series == code).any()]
        if labels or (
            series.isna().any() and column in original.frame and kinds_of_missing(original.frame, column).any()
        ):
            lost.append(f"{column!r} ({listing(labels or ['missing'], 2)})")
    text = f"the file {name!r} has no labels of values or of missing values: lost are those of {listing(lost, 8)}."
    return [Notice("labels-left-out", f"{text[:-1]}; .dta and .sav keep them.", count=len(lost))] if lost else []


# --- kinds of missing values ------------------------------------------------------------------------------------------

# The entry of ``attrs``: for each column JSON with the names of its kinds, and a text with a character for each record.
_KINDS = "kinds of missing values"
# The character of a record without a kind; the first kind has the next one.
_NO_KIND = ord("0")


def add_kinds(frame: pd.DataFrame, column: str, names: Sequence[str], positions: IntArray) -> None:
    """Note the kinds ``names`` of missing values of a column; ``positions``, one for each record, are -1 for others."""
    text = "".join(map(chr, (positions + 1 + _NO_KIND).tolist()))
    # One text, so that copies of the table share it.
    frame.attrs.setdefault(_KINDS, {})[column] = json.dumps([list(names), text])


def kinds_of_missing(frame: pd.DataFrame, column: Hashable) -> NDArray[np.object_]:
    """Kind of the missing value of each record of a column, shape (n,), "" for values and missing values without one.

    ``frame`` is a table of a file of Stata or SPSS, or some of its records with their index; others have no kinds.
    """
    names, text = json.loads(frame.attrs.get(_KINDS, {}).get(str(column), '[[], ""]'))
    kinds, index = np.full(len(frame), "", dtype=object), frame.index
    if not (names and len(index) and is_integer_dtype(index) and index.min() >= 0 and index.max() < len(text)):
        return kinds
    places = np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.int64)[index] - _NO_KIND
    # Records in another order have values where a missing value is noted.
    if frame[column].isna().to_numpy()[places > 0].all():
        kinds[:] = np.array(["", *names], dtype=object)[places]
    return kinds


def with_kinds(frame: pd.DataFrame, column: Hashable) -> pd.Series[Any]:
    """A column with the kinds of missing values in their places, as objects if there are any."""
    kinds = kinds_of_missing(frame, column)
    return frame[column].astype(object).mask(kinds != "", kinds) if (kinds != "").any() else frame[column]
