"""Data sets by name: their list ``catalog.csv``, :func:`load`, and :func:`is_available` without a network.

The published benchmark files are public, but microagg may not ship them. Each is pinned by its SHA-256 sum, so the
records are those of the literature, whatever the way to this machine.
"""

from __future__ import annotations

import csv
import difflib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NoReturn

import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.columns.schema import Schema
from microagg.datasets import synthetic
from microagg.errors import DataError, DatasetUnavailableError, ParameterError
from microagg.validation import FloatArray, check_whole, numeric_matrix

#: The environment variable that names a folder with the benchmark files; microagg only ever reads there.
DATA_DIR_VARIABLE = "MICROAGG_DATA_DIR"

#: Seconds without an answer of the server after which a download fails.
TIMEOUT = 10.0

# The roles of the other columns than quasi-identifiers, in Adult as in Byun, Kamra, Bertino & Li. There education-num
# repeats education, and fnlwgt is nearly unique and would identify persons, like the names of utilities in EIA.
_ROLES: Mapping[str, Mapping[str, Any]] = {
    "adult": {
        "identifiers": ("education-num", "fnlwgt"),
        "classes": "income",
        "others": ("relationship", "capital-gain", "capital-loss", "hours-per-week"),
    },
    "eia": {"identifiers": ("UTILNAME",), "others": ("STATE", "YEAR", "MONTH")},
    **{name: {"confidential": ("target",)} for name in ("wine", "breast_cancer", "diabetes")},
}

_SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"  # of a checkout
_TAXONOMIES = (_SAMPLES if _SAMPLES.is_dir() else Path(__file__).parent) / "taxonomies"


Kind = Literal["benchmark", "synthetic", "bundled", "example"]

# The columns of ``catalog.csv`` that hold whole numbers.
_NUMBERS = ("n", "d", "least", "greatest", "size")


@dataclass(frozen=True)
class RemoteFile:
    """A public file with its digest and size in bytes, under the same name in the cache and the user's folder.

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
    """Description of a data set.

    ``name`` is that for :func:`microagg.datasets.load`, ``title`` that for people. ``kind`` is "benchmark" for a
    published ``file`` that is downloaded once, "synthetic" for a set generated from a seed, "bundled" for a part of
    scikit-learn and "example" for a part of microagg. ``shape`` is the number of records and of quasi-identifiers, or
    None if a synthetic set draws it, between the two numbers ``drawn``. ``description`` is about the records,
    ``source`` their origin with the citation. If all quasi-identifiers are numbers, ``numeric`` is True and
    ``Dataset.X`` exists.
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
    def size(self) -> str:
        """Records by quasi-identifiers in words, e.g. ``"1,080 × 13"`` or ``"100 × 4 to 8"``."""
        drawn = " to ".join(f"{count:,}" for count in self.drawn or ())
        return " × ".join(drawn if count is None else f"{count:,}" for count in self.shape)


def _entry(row: dict[str, Any]) -> Entry:
    numbers: dict[str, Any] = {name: int(row[name]) if row[name] else None for name in _NUMBERS}
    return Entry(
        **{name: row[name] for name in ("name", "title", "kind", "description", "source")},
        shape=(numbers["n"], numbers["d"]),
        drawn=(numbers["least"], numbers["greatest"]) if row["least"] else None,
        numeric=row["numeric"] == "1",
        file=RemoteFile(row["file"], row["base_url"], row["sha256"], numbers["size"]) if row["file"] else None,
    )


