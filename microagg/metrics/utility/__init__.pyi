from .columns import BINS as BINS, Distances as Distances, MEASURES as MEASURES, hellinger as hellinger
from .propensity import Propensity as Propensity, propensity as propensity
