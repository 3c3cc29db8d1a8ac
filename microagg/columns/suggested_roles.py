"""The role that one column seems to have: by its label, its name in a known survey, its values, and its name's words.

Each rule returns a suggestion with its reason, or None if it does not apply; the first that applies decides. What only
several columns show together stands in :mod:`microagg.columns.structure`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from microagg.columns.kinds import CATEGORIES, Reading, figure, interval
from microagg.columns.names import NUMBERED, PERSONAL, PSU, REPLICATE_WEIGHTS, KnownName, Words, parts, words
from microagg.columns.values import ColumnValues, are_whole
from microagg.validation import FloatArray, counted, shortened

# The share of distinct values from which text identifies records, and the one for columns named like an identifier,
# of which the second is enough if they are many.
_ID_SHARE = 0.9
_NAMED_ID_SHARE, _NAMED_IDS = 0.2, 100
# Names of persons and addresses have more distinct values than this; "name" may also be the name of a region.
_MIN_NAMES = 50
# The minimum number of records as evidence for record numbers and numbers of documents.
_MIN_RECORDS = 20
_DIGITS_OF_DOCUMENTS = 8
# The upper limit of numbers of records and documents.
_LARGEST_ID = 2.0**63
# The minimum mean number of blanks in sentences.
_BLANKS_OF_SENTENCES = 5
# The maximum number of strata, and their minimum size; the minimum mean size of units of a sample that are kept.
_MOST_STRATA, _MIN_STRATUM_SIZE, _MIN_UNIT_SIZE = 100, 10, 4
# Usual body weights, in kilograms or pounds; their mean, and the most that the standard deviation is of it; a file of
# persons has more of them than this.
_BODY_WEIGHTS, _MEAN_BODY_WEIGHT, _BODY_DEVIATION, _FEWEST_BODY_WEIGHTS = (2.0, 400.0), (30.0, 250.0), 0.4, 12
# How near to 1 the mean of weights is that add up to the number of records.
_NEAR_ONE = 0.02
_LONGEST_LABEL = 60


class Suggestion(NamedTuple):
    """A role with its reason, and the kind that the column has if its integers are codes."""

    role: str
    reason: str
    unsure: bool = False
    kind: str = ""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of one column."""

    values: ColumnValues
    reading: Reading
    label: str = ""  # that a file of Stata or SPSS gives it
    survey_name: KnownName | None = None

    @property
    def numbers(self) -> FloatArray:
        """The distinct numbers that are not missing, empty if the column is not numeric."""
        numbers = self.reading.numbers
        return np.array([]) if numbers is None else numbers[~np.isnan(numbers)]

    def word(self, group: str) -> str | None:
        """The first word of a group in the name, None if there is none."""
        return words(group).in_name(self.values.name)

    def claim(self, in_name: Words, in_label: Words | None = None) -> str:
        """Clause on the first of these words in the name, or on the label that has some. Empty if there is none."""
        if word := in_name.in_name(self.values.name):
            return f"the name says {word!r}"
        return self.label_says if self.label and (in_label or in_name).are_in_label(self.label) else ""

    @property
    def label_says(self) -> str:
        """Clause that quotes the label."""
        return f"the label says {shortened(self.label, _LONGEST_LABEL)!r}"


_ID_PREFIX, _NUMBER_SUFFIX = re.compile(r"ID[a-z]+"), re.compile(r".*(num|nro|nmbr|number)", re.DOTALL)

# Beginnings of words that "weight" ends, and words for weights of samples and of bodies.
_SAMPLE_WEIGHTS_JOINED = re.compile(
    r"(final?|fin|hh|hld|samp|sample|sampling|survey|svy|design|pop|base|cal|norm|stu|sch|house|household|analysis|psp"
    r"|(?P<vague>rep|per|pers|person|ind|indiv|an|d|p|wm|ch|mn))_?(weights?|wgt|wght|wt)",
    re.IGNORECASE,
)
# Forms of codes: of diagnoses (ICD) and branches (NACE), some with a point, and of medicines (ATC).
_WITH_POINT = re.compile(r"[A-Z]\d{2}\.\d{1,2}[-*+!]?")
_CODES = re.compile(rf"[A-Z]\d{{2}}[-*+!]?|{_WITH_POINT.pattern}|[A-Z]\d{{2}}[A-Z]{{2}}\d{{2}}")


