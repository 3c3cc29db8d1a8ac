from . import datasets as datasets, explain as explain, metrics as metrics, optimum as optimum
from .algorithms.base import Info as Info, Microaggregator as Microaggregator, Param as Param
from .algorithms.registry import ALGORITHMS as ALGORITHMS, make as make, register as register
from .api import microaggregate as microaggregate, replay as replay
from .columns.scaling import standardize as standardize
from .columns.schema import Schema as Schema
from .errors import (
    ConstantColumnWarning as ConstantColumnWarning,
    ConvertedColumnWarning as ConvertedColumnWarning,
    DataError as DataError,
    DatasetUnavailableError as DatasetUnavailableError,
    MicroaggError as MicroaggError,
    ParameterError as ParameterError,
)
from .optimum.search import Search as Search
from .partition import Partition as Partition
from .release import Finding as Finding, Plan as Plan, Release as Release
from .studies import experiment as experiment, landscape as landscape
from .studies.bibliography import cite as cite

__version__: str
