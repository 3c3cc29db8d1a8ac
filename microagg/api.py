"""The functions for notebooks: :func:`microaggregate` creates a release, :func:`replay` repeats it from its recipe."""

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

#: Engines of the work.
ENGINES = ("memory", "dask")


# `_document` below puts the options of `OPTIONS` into the signature and the docstring, in place of `choices`.
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
    """Return a k-anonymous release of ``frame``: the values of each group replace its quasi-identifiers.

    The released frame has the columns of ``frame`` in their order, without the ``identifiers``, and its records in
    their order under the same index. All columns except the quasi-identifiers stay unchanged, and so does ``frame``. If
    the index or the order of the records could identify somebody, shuffle them. It is a DataFrame of pandas or polars,
    or a table of Arrow, like ``frame``; in the latter two, dates and texts keep their types.

    Numeric quasi-identifiers become float64, including integers and booleans, because means are seldom whole; with
    ``rounding="file"`` integers stay integers. Dates become datetime64 or, if released by the year, int64. Categories
    stay values of the file and keep their type. (A pandas categorical loses categories that no released record has.)
    With ``statistic="generalize"`` all quasi-identifiers, the numeric ones
    too, become text: ``[17, 23]``, or ``17`` where all records of a group have that value; of dates
    ``[2001-03-04, 2002-05-06]``, or ``[2001, 2002]`` by the year.

    The weights of a sample survey do not affect the groups: k counts records, and scale and distances are those of the
    records. Weights count in means, and in the reported loss and moments. For medians, most frequent categories and
    Total-IL every record counts once.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)
        Column names are unique and on one level; an index may have duplicates. Collect a LazyFrame of polars first. See
        :mod:`microagg.tables.frames`.
    k : int
        The minimum number of records in a group.
    method : str, optional
        A key of :data:`microagg.ALGORITHMS`; by default "least-loss" with moderate effort, which searches for some
        seconds; "mdav-star" is faster. Categories need a method with ``info.mixed``. With ``labels`` it is only
        recorded, as the method behind these labels.
    {options}
    method_params : mapping of str to object, optional
        Parameters of the method, also those with the name of an argument here, like ``weights`` of IMHM.
    engine : {"memory", "dask"}, default "memory"
        "memory" works in this process; "dask" in blocks of records by workers of Dask, for files that do not fit into
        memory. With Dask, ``frame`` is the path of Parquet files, the release is written to ``out``, and categories are
        released as plain values.
    out : path, optional
        With Dask, the new folder of the release, as Parquet files. Until the end there is a working folder next to it
        with the original quasi-identifiers.
    client : distributed.Client or str, optional
        With Dask, a client or the address of a scheduler; by default the client of this process, or new workers that
        only this machine can reach. (A program that starts workers must make the call under
        ``if __name__ == "__main__":``.)
    block_size : int, optional
        With Dask, the approximate number of records of a block, which is partitioned separately. Larger blocks have a
        lower loss, and need more memory and time. By default 500,000, and 10,000 for methods for mixed attributes,
        which compare all pairs of records in a block.
    against : mapping, Release, path, or DataFrame of pandas or polars, or pyarrow.Table, optional
        The recipe or the file of an earlier release of the same persons, to count the records that share their class in
        both, see :func:`microagg.release.compare_with`. It changes no value of the release.
    **params
        Further parameters of the method.

    Returns
    -------
    Release
        With Dask a :class:`microagg.distributed.LargeRelease`.

    Warns
    -----
    ConstantColumnWarning
        Naming the constant quasi-identifiers, which do not affect distances.
    ConvertedColumnWarning
        Naming each column of polars or Arrow with values that pandas cannot hold, for example decimals of 20 digits,
        which become text.
    DeprecationWarning
        If an option is deprecated.

    Raises
    ------
    DataError
        If ``frame`` is not a table or lacks a column; if quasi-identifiers, strata, classes or weights have values that
        their role or kind does not allow, such as missing values; if there are fewer than k records in all, in a
        stratum or in a group of ``labels``; or if ``labels`` are not one for each record, or a group is in two strata.
    ParameterError
        If a parameter is unknown or out of its bounds, a column has two roles or two kinds, or the method or the
        treatment of missing values does not fit the columns.
    GuaranteeError
        If the release breaks a guarantee, which is a defect of microagg; nothing is released.

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
    engine_options = {"out": out, "client": client, "block_size": block_size}
    if check_choice("engine", engine, ENGINES) == "memory":
        _refuse(engine_options)
        release = Plan.checked(k=k, method=method, **choices).run(cast("IntoDataFrame", frame))
        return release if against is None else compare_with(release, against)
    if against is not None:
        raise ParameterError("against compares releases in memory: leave it out, or take engine='memory'.")
    from microagg import distributed  # which needs Dask

    return distributed.release(frame, {"k": k, "method": method, **choices}, **engine_options)


def _document() -> None:
    """Give :func:`microaggregate` the keywords of the options, with their defaults and documentation."""
    signature = inspect.signature(microaggregate)
    *keywords, choices = signature.parameters.values()
    offered = [option for option in OPTIONS if not option.deprecated]
    named = [(option.name, option.default) for option in offered] + [("method_params", None)]
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default in named]
    parameters = [*keywords[:3], *options, *keywords[3:], choices.replace(name="params")]
    microaggregate.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    documentation = "\n".join(option.documented() for option in offered).replace("\n", "\n    ")
    microaggregate.__doc__ = (microaggregate.__doc__ or "").replace("{options}", documentation)


_document()


def _refuse(options: Mapping[str, Any]) -> None:
    """Raise ParameterError for options of a release in parts."""
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"{name} is for engine='dask': leave it out, or name that engine.")


def replay(frame: Any, recipe: Mapping[str, Any], *, out: Any = None, client: Any = None) -> Any:
    """Repeat the release of a ``recipe`` from ``frame``, and check that it is the same.

    The quasi-identifiers, strata, classes and weights of ``frame`` must be those of the original file; the other
    columns are released as in ``frame``. A random order that the recipe does not contain is drawn anew.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
    recipe : mapping
        :attr:`microagg.Release.recipe`, which may have been through JSON.
    out, client : optional
        Arguments of :func:`microaggregate` for the recipe of a release with Dask; ``frame`` is then the same source as
        for that release.

    Returns
    -------
    Release, or LargeRelease with Dask

    Raises
    ------
    ParameterError
        If ``recipe`` is not complete.
    DataError
        If the quasi-identifiers, strata, classes or weights of ``frame`` differ from the original's.
    MicroaggError
        If the released values differ, which may happen between versions of microagg or numpy.
    """
    recipes.check(recipe)
    if recipe.get("engine") == "dask":
        from microagg import distributed  # which needs Dask

        return distributed.replay(frame, recipe, out=out, client=client)
    _refuse({"out": out, "client": client})
    return Plan.of_recipe(recipe).replay(frame, recipe)
