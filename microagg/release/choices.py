"""What can be chosen for a release: each option is declared here, once.

From :data:`OPTIONS` come the keywords of :func:`microagg.microaggregate` with their defaults and documentation, what is
checked, what a recipe holds, the programs that are made of a recipe, the flags of the shell, and what a release in
parts refuses.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from microagg.columns.scaling import SCALES
from microagg.columns.schema import column_names
from microagg.errors import ParameterError
from microagg.release import options as kinds
from microagg.release.options import Kind
from microagg.release.recoding import CATEGORIES, RANGES, RELEASE_WEIGHTS, ROUNDINGS, STATISTICS
from microagg.validation import check_k, quoted

#: Marks an option that all recipes have contained.
ALWAYS = object()


@dataclass(frozen=True)
class Option:
    """An option of a release."""

    name: str  # the keyword of microagg.microaggregate, and the key of a recipe
    kind: Kind
    help: str  # its documentation; the help of the shell has the first line
    shell: str = ""  # further help in the shell, such as an example or another default
    default: Any = None
    type: str = ""  # its type in a docstring, if the kind has none
    flag: str = ""  # a second flag of the shell
    metavar: str = ""  # name of its value in the shell's help
    before: Any = ALWAYS  # its value for recipes that do not contain it, in their form; ALWAYS if all contain it
    not_in_parts: str = ""  # advice if a release in parts does not support it; empty if it does
    # If it contains values of the file, which no report may name: a title, and the noun that counts them.
    counted: tuple[str, ...] = ()
    only_chosen: bool = False  # whether recipes contain it only if it is chosen
    deprecated: str = ""  # advice for an option that is accepted but no longer offered

    def documented(self) -> str:
        """Entry of the option in a docstring."""
        text = textwrap.fill(self.help, 112, break_long_words=False, break_on_hyphens=False)
        return f"{self.name} : {self.type or self.kind.type.format(self.default)}\n{textwrap.indent(text, '    ')}"

    def is_chosen(self, value: Any) -> bool:
        """Whether a recipe's value differs from the default. For no columns, a recipe has an empty list."""
        return value not in (self.default, [], {}, ())


#: The key of the algorithm that forms groups where none is named.
USUAL_METHOD = "least-loss"

#: Its parameters there: of numbers, half the effort, for a loss that is up to 0.4 % higher.
USUAL_PARAMS = {"effort": "moderate"}

