"""The role that a column seems to have, and whether its integers are codes.

The evidence is its label, its name in a known survey, its values, and its name's words. Each rule returns a suggestion
with its reason, or None if it does not apply; the first that applies decides. Replicate weights and a second weight
show only beside other columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from microagg.columns.kinds import CATEGORIES, NUMERIC, REPEATED, Reading, figure, interval
from microagg.columns.names import NUMBERED, PERSONAL, PSU, REPLICATE_WEIGHTS, KnownName, Words, parts, words
from microagg.columns.values import ColumnValues, are_whole
from microagg.validation import FloatArray, IntArray, counted, listing, shortened

# The share of distinct values from which text identifies records, and the one for columns named like an identifier,
# of which the second is enough if they are many.
_ID_SHARE = 0.9
_NAMED_ID_SHARE, _NAMED_IDS = 0.2, 100
# Numbers of several records each, from the first one up, are hardly counts if their name says "number".
_LEAST_REPEATED_ID = 1e5
# Names of persons and addresses have more distinct values than this; "name" may also be the name of a region.
_MIN_NAMES = 50
# The minimum number of records as evidence for record numbers and numbers of documents; their digits.
_MIN_NUMBERED = 20
_DIGITS_OF_DOCUMENTS = 8
# The upper limit of numbers of records and documents.
_LARGEST_ID = 2.0**64
# The minimum mean number of blanks in sentences.
_BLANKS_OF_SENTENCES = 5
# The maximum number of strata, and their minimum size; the minimum mean size of units of a sample that are kept.
_MOST_STRATA, _MIN_STRATUM_SIZE, _MIN_UNIT_SIZE = 100, 10, 4
# Usual body weights, in kilograms or pounds; their mean, and the most that the standard deviation is of it; a file of
# persons has more of them than this.
_BODY_WEIGHTS, _MEAN_BODY_WEIGHT, _BODY_DEVIATION, _FEWEST_BODY_WEIGHTS = (2.0, 400.0), (30.0, 250.0), 0.4, 12
_LONGEST_LABEL = 60


class Suggestion(NamedTuple):
    """A role with its reason, and the kind that the column has if its integers are codes."""

    role: str
    reason: str
    unsure: bool = False
    kind: str = ""


#: The suggestion for values that cannot be grouped, such as times with a time zone: released, they may identify.
UNREADABLE = Suggestion("identifiers", "values that cannot be grouped may tell who somebody is, so leave it out", True)


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

    @property
    def total(self) -> float:
        """The sum of the numbers of all records, 0 if the column is not numeric."""
        numbers = self.reading.numbers
        with np.errstate(over="ignore"):
            return 0.0 if numbers is None else float(np.nansum(numbers * self.values.counts))

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


_ID_PREFIX, _NUMBER_SUFFIX = re.compile(r"ID[a-z]+"), re.compile(r"(?is).*(num|nro|nmbr|number|nummer|nr)")

# Words for weights of samples in one word with "weight".
_SAMPLE_WEIGHTS_JOINED = re.compile(
    r"(final?|fin|hh|hld|samp|sample|sampling|survey|svy|design|pop|base|cal|norm|stu|sch|house|household|analysis|psp"
    r"|(?P<vague>rep|per|pers|person|ind|indiv|an|d|p|wm|ch|mn))_?(weights?|wgt|wght|wt)",
    re.IGNORECASE,
)
# Forms of codes: of diagnoses (ICD) and branches (NACE), some with a point, and of medicines (ATC).
_CODES = re.compile(r"[A-Z]\d{2}(\.\d{1,2})?[-*+!]?|[A-Z]\d{2}[A-Z]{2}\d{2}")


def suggest_role(evidence: Evidence) -> Suggestion:
    """The role that one column seems to have."""
    rules = (_unusable, _weight, _constant, _in_survey, _medical_code, _design, _identifier, _confidential)
    return next((suggestion for rule in rules if (suggestion := rule(evidence))), None) or _quasi_identifier(evidence)


def _unusable(evidence: Evidence) -> Suggestion | None:
    if evidence.values.n_distinct == 0:
        return Suggestion("others", "no record has a value here")
    return None if evidence.reading.kinds else UNREADABLE


def _constant(evidence: Evidence) -> Suggestion | None:
    values = evidence.values
    if values.n_distinct > 1 or values.n_missing:
        return None
    return Suggestion("others", f"all values are {values.texts[0]!r}: it distinguishes nobody")


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
    claim_and_total = f"{claim}, and the values add up to {figure(np.rint(evidence.total))}"
    if is_clear:
        return Suggestion("weights", f"{claim_and_total}: the weight of a record in a sample")
    span = f"{counted(len(numbers), 'distinct value')} of {values.n_present:,}"
    if evidence.word("of bodies") or words("of bodies").are_in_label(evidence.label):
        reason = f"{claim}, and it seems to be a body's ({span}): an outsider may know it"
        return Suggestion("quasi_identifiers", reason)
    if _are_body_weights(evidence):
        reason = f"{claim}; {span}: perhaps a body weight, not that of a record"
        return Suggestion("quasi_identifiers", reason, unsure=True)
    reason = f"{claim_and_total}; {span}: perhaps the weight of a record, not of a body"
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
    may_repeat = share >= _NAMED_ID_SHARE and evidence.numbers.min(initial=np.inf) >= _LEAST_REPEATED_ID
    if not claim and (_ID_PREFIX.fullmatch(name) or ((share == 1 or may_repeat) and _NUMBER_SUFFIX.fullmatch(name))):
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
    if numbers is None or np.isnan(numbers).any() or values.n_distinct < max(values.n_present, _MIN_NUMBERED):
        return None
    if not (numbers == np.floor(numbers)).all() or np.abs(numbers).max() > _LARGEST_ID:
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
        return Suggestion("confidential", f"probably the subject of the study: {claim}")
    numbers = evidence.numbers
    if (claim := evidence.claim(words("rating"))) and len(numbers) > 2 and set(numbers) <= set(range(11)):
        return Suggestion("confidential", f"{claim}, and {interval(numbers)}: an opinion")
    if claim := evidence.claim(words("income")):
        reason = f"probably the subject of the study, some values may be known: {claim}"
        return Suggestion("confidential", reason, unsure=True)
    return None


def _quasi_identifier(evidence: Evidence) -> Suggestion:
    values, reading = evidence.values, evidence.reading
    if reading.kind in CATEGORIES:
        noun = f"{values.n_distinct:,} categor{'y' if values.n_distinct == 1 else 'ies'}"
        noun += f" in {counted(values.n_present, 'record')}"
        return Suggestion("quasi_identifiers", f"{noun}: an outsider may know the category")
    return Suggestion("quasi_identifiers", f"an outsider may know this {'date' if reading.is_date else 'number'}")


# --- integers that are codes of categories ----------------------------------------------------------------------------

# Codes with a meaning, such as "1: Married, 2: Widowed"; the share of the values that such a list explains.
_CODE = re.compile(r"(?<![\d.])(-?\d{1,3})\s*[:=](?!\d)")
_MIN_EXPLAINED = 0.8
# Meanings without an order, and those with one.
_REST = re.compile(r"\b(other|unknown|missing|refused|don.t know|not? (applicable|answer|stated))\b", re.IGNORECASE)
_GRADED = re.compile(
    r"\d|\b(very|moderate\w*|little|much|less|more|low|high|never|always|often|seldom|poor|fair|good|excellent"
    r"|(dis)?agree|drop\w*)\b",
    re.IGNORECASE,
)

# Columns whose integers are codes, of which there are at most as many and of which each stands for some records.
_CODED, _CODED_SUFFIX = words("coded"), re.compile(r".*[^_\W]_?code", re.IGNORECASE)
_MOST_CODES, _RECORDS_OF_CODE = 1000, 4
# Codes of one digit that are not consecutive: their number, and the share of the records that each has. Counts, whose
# names say it, may be heaped. In fewer records for each integer, one may be rare by chance.
_MOST_DIGITS, _MIN_CODES, _MIN_SHARE, _MIN_RECORDS = 9, 3, 0.01, 10
_QUANTITY = words("quantity")


def kind_of_codes(column: Evidence) -> tuple[str, str]:
    """The kind of a column of integers that are codes, and the reason. Empty if they seem to be quantities."""
    values, numbers, row = column.values, column.reading.numbers, column.survey_name
    # Lists of codes are shorter than this.
    if column.reading.kind != NUMERIC or numbers is None or len(numbers) > 2 * _MOST_CODES:
        return "", ""
    present = column.numbers
    if not len(present) or not are_whole(present):
        return "", ""
    if len(present) == 1 and values.n > values.counts.max():
        return "nominal", "one number, or none: a category"
    if row is not None and row.kind:
        return ("", "") if row.kind == "numeric" else (row.kind, f"{row.survey} has codes here")
    if kind := _kind_in_label(present, column.label):
        return kind, "the label lists codes"
    if 2 <= len(present) <= min(_MOST_CODES, values.n_present / _RECORDS_OF_CODE):
        word = _CODED.in_name(values.name)
        if word or _CODED_SUFFIX.fullmatch(str(values.name)):
            return "nominal", f"integers, and the name says {word or str(values.name)!r}: codes"
    # Changes, and opinions for and against, are -1 in many records.
    if set(present) == {-1.0, 0.0, 1.0} and values.n_where(numbers == -1) < _MIN_SHARE * values.n_present:
        return "nominal", "-1 is rare besides 0 and 1: codes"
    counts = values.counts[~np.isnan(numbers)]
    if len(present) < _MIN_CODES or _QUANTITY.in_name(values.name) or not _has_gaps(present, counts):
        return "", ""
    codes = listing([str(int(number)) for number in np.sort(present)], _MOST_DIGITS)
    return "nominal", f"of the integers {codes} some are rare between frequent ones: codes"


def _kind_in_label(present: FloatArray, label: str) -> str:
    """Ordinal or nominal if the label lists the codes of most values, of which there are three or more."""
    codes = [float(code) for code in _CODE.findall(label)]
    if len(present) < _MIN_CODES or np.isin(present, codes).mean() < _MIN_EXPLAINED:
        return ""
    meanings = _CODE.split(label)[2::2]
    is_graded = sum(bool(_GRADED.search(meaning)) for meaning in meanings) >= len(meanings) / 2
    return "nominal" if _REST.search(" ".join(meanings)) or not is_graded else "ordinal"


def _has_gaps(present: FloatArray, counts: IntArray) -> bool:
    """Whether digits that are frequent have rare ones between them; those of rounded numbers have equal distances."""
    low, high, n = present.min(), present.max(), counts.sum()
    if low < 0 or high > _MOST_DIGITS or n < _MIN_RECORDS * (high - low):
        return False
    steps = np.diff(np.sort(present[counts >= max(_MIN_SHARE * n, REPEATED)]))
    return len(steps) >= _MIN_CODES - 1 and len(set(steps)) > 1


# --- roles that several columns show together -------------------------------------------------------------------------

# Numbered columns are replicate weights if they are at least so many, have at least so many distinct values, and means
# within this share of that of the weight.
_MIN_REPLICATES, _MIN_VALUES, _NEAR = 5, 20, 0.2


def adjust(suggestions: list[Suggestion], columns: Sequence[Evidence]) -> None:
    """Replace in place the suggestions that other columns contradict."""
    _leave_out_replicates(suggestions, columns)
    _keep_one_weight(suggestions, columns)


def _leave_out_replicates(suggestions: list[Suggestion], columns: Sequence[Evidence]) -> None:
    """Make identifiers of numbered columns that each add up to about what the weight adds up to."""
    weight = next((i for i, suggestion in enumerate(suggestions) if suggestion.role == "weights"), None)
    if weight is None or not (mean := _mean(columns[weight])):
        return
    series: dict[str, list[int]] = {}
    for i, column in enumerate(columns):
        if match := re.fullmatch(r"(.*\D)\d+", str(column.values.name), re.DOTALL):
            series.setdefault(match[1], []).append(i)
    for members in series.values():
        if len(members) < _MIN_REPLICATES:
            continue
        means = np.array([_mean(columns[i]) for i in members])
        if (np.abs(means / mean - 1) <= _NEAR).all():
            name = columns[weight].values.name
            reason = (
                f"one of {len(members)} numbered columns that each add up to about what {name!r} does: "
                "replicate weights can single out a record, so leave them out"
            )
            for i in members:
                suggestions[i] = suggestions[i]._replace(role="identifiers", reason=reason, unsure=False)


def _mean(column: Evidence) -> float:
    """Mean of a column of many numbers that are 0 or greater, NaN of any other."""
    values, numbers = column.values, column.numbers
    is_weight = values.n_distinct >= _MIN_VALUES and len(numbers) > 0 and numbers.min() >= 0
    return column.total / values.n_present if is_weight else float("nan")


def _keep_one_weight(suggestions: list[Suggestion], columns: Sequence[Evidence]) -> None:
    """Leave out all weights but the first that is clear and varies: several together single out a record."""
    weights = [i for i, suggestion in enumerate(suggestions) if suggestion.role == "weights"]
    weights.sort(key=lambda i: (columns[i].values.n_distinct < 2, suggestions[i].unsure))
    for i in weights[1:]:
        name = columns[weights[0]].values.name
        reason = f"a weight too, but {name!r} is taken for the weight of a record, so leave it out"
        suggestions[i] = suggestions[i]._replace(role="identifiers", reason=reason, unsure=True)
