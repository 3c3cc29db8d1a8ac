"""Loss of generalizing mixed records: the measures of Byun, Kamra, Bertino & Li, Sections 3 and 5.

A released group has, for each attribute, a range of numbers or ordinal categories, or the lowest common ancestor of
its nominal categories in their taxonomy. The loss of an attribute is the share of its domain, or of the height of its
taxonomy, so it has no unit and attributes need no scaling.

Functions take :class:`microagg.columns.records.Records`, n records with d attributes, which
:meth:`microagg.Schema.records` makes of a DataFrame.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.columns.records import Records
from microagg.columns.taxonomy import Taxonomy
from microagg.errors import DataError, names_arguments
from microagg.partition import canonical_labels
from microagg.validation import FloatArray, IntArray, check_k, check_whole


@dataclass(frozen=True, eq=False)
class Extents:
    """The ranges and common ancestors of each group of a partition, groups in order of first appearance."""

    sizes: IntArray  # shape (g,): the number of records
    low: FloatArray  # shape (g, d): the smallest number or rank; for nominal categories their lowest common ancestor
    high: FloatArray  # shape (g, d): the largest number or rank; the same node
    shares: FloatArray  # shape (g, d): the range as a share of the domain, or the ancestor's height of the taxonomy's


@names_arguments
def extents(records: Records, labels: ArrayLike) -> Extents:
    """Range or common ancestor of the records of each group, attribute by attribute.

    Parameters
    ----------
    records : Records
    labels : array of int, shape (n,)
        The group of each record, under any numbering.

    Raises
    ------
    DataError
        If labels are not whole numbers, one for each record.
    """
    groups = canonical_labels(labels)
    if len(groups) != len(records):
        raise DataError(f"there are {len(records)} records, but labels for {len(groups)}.")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    values = records.values[np.argsort(groups, kind="stable")]
    low = np.minimum.reduceat(values, starts, axis=0)
    high = np.maximum.reduceat(values, starts, axis=0)
    shares = np.zeros_like(low)
    for j, attribute in enumerate(records.attributes):
        if attribute.taxonomy is not None:
            low[:, j] = high[:, j] = _common_ancestors(attribute.taxonomy, values[:, j].astype(np.int64), starts)
            shares[:, j] = attribute.taxonomy.heights[low[:, j].astype(np.int64)]
        elif records.domains[j] > 0.0:
            shares[:, j] = (high[:, j] - low[:, j]) / records.domains[j]
    return Extents(sizes, low, high, shares)


def _common_ancestors(taxonomy: Taxonomy, nodes: IntArray, starts: IntArray) -> IntArray:
    """Lowest common ancestor of the nodes from each of ``starts`` to the next."""
    common = np.zeros(len(starts), dtype=np.int64)
    for lineage in taxonomy.lineages:
        at_depth = lineage[nodes]
        lowest, highest = np.minimum.reduceat(at_depth, starts), np.maximum.reduceat(at_depth, starts)
        common = np.where(lowest == highest, lowest, common)
    return common


def group_information_loss(records: Records, labels: ArrayLike) -> FloatArray:
    """Information loss of each group: its size times the sum of its shares (Definition 5).

    Parameters
    ----------
    records : Records
        n records with d attributes.
    labels : array of int, shape (n,)
        The group of each record, under any numbering.

    Returns
    -------
    array, shape (g,)
        Groups in order of first appearance, each from 0 to its size times d, without a unit.

    Raises
    ------
    DataError
        If labels are not whole numbers, one for each record.
    """
    spans = extents(records, labels)
    return np.asarray(spans.sizes * spans.shares.sum(axis=1))


def attribute_information_loss(records: Records, labels: ArrayLike) -> FloatArray:
    """Loss of each attribute as a share of its largest possible loss.

    Parameters
    ----------
    records, labels
        As for :func:`group_information_loss`.

    Returns
    -------
    array of float, shape (d,)
        0 to 1.

    Raises
    ------
    DataError
        If labels are not whole numbers, one for each record.
    """
    spans = extents(records, labels)
    return np.asarray(spans.sizes @ spans.shares / spans.sizes.sum())


def total_information_loss(records: Records, labels: ArrayLike) -> float:
    """Total-IL: the information losses of all groups, summed.

    Parameters
    ----------
    records, labels
        As for :func:`group_information_loss`.

    Returns
    -------
    float
        0 to n·d, without a unit.

    Raises
    ------
    DataError
        If labels are not whole numbers, one for each record.

    References
    ----------
    Byun, Kamra, Bertino & Li (2007), Efficient k-anonymization using clustering techniques, Definition 6.
    """
    return float(group_information_loss(records, labels).sum())


def discernibility(labels: ArrayLike) -> int:
    """Discernibility metric DM: the sum of the squared group sizes.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The group of each record, under any numbering.

    Returns
    -------
    int
        n to n² squared records.

    Raises
    ------
    DataError
        If labels are not whole numbers.

    References
    ----------
    Bayardo & Agrawal (2005), Data privacy through optimal k-anonymization.
    """
    return int(np.square(np.bincount(canonical_labels(labels))).sum())


def least_discernibility(n: int, k: int) -> int:
    """Lowest possible discernibility: that of as many groups as possible, as equal as possible.

    Parameters
    ----------
    n, k : int
        Number of records, at least 1, and minimum number of records in a group.

    Returns
    -------
    int
        In squared records.

    Raises
    ------
    ParameterError
        If n or k is not a whole number of at least 1.
    """
    groups = max(check_whole("n", n, 1) // check_k(k), 1)
    size, further = divmod(n, groups)
    return (groups - further) * size**2 + further * (size + 1) ** 2


def average_class_size(labels: ArrayLike, k: int = 1) -> float:
    """Mean group size over ``k``.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The group of each record, under any numbering.
    k : int

    Returns
    -------
    float
        1 at best, without a unit.

    Raises
    ------
    DataError
        If labels are not whole numbers.
    ParameterError
        If k is not a whole number of at least 1.

    References
    ----------
    LeFevre, DeWitt & Ramakrishnan (2006), Mondrian multidimensional k-anonymity.
    """
    groups = canonical_labels(labels)
    return float(len(groups) / (int(groups.max()) + 1) / check_k(k))


def classification(labels: ArrayLike, classes: ArrayLike) -> float:
    """Classification metric CM: the share of records outside their group's majority class.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The group of each record, under any numbering.
    classes : array, shape (n,)
        The class label of each record, such as an income bracket.

    Returns
    -------
    float
        0 to 1.

    Raises
    ------
    DataError
        If labels are not whole numbers, or the class labels are not one for each record.

    References
    ----------
    Iyengar (2002), Transforming data to satisfy privacy constraints.
    """
    groups = canonical_labels(labels)
    class_labels = np.asarray(classes)
    n = len(groups)
    if class_labels.shape != (n,):
        raise DataError(f"classes must be one class label for each of {n} records, not of shape {class_labels.shape}.")
    codes, distinct = pd.factorize(class_labels, use_na_sentinel=False)
    pairs, counts = np.unique(groups * len(distinct) + codes, return_counts=True)
    majority = np.zeros(int(groups.max()) + 1, dtype=np.int64)
    np.maximum.at(majority, pairs // len(distinct), counts)
    return float(1.0 - majority.sum() / n)


@dataclass(frozen=True)
class Summary:
    """All measures of one partition of n records with d attributes into groups of at least k. Low is good for all.

    ``information_loss`` is Total-IL in percent of n·d, the loss of one group with all records and nothing in common, 0
    to 100. The others are the results of the functions of the same names; ``classification`` is None without class
    labels.
    """

    total_information_loss: float
    information_loss: float
    discernibility: int
    average_class_size: float
    classification: float | None


def summary(records: Records, labels: ArrayLike, k: int, classes: ArrayLike | None = None) -> Summary:
    """All measures of a partition of n mixed records with d attributes.

    Parameters
    ----------
    records : Records
    labels : array of int, shape (n,)
        The group of each record, under any numbering.
    k : int
        The minimum group size, to which the mean group size is compared.
    classes : array, shape (n,), optional
        The class label of each record, such as an income bracket, for the classification metric.

    Raises
    ------
    DataError
        If labels are not whole numbers, one for each record, or the class labels are not one for each record.
    ParameterError
        If k is not a whole number of at least 1.

    References
    ----------
    Byun, Kamra, Bertino & Li (2007), Efficient k-anonymization using clustering techniques, Sections 3 and 5, compare
    partitions by Total-IL, DM and CM; the mean group size is that of LeFevre, DeWitt & Ramakrishnan (2006).
    """
    total = total_information_loss(records, labels)
    return Summary(
        total_information_loss=total,
        information_loss=100.0 * total / (records.n * records.d),
        discernibility=discernibility(labels),
        average_class_size=average_class_size(labels, k),
        classification=None if classes is None else classification(labels, classes),
    )
