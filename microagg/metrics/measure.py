"""The description of a measure of risk or utility, as it is shown beside each of its figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Measure:
    """The description of one measure.

    Attributes
    ----------
    key : str
        The name of the function that computes it, or of the field of its result.
    title : str
        Of at most five words.
    meaning : str
        One sentence for somebody who has never heard of it.
    better : {"low", "high"}
        Which direction is good.
    bounds : tuple of float
        The lowest and the highest value that it can have; infinity where there is none.
    unit : {"share", "percent", "sd", "records", "nats", "number"}
        A share is from 0 to 1 and is shown in percent, "percent" counts these already, and "sd" counts standard
        deviations of the original.
    formula : str
        As plain text.
    source : str
        The paper or manual, and where in it.
    """

    key: str
    title: str
    meaning: str
    better: Literal["low", "high"]
    bounds: tuple[float, float]
    unit: Literal["share", "percent", "sd", "records", "nats", "number"]
    formula: str
    source: str
