"""From a file to a protected release, with a report on what it loses and a recipe that reproduces it."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.errors import ConstantColumnWarning, DataError, GuaranteeError, ParameterError
from microagg.metrics.equivalence_classes import numbered
from microagg.partition import Partition, partition_within
from microagg.release import recipe as recipes
from microagg.release.findings import Finding, find, undeclared
from microagg.release.measures import Loss, Utility
from microagg.release.prepare import Prepared, prepare
from microagg.release.recoding import Recoding, recode
from microagg.release.release import Release
from microagg.release.report.report import Generalization, Report, Risk
from microagg.release.weights import replace as replace_weights
from microagg.tables.frames import as_given, as_pandas
from microagg.validation import IntArray, check_choice, quoted

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: Where the work is done.
ENGINES = ("memory", "dask")


def microaggregate(
    frame: IntoDataFrame | str | os.PathLike[str],
    *,
    k: int,
    method: str | None = None,
    quasi_identifiers: Any = None,
    confidential: Any = None,
    identifiers: Any = None,
    scale: str = "zscore",
    by: Any = None,
    statistic: str = "mean",
    missing: str | Mapping[Any, str] = "error",
    random_state: int | None = None,
    taxonomies: Mapping[Any, Any] | None = None,
    ordinal: Mapping[Any, Sequence[Any]] | None = None,
    classes: Any = None,
    weights: Any = None,
    others: Any = None,
    dates: Any = None,
    numbers: Any = None,
    missing_codes: Mapping[Any, Any] | None = None,
    categories: str = "ancestor",
    rounding: str = "none",
    release_weights: str = "mean",
    polish: bool = False,
    labels: ArrayLike | None = None,
    shuffle: int | None = None,
    method_params: Mapping[str, Any] | None = None,
    engine: str = "memory",
    out: Any = None,
    client: Any = None,
    block_size: int | None = None,
    **params: Any,
) -> Release:
    """Return a k-anonymous release of ``frame``: its quasi-identifiers replaced by what stands for their group.

    The released frame has the columns of ``frame`` in their order, without the ``identifiers``, and its records in
    their order under the same index. All columns but the quasi-identifiers are as they were, and so is ``frame``
    itself. Where the index or the order of the records could identify somebody, ``shuffle`` them. It is a DataFrame of
    pandas or polars, or a table of Arrow, as ``frame`` is; within the latter two, dates and texts keep their types.

    Numeric quasi-identifiers become float64, integers and booleans too, for a mean is seldom whole; with
    ``rounding="file"`` integers stay integers. Dates become datetime64 or, where they are released by the year, int64;
    categories stay values of the file, in their own type. (A pandas categorical forgets the categories that records of
    the file have, but none of the release.) With ``statistic="generalize"`` all quasi-identifiers, the numeric ones
    too, become text: ``[17, 23]``, or ``17`` where all records of a group have that value; of dates
    ``[2001-03-04, 2002-05-06]``, or ``[2001, 2002]`` by the year.

    The weights of a sample survey have no part in how groups are formed: k counts records, and the scale and distances
    are those of the records. They have a part in means, and in what is reported on loss and on moments. For medians,
    most frequent categories and Total-IL every record counts once.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)
        Unique column names on one level; an index may have duplicates. What is not computed yet, such as a LazyFrame of
        polars, is to be collected first. See :mod:`microagg.tables.frames`.
    k : int
        The minimum number of records in a group.
    method : str, optional
        A key of :data:`microagg.ALGORITHMS`; by default "mdav-star". With quasi-identifiers that hold categories it
        must be one whose ``info`` says that it works on ``mixed`` attributes. With ``labels`` it is what these began
        with, recorded if it is named, and not run.
    quasi_identifiers : column name or collection of them, optional
        What is microaggregated; by default all numeric columns that have no other role, and those with a taxonomy or
        an order, or among ``dates``, ``numbers`` or ``missing_codes``, see :meth:`microagg.Schema.infer`.
    confidential : column name or collection of them, optional
        Confidential attributes; released as they are.
    identifiers : column name or collection of them, optional
        Columns left out of the release.
    scale : {"zscore", "minmax", "none"}, default "zscore"
        The scale for distances and information loss, set by all released records together, whatever their stratum.
        Methods for mixed attributes compare values by their share of the attribute's domain in the file; to them only
        the reported information loss has this scale.
    by : column name or collection of them, optional
        Strata: groups stay within the records that have the same values here, each stratum of k records or more.
    statistic : {"mean", "median", "generalize"}, default "mean"
        What replaces the values of a group, attribute by attribute. With "mean" and "median": of numbers their mean or
        median (of dates rounded to whole days, and then the year where that is their unit), of ordered categories the
        median (the lower of two), of others the most frequent one (of equals the first in the taxonomy). With
        "generalize": what they have in common, as text; of numbers and ordered categories the range, of others as
        ``categories`` says.
    missing : {"error", "drop", "category", "impute"} or mapping of column name to one of them, default "error"
        What is done about missing values of quasi-identifiers, all of them or those named (of others they are an
        error), before records are grouped; all of it is reported. "drop" leaves the record out of the release.
        "category" makes the gaps of categories without an order one more category, called ``missing``. "impute" fills
        in, from the records that are released, the median of numbers and dates (the lower of two where all are whole),
        the lower median of ordered categories, and the most frequent of others (of equals the first in the taxonomy).
        Missing values of other columns stay.
    random_state : int, optional
        Seed for methods that draw at random. Deterministic methods do not use it; it is recorded in the recipe.
    taxonomies : mapping of column name to taxonomy, optional
        Quasi-identifiers that hold categories without an order: see :meth:`microagg.Schema.infer` for
        what a taxonomy may be given as, and which columns have one without being named.
    ordinal : mapping of column name to sequence, optional
        Quasi-identifiers that hold ordered categories, and these from the lowest to the highest.
    classes : column name, optional
        The class of each record, such as an income bracket, for methods with a parameter that uses it; released as it
        is. It counts as confidential unless it has another role, and is no quasi-identifier.
    weights : column name, optional
        The weight of each record, such as the number of persons it stands for: a finite number above 0. The mean of a
        group becomes Σ w x / Σ w.
    others : column name or collection of them, optional
        Columns about which it was decided that they have no other role; released as they are.
    dates : mapping of column name to {"day", "year"}, or column name or collection of them, optional
        Quasi-identifiers that are dates, and the unit that they are released by; the day for those that are only named,
        and for quasi-identifiers of the type datetime64 that are not. They are grouped by as days since 1970-01-01, a
        time of the day left out, and losses are measured in these; a released year counts as its middle. Text may say
        ``2001-12-31``, ``31.12.2001``, ``31/12/2001`` or ``12/31/2001``: see :func:`microagg.columns.dates.read`.
    numbers : mapping of column name to {"1,234.5", "1.234,5"} or None, or column name or collection of them, optional
        Quasi-identifiers that are numbers though the file holds them as text, and how they are written where that must
        be said: with a decimal point or a decimal comma. Of those that are only named the column itself shows it;
        where it does not, as in one that has nothing but ``1,234``, that is an error. Thousands may be apart, and
        there may be a currency, ``%``, or brackets in place of a minus: see :func:`microagg.columns.numerals.read`.
        What is released are plain numbers.
    missing_codes : mapping of column name to a value or a collection of them, optional
        What stands for a missing value of a quasi-identifier, such as ``{"age": ["n/a", -999]}``.
    categories : {"ancestor", "set"}, default "ancestor"
        What "generalize" makes of categories without an order: their lowest common ancestor in the taxonomy, or the set
        of them, such as ``{Divorced, Widowed}``.
    rounding : {"none", "file"}, default "none"
        With "file" means and medians are rounded, half to even, to as many decimals as the released records have in
        that column: none for integers, which keep their type where the result fits into it, and for floats that are
        whole; not at all where there are more than nine. Shares of booleans are not rounded.
    release_weights : {"mean", "keep", "drop"}, default "mean"
        What is released of the ``weights``: for each record the mean weight of its group, so that the group's total
        weight is kept; its own; or nothing.
    polish : bool, default False
        Whether the groups are improved by local search within their strata, see
        :mod:`microagg.kernels.local_search.iterated`; only where all quasi-identifiers are numeric. It lowers the SSE
        of the scaled records, and knows nothing of classes.
    labels : array of int, shape (n released records,), optional
        Groups found elsewhere, such as by :class:`microagg.Search`, for the records that are released, in the order of
        the file: they take the place of what the method would find.
    shuffle : int, optional
        A seed: the records are released in random order, under a new index from 0. Without it they keep their order.
    method_params : mapping of str to object, optional
        Parameters of the method, also those that have the name of an argument here, as ``weights`` of IMHM has.
    engine : {"memory", "dask"}, default "memory"
        Where the work is done: in the memory of this process, or in blocks of records by the workers of Dask, for files
        that do not fit. Then ``frame`` is the path of Parquet files or a frame of Dask, and the release is written to
        ``out``; the index of a frame is left out, and categories are released as plain values.
    out : path, optional
        With Dask, the folder that the release is written to, as Parquet files; there must be nothing. A working folder
        stands beside it until then, which holds the original quasi-identifiers: a job that was ended goes on from it.
    client : distributed.Client or str, optional
        With Dask, who does the work, or the address of a scheduler; by default the client of this process, or else
        workers that are started on this machine and reached from nowhere else. (A program of one's own must then make
        the call under ``if __name__ == "__main__":``.)
    block_size : int, optional
        With Dask, about how many records are in a block, each of which is partitioned by itself. More of them lose
        less, and need more memory and time. By default 500,000, and 10,000 for methods for mixed attributes, which
        compare every record of a block with every other.
    **params
        Further parameters of the method.

    Returns
    -------
    Release
        With Dask a :class:`microagg.distributed.LargeRelease`.

    Warns
    -----
    ConstantColumnWarning
        Naming the quasi-identifiers that hold one value only; these have no part in distances.
    ConvertedColumnWarning
        Naming each column of polars or Arrow with values that pandas cannot hold, such as decimals of 20 digits, which
        count and are exported as text.

    Raises
    ------
    DataError
        If ``frame`` is no such table or has lists in its cells, lacks a column, has missing or infinite values, or such
        as are neither numbers, dates nor categories, where there must be quasi-identifiers, text that is no number or
        date where it should be, dates with a time zone or of which nothing shows whether the day or the month comes
        first, categories that are not in their taxonomy or order, a column without any value to be imputed from,
        missing strata or classes, weights that are not finite numbers above 0, or fewer than k records, in all, in a
        stratum or in a group of ``labels``; or if there is not one label for each record, or a group reaches across
        strata.
    ParameterError
        If a parameter is unknown or out of its bounds, a column has two roles or two kinds, the method or polishing
        does not work on the categories that quasi-identifiers hold, or the method needs classes, or gaps should be a
        category of what is numeric or ordered, or of a column that has a category called ``missing``.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 33, 35, 60, 62, 64], "illness": list("abcabc")})
    >>> release = microaggregate(people, k=3, confidential="illness")
    >>> release.frame["age"].tolist()
    [33.0, 33.0, 33.0, 62.0, 62.0, 62.0]
    >>> release = microaggregate(people, k=3, confidential="illness", statistic="generalize")
    >>> release.frame["age"].tolist()
    ['[31, 35]', '[31, 35]', '[31, 35]', '[60, 64]', '[60, 64]', '[60, 64]']
    """
    # prepare has the same arguments under the same names.
    given = locals()
    given["params"] = _own(given.pop("method_params"), params)
    of_engine = {name: given.pop(name) for name in ("out", "client", "block_size")}
    if check_choice("engine", given.pop("engine"), ENGINES) == "memory":
        _refuse_out(of_engine)
        table: Any = frame
        given["frame"] = as_pandas(table)
        return _release(prepare(**given), table)
    return _in_parts().release(given.pop("frame"), given, **of_engine)


def _refuse_out(given: Mapping[str, Any]) -> None:
    """Refuse what only a release in parts has a use for."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(f"{name} is for engine='dask': leave it out, or name that engine.")