#: All options, in the order of the keywords.
OPTIONS: tuple[Option, ...] = (
    Option(
        "quasi_identifiers",
        kinds.Columns(),
        help="Quasi-identifiers: the columns to microaggregate. Default: all numeric columns without another role, "
        "and the columns with a taxonomy or an order or named in ``dates``, ``numbers`` or ``missing_codes``.\nSee "
        ":meth:`microagg.Schema.infer`.",
        flag="--qi",
    ),
    Option("confidential", kinds.Columns(), help="Confidential attributes. They are released unchanged."),
    Option("identifiers", kinds.Columns(), help="Columns to leave out of the release, such as names.", flag="--drop"),
    Option(
        "scale",
        kinds.Word(tuple(SCALES)),
        default="zscore",
        help="The scale for distances and information loss. It is computed from all released records together, "
        'whatever their stratum. "zscore" gives each attribute mean 0 and variance 1, "minmax" scales it to the '
        'interval from 0 to 1, and "none" keeps its unit.\nMethods for mixed attributes compare values by their share '
        "of the attribute's domain in the file; this scale then sets only the reported information loss.",
    ),
    Option(
        "by",
        kinds.Columns(),
        help="Strata: records share a group only if they have equal values in these columns. Each stratum needs at "
        "least k records.",
    ),
    Option(
        "statistic",
        kinds.Word(STATISTICS),
        default="mean",
        help='The values that replace those of a group, attribute by attribute. "mean" and "median" release one '
        'typical value; "generalize" releases what the values have in common, as text.\nWith "mean" and "median", '
        "numbers and dates become their mean or median; dates are rounded to whole days, and then to the year if that "
        "is their unit. Ordered categories become the median (the lower of two), other categories the most frequent "
        'one (of equals, the first in the taxonomy). With "generalize", numbers and ordered categories become their '
        "range; ``categories`` sets what other categories become.",
    ),
    Option(
        "missing",
        kinds.Gaps(),
        default="error",
        help="The treatment of missing values before records are grouped: one word for all quasi-identifiers, or one "
        'for each named column; missing values of the other quasi-identifiers are then an error. "drop" leaves the '
        'record out of the release. "category" makes missing values of unordered categories one more category. '
        '"impute" fills in the median of the released records, or the most frequent category.\nThe report describes '
        'all of this. "category" calls the category ``missing``, or has one for each kind of missing value of a Stata '
        'or SPSS file (".a" to ".z", declared codes). "impute" takes the median of numbers and dates (the lower of '
        "two where all are whole), the lower median of ordered categories, and the most frequent of other categories "
        "(of equals, the first in the taxonomy). Missing values of columns that are no quasi-identifiers stay.",
        metavar="[COLUMN=]error|drop|category|impute",
    ),
    Option(
        "random_state",
        kinds.Seed(),
        help="The seed for methods that draw at random. Deterministic methods ignore it. The recipe contains it.",
    ),
    Option(
        "taxonomies",
        kinds.Taxonomies(),
        type="mapping of column name to taxonomy, optional",
        help="Nominal quasi-identifiers, each with its taxonomy. Quasi-identifiers that are text or unordered "
        "categories need no naming: they get a flat taxonomy of their values.\nNone stands for a flat taxonomy. See "
        ":meth:`microagg.Schema.infer` for all forms of a taxonomy.",
        shell="FILE contains the taxonomy; without FILE it is flat. Example: job=jobs.txt.",
        metavar="COLUMN[=FILE]",
        counted=("Nominal quasi-identifiers", "value"),
    ),
    Option(
        "ordinal",
        kinds.Listed(divided=True),
        type="mapping of column name to sequence, optional",
        help="Ordinal quasi-identifiers, each with its categories from the lowest to the highest.",
        metavar="COLUMN=LOW,…,HIGH",
        counted=("Ordinal quasi-identifiers", "value"),
    ),
    Option(
        "classes",
        kinds.Column(),
        help="The column with the class label of each record, such as an income bracket, for methods with a parameter "
        "that uses it. It is released unchanged, counts as confidential unless it has another role, and cannot be a "
        "quasi-identifier.",
        not_in_parts="leave it out, and name the column among the confidential ones",
    ),
    Option(
        "weights",
        kinds.Column(),
        help="The column with the weight of each record, such as the number of persons it stands for: a finite number "
        "above 0. The mean of a group becomes Σ w x / Σ w.",
        before=None,
        not_in_parts="leave it out, and name the column among the others, or take engine='memory'",
    ),
    Option(
        "others",
        kinds.Columns(),
        help="Columns that you checked and that need no other role. They are released unchanged.",
        before=(),
    ),
    Option(
        "dates",
        kinds.Mapped(named=True, usual="day"),
        type='mapping of column name to {"day", "year", "day d/m", …}, or column name or collection of them, optional',
        help="Quasi-identifiers that are dates, each with the unit of the released dates. Default: the day. If no "
        "value shows whether the day or the month comes first, add ``d/m`` or ``m/d`` after the "
        "unit.\nQuasi-identifiers of the type datetime64 need no naming. Groups are formed by the days since "
        "1970-01-01, without the time of the day, and losses are measured in these days; a released year counts as "
        "its middle. Text may say ``2001-12-31``, ``31.12.2001``, ``31/12/2001`` or ``12/31/2001``: see "
        ":func:`microagg.columns.dates.read`.",
        metavar="COLUMN[=day|year[ d/m| m/d]]",
        before=(),
    ),
    Option(
        "numbers",
        kinds.Mapped(named=True),
        type='mapping of column name to {"1,234.5", "1.234,5"} or None, or column name or collection of them, optional',
        help="Quasi-identifiers that are numbers although the file stores them as text. The release has plain "
        "numbers. Name the notation, with a decimal point or a decimal comma, if the values do not show it, as "
        "``1,234`` does not.\nNaming such a column without its notation is an error. Thousands may be apart, and "
        "there may be a currency, ``%``, or brackets in place of a minus: see :func:`microagg.columns.numerals.read`.",
        metavar="COLUMN[=1,234.5|1.234,5]",
        before=(),
    ),
    Option(
        "missing_codes",
        kinds.Listed(divided=False),
        type="mapping of column name to a value or a collection of them, optional",
        help='Codes for a missing value of a quasi-identifier, such as -999.\nWith several codes: ``{"age": ["n/a", '
        "-999]}``.",
        metavar="COLUMN=CODE",
        before=(),
        counted=("Codes for a missing value", "code"),
    ),
    Option(
        "recode",
        kinds.Recodes(),
        type="mapping of column name to mapping of values to new ones, optional",
        help="New values for values of any column. They replace spelling variants or ranges of numbers before "
        'anything else.\nExamples: ``{"sex": {"f": "female"}}`` and ``{"age": {"[40, 50)": "40-49", ">=90": "90+"}, '
        '"pay": {">9000": 9000}}``; None makes the values missing. A single value counts before a range, and the '
        "first range before the next; other values stay. All other options refer to the new values, and losses are "
        "measured from these. Numbers that become text are categories, in the order of the ranges; in parts each "
        "column keeps its type.",
        shell="Examples: sex=f=female, 'age=[40, 50)=40-49'. An empty NEW makes the value missing. Put parts with = "
        "in double quotes.",
        metavar="COLUMN=VALUE=NEW",
        before=None,
        only_chosen=True,
        counted=("Values made others beforehand", "change"),
    ),
    Option(
        "categories",
        kinds.Word(CATEGORIES),
        default="ancestor",
        help='What "generalize" makes of categories without an order: their lowest common ancestor in the taxonomy, '
        "or their set, such as ``{Divorced, Widowed}``.",
    ),
    Option(
        "ranges",
        kinds.Word(RANGES),
        default="text",
        help='How the protected file shows the ranges of numbers and dates that "generalize" makes: "text" as ``[17, '
        '23]``, "columns" as two columns such as ``age_lower`` and ``age_upper``, and "middle" as the middle of the '
        "range.\n:attr:`Release.frame` has the text.",
        before="text",
        not_in_parts="leave it out: a release in parts has ranges as text",
    ),
    Option(
        "rounding",
        kinds.Word(ROUNDINGS),
        default="none",
        help='The rounding of means and medians. "file" rounds half to even, to as many decimals as the released '
        'records have in that column; "none" does not round.\nWith "file", integers get no decimals and keep their '
        "type where the result fits into it; floats that are whole get none either. Columns with more than nine "
        "decimals and shares of booleans are not rounded.",
        shell='Default: "file" for a FILE in memory, "none" for a data set or with Dask.',
        before="none",
    ),
    Option(
        "release_weights",
        kinds.Word(RELEASE_WEIGHTS),
        default="mean",
        help='The released ``weights``. "mean" releases the mean weight of the group, which keeps its total weight; '
        '"keep" releases the weight of the record; "drop" releases none.',
        before="mean",
    ),
    Option(
        "written",
        kinds.Word(("original", "standard")),
        default="original",
        help="How a protected file of the original's kind is written.",
        before="standard",
        deprecated="leave it out. A file of the original's kind is written as the original was, another kind as the "
        "standard.",
    ),
    Option(
        "polish",
        kinds.YesNo(),
        default=False,
        help="Improve the groups by local search within their strata. Local search lowers the SSE of the scaled "
        "records, or Total-IL where there are categories, and ignores class labels.",
        before=False,
    ),
    Option(
        "diversity",
        kinds.Limits(1, math.inf, whole=True, words=("entropy",)),
        type='mapping of column name to int or ("entropy", float), optional',
        help="The minimum number of distinct values of a confidential column in each equivalence class (distinct "
        'l-diversity).\nFor example, ``{"illness": 2}``. With several columns it is p-sensitive k-anonymity. '
        '``("entropy", 1.5)`` asks for entropy l-diversity, l being exp(−Σ p ln p) over the shares p of its values. '
        'Of an identifier that records share, such as ``{"household": 5}``, it asks for records of that many '
        "households in each class. Least loss forms groups that have it; groups of other methods that lack it are "
        "merged.",
        shell="entropy:L asks for entropy l-diversity instead. Examples: illness=2, illness=entropy:1.5.",
        metavar="COLUMN=[entropy:]L",
        before=None,
        not_in_parts="take engine='memory', where all records of a class are at hand",
        only_chosen=True,
    ),
    Option(
        "closeness",
        kinds.Limits(0, 1.0, whole=False),
        type="mapping of column name to float, optional",
        help="The maximum distance between the values of a confidential column in an equivalence class and those of "
        "all released records: the earth mover's distance, from 0 to 1 (t-closeness). The distance of numbers, dates "
        "and ordered categories is computed by ranks.\nSee :func:`microagg.metrics.risk.homogeneity`. Least loss "
        "forms groups that are near enough; k-anonymity first and t-closeness first try to. Groups that are farther "
        "are merged, in the better of two orders: the cheapest pair first, or the farthest first with the nearest one.",
        metavar="COLUMN=T",
        before=None,
        not_in_parts="take engine='memory', where all records of a class are at hand",
        only_chosen=True,
    ),
    Option(
        "meanings",
        kinds.Meanings(),
        type="mapping of column name to mapping of values to what they mean, or to a taxonomy and a level, optional",
        help="What values of confidential columns mean when guarantees are counted. The released values stay "
        "unchanged.\nValues that differ by case, blanks, accents or punctuation count as one anyway, and words such "
        'as ``n/a`` as none. ``{"illness": {"A00": "gut", "A09": "gut", "-9": None}}`` makes further values one, or '
        'none. ``{"illness": {"unknown": "not tested"}}`` makes such a word a value; ``*`` stands for all values that '
        'are not named. ``{"illness": ("icd.txt", 1)}`` counts the ancestors on the first level of a taxonomy; values '
        "that it lacks count as none.",
        shell="Examples: illness=A00=gut, or illness=icd.txt:1 for the ancestors on level 1 of a taxonomy.",
        metavar="COLUMN=VALUE=MEANING|COLUMN=FILE:LEVEL",
        before=None,
        only_chosen=True,
        counted=("Values that count as others", "value"),
        not_in_parts="leave it out: a release in parts counts no values of confidential columns",
    ),
    Option(
        "labels",
        kinds.Groups(),
        help="Groups formed elsewhere, such as by :class:`microagg.Search`, for the released records in the order of "
        "the file. They replace the groups of the method.",
        before=None,
        not_in_parts="leave it out: groups found elsewhere are for files that fit into memory",
    ),
    Option(
        "shuffle",
        kinds.Shuffle(),
        help="Release the records in a random order, under a new index from 0. The order comes from 128 random bits "
        "of the operating system, which are not recorded: replaying the recipe makes the same records in another "
        'order. "recorded" stores these bits in the recipe, as a seed: whoever has the recipe can restore the order '
        "of the file. A number is a seed and is recorded too; an intruder can try all seeds below 2**64.\nTrue draws "
        "the bits without recording them. A SeedSequence of NumPy is not recorded either.",
        before=None,
        not_in_parts="leave it out, and shuffle the file beforehand, or what is released",
    ),
)


