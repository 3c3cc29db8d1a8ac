"""The published benchmark files: where they are looked for, how they are fetched once, and how they are read.

The files are public, but not ours to ship. Each is pinned by its SHA-256 sum, so whatever way it came to this machine,
the records are those of the literature.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from microagg.datasets.catalog import Entry, RemoteFile
from microagg.errors import DatasetUnavailableError, MicroaggError

#: Called with (bytes done, bytes in total) during a download.
Progress = Callable[[int, int], None]

#: The environment variable that names a folder with the benchmark files; microagg only ever reads there.
DATA_DIR_VARIABLE = "MICROAGG_DATA_DIR"

#: Seconds without any answer from the server after which a download is given up.
TIMEOUT = 10.0

_CHUNK = 1 << 16

_ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
# All others are quasi-identifiers, as in Byun, Kamra, Bertino & Li.
_ADULT_OTHERS = {"fnlwgt", "education-num", "relationship", "capital-gain", "capital-loss", "hours-per-week", "income"}


def cache_folder() -> Path:
    """Return the folder into which benchmark files are downloaded.

    Returns
    -------
    Path
        ``sample_data/cache`` of a checkout, or the user's cache folder where microagg is installed without one. It need
        not exist yet.
    """
    samples = Path(__file__).resolve().parents[2] / "sample_data"
    cache = samples / "cache"
    if samples.is_dir() and os.access(cache if cache.is_dir() else samples, os.W_OK):
        return cache
    import pooch

    return Path(pooch.os_cache("microagg"))


def is_present(file: RemoteFile) -> bool:
    """Whether ``file`` is on this machine with its published size; the checksum is not computed."""
    path = _find(file)
    try:
        return path is not None and path.stat().st_size == file.size
    except OSError:
        return False


def locate(file: RemoteFile, *, download: bool = True, progress: Progress | None = None) -> Path:
    """Return the path of ``file`` on this machine, its checksum checked; see :func:`microagg.datasets.load`.

    It is looked for in the folder of ``MICROAGG_DATA_DIR`` first, then in the cache, and else downloaded if allowed.

    Raises
    ------
    DatasetUnavailableError
        If the file is not there and could not be fetched, or if its checksum is wrong.
    """
    path = _find(file)
    if path is None and not download:
        _give_up(file, "and downloading is switched off")
    # A damaged file in our own cache is fetched again; one in the user's folder is reported, and left to the user.
    if path is None or (download and path.parent == cache_folder() and _sha256(path) != file.sha256):
        return _download(file, progress)
    if _sha256(path) != file.sha256:
        raise DatasetUnavailableError(
            f"the file {str(path)!r} is not the published {file.name}: its SHA-256 sum is not {file.sha256}; "
            f"replace it with the file from {file.url}, or remove it."
        )
    return path


def read(
    entry: Entry, *, download: bool = True, progress: Progress | None = None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return all columns of a benchmark and the names of its quasi-identifiers.

    Raises
    ------
    DatasetUnavailableError
        As :func:`locate`.
    """
    assert entry.file is not None, "every benchmark has a file"
    path = locate(entry.file, download=download, progress=progress)
    if entry.name == "adult":
        return _read_adult(path), tuple(name for name in _ADULT_COLUMNS if name not in _ADULT_OTHERS)
    frame = _read_rda(path)
    columns = tuple(frame.columns)
    # Attributes 1 and 6..15 of EIA; the others are a name, a state and a date.
    return frame, (columns[0], *columns[5:]) if entry.name == "eia" else columns


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


def _download(file: RemoteFile, progress: Progress | None) -> Path:
    import pooch
    import requests

    folder = cache_folder()

    def fetch(url: str, target: Any, _: Any) -> None:
        meter = _Meter(file.size, progress) if progress is not None else False
        try:
            pooch.HTTPDownloader(progressbar=meter, chunk_size=_CHUNK, timeout=TIMEOUT)(url, target, None)
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else "with an error"
            _give_up(file, f"and the server answered {status}")
        except requests.Timeout:
            _give_up(file, f"and the server did not answer within {TIMEOUT:g} seconds")
        except requests.RequestException:
            _give_up(file, "and the address cannot be reached")

    try:
        return Path(pooch.retrieve(file.url, f"sha256:{file.sha256}", fname=file.name, path=folder, downloader=fetch))
    except MicroaggError:
        raise
    except OSError as error:
        _give_up(file, f"and it cannot be written to {str(folder)!r} ({error.strerror or type(error).__name__})")
    except ValueError as error:
        # pooch has thrown the download away already, so nothing wrong is left behind.
        if "hash" not in str(error).lower():
            raise
        raise DatasetUnavailableError(
            f"what {file.url} sent is not the published {file.name}: its SHA-256 sum is not {file.sha256}; "
            f"try again later, or put the right file into {str(folder)!r} by hand."
        ) from None


def _give_up(file: RemoteFile, why: str) -> NoReturn:
    """Raise the error for a file that is neither here nor can be fetched."""
    raise DatasetUnavailableError(
        f"the file {file.name} is not on this machine {why}: download it from {file.url} and put it into "
        f"{str(cache_folder())!r}, or into a folder that the environment variable {DATA_DIR_VARIABLE} names."
    ) from None


class _Meter:
    """A progress bar, as pooch wants it, that calls a function instead."""

    def __init__(self, total: int, report: Progress) -> None:
        self._total = total
        self._report = report
        self._done = 0
        # pooch overwrites this one with the server's own figure, which is 0 or too small for compressed transfers.
        self.total = total

    def update(self, amount: int) -> None:
        self._done = min(self._done + amount, self._total)
        self._report(self._done, self._total)

    def reset(self) -> None:
        # pooch ends with "reset, then update by the server's figure", which is to show a full bar whatever that figure.
        self._done = self._total

    def close(self) -> None:
        """Do nothing: there is no bar to take down."""


def _read_rda(path: Path) -> pd.DataFrame:
    import rdata

    (frame,) = rdata.read_rda(path).values()
    assert isinstance(frame, pd.DataFrame)
    plain: dict[str, Any] = {}
    for name, column in frame.items():
        # R's integers arrive as a nullable type and its factors as categories; with nothing missing, plain types do.
        whole = isinstance(column.dtype, pd.Int32Dtype)
        plain[str(name)] = column.to_numpy(dtype="int64") if whole else column.astype("str").to_numpy()
    return pd.DataFrame(plain)


def _read_adult(path: Path) -> pd.DataFrame:
    return pd.read_csv(
        path,
        header=None,
        names=_ADULT_COLUMNS,
        skipinitialspace=True,
        na_values=["?"],
        keep_default_na=False,
        encoding="ascii",
    )
