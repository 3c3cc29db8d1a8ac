"""The descriptions of the measures of utility: title, meaning, unit, formula and source."""

from __future__ import annotations

from math import inf

from microagg.metrics.risk.measures import Measure

_MOMENTS = "Domingo-Ferrer & Torra 2001, Disclosure control methods and information loss for microdata"

_ALL = (
    Measure(
        key="information_loss",
        title="Information loss IL",
        meaning="The share of the data's spread that disappears because records of a group get the same values.",
        bounds=(0.0, inf),
        unit="percent",
        formula="IL = 100 · SSE / SST = 100 · Σ ‖x − x′‖² / Σ ‖x − x̄‖²; at most 100 where means are released",
        source="Domingo-Ferrer & Mateo-Sanz 2002, Practical data-oriented microaggregation",
    ),
    Measure(
        key="total_information_loss",
        title="Total-IL",
        meaning="How much of what could be lost is lost: for each record and attribute, the part of all values that "
        "its group spans, from none to all.",
        bounds=(0.0, 100.0),
        unit="percent",
        formula="100 / (n d) · Σ (range of the group / range of all, or height of the lowest common category / height "
        "of the taxonomy), over n records and d attributes",
        source="Byun, Kamra, Bertino & Li 2007, Efficient k-anonymization using clustering techniques, Section 3",
    ),
    Measure(
        key="il1s",
        title="Mean absolute change IL1s",
        meaning="How far a released value is from the original one on average, in √2 standard deviations.",
        bounds=(0.0, inf),
        unit="number",
        formula="IL1s = Σ |x − x′| / (√2 s) / (n d), over n records and d attributes",
        source="Yancey, Winkler & Creecy 2002; Mateo-Sanz, Domingo-Ferrer & Sebé 2005",
    ),
    Measure(
        key="mean_change",
        title="Change of means",
        meaning="How far the mean of the attribute that changed most has moved, in its standard deviations.",
        bounds=(0.0, inf),
        unit="sd",
        formula="max |x̄′ − x̄| / s, over the attributes",
        source=_MOMENTS,
    ),
    Measure(
        key="variance_change",
        title="Change of variances",
        meaning="Which part of its variance the attribute that changed most has lost or gained.",
        bounds=(0.0, inf),
        formula="max |s′² / s² − 1|, over the attributes",
        source=_MOMENTS,
    ),
    Measure(
        key="quantile_change",
        title="Change of quantiles",
        meaning="How far the median, a quartile or a tail of the attribute that changed most has moved, in its "
        "standard deviations.",
        bounds=(0.0, inf),
        unit="sd",
        formula="max |q′ − q| / s, over the attributes and the 1, 5, 25, 50, 75, 95 and 99 % quantiles",
        source="Mateo-Sanz, Domingo-Ferrer & Sebé 2005, Probabilistic information loss measures",
    ),
    Measure(
        key="correlation_change",
        title="Change of correlations",
        meaning="How much the correlation of two attributes differs at most from what it was.",
        bounds=(0.0, 2.0),
        unit="number",
        formula="max |r′ − r|, over the pairs of attributes",
        source=_MOMENTS,
    ),
    Measure(
        key="eigenvalue_change",
        title="Change of eigenvalues",
        meaning="How much the variances of the principal components, the directions in which records spread, differ "
        "from what they were.",
        bounds=(0.0, inf),
        formula="mean of |λ − λ′| / λ, over the eigenvalues of the correlation matrix in descending order",
        source="Templ & Meindl 2008, Robust statistics meets SDC; sdcMicro's dUtility prints the sum",
    ),
    Measure(
        key="hellinger",
        title="Hellinger distance",
        meaning="How different the distribution of an attribute has become, whoever has which value: 0 is the same, 1 "
        "has nothing in common.",
        unit="number",
        formula="√(½ Σ (√p − √q)²), p and q the shares of records in a bin or category; mean over the attributes",
        source="Gomatam, Karr & Sanil 2005, Data swapping as a decision problem",
    ),
    Measure(
        key="wasserstein",
        title="Wasserstein distance",
        meaning="How far values must move on average for the distribution to be what it was, in standard deviations of "
        "the attribute.",
        bounds=(0.0, inf),
        unit="sd",
        formula="∫ |F − G| dx / s, of categories ½ Σ |p − q|; mean over the attributes",
        source="Vallender 1974, Calculation of the Wasserstein distance between distributions on the line",
    ),
    Measure(
        key="pmse",
        title="Propensity-score error pMSE",
        meaning="How well a model can tell released records from original ones: 0 if it can only guess, 0.25 if it is "
        "always sure and right.",
        bounds=(0.0, 0.25),
        unit="number",
        formula="mean of (p − c)², p the predicted probability of being released, c the share of released records",
        source="Woo, Reiter, Oganian & Karr 2009; Snoke, Raab, Nowok, Dibben & Slavkovic 2018",
    ),
    Measure(
        key="prediction",
        title="Prediction kept",
        meaning="How much of what originals let a model predict better than by always saying the same is still learned "
        "from the release: 100 % is all, 0 % nothing.",
        better="high",
        bounds=(-inf, inf),
        formula="(R − B) / (O − B): R² or accuracy on held-out originals, learned from release, nothing, originals",
        source="LeFevre, DeWitt & Ramakrishnan 2006, Workload-aware anonymization; Esteban, Hyland & Rätsch 2017",
    ),
)

#: The description of each measure of utility, by its key.
MEASURES = {measure.key: measure for measure in _ALL}
