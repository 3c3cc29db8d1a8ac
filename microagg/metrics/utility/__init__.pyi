from .columns import BINS as BINS, Distances as Distances, hellinger as hellinger
from .measures import MEASURES as MEASURES
from .models import (
    Prediction as Prediction,
    Propensity as Propensity,
    prediction as prediction,
    propensity as propensity,
)
