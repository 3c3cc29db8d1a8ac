"""The plan of a release: all that was chosen, what can be written of it, and the way from it to the release."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from microagg.errors import DataError, ParameterError
from microagg.release import recipe as recipes
from microagg.release.choices import OPTIONS, Choices
from microagg.release.making import make
from microagg.release.prepare import prepare
from microagg.release.release import Release
from microagg.tables.frames import as_pandas

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@dataclass(frozen=True, eq=False)
class Plan(Choices):
    """All choices for a release, as :func:`microagg.microaggregate` takes them, and what can be done with them.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 33, 35, 60, 62, 64], "illness": list("abcabc")})
    >>> plan = Plan.of(people, k=3, confidential="illness")
    >>> plan.quasi_identifiers
    ['age']
    >>> Plan.from_json(plan.to_json()).run(people).frame["age"].tolist()
    [33.0, 33.0, 33.0, 62.0, 62.0, 62.0]
    """

    @classmethod
    def of(cls, frame: IntoDataFrame, *, k: int, **given: Any) -> Self:
        """Return the plan of a release of ``frame``, shape (n, columns), with what follows from it filled in.

        That are the method, the columns that nobody named, their kinds, and a seed where the method draws at random.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, or pyarrow.Table
        k : int
        **given
            The other keywords of :func:`microagg.microaggregate` but those of the engine.

        Raises
        ------
        DataError, ParameterError
            As :func:`microagg.microaggregate`, as far as nothing has to be grouped for it.
        """
        return cls.of_recipe(recipes.chosen(prepare(as_pandas(frame), cls.checked(k=k, **given))))

    @classmethod
    def of_recipe(cls, recipe: Mapping[str, Any]) -> Self:
        """Return the plan that a checked recipe holds."""
        return cls.checked(**recipes.choices(recipe))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the plan that :meth:`to_json` has written.

        Raises
        ------
        ParameterError
            If it holds anything else.
        """
        try:
            chosen = json.loads(text)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"the plan is no JSON: {error}") from None
        recipes.check_chosen(chosen)
        return cls.of_recipe(chosen)

    def to_json(self) -> str:
        """Return all choices, and the versions of the programs that made them, as JSON.

        Raises
        ------
        ParameterError
            If the plan does not say yet what the columns are: :meth:`of` makes one that does.
        """
        if any(self.values[own.name] is None for own in OPTIONS if own.kind.shell in ("columns", "pairs")):
            raise ParameterError("the plan does not say yet what the columns are: make it by Plan.of(frame, k=...).")
        return json.dumps(recipes.written(self), indent=2, ensure_ascii=False) + "\n"

    def run(self, frame: IntoDataFrame) -> Release:
        """Return the release of ``frame``, in the memory of this process; see :func:`microagg.microaggregate`."""
        return make(prepare(as_pandas(frame), self), frame)

    def replay(self, frame: IntoDataFrame, recipe: Mapping[str, Any]) -> Release:
        """Return the release of ``frame``, made sure to be the one of ``recipe``; see :func:`microagg.replay`."""
        table = as_pandas(frame)
        if len(table) != recipe["n"]:
            raise DataError(
                f"the recipe is for {recipe['n']:,} records, but the data have {len(table):,}: use its file."
            )
        try:
            prepared = prepare(table, self)
        except DataError as error:
            raise DataError(f"the data are not those the recipe was made for: {error}") from None
        recipes.check_same_data(prepared, recipe)
        release = make(prepared, frame)
        recipes.check_same_release(release.recipe, recipe)
        return release
