"""Compiled building blocks that several algorithms share.

Everything here is a pure function of its arguments, compiled on first use and cached on disk, and releases the
interpreter lock, so that threads run kernels side by side and a page stays alive meanwhile.
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