def suggest_role(evidence: Evidence) -> Suggestion:
    """The role that one column seems to have."""
    rules = (_without_values, _weight, _constant, _in_survey, _medical_code, _design, _identifier, _confidential)
    return next((suggestion for rule in rules if (suggestion := rule(evidence))), None) or _quasi_identifier(evidence)


def _without_values(evidence: Evidence) -> Suggestion | None:
    if evidence.values.n_distinct == 0:
        return Suggestion("others", "no record has a value here")
    return None if evidence.reading.kinds else Suggestion("others", "")


def _constant(evidence: Evidence) -> Suggestion | None:
    if evidence.values.n_distinct > 1:
        return None
    (value,) = evidence.values.values(np.ones(1, dtype=np.bool_))
    return Suggestion("others", f"all values are {value!r}: it distinguishes nobody")


def _in_survey(evidence: Evidence) -> Suggestion | None:
    """The role in a survey that is known; :func:`_weight` has examined weights."""
    row = evidence.survey_name
    if row is None or row.role in ("weights", REPLICATE_WEIGHTS):
        return None
    if row.role == PSU:
        return _unit(evidence, row.sentence)
    if row.role == "strata":
        return _strata(evidence, row.sentence)
    note = "; an outsider may know it" if row.role == "quasi_identifiers" else ""
    return Suggestion(row.role, row.sentence + note)


# --- weights ----------------------------------------------------------------------------------------------------------


def _weight(evidence: Evidence) -> Suggestion | None:
    """Weights of records by what the label, the survey or the name says, unless values are those of bodies."""
    row, values = evidence.survey_name, evidence.values
    if row is not None and row.role not in ("weights", REPLICATE_WEIGHTS):
        return None
    claim, is_clear = _claim_of_weight(evidence)
    if not claim:
        return None
    numbers = evidence.numbers
    if is_clear and evidence.reading.offers and (not len(numbers) or evidence.reading.offers[0].n_codes):
        reason = f"{claim}, but it holds text, of which not all is clearly a number: left out"
        return Suggestion("identifiers", reason, unsure=True)
    if not len(numbers) or numbers.min() < 0 or numbers.max() <= 0:
        return None
    if (row is not None and row.role == REPLICATE_WEIGHTS) or (is_clear and evidence.word("replicate")):
        return Suggestion("identifiers", f"{claim}: a replicate weight, which can single out a record, so leave it out")
    if len(numbers) <= 2 and set(numbers) <= {0.0, 1.0}:
        return None
    if is_clear:
        return Suggestion("weights", f"{claim}{_total(evidence)}: the weight of a record in a sample")
    span = f"{counted(len(numbers), 'distinct value')} of {values.n_present:,}, {interval(numbers)}"
    if evidence.word("of bodies") or words("of bodies").are_in_label(evidence.label):
        reason = f"{claim}, and it seems to be a body's ({span}): an outsider may know it"
        return Suggestion("quasi_identifiers", reason)
    if _are_body_weights(evidence):
        reason = f"{claim}; {span}: perhaps a body weight, not that of a record"
        return Suggestion("quasi_identifiers", reason, unsure=True)
    reason = f"{claim}; {span}{_total(evidence)}: perhaps the weight of a record, not of a body"
    return Suggestion("weights", reason, unsure=True)


def _claim_of_weight(evidence: Evidence) -> tuple[str, bool]:
    """Clause on what says that a column has weights, empty if nothing does, and whether only records have such."""
    name, label = evidence.values.name, evidence.label
    if evidence.survey_name is not None:
        return evidence.survey_name.sentence, True
    is_labelled, has_label_of_body = (words(group).are_in_label(label) for group in ("weight", "of bodies"))
    if is_labelled and not has_label_of_body:
        may_be_of_sample = words("perhaps of samples").are_in_label(label) and not _are_body_weights(evidence)
        if may_be_of_sample or words("of samples").are_in_label(label):
            return evidence.label_says, True
    is_of_body = has_label_of_body or evidence.word("of bodies") is not None
    if word := evidence.word("sample weight"):
        return f"the name says {word!r}", not is_of_body
    joined = [match for part in (str(name), *parts(name)) if (match := _SAMPLE_WEIGHTS_JOINED.fullmatch(part))]
    if not is_of_body and (joined or str(name).lower() == "pw" or evidence.word("replicate")):
        is_vague = any(match["vague"] for match in joined) and _are_body_weights(evidence)
        return f"the name says {str(name)!r}", not is_vague
    if word := evidence.word("weight"):
        return f"the name says {word!r}", evidence.word("of samples") is not None and not is_of_body
    return (evidence.label_says if is_labelled else ""), False