def options_by_column(columns: Collection[Hashable], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The options in ``chosen`` that concern single columns, limited to ``columns``."""
    options: dict[str, Any] = {}
    for option in OPTIONS:
        value = chosen.get(option.name)
        if isinstance(option.kind, (kinds.Limits, kinds.Recodes)):  # of other columns, too
            continue
        if isinstance(value, Mapping):
            options[option.name] = {column: setting for column, setting in value.items() if column in columns}
        elif value is not None and isinstance(option.kind, kinds.Mapped) and option.kind.of_columns:
            options[option.name] = [column for column in column_names(option.name, value) if column in columns]
    return options


def recorded() -> list[Option]:
    """The options in the order of recipes, which is that of the first recipes."""
    return sorted(OPTIONS, key=lambda option: (not option.kind.of_columns, option.name != "categories"))


@dataclass(frozen=True, eq=False)
class Choices:
    """All choices for a release, checked as far as they can be without the file."""

    k: int
    method: str | None
    params: Mapping[str, Any]  # of the method
    values: Mapping[str, Any]  # what was chosen for each of OPTIONS, by name; each is an attribute, too

    @classmethod
    def checked(
        cls, *, k: Any, method: str | None = None, method_params: Mapping[str, Any] | None = None, **keywords: Any
    ) -> Self:
        """Check the keywords of :func:`microagg.microaggregate`.

        Raises
        ------
        ParameterError
            If a keyword is unknown or out of its bounds, or a parameter is passed twice.
        """
        k = check_k(k)
        given = [(each, keywords.pop(each.name, each.default)) for each in OPTIONS]
        values = {option.name: option.kind.check(option.name, value) for option, value in given}
        if method_params is not None and not isinstance(method_params, Mapping):
            raise ParameterError(
                "method_params must be a mapping of parameters to values, such as {'gamma': 0.3}, not "
                f"{method_params!r}."
            )
        params = dict(method_params or {})
        if doubled := [name for name in keywords if name in params]:
            raise ParameterError(f"{quoted(doubled)} is given twice: in method_params, and as an argument of its own.")
        return cls(k, method, params | keywords, values)

    def __getattr__(self, name: str) -> Any:
        """Value of an option."""
        values = self.__dict__.get("values", {})
        if name not in values:
            raise AttributeError(f"there is no option {name!r}")
        return values[name]

    def with_changes(self, **changed: Any) -> Self:
        """Copy with other values for some options."""
        return replace(self, values=dict(self.values) | changed)
