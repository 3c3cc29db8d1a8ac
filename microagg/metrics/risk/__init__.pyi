from .disclosure import (
    AtRisk as AtRisk,
    Intervals as Intervals,
    LeftOut as LeftOut,
    dominated as dominated,
    interval_disclosure as interval_disclosure,
    leaving_out as leaving_out,
    outlyingness as outlyingness,
    records_at_risk as records_at_risk,
)
from .diversity import Homogeneity as Homogeneity, homogeneity as homogeneity
from .equivalence_classes import (
    Uniqueness as Uniqueness,
    uniqueness as uniqueness,
    uniqueness_with_each as uniqueness_with_each,
)
from .linkage import Linkage as Linkage, record_linkage as record_linkage
from .measures import MEASURES as MEASURES
from .mixed_linkage import Known as Known
from .reidentification import (
    household_risk as household_risk,
    individual_risk as individual_risk,
    IndividualRisk as IndividualRisk,
    population_uniques as population_uniques,
    PopulationUniques as PopulationUniques,
)
