from .disclosure import (
    Homogeneity as Homogeneity,
    dominated as dominated,
    homogeneity as homogeneity,
    interval_disclosure as interval_disclosure,
)
from .equivalence_classes import (
    IndividualRisk as IndividualRisk,
    Uniqueness as Uniqueness,
    household_risk as household_risk,
    individual_risk as individual_risk,
    uniqueness as uniqueness,
)
from .linkage import Linkage as Linkage, mixed_linkage as mixed_linkage, record_linkage as record_linkage
from .measures import MEASURES as MEASURES
