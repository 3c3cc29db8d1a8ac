"""How much memory a reader has taken so far, checked before it takes more."""

from __future__ import annotations

from microagg.tables.limits import allowed, check_memory


class Meter:
    """What reading a file has taken, in bytes.

    Parameters
    ----------
    size : int
        How many bytes the file has on disk.
    label : str
        The file's name.
    """

    def __init__(self, size: int, label: str) -> None:
        self.taken = size
        self.most = allowed(size)
        self._size = size
        self._label = label

    def take(self, count: int) -> None:
        """Count ``count`` bytes that stay taken; raise :class:`DataError` if they are too many."""
        self.taken += count
        self.check(0)

    def check(self, more: int) -> None:
        """Raise :class:`DataError` if ``more`` bytes beside those taken would be too many."""
        if self.taken + more > self.most:
            check_memory(self.taken + more, self._size, self._label)
