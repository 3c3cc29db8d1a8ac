from .columns import BINS as BINS, Distances as Distances, MEASURES as MEASURES, hellinger as hellinger
from .models import (
    Prediction as Prediction,
    Propensity as Propensity,
    prediction as prediction,
    propensity as propensity,
)
