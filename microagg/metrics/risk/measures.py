"""The descriptions of the measures of risk: title, meaning, unit, formula and source."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Measure:
    """The description of a measure of risk or utility, as it is shown beside each of its figures.

    Attributes
    ----------
    key : str
        The name of the function that computes it, or of the field of its result.
    title, meaning : str
        At most five words, and one sentence for somebody who has never heard of it.
    better : {"low", "high"}
        Which direction is good.
    bounds : tuple of float
        The lowest and the highest value that it can have; infinity where there is none.
    unit : {"share", "percent", "sd", "records", "nats", "number"}
        A share is from 0 to 1 and is shown in percent, "percent" counts these already, and "sd" counts standard
        deviations of the original.
    formula, source : str
        As plain text; the paper or manual, and where in it.
    """

    key: str
    title: str
    meaning: str
    better: Literal["low", "high"] = "low"
    bounds: tuple[float, float] = (0.0, 1.0)
    unit: Literal["share", "percent", "sd", "records", "nats", "number"] = "share"
    formula: str
    source: str


_ALL = (
    Measure(
        key="record_linkage",
        title="Records linked by distance",
        meaning="The share of records found rightly by somebody who knows the original values of all attributes and "
        "takes the released record that is nearest to each, at random among several.",
        formula="mean over the records of 1/t if the own released record is one of the t nearest, else 0",
        source="Pagliuca & Seri 1999; Domingo-Ferrer & Torra 2001, distance-based record linkage",
    ),
    Measure(
        key="record_linkage_mahalanobis",
        title="Linked by Mahalanobis distance",
        meaning="The share of records found rightly by somebody who takes the nearest released record and accounts for "
        "how the attributes vary together.",
        formula="as by distance, with d(x, y)² = (x − y)ᵀ S⁺ (x − y), S⁺ the pseudo-inverse of the covariance of X",
        source="after Torra, Abowd & Domingo-Ferrer 2006",
    ),
    Measure(
        key="interval_disclosure",
        title="Values known within ranks",
        meaning="The share of original values that lie so near to the released one, counted in ranks, that whoever "
        "finds a record knows them well enough.",
        formula="mean over all values of 1 if x lies between the released values w · n ranks below and above its own",
        source="Domingo-Ferrer, Mateo-Sanz & Torra 2001, rank-based interval disclosure",
    ),
    Measure(
        key="interval_disclosure_sd",
        title="Values known within deviations",
        meaning="The share of original values that lie within a part of a standard deviation of the released one.",
        formula="mean over all values of 1 if |x − y| ≤ w · sd of the original attribute",
        source="Mateo-Sanz, Sebé & Domingo-Ferrer 2004, SDID; sdcMicro's dRisk takes the sd of the release",
    ),
    Measure(
        key="max_reidentification",
        title="Highest chance to be found",
        meaning="The chance to pick the right one of the records that are equal in what an intruder knows, where these "
        "are fewest.",
        formula="1 / (size of the smallest class)",
        source="Samarati 2001; ARX calls it the prosecutor's risk",
    ),
    Measure(
        key="mean_reidentification",
        title="Mean chance to be found",
        meaning="The share of records found rightly by somebody who picks one of the equal records for each.",
        formula="number of classes / n",
        source="Dankar & El Emam 2010; ARX calls it the marketer's risk",
    ),
    Measure(
        key="uniqueness",
        title="Unique records",
        meaning="The share of records that no other one equals in what an intruder knows, so that they are found for "
        "certain.",
        formula="number of classes of one record / n",
        source="Sweeney 2002",
    ),
    Measure(
        key="homogeneous",
        title="Records in uniform groups",
        meaning="The share of records in groups where all have the same confidential value, which is then known of "
        "everybody in the group without finding anybody.",
        formula="records in groups with one distinct confidential value / n",
        source="Machanavajjhala et al. 2007, homogeneity attack",
    ),
    Measure(
        key="distinct_l",
        title="Fewest values in a group",
        meaning="How many different confidential values the least diverse group has.",
        better="high",
        bounds=(1.0, inf),
        unit="number",
        formula="min over the groups of the number of distinct values",
        source="Machanavajjhala et al. 2007, distinct l-diversity",
    ),
    Measure(
        key="entropy_l",
        title="Least effective number of values",
        meaning="How many equally frequent confidential values are as diverse as those of the least diverse group.",
        better="high",
        bounds=(1.0, inf),
        unit="number",
        formula="min over the groups of exp(−Σ p ln p)",
        source="Machanavajjhala et al. 2007, entropy l-diversity",
    ),
    Measure(
        key="recursive_c",
        title="Commonest value over all rarer",
        meaning="How many times as frequent as all other confidential values together the commonest one is where it "
        "dominates most.",
        bounds=(0.0, inf),
        unit="number",
        formula="max over the groups of r₁ / (r_l + r_{l+1} + …), r₁ ≥ r₂ ≥ … the frequencies; l = 2 unless said",
        source="Machanavajjhala et al. 2007, recursive (c, l)-diversity",
    ),
    Measure(
        key="t_closeness",
        title="Most telling group",
        meaning="How far the confidential values of a group lie at most from those of all records: 0 where every group "
        "has the same distribution.",
        unit="number",
        formula="max over the groups of the earth mover's distance: ordered Σ |P − Q| / (m − 1), others Σ |p − q| / 2",
        source="Li, Li & Venkatasubramanian 2007, t-closeness",
    ),
    Measure(
        key="alpha",
        title="Largest share of a value",
        meaning="How surely one confidential value can be guessed of somebody in the group where it is most frequent.",
        formula="max over the groups and values of (records of the group with the value) / (size of the group)",
        source="Wong, Li, Fu & Wang 2006, (α, k)-anonymity",
    ),
    Measure(
        key="population_uniques",
        title="Unique in the population",
        meaning="If the file is a sample: the estimated share of records that nobody else in the population equals.",
        formula="estimated number of classes of one record in the population / its size",
        source="Pitman's estimator of Hoshino 2001 or that of Zayatz 1991; chosen after Dankar et al. 2012",
    ),
    Measure(
        key="individual_risk",
        title="Mean individual risk",
        meaning="If the file is a sample with weights: the share of records found rightly by somebody who knows what "
        "everybody in the population has.",
        formula="mean over the records of p^f/f · ₂F₁(f, f; f + 1; 1 − p), p = f / Σ w of the f records of the class",
        source="Benedetti & Franconi 1998; Franconi & Polettini 2004",
    ),
)

#: The description of each measure of risk, by its key.
MEASURES: dict[str, Measure] = {measure.key: measure for measure in _ALL}
