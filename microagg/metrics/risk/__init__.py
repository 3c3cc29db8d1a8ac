"""Disclosure risk of a release: who can be found in it, and what can be learned of whom."""

from typing import TYPE_CHECKING

from microagg.lazy import loader

if TYPE_CHECKING:
    from microagg.metrics.risk.diversity import Homogeneity, homogeneity
    from microagg.metrics.risk.intervals import Intervals, interval_disclosure
    from microagg.metrics.risk.linkage import Linkage, record_linkage
    from microagg.metrics.risk.measures import MEASURES
    from microagg.metrics.risk.mixed import Known
    from microagg.metrics.risk.outliers import AtRisk, LeftOut, leaving_out, outlyingness, records_at_risk
    from microagg.metrics.risk.population import IndividualRisk, PopulationUniques, individual_risk, population_uniques
    from microagg.metrics.risk.uniques import Uniqueness, uniqueness, uniqueness_with_each

__all__ = [
    "MEASURES",
    "AtRisk",
    "Homogeneity",
    "IndividualRisk",
    "Intervals",
    "Known",
    "LeftOut",
    "Linkage",
    "PopulationUniques",
    "Uniqueness",
    "homogeneity",
    "individual_risk",
    "interval_disclosure",
    "leaving_out",
    "outlyingness",
    "population_uniques",
    "record_linkage",
    "records_at_risk",
    "uniqueness",
    "uniqueness_with_each",
]

# Where each name lives; "" for a module of its own.
_HOMES = {
    **dict.fromkeys(("Homogeneity", "homogeneity"), "diversity"),
    **dict.fromkeys(("Intervals", "interval_disclosure"), "intervals"),
    **dict.fromkeys(("Linkage", "record_linkage"), "linkage"),
    "MEASURES": "measures",
    "Known": "mixed",
    **dict.fromkeys(("AtRisk", "LeftOut", "leaving_out", "outlyingness", "records_at_risk"), "outliers"),
    **dict.fromkeys(("IndividualRisk", "PopulationUniques", "individual_risk", "population_uniques"), "population"),
    **dict.fromkeys(("Uniqueness", "uniqueness", "uniqueness_with_each"), "uniques"),
}

__getattr__ = loader(__name__, _HOMES)
