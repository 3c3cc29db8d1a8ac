"""The list of all data sets, with what is known of them before they are loaded."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from microagg.errors import ParameterError

Kind = Literal["benchmark", "synthetic", "bundled", "example"]

_SDC = "https://raw.githubusercontent.com/sdcTools/sdcMicro/cf3251017482bb215f0a9abf4a930f502399fb72/data/"
_UCI_ADULT = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"


@dataclass(frozen=True)
class RemoteFile:
    """A public file, of the same name in the cache and in the user's folder, pinned by its digest and size in bytes.

    ``sha256`` has 64 hexadecimal digits, ``base_url`` ends with a slash.
    """

    name: str
    base_url: str
    sha256: str
    size: int

    @property
    def url(self) -> str:
        """The address to download from."""
        return self.base_url + self.name


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is known of a data set before it is loaded.

    Its ``name`` is that for :func:`microagg.datasets.load`, its ``title`` that to show to people. Of the ``kind``,
    "benchmark" is a published ``file`` that is downloaded once, "synthetic" generated from a seed, "bundled" part of
    scikit-learn and "example" part of microagg. The ``shape`` is the number of records and of quasi-identifiers, None
    for what a synthetic set draws from its seed, between the two numbers ``drawn``. ``description`` says what the
    records are, in two or three sentences, ``source`` where they come from and how to cite them; ``numeric`` is whether
    all quasi-identifiers are numbers, so that ``Dataset.X`` exists.
    """

    name: str
    title: str
    kind: Kind
    shape: tuple[int | None, int | None]
    drawn: tuple[int, int] | None = None
    description: str
    source: str
    numeric: bool = True
    file: RemoteFile | None = None

    @property
    def n(self) -> int | None:
        """The number of records, or None where it depends on the seed."""
        return self.shape[0]

    @property
    def d(self) -> int | None:
        """The number of quasi-identifiers, or None where it depends on the seed."""
        return self.shape[1]

    @property
    def size(self) -> str:
        """Records by quasi-identifiers in words, e.g. ``"1,080 × 13"`` or ``"100 × 4 to 8"``."""
        drawn = " to ".join(f"{count:,}" for count in self.drawn or ())
        return " × ".join(drawn if count is None else f"{count:,}" for count in self.shape)


_CASC = (
    "Brand, R., Domingo-Ferrer, J. and Mateo-Sanz, J. M.: Reference data sets to test and compare SDC methods for "
    "protection of numerical microdata (European project CASC). File as in the R package sdcMicro, "
    "https://github.com/sdcTools/sdcMicro."
)
_MDAV_STAR = "Generated as in Thaeter, F. and Reischuk, R.: Improving Anonymization Clustering."
_IMHM = (
    "Generated as in Mortazavi, R., Jalili, S. and Gohargazi, H. (2013): "
    "Multivariate microaggregation by iterative optimization."
)
_VMDAV = (
    "Generated as in Domingo-Ferrer, J., Solanas, A. and Martínez-Ballesté, A.: k-Anonymity Through Microaggregation."
)

