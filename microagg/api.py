"""What a notebook calls: :func:`microaggregate` makes a release, :func:`replay` makes it again from its recipe."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from microagg.errors import ParameterError
from microagg.release import recipe as recipes
from microagg.release.choices import OPTIONS
from microagg.release.earlier import compare_with
from microagg.release.plan import Plan
from microagg.validation import check_choice, warn_caller

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: Where the work is done.
ENGINES = ("memory", "dask")


def microaggregate(
    frame: IntoDataFrame | str | os.PathLike[str],
    *,
    k: int,
    method: str | None = None,
    engine: str = "memory",
    out: Any = None,
    client: Any = None,
    block_size: int | None = None,
    against: Any = None,
    **choices: Any,
) -> Any:
    """Return a k-anonymous release of ``frame``: its quasi-identifiers replaced by what stands for their group.

    The released frame has the columns of ``frame`` in their order, without the ``identifiers``, and its records in
    their order under the same index. All columns but the quasi-identifiers are as they were, and so is ``frame``
    itself. Where the index or the order of the records could identify somebody, have them in a random order. It is a
    DataFrame of pandas or polars, or a table of Arrow, as ``frame`` is; within the latter two, dates and texts keep
    their types.

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
        A key of :data:`microagg.ALGORITHMS`; by default "least-loss", which searches for some seconds; "mdav-star"
        is quicker. With quasi-identifiers that hold categories it must be one whose ``info`` says that it works on
        ``mixed`` attributes. With ``labels`` it is what these began
        with, recorded if it is named, and not run.
    {options}
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
    against : mapping, Release, path, or DataFrame of pandas or polars, or pyarrow.Table, optional
        The recipe or the file of an earlier release of the same persons: the records that share their class in both
        are counted, see :func:`microagg.release.compare_with`. It changes no value of the release.
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
        If a parameter is unknown or out of its bounds, a column has two roles or two kinds, the method
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
    for option in OPTIONS:
        if option.deprecated and option.name in choices:
            warn_caller(f"{option.name} is deprecated: {option.deprecated}", DeprecationWarning)
    of_engine = {"out": out, "client": client, "block_size": block_size}
    if check_choice("engine", engine, ENGINES) == "memory":
        _refuse(of_engine)
        release = Plan.checked(k=k, method=method, **choices).run(cast("IntoDataFrame", frame))
        return release if against is None else compare_with(release, against)
    if against is not None:
        raise ParameterError("against compares releases in memory: leave it out, or take engine='memory'.")
    from microagg import distributed  # which needs Dask

    return distributed.release(frame, {"k": k, "method": method, **choices}, **of_engine)


def _document() -> None:
    """Give :func:`microaggregate` the keywords of the options, with their defaults, and what is said of them."""
    signature = inspect.signature(microaggregate)
    *first, choices = signature.parameters.values()
    offered = [option for option in OPTIONS if not option.deprecated]
    named = [(option.name, option.default) for option in offered] + [("method_params", None)]
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default in named]
    parameters = [*first[:3], *options, *first[3:], choices.replace(name="params")]
    microaggregate.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    documentation = "\n".join(option.documented() for option in offered).replace("\n", "\n    ")
    microaggregate.__doc__ = (microaggregate.__doc__ or "").replace("{options}", documentation)


_document()


def _refuse(options: Mapping[str, Any]) -> None:
    """Refuse what only a release in parts has a use for."""
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"{name} is for engine='dask': leave it out, or name that engine.")


def replay(frame: Any, recipe: Mapping[str, Any], *, out: Any = None, client: Any = None) -> Any:
    """Return the release that ``recipe`` describes, made again from ``frame``, and make sure that it is the same.

    The quasi-identifiers, strata, classes and weights of ``frame`` must be those of the original file; the other
    columns are released as ``frame`` has them. A random order that the recipe does not hold is another one.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
    recipe : mapping
        :attr:`microagg.Release.recipe`, which may have been through JSON.
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
        from microagg import distributed  # which needs Dask

        return distributed.replay(frame, recipe, out=out, client=client)
    _refuse({"out": out, "client": client})
    return Plan.of_recipe(recipe).replay(frame, recipe)
