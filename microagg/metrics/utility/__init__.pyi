from .columns import BINS as BINS, Distances as Distances, hellinger as hellinger, wasserstein as wasserstein
from .correlations import IL1s as IL1s, LEVELS as LEVELS, Moments as Moments, il1s as il1s, moments as moments
from .measures import MEASURES as MEASURES
from .models import (
    Prediction as Prediction,
    Propensity as Propensity,
    prediction as prediction,
    propensity as propensity,
)