def _entries() -> dict[str, Entry]:
    with Path(__file__).with_name("catalog.csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: _entry(row) for row in csv.DictReader(file)}


#: Every data set by name, in the order of lists.
CATALOG: Mapping[str, Entry] = MappingProxyType(_entries())

#: The names for :func:`microagg.datasets.load`, in the order of lists.
NAMES: tuple[str, ...] = tuple(CATALOG)


def describe(name: Any) -> Entry:
    """Description of a data set, without loading it.

    Parameters
    ----------
    name : str
        One of :data:`NAMES`.

    Raises
    ------
    ParameterError
        If the name is unknown. The message lists near matches.
    """
    if isinstance(name, str) and name in CATALOG:
        return CATALOG[name]
    near = difflib.get_close_matches(name.strip().lower(), NAMES) if isinstance(name, str) else []
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"choose one of {', '.join(NAMES)}."
    raise ParameterError(f"there is no data set {name!r}: {hint}")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Records with the roles of their columns in the literature.

    ``frame`` has all columns in their original units and order, with an index 0..n-1; ``quasi_identifiers`` are those
    of the benchmark. ``seed`` is that of a synthetic set, otherwise None. The other fields are as in
    :class:`microagg.datasets.Entry`.
    """

    name: str
    title: str
    frame: pd.DataFrame = field(repr=False)
    quasi_identifiers: tuple[str, ...]
    description: str = field(repr=False)
    source: str = field(repr=False)
    seed: int | None = None

    @property
    def X(self) -> FloatArray:  # noqa: N802 - scikit-learn's name for the data
        """The quasi-identifiers as a fresh float array, shape (n, d), in their original units.

        Raises
        ------
        DataError
            If one has categories instead of numbers, as in the set ``adult``.
        """
        text = [name for name in self.quasi_identifiers if not is_numeric_dtype(self.frame[name])]
        if text:
            listed = ", ".join(repr(name) for name in text)
            raise DataError(
                f"the data set {self.name!r} has categorical quasi-identifiers ({listed}), so there is no numeric "
                "matrix of them: use .schema.records(.frame), or choose numeric columns of .frame."
            )
        return numeric_matrix(self.frame, self.quasi_identifiers)

    @cached_property
    def schema(self) -> Schema:
        """The roles of all columns and the kinds of the quasi-identifiers.

        These are numeric but for ``adult``: there ``age`` is numeric, ``education`` ordinal by ``education-num``, and
        the other six nominal with the taxonomies in ``sample_data/taxonomies/adult``; ``income`` is the class. To leave
        out records with missing values, call ``data.schema.records(data.frame, missing="drop")``. Identifiers, which a
        release leaves out, are ``education-num`` and ``fnlwgt`` of ``adult`` and the names of the utilities of ``eia``;
        ``target`` of the sets of scikit-learn is confidential.
        """
        roles = _ROLES.get(self.name, {})
        if self.name != "adult":
            return Schema(self.quasi_identifiers, **roles)
        columns = self.frame[["education", "education-num"]].drop_duplicates().sort_values("education-num")
        nominal = [column for column in self.quasi_identifiers if column not in {"age", "education"}]
        files = {column: _TAXONOMIES / self.name / f"{column}.txt" for column in nominal}
        return Schema.infer(
            self.frame,
            self.quasi_identifiers,
            **roles,
            taxonomies=files,
            ordinal={"education": columns["education"].tolist()},
        )

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.frame)

    @property
    def d(self) -> int:
        """The number of quasi-identifiers."""
        return len(self.quasi_identifiers)


def load(name: str, *, seed: int | None = None, download: bool = True) -> Dataset:
    """Load a data set.

    A benchmark file comes from the folder in the environment variable ``MICROAGG_DATA_DIR``, from the cache, or from a
    download into the cache. Its SHA-256 sum is checked every time. All other sets need neither a file nor a network.

    Parameters
    ----------
    name : str
        One of :data:`microagg.datasets.NAMES`.
    seed : int, optional
        The seed of a synthetic set, by default 0. Other sets have no seed.
    download : bool, default True
        Whether a benchmark file may be downloaded.

    Raises
    ------
    ParameterError
        If the name is unknown, the seed is not a whole number from 0, or the set has no seed.
    DatasetUnavailableError
        If a benchmark file is neither on this machine nor can be downloaded, or is not the published file.

    Examples
    --------
    >>> from microagg import datasets
    >>> datasets.load("simu", seed=7).X.shape
    (1000, 10)
    """
    entry = describe(name)
    if entry.kind == "synthetic":
        seed = 0 if seed is None else check_whole("seed", seed, 0)
        frame = synthetic.generate(entry.name, seed)
    elif seed is not None:
        raise ParameterError(
            f"the data set {name!r} takes no seed: leave it out, only synthetic sets are drawn from one."
        )
    elif entry.file is not None:
        path = locate(entry.file, download=download)
        frame = _read_adult(path) if entry.name == "adult" else _read_rda(path)
    else:
        frame = synthetic.read(entry.name)
    roles = _ROLES.get(entry.name, {}).values()
    named = {name for names in roles for name in ([names] if isinstance(names, str) else names)}
    quasi_identifiers = tuple(column for column in frame.columns if column not in named)
    return Dataset(entry.name, entry.title, frame, quasi_identifiers, entry.description, entry.source, seed)


def is_available(name: str) -> bool:
    """Whether :func:`load` needs no network for a data set.

    Parameters
    ----------
    name : str
        One of :data:`NAMES`.

    Returns
    -------
    bool
        For a benchmark file, presence and size count. Only :func:`load` computes its checksum, so that lists of data
        sets are fast.

    Raises
    ------
    ParameterError
        If the name is unknown.
    """
    file = describe(name).file
    try:
        return file is None or ((path := _find(file)) is not None and path.stat().st_size == file.size)
    except OSError:
        return False


# --- benchmark files --------------------------------------------------------------------------------------------------

_ADULT_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)


def cache_folder() -> Path:
    """Return the folder for downloads of benchmark files, which may not exist yet.

    It is ``sample_data/cache`` of a checkout, or the user's cache folder for an installed microagg.
    """
    cache = _SAMPLES / "cache"
    if _SAMPLES.is_dir() and os.access(cache if cache.is_dir() else _SAMPLES, os.W_OK):
        return cache
    import pooch

    return Path(pooch.os_cache("microagg"))


def locate(file: RemoteFile, *, download: bool = True) -> Path:
    """Return the path of ``file`` on this machine, after a check of its digest and perhaps a download."""
    path = _find(file)
    if path is None and not download:
        _give_up(file, "and downloading is switched off")
    # A damaged file in the cache is fetched again; one in the user's folder is reported.
    if path is None or (download and path.parent == cache_folder() and _sha256(path) != file.sha256):
        return _download(file)
    if _sha256(path) != file.sha256:
        raise DatasetUnavailableError(
            f"the file {str(path)!r} is not the published {file.name}: its SHA-256 sum is not {file.sha256}; "
            f"replace it with the file from {file.url}, or remove it."
        )
    return path


def _read_adult(path: Path) -> pd.DataFrame:
    missing: dict[str, Any] = {"na_values": ["?"], "keep_default_na": False}
    return pd.read_csv(path, header=None, names=_ADULT_COLUMNS, skipinitialspace=True, encoding="ascii", **missing)


def _find(file: RemoteFile) -> Path | None:
    folders = [cache_folder()]
    if named := os.environ.get(DATA_DIR_VARIABLE):
        folders.insert(0, Path(named).expanduser())
    return next((folder / file.name for folder in folders if (folder / file.name).is_file()), None)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DatasetUnavailableError(
            f"the file {str(path)!r} cannot be read ({reason}): check its permissions, or remove it."
        ) from None


def _download(file: RemoteFile) -> Path:
    """Download a file into the cache, and check its digest."""
    import pooch
    import requests

    folder, downloader = cache_folder(), pooch.HTTPDownloader(timeout=TIMEOUT)
    try:
        return Path(pooch.retrieve(file.url, f"sha256:{file.sha256}", file.name, folder, downloader=downloader))
    except requests.RequestException as error:
        answer = type(error).__name__ if error.response is None else error.response.status_code
        _give_up(file, f"and its address did not send it ({answer})")
    except OSError as error:
        _give_up(file, f"and it cannot be written to {str(folder)!r} ({error.strerror or type(error).__name__})")
    except ValueError:
        # pooch has thrown the download away already, so nothing wrong is left behind.
        raise DatasetUnavailableError(
            f"what {file.url} sent is not the published {file.name}: its SHA-256 sum is not {file.sha256}; "
            f"try again later, or put the right file into {str(folder)!r} by hand."
        ) from None


def _give_up(file: RemoteFile, reason: str) -> NoReturn:
    """Raise the error for a file that is not here and cannot be downloaded."""
    raise DatasetUnavailableError(
        f"the file {file.name} is not on this machine {reason}: download it from {file.url} and put it into "
        f"{str(cache_folder())!r}, or into a folder that the environment variable {DATA_DIR_VARIABLE} names."
    ) from None


def _read_rda(path: Path) -> pd.DataFrame:
    import rdata

    (frame,) = rdata.read_rda(path).values()
    assert isinstance(frame, pd.DataFrame)
    plain: dict[str, Any] = {}
    for name, column in frame.items():
        # R's integers arrive as a nullable type and its factors as categories; with nothing missing, plain types do.
        is_integer = isinstance(column.dtype, pd.Int32Dtype)
        plain[str(name)] = column.to_numpy(dtype="int64") if is_integer else column.astype("str").to_numpy()
    return pd.DataFrame(plain)