def _total(evidence: Evidence) -> str:
    """Clause on what the weights of all records add up to."""
    values, numbers = evidence.values, evidence.reading.numbers
    if numbers is None or not values.n_present:
        return ""
    total = float(np.nansum(numbers * values.counts))
    if abs(total / values.n_present - 1) <= _NEAR_ONE:
        return ", and the values add up to the number of records"
    return f", and the values add up to {f'{total / 1e6:,.1f} million' if total >= 1e6 else figure(round(total))}"


def _are_body_weights(evidence: Evidence) -> bool:
    """Whether weights may be of bodies: of their size, and rounded, or spread like those of adults."""
    numbers, values = evidence.numbers, evidence.values
    if not len(numbers) or numbers.min() < _BODY_WEIGHTS[0] or numbers.max() > _BODY_WEIGHTS[1]:
        return False
    if len(numbers) < _FEWEST_BODY_WEIGHTS <= values.n_present / 10:
        return False
    if (numbers == np.round(numbers)).all():
        return True
    low, high = _MEAN_BODY_WEIGHT
    is_spread = low <= numbers.mean() <= high and numbers.std() <= _BODY_DEVIATION * numbers.mean()
    return len(numbers) > 1 and (is_spread or bool(np.allclose(numbers, np.round(numbers, 1), atol=1e-9)))


# --- the design of a sample -------------------------------------------------------------------------------------------


def _design(evidence: Evidence) -> Suggestion | None:
    """Strata, units of the sample, and sizes of strata, which a release must not tell unchanged."""
    if claim := evidence.claim(words("stratum")):
        return _strata(evidence, claim)
    if claim := evidence.claim(words("unit")):
        return _unit(evidence, claim)
    if claim := evidence.claim(words("correction")):
        reason = f"{claim}: the size of a stratum tells which one, so leave it out"
        return Suggestion("identifiers", reason, unsure=True)
    return None


def _strata(evidence: Evidence, claim: str) -> Suggestion:
    n, values = evidence.values.n_distinct, evidence.values
    if 2 <= n <= _MOST_STRATA and values.counts.min() >= _MIN_STRATUM_SIZE:
        reason = f"{claim}; {n} strata of {values.counts.min():,} records or more"
        return Suggestion("strata", reason, kind="nominal")
    return _unit(evidence, claim)


def _unit(evidence: Evidence, claim: str) -> Suggestion:
    """A unit of the sample that is too small for a stratum: it narrows down where somebody lives."""
    values = evidence.values
    reason = f"{claim}: a variable of the sample's design, which narrows down where a person lives"
    if values.n_present < _MIN_UNIT_SIZE * values.n_distinct:
        return Suggestion("identifiers", f"{reason}, with few records each, so leave it out", unsure=True)
    return Suggestion("quasi_identifiers", reason, unsure=True, kind="nominal")


# --- identifiers ------------------------------------------------------------------------------------------------------


def _identifier(evidence: Evidence) -> Suggestion | None:
    values = evidence.values
    for rule in (_named_identifier, _identifying_text, _identifying_numbers):
        if reason := rule(evidence):
            is_rare = rule is _named_identifier and values.n_distinct < _NAMED_ID_SHARE * values.n_present
            unsure = is_rare and not PERSONAL.in_name(values.name)
            text = f"{values.n_distinct:,} distinct of {values.n_present:,}{reason}"
            # Numbers of villages are codes even if somebody keeps them.
            return Suggestion("identifiers", text, unsure, kind="nominal" if unsure else "")
    return None


def _named_identifier(evidence: Evidence) -> str | None:
    values, reading, name = evidence.values, evidence.reading, str(evidence.values.name)
    share = values.n_distinct / values.n_present
    claim = evidence.claim(NUMBERED)
    if not claim and (_ID_PREFIX.fullmatch(name) or (share == 1 and _NUMBER_SUFFIX.fullmatch(name))):
        claim = f"the name is {name!r}"
    is_many = share >= _NAMED_ID_SHARE or values.n_distinct > _NAMED_IDS
    if claim and is_many and not reading.is_date and (reading.numbers is None or are_whole(evidence.numbers)):
        return f", and {claim}: looks like an identifier"
    word = PERSONAL.in_name(values.name)
    # A name of a person is a column called "name", or one whose name has also a word for persons.
    if not word and (parts(values.name) in (("name",), ("names",)) or evidence.word("of persons")):
        word = next((part for part in parts(values.name) if part in ("name", "names")), None)
    is_identifying = values.n_distinct > _MIN_NAMES or share >= _ID_SHARE
    if word and is_identifying and not reading.is_date and reading.numbers is None:
        return f", and the name says {word!r}: looks like names or addresses"
    return None


