"""Compiled building blocks that several algorithms share.

Kernels are compiled on first use and cached on disk, and release the interpreter lock, so that threads run them side by
side and a page stays alive meanwhile. They stand in rooms:

- ``neighbors``: which records are near, and which are far.
- ``grouping``: how groups are formed and changed.
- ``paths``: records laid on a path, and the path cut into groups.
- ``bases``: whole algorithms that several others start from.
- ``local_search``: partitions improved by moving records.
- ``bounds``: lower bounds of the SSE.
- ``threads``: the threads on which kernels run.
- ``borrowing``: how small functions are compiled that pass many arrays to each other.

What keeps compiling short, as measured by ``benchmarks/startup.py``:

- Arrays are filled in loops. Assigning an array to a part of another one compiles the text of the error that shapes
  which differ would raise, which takes seconds.
- Sorting, and what is done once a run, is left to numpy, outside of compiled functions.
- A compiled function is compiled once more for each constant and each memory layout that it is called with.
"""

from contextlib import suppress
from pathlib import Path


def _drop_outdated_caches(package: Path) -> None:
    """Delete compiled code that is older than a building block.

    Numba notices that a function's own file has changed, but not that a file it calls into has: after an update of
    kernels/ alone, algorithms would silently go on with the code of before.
    """
    with suppress(OSError):  # where nothing can be written, nothing was cached there either
        newest = max(source.stat().st_mtime for source in package.joinpath("kernels").rglob("*.py"))
        for index in package.rglob("__pycache__/*.nbi"):
            if index.stat().st_mtime <= newest:
                index.unlink(missing_ok=True)


_drop_outdated_caches(Path(__file__).parents[1])
