from .disclosure import (
    IndividualRisk as IndividualRisk,
    dominated as dominated,
    household_risk as household_risk,
    individual_risk as individual_risk,
    interval_disclosure as interval_disclosure,
)
from .diversity import Homogeneity as Homogeneity, homogeneity as homogeneity
from .equivalence_classes import Uniqueness as Uniqueness, uniqueness as uniqueness
from .linkage import Linkage as Linkage, mixed_linkage as mixed_linkage, record_linkage as record_linkage
from .measures import MEASURES as MEASURES
