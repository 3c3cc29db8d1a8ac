"""From a file to a protected release, with a report on what it cost and guarantees, and a recipe that reproduces it.

:func:`microaggregate` partitions the records of a DataFrame into groups of at least k and replaces each
quasi-identifier by one value of its group, such as the mean, or by what its group has in common, such as a range: see
:mod:`microagg.recoding`. All other columns, the order of the records and their index stay as they are. What the report
says of k is counted on the released frame itself, not concluded from the partition.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg import registry
from microagg.base import Microaggregator
from microagg.errors import ConstantColumnWarning, DataError, MicroaggError, ParameterError
from microagg.partition import Partition
from microagg.recoding import CATEGORIES, STATISTICS, Recoding, recode
from microagg.records import Records
from microagg.report import Generalization, Loss, Report, Risk, Stratum, Utility, counted, plain, quoted
from microagg.scaling import SCALES, Scaling
from microagg.schema import MISSING, Schema, complete_records
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray, IntArray, check_choice, check_enough_records, check_frame, check_k, listing

__all__ = ["CATEGORIES", "STATISTICS", "Release", "Report", "microaggregate", "replay"]


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A protected file and what is to be known about it.

    Attributes
    ----------
    frame : DataFrame
        The protected file.
    partition : Partition
        The groups of the released records, in their order.
    report : Report
        What the release cost and guarantees.
    recipe : dict
        What :func:`replay` needs, besides the original file, to reproduce the release; JSON can hold it. It has
        digests of the original values, so it belongs with the original, not with the release.
    """

    frame: pd.DataFrame
    partition: Partition
    report: Report
    recipe: dict[str, Any]

    def __repr__(self) -> str:
        report = self.report
        lost = []
        if report.loss is not None:
            lost.append(f"IL={report.loss.information_loss:.4g} %")
        if report.generalization is not None:
            lost.append(f"Total-IL={report.generalization.information_loss:.4g} %")
        return (
            f"Release({counted(report.n_records, 'record')}, {counted(report.risk.n_groups, 'group')} by "
            f"{self.recipe['method']}, k={report.k}, realized k={report.risk.realized_k}, {', '.join(lost)})"
        )


