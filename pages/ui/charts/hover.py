"""What is said where the pointer rests on curves: all methods at that place, the lowest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from microagg.metrics.bounds import Bound
from pages.ui.charts import theme
from pages.ui.charts.measures import Measure
from pages.ui.text import count, escape_html, gap_in_words, percent

# At most so many methods are listed.
_MOST = 14


class Hover:
    """The texts for the rows of a sweep.

    Parameters
    ----------
    rows : DataFrame
        With the columns variant, title and ``name``.
    name : str
        The measure's column.
    across : {"k", "n_records"}
    measure : Measure
    floor : sequence of Bound
    best : mapping
        The lowest IL known at each k, in percent.
    """

    def __init__(
        self,
        rows: pd.DataFrame,
        name: str,
        across: str,
        measure: Measure,
        floor: Sequence[Bound] = (),
        best: Mapping[int, float] | None = None,
    ) -> None:
        self._name, self._across, self._measure = name, across, measure
        self._floor, self._best = {bound.k: bound for bound in floor}, best or {}
        self._at = {
            int(str(place)): here.dropna(subset=name).sort_values(name, kind="stable").to_dict("records")
            for place, here in rows.groupby(across)
        }

    def texts(self) -> dict[int, str]:
        """Return what is said of each place, ascending."""
        return {place: self._of(place) for place in self._at}

    def of(self, row: Mapping[str, Any]) -> str:
        """Return what is said of the point of a row: its place, with its own line in bold and how it was made."""
        sizes = f"{row['n_groups']:,} groups of {row['smallest_group']:,} to {row['largest_group']:,} records"
        if "total_information_loss" in row:
            further = f"Total-IL {row['total_information_loss']:,.1f} on {row['n_records']:,} records"
        else:
            further = escape_html(row["params"])
        return "<br>".join(filter(None, [self._of(row[self._across], row["variant"]), "", sizes, further]))

    def _of(self, place: int, own: str = "") -> str:
        said = [f"<b>k = {place:,}</b>" if self._across == "k" else f"<b>{count(place, 'record')}</b>"]
        rows = self._at[place]
        for row in rows[:_MOST]:
            value = self._measure.digits.format(self._measure.factor * row[self._name])
            line = f"{value}  {escape_html(row['title'])}"
            color = theme.style(row["variant"]).color
            said.append(f'<span style="color:{color}">■</span> {f"<b>{line}</b>" if row["variant"] == own else line}')
        if len(rows) > _MOST:
            said.append(f"… and {len(rows) - _MOST} more")
        if place in self._floor:
            least = self._floor[place].information_loss
            said.append(f"■ {percent(least)}  no method can lose less")
            if place in self._best:
                said.append(f"best known {percent(self._best[place])},<br>{gap_in_words(self._best[place], least)}")
        return "<br>".join(said)