def _in_parts() -> Any:
    """Return what makes releases in parts, which stands above this file and needs Dask, so it is looked up by name."""
    return importlib.import_module("microagg.distributed")


def _own(named: Any, further: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the method, given in either way."""
    if named is not None and not isinstance(named, Mapping):
        raise ParameterError(
            f"method_params must be a mapping of parameters to values, such as {{'gamma': 0.3}}, not {named!r}."
        )
    own = dict(named or {})
    if twice := [name for name in further if name in own]:
        raise ParameterError(f"{quoted(twice)} is given twice: in method_params, and as an argument of its own.")
    return own | dict(further)


def replay(frame: Any, recipe: Mapping[str, Any], *, out: Any = None, client: Any = None) -> Any:
    """Return the release that ``recipe`` describes, made again from ``frame``, and make sure that it is the same.

    The quasi-identifiers, strata, classes and weights of ``frame`` must be those of the original file; the other
    columns are released as ``frame`` has them.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
    recipe : mapping
        :attr:`Release.recipe`, which may have been through JSON.
    out, client : optional
        As :func:`microaggregate` takes them, for the recipe of a release that was made with Dask; ``frame`` then is
        what it was made of.

    Raises
    ------
    ParameterError
        If ``recipe`` is not complete.
    DataError
        If the quasi-identifiers, strata, classes or weights of ``frame`` differ from the original's.
    MicroaggError
        If the values released differ, as they may between versions of microagg or numpy.
    """
    recipes.check(recipe)
    if recipe.get("engine") == "dask":
        return _in_parts().replay(frame, recipe, out=out, client=client)
    _refuse_out({"out": out, "client": client})
    table, frame = frame, as_pandas(frame)
    if len(frame) != recipe["n"]:
        raise DataError(f"the recipe is for {recipe['n']:,} records, but the data have {len(frame):,}: use its file.")
    try:
        prepared = prepare(frame, **recipes.choices(recipe))
    except DataError as error:
        raise DataError(f"the data are not those the recipe was made for: {error}") from None
    recipes.check_same_data(prepared, recipe)
    release = _release(prepared, table)
    recipes.check_same_release(release.recipe, recipe)
    return release


def _release(prepared: Prepared, table: IntoDataFrame) -> Release:
    """Return the release of what was prepared of ``table``, of which it has the kind."""
    prepared.check_sizes()
    if prepared.constant:
        warnings.warn(prepared.source.constant_note, ConstantColumnWarning, stacklevel=3)
    weights = prepared.weights
    partition = _partition(prepared)
    released = prepared.copy_without_identifiers()
    recoding = recode(
        released,
        prepared.records,
        partition,
        prepared.statistic,
        prepared.categories,
        weights=weights,
        rounding=prepared.rounding,
    )
    if weights is not None:
        replace_weights(released, prepared.schema.weights, weights, partition, prepared.release_weights)
    for name, column in zip(prepared.schema.quasi_identifiers, recoding.columns, strict=True):
        released[name] = column
    _forget_categories(released, prepared.source.given)
    released.attrs = {}  # where the file was read from, perhaps: a file of Parquet would tell it
    classes = numbered(released, (*prepared.schema.quasi_identifiers, *prepared.schema.strata))
    risk = Risk.of(classes, partition, prepared.strata)
    if risk.realized_k < prepared.k:
        raise GuaranteeError(
            f"microagg broke its promise: the release has a class of {risk.realized_k} records, fewer than "
            f"k={prepared.k}; it is withheld. Please report this."
        )
    report = _report(prepared, released, partition, recoding, risk, _findings(prepared, released, classes))
    if prepared.order is not None:
        released = released.iloc[prepared.order].reset_index(drop=True)
        partition = Partition(partition.labels[prepared.order], prepared.k)
    replaced = (*prepared.schema.quasi_identifiers, prepared.schema.weights)
    frame = as_given(released, table, prepared.rows, replaced)
    return Release(frame, partition, report, recipes.write(prepared, recoding), released, prepared.source)


def _forget_categories(released: pd.DataFrame, given: pd.DataFrame) -> None:
    """Take out of the categories of pandas, also of Arrow in it, those of the file that no record of the release has.

    Files hold all categories of a column, and would tell of a person whose category is not released.
    """
    for name in released.columns:
        column = released[name]
        if in_arrow := str(column.dtype).startswith("dictionary"):
            column = importlib.import_module("pyarrow").array(column).to_pandas().set_axis(released.index)
        if isinstance(column.dtype, pd.CategoricalDtype) and name in given.columns:
            seen, known = set(column.dropna().unique()), column.cat.categories
            gone = [value for value in given[name].dropna().unique() if value in known and value not in seen]
            if gone:
                fewer = column.cat.remove_categories(gone)
                released[name] = fewer.astype(released[name].dtype) if in_arrow else fewer


def _partition(prepared: Prepared) -> Partition:
    """Return the groups of the records, formed within each stratum or given, and polished if that is asked for."""

    def find(rows: IntArray) -> Partition:
        part = _part(prepared, rows)
        if prepared.polish and prepared.numbers is not None:
            from microagg.kernels.local_search.iterated import improve  # which needs Numba

            part = Partition(improve(prepared.numbers.Z[rows], part.labels, prepared.k), prepared.k)
        return part

    return partition_within([rows for rows, _ in prepared.strata], prepared.k, find)


def _part(prepared: Prepared, rows: IntArray) -> Partition:
    """Return the groups of one stratum, the records at ``rows``."""
    if prepared.labels is not None:
        return Partition(prepared.labels[rows], prepared.k)
    assert prepared.estimator is not None  # only given groups need none
    X, classes = prepared.part(rows)
    return prepared.estimator.fit(X, classes).partition_


def _report(
    prepared: Prepared,
    released: pd.DataFrame,
    partition: Partition,
    recoding: Recoding,
    risk: Risk,
    findings: tuple[Finding, ...],
) -> Report:
    schema, numbers = prepared.schema, prepared.numbers
    lost = utility = common = None
    if recoding.values is not None and numbers is not None:
        replaced = np.ascontiguousarray(recoding.values[:, numbers.columns])
        lost = Loss.of(numbers, replaced, partition, prepared.statistic, prepared.strata, prepared.rounding)
        utility = Utility.of(numbers, replaced)
    if recoding.values is None or not schema.is_numeric:
        common = Generalization.of(prepared.records, partition, prepared.classes, recoding.values, prepared.strata)
    return Report(
        k=prepared.k,
        scale=prepared.scale,
        statistic=prepared.statistic,
        n_records=len(released),
        n_dropped=prepared.n_dropped,
        dropped=tuple(prepared.frame.index[~prepared.kept]),
        constant_columns=prepared.constant,
        undeclared_columns=undeclared(schema, released.columns),
        loss=lost,
        risk=risk,
        utility=utility,
        generalization=common,
        rounding=prepared.rounding,
        release_weights=None if schema.weights is None else prepared.release_weights,
        given=prepared.labels is not None,
        polished=prepared.polish,
        shuffled=prepared.shuffle is not None,
        findings=findings,
        filled=prepared.source.filled,
    )


def _findings(prepared: Prepared, released: pd.DataFrame, classes: IntArray) -> tuple[Finding, ...]:
    original = prepared.frame.iloc[np.flatnonzero(prepared.kept)] if prepared.n_dropped else prepared.frame
    shuffled = prepared.shuffle is not None
    schema, dropped = prepared.schema, prepared.n_dropped
    return find(released, original, schema, prepared.k, n_dropped=dropped, shuffled=shuffled, classes=classes)
