"""From a file to a protected release, with a report on what it cost and guarantees, and a recipe that reproduces it.

:func:`microaggregate` partitions the records of a DataFrame into groups of at least k and replaces each
quasi-identifier by its group's mean or median (Defays & Nanopoulos 1993; Domingo-Ferrer & Mateo-Sanz 2002). All other
columns, the order of the records and their index stay as they are. What the report says of k is counted on the
released frame itself, not concluded from the partition.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from microagg.base import Microaggregator
from microagg.errors import ConstantColumnWarning, DataError, MicroaggError, ParameterError
from microagg.metrics import bounds, loss
from microagg.partition import Partition
from microagg.preprocessing import (
    MISSING,
    SCALES,
    Scaling,
    Schema,
    centered,
    check_choice,
    check_frame,
    complete_records,
)
from microagg.registry import make
from microagg.tables import digest_array
from microagg.validation import FloatArray, IntArray, check_enough_records, check_k, listing, numeric_matrix

#: What a group's records can be replaced by.
STATISTICS = ("mean", "median")

# A standard deviation that falls below this part of what it was is rounding, and its correlations are noise.
_VANISHED = 1e-9


@dataclass(frozen=True)
class Loss:
    """What the release lost, measured on the scaled quasi-identifiers with the values actually released.

    SSE = Σ ‖x − x′‖² over the records, x′ being what replaces x; SST = Σ ‖x − x̄‖²; IL = 100 · SSE / SST, in percent,
    and 0 where the SST is 0. Group means have the least SSE that a partition allows; group medians cost a bit more
    (and can, in contrived data, exceed 100 %).

    Attributes
    ----------
    sse, sst : float
        Squared units of the scaled data.
    information_loss : float
        IL in percent.
    lower_bound : float
        No partition into groups of at least k (within the strata) has a lower IL, in percent; the nearest-neighbor
        bound, see :func:`microagg.metrics.bounds.nearest_neighbor`.
    attributes : dict
        IL in percent of each quasi-identifier by itself.
    """

    sse: float
    sst: float
    information_loss: float
    lower_bound: float
    attributes: dict[Hashable, float]


@dataclass(frozen=True)
class Stratum:
    """One stratum of a release.

    Attributes
    ----------
    values : tuple
        Its value of each strata column.
    n_records, n_groups : int
    realized_k : int
        The size of its smallest class of records with equal quasi-identifiers.
    """

    values: tuple[Any, ...]
    n_records: int
    n_groups: int
    realized_k: int


@dataclass(frozen=True)
class Risk:
    """What the release guarantees. A class is a set of records whose released quasi-identifiers (and strata) are equal.

    Attributes
    ----------
    realized_k : int
        The size of the smallest class, counted on the released frame.
    max_reidentification_probability : float
        1 / ``realized_k``: the chance of picking the right record in the smallest class.
    n_groups : int
        The groups of the partition.
    n_classes : int
        The classes; fewer than groups where two groups have the same centroid.
    largest_group : int
    n_shared : int
        The records whose released quasi-identifiers are shared with another record at least.
    strata : tuple of Stratum
        In order of first appearance; empty without strata.
    """

    realized_k: int
    max_reidentification_probability: float
    n_groups: int
    n_classes: int
    largest_group: int
    n_shared: int
    strata: tuple[Stratum, ...]


@dataclass(frozen=True)
class AttributeUtility:
    """What became of one quasi-identifier, in its own units.

    Attributes
    ----------
    name : hashable
    mean_before, mean_after : float
    sd_before, sd_after : float
        Standard deviation of the population (divided by n).
    correlation_change : float or None
        The largest absolute change of its correlation with another quasi-identifier; None where there is no other,
        or no correlation is defined both before and after.
    """

    name: Hashable
    mean_before: float
    mean_after: float
    sd_before: float
    sd_after: float
    correlation_change: float | None


@dataclass(frozen=True)
class Utility:
    """What analyses of the release will find changed.

    Attributes
    ----------
    attributes : tuple of AttributeUtility
        In the order of the quasi-identifiers.
    correlation_change : float or None
        The largest absolute change of a correlation of two quasi-identifiers.
    correlation_pair : tuple or None
        The two that it concerns.
    """

    attributes: tuple[AttributeUtility, ...]
    correlation_change: float | None
    correlation_pair: tuple[Hashable, Hashable] | None


@dataclass(frozen=True)
class Report:
    """What a release cost and guarantees.

    Attributes
    ----------
    k : int
        The minimum group size asked for.
    scale, statistic : str
    n_records : int
        The records released.
    n_dropped : int
        The records left out for lack of a quasi-identifier.
    dropped : tuple
        Their index labels.
    constant_columns : tuple
        The quasi-identifiers that hold one value only.
    undeclared_columns : tuple
        The columns released as they are without having been declared confidential or strata.
    loss : Loss
    risk : Risk
    utility : Utility
    """

    k: int
    scale: str
    statistic: str
    n_records: int
    n_dropped: int
    dropped: tuple[Any, ...]
    constant_columns: tuple[Hashable, ...]
    undeclared_columns: tuple[Hashable, ...]
    loss: Loss
    risk: Risk
    utility: Utility

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as nested dicts and lists that JSON can hold."""
        return _plain(asdict(self))

    def to_frame(self) -> pd.DataFrame:
        """Return all figures as a table: a row for each, with columns ``part``, ``measure``, ``attribute``, ``value``.

        ``attribute`` is the quasi-identifier where a figure concerns one, otherwise empty.
        """
        rows: list[tuple[str, str, Any, Any]] = [
            ("records", "k", "", self.k),
            ("records", "n_records", "", self.n_records),
            ("records", "n_dropped", "", self.n_dropped),
        ]
        for part in ("loss", "risk", "utility"):
            figures = vars(getattr(self, part))
            rows += [(part, name, "", value) for name, value in figures.items() if isinstance(value, (int, float))]
        rows += [("loss", "information_loss", name, value) for name, value in self.loss.attributes.items()]
        for attribute in self.utility.attributes:
            figures = {name: value for name, value in vars(attribute).items() if name != "name"}
            rows += [("utility", name, attribute.name, value) for name, value in figures.items() if value is not None]
        table = pd.DataFrame(rows, columns=["part", "measure", "attribute", "value"])
        return table.astype({"value": np.float64, "attribute": object})

    def summary(self) -> str:
        """Return the report in a few plain sentences, one per line."""
        return "\n".join(
            [*self._risk_sentences(), *self._loss_sentences(), *self._utility_sentences(), *self._remarks()]
        )

    def _risk_sentences(self) -> list[str]:
        risk = self.risk
        within = " within each stratum" if risk.strata else ""
        return [
            f"{_counted(self.n_records, 'record')} in {_counted(risk.n_groups, 'group')} of at most "
            f"{risk.largest_group:,}{within}: each combination of released quasi-identifiers is shared by at least "
            f"{_counted(risk.realized_k, 'record')}, counted on the release (k = {self.k:,} was asked for).",
            "Who knows a person's true quasi-identifiers and nothing else picks the right record with a probability of "
            f"at most 1 in {risk.realized_k:,}.",
        ]

    def _loss_sentences(self) -> list[str]:
        lost = self.loss
        on = {"zscore": "attributes of variance 1", "minmax": "attributes from 0 to 1", "none": "unscaled attributes"}
        within = " within these strata" if self.risk.strata else ""
        sentences = [
            f"Information loss is {lost.information_loss:.4g} % "
            f"(IL = 100 · SSE / SST = 100 · {lost.sse:.5g} / {lost.sst:.5g}, on {on[self.scale]}); no partition into "
            f"groups of at least {self.k:,}{within} loses less than {lost.lower_bound:.4g} %."
        ]
        if len(lost.attributes) > 1:
            most = max(lost.attributes, key=lost.attributes.__getitem__)
            sentences.append(f"Most is lost on {str(most)!r}: {lost.attributes[most]:.4g} %.")
        return sentences

    def _utility_sentences(self) -> list[str]:
        utility = self.utility
        sentences = []
        shrunk = {a.name: 1.0 - a.sd_after / a.sd_before for a in utility.attributes if a.sd_before > 0.0}
        if shrunk:
            most = max(shrunk, key=shrunk.__getitem__)
            means = "means are kept, and standard deviations" if self.statistic == "mean" else "standard deviations"
            sentences.append(
                f"Of the attributes, {means} shrink by at most {100.0 * max(shrunk[most], 0.0):.3g} % ({str(most)!r})."
            )
        if utility.correlation_change is not None and utility.correlation_pair is not None:
            one, other = utility.correlation_pair
            sentences.append(
                f"The correlation that changes most is that of {str(one)!r} and {str(other)!r}: "
                f"by {utility.correlation_change:.2g}."
            )
        return sentences

    def _remarks(self) -> list[str]:
        sentences = []
        if self.n_dropped:
            sentences.append(
                f"{_counted(self.n_dropped, 'record')} with a missing quasi-identifier "
                f"{'was' if self.n_dropped == 1 else 'were'} left out."
            )
        if self.constant_columns:
            sentences.append(f"One value only, and no part in distances: {_quoted(self.constant_columns)}.")
        if self.undeclared_columns:
            sentences.append(
                f"Released as they are, without having been declared confidential: {_quoted(self.undeclared_columns)}; "
                "make sure that they identify nobody."
            )
        return sentences


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
        return (
            f"Release({_counted(report.n_records, 'record')}, {_counted(report.risk.n_groups, 'group')} by "
            f"{self.recipe['method']}, k={report.k}, realized k={report.risk.realized_k}, "
            f"IL={report.loss.information_loss:.4g} %)"
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
    **params: Any,
) -> Release:
    """Return a k-anonymous release of ``frame``: each quasi-identifier replaced by the mean of its group.

    The released frame has the columns of ``frame`` in their order, without the ``identifiers``, and its records in
    their order under the same index. Quasi-identifiers become float64, integers and booleans too, for a mean is
    seldom whole; all other columns are as they were, and so is ``frame`` itself. Where the index or the order of the
    records could identify somebody, reset or shuffle them before publishing.

    Weighted data (survey weights) are not supported: every record counts once, and a column of weights that is not to
    be microaggregated must be declared confidential.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Unique column names on one level; the index may have duplicates.
    k : int
        The minimum number of records in a group.
    method : str, default "mdav-star"
        A key of :data:`microagg.ALGORITHMS`.
    quasi_identifiers : column name or collection of them, optional
        What is microaggregated; by default all numeric columns that have no other role, see
        :meth:`microagg.preprocessing.Schema.infer`.
    confidential : column name or collection of them, optional
        Confidential attributes; released as they are.
    identifiers : column name or collection of them, optional
        Columns left out of the release.
    scale : {"zscore", "minmax", "none"}, default "zscore"
        The scale for distances and information loss, set by all released records together, whatever their stratum.
    by : column name or collection of them, optional
        Strata: groups stay within the records that have the same values here, each stratum of k records or more.
    statistic : {"mean", "median"}, default "mean"
        What replaces the values of a group, attribute by attribute.
    missing : {"error", "drop"}, default "error"
        Whether a missing quasi-identifier is an error or its record is left out of the release (and reported).
    random_state : int, optional
        Seed for methods that draw at random. Deterministic methods do not use it; it is recorded in the recipe.
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
        If ``frame`` is not a DataFrame, lacks a column, has text, missing or infinite values where numbers are
        needed, missing strata, or fewer than k records, in all or in a stratum.
    ParameterError
        If a parameter is unknown or out of its bounds, or a column has two roles.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 33, 35, 60, 62, 64], "illness": list("abcabc")})
    >>> release = microaggregate(people, k=3, confidential="illness")
    >>> release.frame["age"].tolist()
    [33.0, 33.0, 33.0, 62.0, 62.0, 62.0]
    """
    k = check_k(k)
    check_choice("scale", scale, SCALES)
    check_choice("statistic", statistic, STATISTICS)
    check_choice("missing", missing, MISSING)
    estimator, seed = _estimator(method, k, params, random_state)
    schema = Schema.infer(frame, quasi_identifiers, confidential, identifiers, strata=by)
    recipe_roles = _recipe_roles(schema)
    names = schema.quasi_identifiers

    values = numeric_matrix(frame, names)
    kept = complete_records(values, missing, names)
    n_dropped = int(np.count_nonzero(~kept))
    aside = f" (after leaving out {_counted(n_dropped, 'incomplete record')})" if n_dropped else ""
    X = values[kept]
    check_enough_records(len(X), k, f"the data{aside}")
    strata = _strata(frame, schema.strata, kept)

    scaling = Scaling.fit(X, scale, names)
    constant = tuple(names[j] for j in scaling.constant)
    if constant:
        one = len(constant) == 1
        warnings.warn(
            f"{'column' if one else 'columns'} {_quoted(constant)} {'holds' if one else 'hold'} one value only: "
            f"{'it has' if one else 'they have'} no part in distances.",
            ConstantColumnWarning,
            stacklevel=2,
        )
    Z = scaling.transform(X)
    for rows, where in strata:
        check_enough_records(len(rows), k, f"stratum {_stratum_name(schema.strata, where)}{aside}" if where else "")
    partition = _partition(estimator, Z, [rows for rows, _ in strata], k)
    centers = _group_values(X, partition, statistic)

    released = frame.loc[:, [name not in schema.identifiers for name in frame.columns]]
    # A frame of its own also where pandas would share memory, so that assigning to it cannot reach the caller's.
    released = released.copy() if not n_dropped else released.iloc[np.flatnonzero(kept)].copy()
    for j, name in enumerate(names):
        released[name] = centers[partition.labels, j]

    risk = _risk(released, schema, partition, strata)
    if risk.realized_k < k:
        raise RuntimeError(
            f"microagg broke its promise: the release has a class of {risk.realized_k} records, fewer than k={k}; "
            "it is withheld. Please report this."
        )
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
        loss=_loss(Z, scaling.transform(centers)[partition.labels], partition, statistic, names, strata),
        risk=risk,
        utility=_utility(X, centers[partition.labels], names),
    )
    recipe = {
        "versions": {"microagg": _version(), "numpy": np.__version__},
        "method": method,
        "k": k,
        "params": {
            param.name: getattr(estimator, param.name) for param in estimator.params if param.name != "random_state"
        },
        **recipe_roles,
        "scale": scale,
        "statistic": statistic,
        "missing": missing,
        "random_state": seed,
        "n": len(frame),
        "input_sha256": _digest(values),
        "strata_sha256": _digest(_stratum_codes(strata, len(X))) if schema.strata else None,
        "release_sha256": _digest(centers[partition.labels]),
    }
    return Release(released, partition, report, recipe)


