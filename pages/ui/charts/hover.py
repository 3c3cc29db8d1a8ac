"""What is said where the pointer rests on curves: all methods at that place, the lowest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from microagg.metrics.bounds import Bound
from pages.ui.charts import theme
from pages.ui.charts.measures import Measure
from pages.ui.text import count, escape_html, gap_in_words, percent

# At most so many methods are listed.
_MOST = 14


class _Line(NamedTuple):
    value: float
    title: str
    variant: str


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
        The lowest IL or Total-IL known at each k, in percent.
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
        self._across, self._measure = across, measure
        self._floor, self._best = {bound.k: bound for bound in floor}, best or {}
        # One pass over all rows: a table of its own for each k takes a second where there are hundreds.
        self._at: dict[int, list[_Line]] = {int(place): [] for place in sorted(rows[across].unique())}
        known = rows.dropna(subset=name).sort_values(name, kind="stable")
        for place, *line in known[[across, name, "title", "variant"]].itertuples(index=False, name=None):
            self._at[int(place)].append(_Line(*line))

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
        lines = self._at[place]
        for line in lines[:_MOST]:
            value = self._measure.digits.format(self._measure.factor * line.value)
            text = f"{value}  {escape_html(line.title)}"
            color = theme.style(line.variant).color
            said.append(f'<span style="color:{color}">■</span> {f"<b>{text}</b>" if line.variant == own else text}')
        if len(lines) > _MOST:
            said.append(f"… and {len(lines) - _MOST} more")
        if place in self._floor:
            least = self._floor[place].information_loss
            said.append(f"■ {percent(least)}  no method can lose less")
            if place in self._best:
                said.append(f"best known {percent(self._best[place])},<br>{gap_in_words(self._best[place], least)}")
        return "<br>".join(said)
