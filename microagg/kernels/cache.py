"""The folder in which compiled kernels are kept: one for each version of a source, shared by all copies of it."""

import atexit
import hashlib
import os
import shutil
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import platformdirs
from numba.core import caching

_CONFIG: Any = numba.config
_PACKAGE = Path(__file__).parents[1]
_UNUSED_SECONDS = 30 * 24 * 3600.0


@cache
def cache_folder() -> Path:
    """Folder of compiled code: below NUMBA_CACHE_DIR or, without that, the user's cache folder.

    If that cannot be written, a temporary folder, which processes that this one starts use too and which it deletes
    when it ends.
    """
    name, chosen = _PACKAGE.name, _CONFIG.CACHE_DIR
    folder = (Path(chosen, name) if chosen else platformdirs.user_cache_path(name)) / "kernels"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        return folder
    temporary = tempfile.mkdtemp(prefix="microagg-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = temporary
    return Path(temporary, name, "kernels")


@cache
def _digest_of_kernels() -> str:
    """Digest of the compiler and of all building blocks: numba does not notice that a file which is called changes."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for source in sorted(_PACKAGE.joinpath("kernels").rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


@cache
def _folder_of_version(source: Path) -> Path:
    """Folder for the functions of one version of a source file, marked as used today."""
    version = [_digest_of_kernels().encode(), source.relative_to(_PACKAGE).as_posix().encode(), source.read_bytes()]
    folder = cache_folder() / f"{source.stem}-{hashlib.sha256(b' '.join(version)).hexdigest()[:20]}"
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    return folder


@cache
def _delete_unused() -> None:
    """Delete the folders of versions that no process has used for a month, once for a process that adds to them."""
    for folder in cache_folder().glob("*"):
        with suppress(OSError):  # another process deletes it, too
            if time.time() - folder.stat().st_mtime > _UNUSED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


class _Locator:
    """Tells numba where the compiled code of this package's functions is: one folder for each version of a source.

    So all copies of the same sources share it, wherever they stand and whenever they were written, and code of other
    sources is never loaded. Of functions of other packages it says nothing.
    """

    def __init__(self, source: Path, line: int) -> None:
        self._folder = _folder_of_version(source)
        self._line = line

    @classmethod
    def from_function(cls, function: Any, file: str) -> "_Locator | None":
        source = Path(file)
        if not source.is_relative_to(_PACKAGE):
            return None
        try:
            return cls(source, function.__code__.co_firstlineno)
        except OSError:  # no file, as in an archive, or a folder of another user
            return None

    def ensure_cache_path(self) -> None:
        _delete_unused()
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return str(self._line)


if not _CONFIG.DISABLE_JIT:
    caching.CacheImpl._locator_classes.insert(0, _Locator)