def replay(frame: pd.DataFrame, recipe: Mapping[str, Any]) -> Release:
    """Return the release that ``recipe`` describes, made again from ``frame``, and make sure that it is the same.

    The quasi-identifiers and strata of ``frame`` must be those of the original file; the other columns are released as
    ``frame`` has them.

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
        If the quasi-identifiers or strata of ``frame`` differ from the original's.
    MicroaggError
        If the values released differ, as they may between versions of microagg or numpy.
    """
    if not isinstance(recipe, Mapping):
        raise ParameterError(f"a recipe must be a dict such as Release.recipe, not {type(recipe).__name__}.")
    lacking = [key for key in _RECIPE_KEYS if key not in recipe]
    if lacking:
        raise ParameterError(f"the recipe has no {_quoted(lacking)}: pass Release.recipe as it was written.")
    check_frame(frame)
    if len(frame) != recipe["n"]:
        raise DataError(f"the recipe is for {recipe['n']:,} records, but the data have {len(frame):,}: use its file.")
    schema = Schema.infer(
        frame, recipe["quasi_identifiers"], recipe["confidential"], recipe["identifiers"], recipe["by"]
    )
    values = numeric_matrix(frame, schema.quasi_identifiers)
    if _digest(values) != recipe["input_sha256"]:
        raise DataError(
            "the quasi-identifiers differ from those the recipe was made for (their SHA-256 is another): "
            "use the same file, with its records in the same order."
        )
    if schema.strata:
        kept = complete_records(values, recipe["missing"], schema.quasi_identifiers)
        codes = _stratum_codes(_strata(frame, schema.strata, kept), int(kept.sum()))
        if _digest(codes) != recipe["strata_sha256"]:
            raise DataError(
                f"the strata ({_quoted(schema.strata)}) divide the records otherwise than those the recipe was made "
                "for: use the same file, with its records in the same order."
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
    "scale",
    "statistic",
    "missing",
    "random_state",
    "n",
    "input_sha256",
    "strata_sha256",
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
    estimator = make(method, k, **params)
    if "random_state" in estimator.get_params():
        if seed is None:
            seed = estimator.get_params()["random_state"]
        if seed is None:
            # Drawn here and not inside the method, so that the recipe can tell it.
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        estimator.set_params(random_state=seed)
    return estimator, seed


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
    return {role: _plain(names) for role, names in roles.items()}


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
            f"the strata columns {_quoted(columns)} hold values that cannot be told apart (such as lists): "
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
    return ", ".join(f"{name!s}={_plain(value)!r}" for name, value in zip(columns, values, strict=True))


def _partition(estimator: Microaggregator, Z: FloatArray, strata: Sequence[IntArray], k: int) -> Partition:
    labels = np.empty(len(Z), dtype=np.int64)
    n_groups = 0
    for rows in strata:
        part = estimator.fit(Z[rows]).partition_
        labels[rows] = part.labels + n_groups
        n_groups += part.n_groups
    return Partition(labels, k)


def _group_values(X: FloatArray, partition: Partition, statistic: str) -> FloatArray:
    """Return the mean or median of each group, shape (n_groups, d), in the units of ``X``."""
    if statistic == "mean":
        return partition.centroids(X)
    starts = np.cumsum(partition.sizes) - partition.sizes
    centers = np.empty((partition.n_groups, X.shape[1]))
    for j, column in enumerate(X.T):
        ascending = column[np.lexsort((column, partition.labels))]
        lower, upper = ascending[starts + (partition.sizes - 1) // 2], ascending[starts + partition.sizes // 2]
        centers[:, j] = 0.5 * lower + 0.5 * upper
    return centers


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


def _loss(
    Z: FloatArray,
    replaced: FloatArray,
    partition: Partition,
    statistic: str,
    names: Sequence[Hashable],
    strata: Sequence[_Stratum],
) -> Loss:
    lost = np.square(Z - replaced).sum(axis=0)
    spread = np.square(centered(Z)[2]).sum(axis=0)
    sse, sst = float(lost.sum()), loss.sst(Z)
    # Only means cannot lose more than everything.
    percent = loss.percent if statistic == "mean" else _percent
    least = sum(bounds.nearest_neighbor(Z[rows], partition.k).sse for rows, _ in strata)
    return Loss(
        sse=sse,
        sst=sst,
        information_loss=percent(sse, sst),
        lower_bound=loss.percent(least, sst),
        attributes={name: percent(float(lost[j]), float(spread[j])) for j, name in enumerate(names)},
    )


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole > 0.0 else 0.0


def _utility(X: FloatArray, replaced: FloatArray, names: Sequence[Hashable]) -> Utility:
    (mean, sd, before), (mean_after, sd_after, after) = _moments(X), _moments(replaced)
    defined = (sd > 0.0) & (sd_after > _VANISHED * sd)
    change = np.abs(_correlations(after, sd_after, defined) - _correlations(before, sd, defined))
    # A record's correlation with itself does not change, and an undefined one cannot be compared.
    change[~defined] = -1.0
    change[:, ~defined] = -1.0
    np.fill_diagonal(change, -1.0)
    largest = change.max(axis=1)
    i, j = (int(index) for index in np.unravel_index(change.argmax(), change.shape))
    compared = change[i, j] >= 0.0
    return Utility(
        attributes=tuple(
            AttributeUtility(
                name=name,
                mean_before=float(mean[j]),
                mean_after=float(mean_after[j]),
                sd_before=float(sd[j]),
                sd_after=float(sd_after[j]),
                correlation_change=float(largest[j]) if largest[j] >= 0.0 else None,
            )
            for j, name in enumerate(names)
        ),
        correlation_change=float(change[i, j]) if compared else None,
        correlation_pair=(names[i], names[j]) if compared else None,
    )


def _moments(X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, standard deviation and deviations from the mean of each column; 0 exactly where it is constant."""
    low, center, deviations = centered(X)
    constant = X.max(axis=0) == low
    deviations[:, constant] = 0.0
    return np.where(constant, low, low + center), np.sqrt(np.square(deviations).mean(axis=0)), deviations


def _correlations(deviations: FloatArray, sd: FloatArray, defined: Any) -> FloatArray:
    scaled = deviations / np.where(defined, sd, 1.0)
    return np.clip(scaled.T @ scaled / len(scaled), -1.0, 1.0)


def _digest(array: FloatArray | IntArray) -> str:
    """Return the SHA-256 of an array's values, one for -0.0 and 0.0 and one for every NaN."""
    return digest_array(np.where(np.isnan(array), np.nan, array + 0.0))


def _plain(value: Any) -> Any:
    """Return ``value`` made of what JSON knows; column names, index labels and strata may be anything."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _quoted(names: Sequence[Any]) -> str:
    return listing([repr(_plain(name)) for name in names])


def _version() -> str:
    # At the time of a call the package is complete; while it is being imported it is not.
    from microagg import __version__

    return __version__
