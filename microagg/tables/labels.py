"""Codes with labels, as Stata and SPSS keep categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from microagg.errors import DataError


def labelled(codes: pd.Series[Any], labels: Mapping[Any, str], *, ordered: bool, label: str) -> pd.Series[Any]:
    """Return codes as categories named by their labels, in the order of the codes.

    Parameters
    ----------
    codes : Series of n numbers or texts
        With missing values where there is no code.
    labels : mapping
        The label of each code; all of them become categories, whether they occur or not. A code that occurs without a
        label, or with an empty one, becomes a category named by the code itself, ``7`` or ``2.5``. Where several
        codes would have the same name, each gets its code in brackets, such as ``other (8)``, as they may mean
        different things.
    ordered : bool
        Whether the order of the codes means something.
    label : str
        The file's name, for messages.

    Raises
    ------
    DataError
        If categories have the same name even so.
    """
    present = codes.dropna().unique().tolist()
    known = sorted({*labels, *present})
    names = [labels.get(code) or _code_text(code) for code in known]
    counts = Counter(names)
    names = [
        f"{name} ({_code_text(code)})" if counts[name] > 1 else name for code, name in zip(known, names, strict=True)
    ]
    if len(set(names)) < len(names):
        name = next(name for name, count in Counter(names).items() if count > 1)
        raise DataError(
            f"in column {codes.name!r} of the file {label!r} several codes have the label {name!r}: "
            "give every code a label of its own."
        )
    # A code that is missing has the position -1, which is how categories say missing.
    positions = pd.Index(known).get_indexer(pd.Index(codes))
    values = pd.Categorical.from_codes(positions.astype(np.int64), categories=pd.Index(names), ordered=ordered)
    return pd.Series(values, index=codes.index, name=codes.name)


def codes_of(series: pd.Series[Any]) -> tuple[pd.Series[Any], dict[Any, str]]:
    """Return categories as codes from 1 (type Int32, missing where they are), and the label of each code.

    A category without a name is missing, since no label can be empty.
    """
    if "" in series.cat.categories:
        series = series.cat.remove_categories("")
    codes = pd.Series(series.cat.codes.to_numpy().astype(np.int32) + 1)
    labels: dict[Any, str] = {code: str(name) for code, name in enumerate(series.cat.categories, start=1)}
    return codes.astype("Int32").mask(codes == 0), labels


def _code_text(code: Any) -> str:
    if isinstance(code, (float, np.floating)) and float(code).is_integer():
        return str(int(code))
    return str(code)
