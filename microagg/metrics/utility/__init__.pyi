from .changes import (
    BINS as BINS,
    Distances as Distances,
    LEVELS as LEVELS,
    Moments as Moments,
    hellinger as hellinger,
    moments as moments,
    wasserstein as wasserstein,
)
from .correlations import IL1s as IL1s, il1s as il1s
from .measures import MEASURES as MEASURES
from .predicting import Prediction as Prediction, prediction as prediction
from .propensity_score import Propensity as Propensity, propensity as propensity