def _identifying_text(evidence: Evidence) -> str | None:
    """Text that differs in nearly every record, e-mail addresses, and sentences."""
    values, reading = evidence.values, evidence.reading
    if reading.kind not in CATEGORIES or reading.numbers is not None or reading.is_code:
        return None
    texts, share = values.texts, values.n_distinct / values.n_present
    if sum("@" in text for text in texts) >= _ID_SHARE * len(texts):
        return ", e-mail addresses: looks like an identifier"
    if share >= 0.5 and sum(text.count(" ") for text in texts) >= _BLANKS_OF_SENTENCES * len(texts):
        return ", in sentences: free text may tell who somebody is, so leave it out"
    reading_name = "numbers" if reading.offers else "dates" if reading.unclear else ""
    exception = f", unless it is read as {reading_name}" if reading_name else ""
    return f": looks like an identifier{exception}" if share >= _ID_SHARE else None


def _identifying_numbers(evidence: Evidence) -> str | None:
    """Consecutive numbers of records, and long numbers of documents."""
    values, numbers = evidence.values, evidence.reading.numbers
    if numbers is None or np.isnan(numbers).any() or values.n_distinct < max(values.n_present, _MIN_RECORDS):
        return None
    if not (numbers == np.floor(numbers)).all() or np.abs(numbers).max() >= _LARGEST_ID:
        return None
    # Distinct values are in the order of the records.
    steps = np.diff(numbers)
    if np.ptp(numbers) == len(numbers) - 1 or ((steps > 0).all() and np.ptp(numbers) <= 2 * values.n):
        return f", {interval(numbers)} in a row: looks like the number of a record"
    digits = {len(f"{abs(value):.0f}") for value in (numbers.min(), numbers.max())}
    if numbers.min() > 0 and len(digits) == 1 and min(digits) >= _DIGITS_OF_DOCUMENTS:
        return f", of {digits.pop()} digits each: looks like an identifier"
    return None


# --- confidential attributes and quasi-identifiers ------------------------------------------------------------


def _medical_code(evidence: Evidence) -> Suggestion | None:
    """Text with codes of diagnoses, branches or medicines, with any number of distinct values."""
    values, reading = evidence.values, evidence.reading
    if reading.kind not in CATEGORIES or reading.numbers is not None or values.n_distinct < 2:
        return None
    fits = np.array([_CODES.fullmatch(text) is not None for text in values.texts], dtype=np.bool_)
    long_codes = [text for text in values.texts[fits] if len(text) > len("A00-")]
    if not long_codes or values.n_where(fits) < _ID_SHARE * values.n_present:
        return None
    reason = f"codes such as {long_codes[0]!r}, as of diagnoses, branches or medicines (ICD, NACE, ATC)"
    return Suggestion("confidential", reason)


def _confidential(evidence: Evidence) -> Suggestion | None:
    if claim := evidence.claim(words("health", "beliefs", "classified"), words("health", "beliefs")):
        return Suggestion("confidential", f"{claim}: probably the subject of the study")
    numbers = evidence.numbers
    if (claim := evidence.claim(words("rating"))) and len(numbers) > 2 and set(numbers) <= set(range(11)):
        return Suggestion("confidential", f"{claim}, and {interval(numbers)}: an opinion")
    if claim := evidence.claim(words("income")):
        reason = f"{claim}: probably the subject of the study; an outsider may know some values"
        return Suggestion("confidential", reason, unsure=True)
    return None


def _quasi_identifier(evidence: Evidence) -> Suggestion:
    values, reading = evidence.values, evidence.reading
    if reading.kind in CATEGORIES:
        noun = f"{values.n_distinct:,} categories in {counted(values.n_present, 'record')}"
        return Suggestion("quasi_identifiers", f"{noun}: an outsider may know the category of a person")
    return Suggestion("quasi_identifiers", f"an outsider may know this {'date' if reading.is_date else 'number'}")
