"""The stored comparison of all algorithms: what each loses on seven data sets at 22 values of k, and how fast it is.

Measured by ``benchmarks/landscape.py`` and part of the package, so that it can be read without any data or benchmark:

>>> from microagg import landscape
>>> own = landscape.duel("mdav-star", "v-mdav").set_index(["data", "k"])
>>> own.loc[("eia", 10), ["first", "second", "less"]].astype(float).round(2).to_dict()
{'first': 2.63, 'second': 3.63, 'less': 27.56}
"""

from microagg.studies.landscape import conclusions
from microagg.studies.landscape.conclusions import LESS_LOSS, LESS_TIME, duel, incomplete, matrix, pareto, results
from microagg.studies.landscape.store import (
    DATA,
    KS,
    METHODS,
    SEEDS,
    about,
    between,
    limits,
    recognize,
    runs,
    stored,
    title,
)

__all__ = [
    "DATA",
    "KS",
    "LESS_LOSS",
    "LESS_TIME",
    "METHODS",
    "SEEDS",
    "about",
    "between",
    "conclusions",
    "duel",
    "incomplete",
    "limits",
    "matrix",
    "pareto",
    "recognize",
    "results",
    "runs",
    "stored",
    "title",
]