def microaggregate(
    frame: pd.DataFrame,
    *,
    k: int,
    method: str = "mdav-star",
    quasi_identifiers: Any = None,
    confidential: Any = None,
    identifiers: Any = None,
    scale: str = "zscore",
    by: Any = None,
    statistic: str = "mean",
    missing: str = "error",
    random_state: int | None = None,
    taxonomies: Mapping[Any, Any] | None = None,
    ordinal: Mapping[Any, Sequence[Any]] | None = None,
    classes: Any = None,
    categories: str = "ancestor",
    **params: Any,
) -> Release:
    """Return a k-anonymous release of ``frame``: its quasi-identifiers replaced by what stands for their group.

    The released frame has the columns of ``frame`` in their order, without the ``identifiers``, and its records in
    their order under the same index. All columns but the quasi-identifiers are as they were, and so is ``frame``
    itself. Where the index or the order of the records could identify somebody, reset or shuffle them before
    publishing.

    Numeric quasi-identifiers become float64, integers and booleans too, for a mean is seldom whole; categories stay
    values of the file, in their own type. With ``statistic="generalize"`` all quasi-identifiers, the numeric ones too,
    become text: ``[17, 23]``, or ``17`` where all records of a group have that value.

    Weighted data (survey weights) are not supported: every record counts once, and a column of weights that is not to
    be microaggregated must be declared confidential.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Unique column names on one level; the index may have duplicates.
    k : int
        The minimum number of records in a group.
    method : str, default "mdav-star"
        A key of :data:`microagg.ALGORITHMS`. With quasi-identifiers that hold categories it must be one whose ``info``
        says that it works on ``mixed`` attributes.
    quasi_identifiers : column name or collection of them, optional
        What is microaggregated; by default all numeric columns that have no other role, and those with a taxonomy or
        an order, see :meth:`microagg.Schema.infer`.
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
        median, of ordered categories the median (the lower of two), of others the most frequent one (of equals the
        first in the taxonomy). With "generalize": what they have in common, as text; of numbers and ordered categories
        the range, of others as ``categories`` says.
    missing : {"error", "drop"}, default "error"
        Whether a missing quasi-identifier is an error or its record is left out of the release (and reported).
    random_state : int, optional
        Seed for methods that draw at random. Deterministic methods do not use it; it is recorded in the recipe.
    taxonomies : mapping of column name to taxonomy, optional
        Quasi-identifiers that hold categories without an order: see :meth:`microagg.Schema.infer` for
        what a taxonomy may be given as, and which columns have one without being named.
    ordinal : mapping of column name to sequence, optional
        Quasi-identifiers that hold ordered categories, and these from the lowest to the highest.
    classes : column name, optional
        The class of each record, such as an income bracket, for methods with a parameter that heeds it; released as it
        is. It counts as confidential unless it has another role, and is no quasi-identifier.
    categories : {"ancestor", "set"}, default "ancestor"
        What "generalize" makes of categories without an order: their lowest common ancestor in the taxonomy, or the set
        of them, such as ``{Divorced, Widowed}``.
    **params
        Further parameters of the method.

    Returns
    -------
    Release

    Warns
    -----
    ConstantColumnWarning
        Naming the quasi-identifiers that hold one value only; these have no part in distances.

    Raises
    ------
    DataError
        If ``frame`` is not a DataFrame, lacks a column, has missing or infinite values, or such as are neither numbers
        nor categories, where there must be quasi-identifiers, categories that are not in their taxonomy or order,
        missing strata or classes, or fewer than k records, in all or in a stratum.
    ParameterError
        If a parameter is unknown or out of its bounds, a column has two roles, or the method does not work on the
        categories that quasi-identifiers hold, or needs classes.

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
    k = check_k(k)
    check_choice("scale", scale, SCALES)
    check_choice("statistic", statistic, STATISTICS)
    check_choice("missing", missing, MISSING)
    check_choice("categories", categories, CATEGORIES)
    estimator, seed = _estimator(method, k, params, random_state)
    mixed = estimator.info.mixed
    if classes is not None:
        check_frame(frame)
        confidential = _confidential_with(classes, frame, quasi_identifiers, confidential, identifiers, by)
    schema = Schema.infer(
        frame,
        quasi_identifiers,
        confidential,
        identifiers,
        strata=by,
        taxonomies=_mapping("taxonomies", taxonomies),
        ordinal=_mapping("ordinal", ordinal),
    )
    if not (mixed or schema.is_numeric):
        _refuse_categories(method, schema)
    _check_text(schema)
    recipe_roles = _recipe_roles(schema)
    names = schema.quasi_identifiers

    values = schema.encode(frame)
    kept = complete_records(values, missing, names)
    n_dropped = int(np.count_nonzero(~kept))
    aside = f" (after leaving out {counted(n_dropped, 'incomplete record')})" if n_dropped else ""
    records = Records(schema.attributes, values[kept])
    check_enough_records(len(records), k, f"the data{aside}")
    strata = _strata(frame, schema.strata, kept)
    codes = None if classes is None else _class_codes(frame, classes, kept)

    numeric = [j for j, attribute in enumerate(records.attributes) if attribute.kind == "numeric"]
    numbers = [names[j] for j in numeric]
    X = np.ascontiguousarray(records.values[:, numeric])
    # Without numeric quasi-identifiers there is nothing to scale, and whoever generalizes mixed ones has no use for it.
    scaling = Scaling.fit(X, scale, numbers) if numeric and not (mixed and statistic == "generalize") else None
    constant = tuple(names[j] for j in np.flatnonzero(records.values.min(axis=0) == records.values.max(axis=0)))
    if constant:
        one = len(constant) == 1
        warnings.warn(
            f"{'column' if one else 'columns'} {quoted(constant)} {'holds' if one else 'hold'} one value only: "
            f"{'it has' if one else 'they have'} no part in distances.",
            ConstantColumnWarning,
            stacklevel=2,
        )
    Z = scaling.transform(X) if scaling is not None else None
    for rows, where in strata:
        check_enough_records(len(rows), k, f"stratum {_stratum_name(schema.strata, where)}{aside}" if where else "")
    partition = _partition(estimator, records if mixed or Z is None else Z, codes, [rows for rows, _ in strata], k)

    released = frame.loc[:, [name not in schema.identifiers for name in frame.columns]]
    # A frame of its own also where pandas would share memory, so that assigning to it cannot reach the caller's.
    released = released.copy() if not n_dropped else released.iloc[np.flatnonzero(kept)].copy()
    recoding = recode(released, records, partition, statistic, categories)
    for name, column in zip(names, recoding.columns, strict=True):
        released[name] = column

    risk = _risk(released, schema, partition, strata)
    if risk.realized_k < k:
        raise RuntimeError(
            f"microagg broke its promise: the release has a class of {risk.realized_k} records, fewer than k={k}; "
            "it is withheld. Please report this."
        )
    lost = utility = common = None
    if recoding.values is not None and scaling is not None and Z is not None:
        replaced = np.ascontiguousarray(recoding.values[:, numeric])
        lost = Loss.of(
            Z,
            scaling.transform(replaced),
            partition,
            statistic=statistic,
            names=numbers,
            strata=[rows for rows, _ in strata],
        )
        utility = Utility.of(X, replaced, numbers)
    if recoding.values is None or not schema.is_numeric:
        common = Generalization.of(records, partition, codes, recoding.values)
    report = Report(
        k=k,
        scale=scale,
        statistic=statistic,
        n_records=len(released),
        n_dropped=n_dropped,
        dropped=tuple(frame.index[~kept]),
        constant_columns=constant,
        undeclared_columns=tuple(
            name for name in released.columns if name not in (*names, *schema.confidential, *schema.strata)
        ),
        loss=lost,
        risk=risk,
        utility=utility,
        generalization=common,
    )
    recipe = {
        "versions": {"microagg": _version(), "numpy": np.__version__},
        "method": method,
        "k": k,
        "params": {
            param.name: getattr(estimator, param.name) for param in estimator.params if param.name != "random_state"
        },
        **recipe_roles,
        # Pairs, for a column may be called by a number, which no key of a JSON object can be.
        "taxonomies": [[plain(name), taxonomy.to_nested()] for name, taxonomy in schema.taxonomies.items()],
        "ordinal": [[plain(name), list(levels)] for name, levels in schema.ordinal.items()],
        "classes": plain(classes),
        "categories": categories,
        "scale": scale,
        "statistic": statistic,
        "missing": missing,
        "random_state": seed,
        "n": len(frame),
        "input_sha256": _digest(values),
        "strata_sha256": _digest(_stratum_codes(strata, len(records))) if schema.strata else None,
        "classes_sha256": None if codes is None else _digest(codes),
        "release_sha256": _digest_release(recoding),
    }
    return Release(released, partition, report, recipe)


def replay(frame: pd.DataFrame, recipe: Mapping[str, Any]) -> Release:
    """Return the release that ``recipe`` describes, made again from ``frame``, and make sure that it is the same.

    The quasi-identifiers, strata and classes of ``frame`` must be those of the original file; the other columns are
    released as ``frame`` has them.

    Parameters
    ----------
    frame : DataFrame
    recipe : mapping
        :attr:`Release.recipe`, which may have been through JSON.

    Raises
    ------
    ParameterError
        If ``recipe`` is not complete.
    DataError
        If the quasi-identifiers, strata or classes of ``frame`` differ from the original's.
    MicroaggError
        If the values released differ, as they may between versions of microagg or numpy.
    """
    if not isinstance(recipe, Mapping):
        raise ParameterError(f"a recipe must be a dict such as Release.recipe, not {type(recipe).__name__}.")
    lacking = [key for key in _RECIPE_KEYS if key not in recipe]
    if lacking:
        raise ParameterError(f"the recipe has no {quoted(lacking)}: pass Release.recipe as it was written.")
    check_frame(frame)
    if len(frame) != recipe["n"]:
        raise DataError(f"the recipe is for {recipe['n']:,} records, but the data have {len(frame):,}: use its file.")
    taxonomies, ordinal = (dict(recipe[kind]) for kind in ("taxonomies", "ordinal"))
    try:
        schema = Schema.infer(
            frame,
            recipe["quasi_identifiers"],
            recipe["confidential"],
            recipe["identifiers"],
            recipe["by"],
            taxonomies=taxonomies,
            ordinal=ordinal,
        )
    except DataError as error:
        raise DataError(f"the data are not those the recipe was made for: {error}") from None
    values = schema.encode(frame)
    if _digest(values) != recipe["input_sha256"]:
        raise DataError(
            "the quasi-identifiers differ from those the recipe was made for (their SHA-256 is another): "
            "use the same file, with its records in the same order."
        )
    kept = complete_records(values, recipe["missing"], schema.quasi_identifiers)
    if schema.strata:
        codes = _stratum_codes(_strata(frame, schema.strata, kept), int(kept.sum()))
        if _digest(codes) != recipe["strata_sha256"]:
            raise DataError(
                f"the strata ({quoted(schema.strata)}) divide the records otherwise than those the recipe was made "
                "for: use the same file, with its records in the same order."
            )
    if (
        recipe["classes"] is not None
        and _digest(_class_codes(frame, recipe["classes"], kept)) != recipe["classes_sha256"]
    ):
        raise DataError(
            f"the classes ({recipe['classes']!r}) divide the records otherwise than those the recipe was made for: "
            "use the same file, with its records in the same order."
        )
    release = microaggregate(
        frame,
        k=recipe["k"],
        method=recipe["method"],
        quasi_identifiers=recipe["quasi_identifiers"],
        confidential=recipe["confidential"],
        identifiers=recipe["identifiers"],
        scale=recipe["scale"],
        by=recipe["by"],
        statistic=recipe["statistic"],
        missing=recipe["missing"],
        random_state=recipe["random_state"],
        taxonomies=taxonomies,
        ordinal=ordinal,
        classes=recipe["classes"],
        categories=recipe["categories"],
        **recipe["params"],
    )
    if release.recipe["release_sha256"] != recipe["release_sha256"]:
        made, here = (
            " and ".join(f"{name} {v}" for name, v in r["versions"].items()) for r in (recipe, release.recipe)
        )
        raise MicroaggError(
            f"the release comes out otherwise than recorded: the recipe was made with {made}, this is {here}; "
            "install the versions of the recipe to reproduce it."
        )
    return release


_RECIPE_KEYS = (
    "versions",
    "method",
    "k",
    "params",
    "quasi_identifiers",
    "confidential",
    "identifiers",
    "by",
    "taxonomies",
    "ordinal",
    "classes",
    "categories",
    "scale",
    "statistic",
    "missing",
    "random_state",
    "n",
    "input_sha256",
    "strata_sha256",
    "classes_sha256",
    "release_sha256",
)

# The positions of a stratum's records among those released, and its value of each strata column (none: no strata).
_Stratum = tuple[IntArray, tuple[Any, ...]]


def _estimator(method: str, k: int, params: dict[str, Any], random_state: Any) -> tuple[Microaggregator, int | None]:
    seeded = random_state is not None
    if seeded and (
        isinstance(random_state, (bool, np.bool_))
        or not isinstance(random_state, (int, np.integer))
        or random_state < 0
    ):
        raise ParameterError(f"random_state must be a whole number of at least 0 or None, not {random_state!r}.")
    seed = int(random_state) if seeded else None
    estimator = registry.make(method, k, **params)
    if "random_state" in estimator.get_params():
        if seed is None:
            seed = estimator.get_params()["random_state"]
        if seed is None:
            # Drawn here and not inside the method, so that the recipe can tell it.
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        estimator.set_params(random_state=seed)
    return estimator, seed


def _mapping(name: str, given: Any) -> Mapping[Any, Any] | None:
    if given is not None and not isinstance(given, Mapping):
        raise ParameterError(f"{name} must map column names to {name}, not be {given!r}: write {{'column': ...}}.")
    return given


def _refuse_categories(method: str, schema: Schema) -> None:
    named = [attribute.name for attribute in schema.attributes if attribute.kind != "numeric"]
    able = [key for key, cls in registry.ALGORITHMS.items() if cls.info.mixed]
    one = len(named) == 1
    raise ParameterError(
        f"{method} works on numbers, but {'column' if one else 'columns'} {quoted(named)} "
        f"{'holds' if one else 'hold'} categories: choose a method that works on both ({', '.join(able)}), or leave "
        f"{'the column' if one else 'these columns'} out of the quasi-identifiers."
    )


def _check_text(schema: Schema) -> None:
    for attribute in schema.attributes:
        for name in attribute.taxonomy.names if attribute.taxonomy is not None else attribute.levels:
            try:
                name.encode()
            except UnicodeEncodeError:
                raise DataError(
                    f"column {attribute.name!r} has the category {name!r}, which holds half a character and can be in "
                    "no file: read the data again in their own encoding, or rename it."
                ) from None


def _confidential_with(
    classes: Any, frame: pd.DataFrame, quasi_identifiers: Any, confidential: Any, identifiers: Any, by: Any
) -> Any:
    """Return the confidential columns, with that of the classes if it has no role yet."""
    if not isinstance(classes, Hashable):
        raise ParameterError(f"classes must be the name of one column, not {classes!r}.")
    if classes not in frame.columns:
        raise DataError(
            f"there is no column {classes!r} (named as the classes): "
            f"the columns are {listing([repr(column) for column in frame.columns])}."
        )
    for role, given in (("quasi-identifiers", quasi_identifiers), ("identifiers", identifiers)):
        if classes in _collected(given):
            raise ParameterError(
                f"column {classes!r} is named as the classes and among the {role}: classes are released as they are, "
                f"so leave it out of the {role}."
            )
    if classes in _collected(confidential) or classes in _collected(by):
        return confidential
    return (*_collected(confidential), classes)


def _collected(given: Any) -> tuple[Any, ...]:
    """Return the column names of a role, which may be given as one name or as a collection of them."""
    if given is None:
        return ()
    return (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)


def _class_codes(frame: pd.DataFrame, column: Any, kept: NDArray[np.bool_]) -> IntArray:
    """Return the class of each record that is kept, as a number from 0 in order of first appearance."""
    absent = np.flatnonzero(frame[column].isna().to_numpy() & kept)
    if len(absent):
        more = f", one of {len(absent):,} such records" if len(absent) > 1 else ""
        raise DataError(
            f"column {column!r} has no class in record {int(absent[0])} (counting from 0){more}: "
            "fill in or leave out such records first."
        )
    try:
        codes, _ = pd.factorize(frame[column].iloc[np.flatnonzero(kept)])
    except TypeError:
        raise DataError(
            f"the classes {column!r} hold values that cannot be told apart (such as lists): "
            "turn them into text or numbers first."
        ) from None
    return codes.astype(np.int64)


def _recipe_roles(schema: Schema) -> dict[str, list[Any]]:
    roles = {
        "quasi_identifiers": schema.quasi_identifiers,
        "confidential": schema.confidential,
        "identifiers": schema.identifiers,
        "by": schema.strata,
    }
    for names in roles.values():
        for name in names:
            if not isinstance(name, (str, int, np.integer)):
                raise DataError(
                    f"the column name {name!r} is neither text nor a whole number, so no recipe can hold it: rename it."
                )
    return {role: plain(names) for role, names in roles.items()}


def _strata(frame: pd.DataFrame, columns: Sequence[Any], kept: Any) -> list[_Stratum]:
    """Return the strata of the records that are kept, in order of first appearance; all records where no columns."""
    positions = np.flatnonzero(kept)
    if not columns:
        return [(np.arange(len(positions)), ())]
    for column in columns:
        absent = frame[column].isna().to_numpy() & kept
        if absent.any():
            count = int(np.count_nonzero(absent))
            more = f", one of {count:,} such records" if count > 1 else ""
            raise DataError(
                f"column {column!r} has no value in record {int(np.flatnonzero(absent)[0])} (counting from 0){more}, "
                "so it belongs to no stratum: fill in or leave out such records first."
            )
    table = _keys(frame.iloc[positions], columns)
    try:
        codes = table.groupby(list(table.columns), sort=False, observed=True).ngroup().to_numpy()
    except TypeError:
        raise DataError(
            f"the strata columns {quoted(columns)} hold values that cannot be told apart (such as lists): "
            "turn them into text or numbers first."
        ) from None
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(inverse))[:-1])
    # iat and not iloc of a row, which would turn integers beside floats into floats.
    found = [
        (rows, tuple(table.iat[int(i), j] for j in range(len(columns)))) for rows, i in zip(groups, first, strict=True)
    ]
    return sorted(found, key=lambda stratum: int(stratum[0][0]))


def _keys(frame: pd.DataFrame, columns: Sequence[Any]) -> pd.DataFrame:
    # An index level may have the name of a column, and pandas then would not know which to group by.
    keys = frame.loc[:, list(columns)].reset_index(drop=True)
    return keys.set_axis(range(len(columns)), axis=1)


def _stratum_codes(strata: Sequence[_Stratum], n: int) -> IntArray:
    codes = np.empty(n, dtype=np.int64)
    for code, (rows, _) in enumerate(strata):
        codes[rows] = code
    return codes


def _stratum_name(columns: Sequence[Any], values: Sequence[Any]) -> str:
    return ", ".join(f"{name!s}={plain(value)!r}" for name, value in zip(columns, values, strict=True))


def _partition(
    estimator: Microaggregator,
    data: FloatArray | Records,
    classes: IntArray | None,
    strata: Sequence[IntArray],
    k: int,
) -> Partition:
    labels = np.empty(len(data), dtype=np.int64)
    n_groups = 0
    for rows in strata:
        inside: Any = data.take(rows) if isinstance(data, Records) else data[rows]
        part = estimator.fit(inside, None if classes is None else classes[rows]).partition_
        labels[rows] = part.labels + n_groups
        n_groups += part.n_groups
    return Partition(labels, k)


def _risk(released: pd.DataFrame, schema: Schema, partition: Partition, strata: Sequence[_Stratum]) -> Risk:
    keys = _keys(released, (*schema.quasi_identifiers, *schema.strata))
    classes = keys.groupby(list(keys.columns), sort=False, dropna=False, observed=True).ngroup().to_numpy()
    sizes = np.bincount(classes)
    realized = int(sizes.min())
    own = sizes[classes]
    return Risk(
        realized_k=realized,
        max_reidentification_probability=1.0 / realized,
        n_groups=partition.n_groups,
        n_classes=len(sizes),
        largest_group=int(partition.sizes.max()),
        n_shared=int(np.count_nonzero(own > 1)),
        strata=tuple(
            Stratum(values, len(rows), len(np.unique(partition.labels[rows])), int(own[rows].min()))
            for rows, values in strata
            if schema.strata
        ),
    )


def _digest(array: FloatArray | IntArray) -> str:
    """Return the SHA-256 of an array's values, one for -0.0 and 0.0 and one for every NaN."""
    return digest_array(np.where(np.isnan(array), np.nan, array + 0.0))


def _digest_release(recoding: Recoding) -> str:
    """Return the SHA-256 of what is released: numbers, ranks and nodes, or texts; whatever types the columns have."""
    if recoding.values is not None:
        return _digest(recoding.values)
    parts = []
    for column in recoding.columns:
        codes, distinct = pd.factorize(column)
        parts.append(_digest(codes) + json.dumps(list(distinct)))
    return digest_bytes("\n".join(parts).encode("ascii"))


def _version() -> str:
    # At the time of a call the package is complete; while it is being imported it is not.
    from microagg import __version__

    return __version__
