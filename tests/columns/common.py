"""Columns as tests of guesses make them."""

import itertools

import pandas as pd

from microagg.columns import guess_columns


def guess(values, name="x", **options):
    """Return the guess for a column that stands alone in a file."""
    (column,) = guess_columns(pd.DataFrame({name: pd.Series(values, **options)}))
    return column


def by_name(frame, schema=None):
    return {column.name: column for column in guess_columns(frame, schema=schema)}


def reasons(column):
    return "; ".join(column.reasons)


def cycled(values, n=100):
    return list(itertools.islice(itertools.cycle(values), n))


def column_of(counts):
    """Return a column in which each value stands as often as ``counts`` says."""
    return pd.Series([value for value, n in counts.items() for _ in range(n)], name="x")
