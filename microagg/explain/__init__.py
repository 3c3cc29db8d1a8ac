"""Algorithms explained step by step: the records in question, the quantities that decide, and the result.

:func:`steps` runs an algorithm on at most a few hundred records and yields a :class:`Step` for each decision or change.
The labels of the last step are those of ``microagg.make(key, k=k).fit(X)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from microagg.algorithms.base import check_params
from microagg.algorithms.registry import algorithm
from microagg.errors import ParameterError, names_arguments
from microagg.explain import mdav, mhm
from microagg.explain.run import MOST_RECORDS, Focus, Kind, Quantity, Step, first_difference, lockstep, make_run, value

__all__ = [
    "EXPLAINED",
    "MOST_RECORDS",
    "Focus",
    "Kind",
    "Quantity",
    "Step",
    "first_difference",
    "lockstep",
    "pseudo_code",
    "steps",
    "value",
]


class Explained(NamedTuple):
    """Pseudo-code of an algorithm and the function that yields its steps."""

    code: Sequence[str]
    explain: Callable[..., Iterator[Step]]


#: The explained algorithms, by key.
EXPLAINED = MappingProxyType(
    {
        "mdav": Explained(mdav.MDAV_CODE, mdav.explain_mdav),
        "mdav-plus": Explained(mdav.MDAV_PLUS_CODE, mdav.explain_mdav_plus),
        "v-mdav": Explained(mdav.V_MDAV_CODE, mdav.explain_v_mdav),
        "mdav-star": Explained(mdav.MDAV_STAR_CODE, mdav.explain_mdav_star),
        "mhm": Explained(mhm.MHM_CODE, mhm.explain_mhm),
    }
)


@names_arguments
def pseudo_code(key: str) -> tuple[str, ...]:
    """Pseudo-code of an algorithm.

    Parameters
    ----------
    key : str
        One of :data:`EXPLAINED`.

    Returns
    -------
    tuple of str
        Lines, to which ``Step.line`` refers.

    Raises
    ------
    ParameterError
        If ``key`` is unknown, or its algorithm is not explained.
    """
    return tuple(_explanation(key).code)


@names_arguments
def steps(
    key: str,
    X: ArrayLike,
    *,
    k: int = 3,
    names: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
    **params: Any,
) -> Iterator[Step]:
    """Explain a run of an algorithm on a few records step by step.

    Parameters
    ----------
    key : str
        One of :data:`EXPLAINED`.
    X : array-like, shape (n, d)
        At most :data:`MOST_RECORDS` records, used as they are. Standardize them first if attributes differ in unit.
    k : int
        The minimum group size.
    names : sequence of str, length n, optional
        Names of the records in texts; by default their value with one attribute, and their index otherwise.
    attributes : sequence of str, length d, optional
        Names of the attributes in texts; by default "the value" of one attribute, x and y of two, and "attribute 1",
        "attribute 2", … of more.
    **params
        The algorithm's parameters.

    Raises
    ------
    DataError
        If X is not a finite matrix of numbers, has fewer than k records or too many to be watched.
    ParameterError
        If the algorithm is unknown or not explained, a parameter is unknown or out of bounds, or there is not one name
        for each record or attribute.

    Examples
    --------
    >>> X = [[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]]
    >>> next(step.text for step in steps("mdav-star", X, k=3) if step.kind == "join")
    '5 joins {1, 2, 3}: 32.19 is less than 40.67.'
    """
    explained = _explanation(key)
    checked = check_params(algorithm(key), params)
    return explained.explain(make_run(X, k, names, attributes), **checked)


def _explanation(key: str) -> Explained:
    title = algorithm(key).info.title
    if key not in EXPLAINED:
        raise ParameterError(f"{title} is not explained step by step; these are: {', '.join(EXPLAINED)}.")
    return EXPLAINED[key]
