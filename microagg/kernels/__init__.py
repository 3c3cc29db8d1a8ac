"""Compiled building blocks that several algorithms share.

Kernels are compiled on first use and cached on disk, and release the interpreter lock, so that threads run them side by
side and a page stays alive meanwhile: ``neighbors`` (which records are near, and which are far), ``mixed`` (the same of
records of mixed attributes), ``grouping`` (how groups are formed and changed), ``paths`` (records on a path that is cut
into groups), ``bases`` (whole algorithms that several others start from), ``local_search`` (partitions improved by
moving records), ``bounds`` (lower bounds of the SSE), ``running`` (threads, and how small functions are compiled).

What keeps compiling short, as measured by ``benchmarks/startup.py``: arrays are filled in loops, as assigning an array
to a part of another one compiles the text of an error, which takes seconds; sorting, and what is done once a run, is
left to numpy, outside of compiled functions; a compiled function is compiled once more for each constant and each
memory layout that it is called with.
"""

import atexit
import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba

_CONFIG: Any = numba.config


def _kernels_cache() -> Path:
    """Return the folder in which numba keeps what is compiled of this room.

    Where it finds none that can be written, it would refuse to begin: then there is one until this process ends.
    """
    if _CONFIG.DISABLE_JIT:
        return Path(__file__).with_name("__pycache__")
    try:
        return Path(numba.njit(cache=True)(_kernels_cache).stats.cache_path)
    except RuntimeError:
        folder = tempfile.mkdtemp(prefix="microagg-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["NUMBA_CACHE_DIR"] = folder  # processes that this one starts use it, too
        _CONFIG.reload_config()
        return Path(folder, "kernels")


def _drop_outdated_caches(package: Path, kernels_cache: Path) -> None:
    """Delete compiled code that is older than a building block.

    Numba notices that a function's own file has changed, but not that a file it calls into has: after an update of
    kernels/ alone, algorithms would silently go on with the code of before.

    ``kernels_cache`` is where that of ``kernels`` is kept: in ``__pycache__`` beside the sources or, in a folder of
    NUMBA_CACHE_DIR or of the user, under a name that numba makes of theirs.
    """
    with suppress(OSError):  # where nothing can be written, nothing was cached there either
        newest = max(source.stat().st_mtime for source in package.joinpath("kernels").rglob("*.py"))
        for folder in {source.parent for source in package.rglob("*.py")}:
            cache = folder / "__pycache__"
            if kernels_cache.name != cache.name:
                digest = hashlib.sha1(str(folder).encode()).hexdigest()
                cache = kernels_cache.with_name(f"{folder.name}_{digest}")
            for index in cache.glob("*.nbi"):
                with suppress(FileNotFoundError):  # another process drops it, too
                    if index.stat().st_mtime <= newest:
                        index.unlink()


_drop_outdated_caches(Path(__file__).parents[1], _kernels_cache())