_ENTRIES = (
    Entry(
        name="census",
        title="Census",
        kind="benchmark",
        shape=(1080, 13),
        description="1,080 persons from a public-use file of the US Bureau of the Census for 1995. The 13 attributes "
        "are incomes, taxes, contributions and a survey weight. Together with Tarragona and EIA it is the yardstick of "
        "nearly every paper on microaggregation.",
        source=_CASC,
        file=RemoteFile(
            "CASCrefmicrodata.rda", _SDC, "147d0d7fa823a384e36c2297174560e32cdbe6e39803f22f797610fb1a2993d6", 23_364
        ),
    ),
    Entry(
        name="tarragona",
        title="Tarragona",
        kind="benchmark",
        shape=(834, 13),
        description="834 companies in the area of Tarragona, Spain, in 1995. The 13 attributes are figures of their "
        "accounts: assets, debt, sales, costs and profits. A few very large companies make it the hardest of the three "
        "classic benchmarks.",
        source=_CASC,
        file=RemoteFile(
            "Tarragona.rda", _SDC, "e83def0648be5e47eaf202b4dd60dd6981591d0858fd249817b9a2cc97cf2aef", 23_860
        ),
    ),
    Entry(
        name="eia",
        title="EIA",
        kind="benchmark",
        shape=(4092, 11),
        description="4,092 monthly reports of electric utilities to the US Energy Information Administration in 1996. "
        "The quasi-identifiers are the utility's number and its revenues and sales by kind of customer; its name, the "
        "state and the date stand beside them. Reports of one utility lie close together, so little information is "
        "lost.",
        source=_CASC,
        file=RemoteFile("EIA.rda", _SDC, "8b61ceb0d1fa01d024bd62171655601abed62ff70a5e9e6fd550c43a1f76695e", 84_252),
    ),
    Entry(
        name="adult",
        title="Adult",
        kind="benchmark",
        shape=(32_561, 8),
        description="32,561 persons from the US census of 1994, 30,162 of them without a missing value. The 8 "
        "quasi-identifiers are age and seven categories such as education, occupation and native country. It is the "
        "usual test of k-anonymity for mixed data.",
        source="Becker, B. and Kohavi, R. (1996): Adult. UCI Machine Learning Repository, "
        "https://doi.org/10.24432/C5XW20. Quasi-identifiers as in Byun, J.-W., Kamra, A., Bertino, E. and Li, N.: "
        "Efficient k-Anonymization Using Clustering Techniques.",
        numeric=False,
        file=RemoteFile(
            "adult.data", _UCI_ADULT, "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", 3_974_305
        ),
    ),
    Entry(
        name="toy",
        title="Toy example",
        kind="example",
        shape=(11, 1),
        description="Eleven numbers in three plain clusters, small enough to follow an algorithm by hand. Their mean "
        "is 34 and their total sum of squares is 17,966.",
        source="Part of microagg; the example is that of Thaeter, F. and Reischuk, R.: Improving Anonymization "
        "Clustering.",
    ),
    Entry(
        name="simu",
        title="SimU",
        kind="synthetic",
        shape=(1000, 10),
        description="1,000 records spread evenly over a cube with 10 attributes. There are no clusters to find, which "
        "is the hardest case for every algorithm.",
        source=_MDAV_STAR,
    ),
    Entry(
        name="simc",
        title="SimC",
        kind="synthetic",
        shape=(None, 10),
        drawn=(533, 2800),  # 100 groups of 4..21 records, and a third as many independent ones
        description="100 tight groups of 4 to 21 records with 10 attributes, and a third as many records again that "
        "belong to no group. It rewards algorithms that let the group size vary.",
        source=_MDAV_STAR,
    ),
    Entry(
        name="sim1",
        title="Sim-1",
        kind="synthetic",
        shape=(100, 10),
        description="100 records spread evenly over a cube with 10 attributes. Small, and without clusters.",
        source=_IMHM,
    ),
    Entry(
        name="sim2",
        title="Sim-2",
        kind="synthetic",
        shape=(100, None),
        drawn=(4, 8),
        description="Five Gaussian clusters of 20 records each, whose centers lie so close that the clusters overlap. "
        "The seed draws the number of attributes (4 to 8) and the spread as well.",
        source=_IMHM,
    ),
    Entry(
        name="sim3",
        title="Sim-3",
        kind="synthetic",
        shape=(100, None),
        drawn=(4, 8),
        description="Five Gaussian clusters of 20 records each, with centers twice as far apart as in Sim-2. The seed "
        "draws the number of attributes (4 to 8) and the spread as well.",
        source=_IMHM,
    ),
    Entry(
        name="scattered",
        title="Scattered",
        kind="synthetic",
        shape=(1000, 2),
        description="1,000 points spread evenly over a square. With two attributes, groups can be seen in a plot.",
        source=_VMDAV,
    ),
    Entry(
        name="clustered",
        title="Clustered",
        kind="synthetic",
        shape=(1000, 2),
        description="1,000 points of a square in tight natural clusters of 3, 4 or 5. Methods with groups of a fixed "
        "size cut through them; methods with variable sizes can follow them.",
        source=_VMDAV,
    ),
    Entry(
        name="wine",
        title="Wine",
        kind="bundled",
        shape=(178, 13),
        description="178 Italian wines with 13 results of their chemical analysis. The column target is the cultivar "
        "(0, 1 or 2), so it shows what protection costs a classifier.",
        source="Wine recognition data, UCI Machine Learning Repository; the copy that scikit-learn bundles "
        "(load_wine).",
    ),
    Entry(
        name="breast_cancer",
        title="Breast cancer",
        kind="bundled",
        shape=(569, 30),
        description="569 tumors with 30 measurements of their cell nuclei, many of them strongly correlated. The "
        "column target is the diagnosis (0 malignant, 1 benign).",
        source="Breast cancer Wisconsin (diagnostic) data, UCI Machine Learning Repository; the copy that scikit-learn "
        "bundles (load_breast_cancer).",
    ),
    Entry(
        name="diabetes",
        title="Diabetes",
        kind="bundled",
        shape=(442, 10),
        description="442 diabetes patients with age, sex, body mass index, blood pressure and six blood serum "
        "measurements, in their original units. The column target is the progression of the disease one year later.",
        source="Efron, B., Hastie, T., Johnstone, I. and Tibshirani, R. (2004): Least Angle Regression, Annals of "
        "Statistics; the copy that scikit-learn bundles (load_diabetes).",
    ),
)

#: Every data set by name, in the order in which to list them.
CATALOG: Mapping[str, Entry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})

#: The names that :func:`microagg.datasets.load` knows, in the order in which to list them.
NAMES: tuple[str, ...] = tuple(CATALOG)


def describe(name: Any) -> Entry:
    """Return what is known of the data set ``name``, one of :data:`NAMES`, without loading it.

    :class:`~microagg.errors.ParameterError` is raised if there is no such data set; the message lists near matches.
    """
    if isinstance(name, str) and name in CATALOG:
        return CATALOG[name]
    near = difflib.get_close_matches(name.strip().lower(), NAMES) if isinstance(name, str) else []
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"choose one of {', '.join(NAMES)}."
    raise ParameterError(f"there is no data set {name!r}: {hint}")
