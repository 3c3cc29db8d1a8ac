"""Loading a data set by its name: :func:`load`, and :func:`is_available` to ask whether that needs a network."""

from __future__ import annotations

from typing import Any

from microagg.datasets import benchmarks, examples, synthetic
from microagg.datasets.benchmarks import Progress
from microagg.datasets.catalog import describe
from microagg.datasets.dataset import Dataset
from microagg.errors import ParameterError
from microagg.validation import is_whole


def load(name: str, *, seed: int | None = None, download: bool = True, progress: Progress | None = None) -> Dataset:
    """Load a data set.

    A benchmark file is looked for in the folder that the environment variable ``MICROAGG_DATA_DIR`` names, then in
    the cache, and is else downloaded into the cache; its SHA-256 sum is checked every time. All other sets need
    neither a file nor a network.

    Parameters
    ----------
    name : str
        One of :data:`microagg.datasets.NAMES`.
    seed : int, optional
        The seed of a synthetic set, 0 if not given; other sets take none.
    download : bool, default True
        Whether a benchmark file may be downloaded.
    progress : callable, optional
        Called with (bytes done, bytes in total) during a download; what it raises ends the download.

    Returns
    -------
    Dataset

    Raises
    ------
    ParameterError
        If the name is unknown, or the seed is not a whole number from 0 or is given for a set that takes none.
    DatasetUnavailableError
        If a benchmark file is neither on this machine nor can be downloaded, or is not the published file.

    Examples
    --------
    >>> from microagg import datasets
    >>> datasets.load("simu", seed=7).X.shape
    (1000, 10)
    """
    entry = describe(name)
    quasi_identifiers: tuple[str, ...]
    if entry.kind == "synthetic":
        seed = 0 if seed is None else _check_seed(seed)
        frame = synthetic.GENERATORS[entry.name](seed)
        quasi_identifiers = tuple(frame.columns)
    elif seed is not None:
        raise ParameterError(
            f"the data set {name!r} takes no seed: leave it out, only synthetic sets are drawn from one."
        )
    elif entry.kind == "benchmark":
        frame, quasi_identifiers = benchmarks.read(entry, download=download, progress=progress)
    else:
        frame, quasi_identifiers = examples.read(entry.name)
    return Dataset(entry.name, entry.title, frame, quasi_identifiers, entry.description, entry.source, seed)


def is_available(name: str) -> bool:
    """Whether :func:`load` can give the data set ``name`` without a network.

    A benchmark file is judged by its presence and size; its checksum is left to :func:`load`, so that lists of data
    sets stay quick.

    Raises
    ------
    ParameterError
        If there is no such data set.
    """
    file = describe(name).file
    return file is None or benchmarks.is_present(file)


def _check_seed(seed: Any) -> int:
    if not is_whole(seed) or seed < 0:
        raise ParameterError(f"seed must be a whole number of at least 0, not {seed!r}.")
    return int(seed)
