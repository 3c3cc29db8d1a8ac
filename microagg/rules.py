"""Rules about the smallest group that some who release data must follow, as values of k."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from microagg.errors import ParameterError


def smallest_k(risk: Any) -> int:
    """Return the smallest k at which the risk of a record, 1 / k, is at most ``risk``.

    Raises
    ------
    ParameterError
        If ``risk`` is not above 0 and at most 1.

    Examples
    --------
    >>> smallest_k(0.09)
    12
    """
    if not isinstance(risk, (int, float)) or not 0 < risk <= 1:
        raise ParameterError(f"a risk of {risk} is none that a group can have: give a number above 0 and at most 1.")
    k = max(math.floor(1 / risk), 1)
    return k if 1 / k <= risk else k + 1


@dataclass(frozen=True)
class Rule:
    """A rule about the smallest group.

    Attributes
    ----------
    k : int
        The least number of records in a group that follows from it.
    who : str
        Whose rule it is, in a word or two.
    says : str
        What it asks for, as the rest of a sentence.
    source, url : str
        Where that is written.
    """

    k: int
    who: str
    says: str
    source: str
    url: str


#: Rules that are written down, ascending in k. All are about tables or reports; what they ask of a file of records is
#: read from them, so whoever must follow one has to check it.
RULES = (
    Rule(
        8,
        "NHS England",
        "counts of 1 to 7 below the national level are not shown",
        "Disclosure control methodology for Hospital Episode Statistics, 2018",
        "https://digital.nhs.uk/data-and-information/data-tools-and-services/data-services/hospital-episode-statistics/"
        "change-to-disclosure-control-methodology-for-hes-and-ecds-from-september-2018",
    ),
    Rule(
        10,
        "UK LLC",
        "no count below 10 leaves the research environment",
        "UK Longitudinal Linkage Collaboration, guidebook, Statistical Disclosure Control",
        "https://guidebook.ukllc.ac.uk/docs/user_guide/sdc",
    ),
    Rule(
        11,
        "CMS",
        "no cell of 1 to 10 is shown",
        "Centers for Medicare & Medicaid Services, Cell Size Suppression Policy, 2024",
        "https://resdac.org/node/1506",
    ),
    Rule(
        smallest_k(0.09),
        "EMA",
        "the risk of each person is at most 0.09 in published clinical reports",
        "European Medicines Agency, External guidance on the implementation of policy 0070, EMA/90915/2016",
        "https://www.ema.europa.eu/en/human-regulatory-overview/marketing-authorisation/clinical-data-publication",
    ),
)
