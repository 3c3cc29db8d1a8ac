"""A picture of what is being computed, made anew now and then: pages leave the processor to each other, and to the work."""

from __future__ import annotations

import time
from collections.abc import Callable

from pages.ui.charts.layout import WAITING, Picture

# A picture stands for so many times as long as it took to make, but no longer than so many seconds. What it takes grows
# with the number of points, and with how many others compute. What stands for a picture gives way to it at once.
_REST, _LONGEST = 9.0, 10.0


class Paced:
    """A picture that is made by ``make``, and made anew once it has stood for long enough.

    A page makes one of these each time that it is drawn; what it is shown in may be drawn anew more often.
    """

    def __init__(self, make: Callable[[], Picture]) -> None:
        self._make = make
        self._made: Picture | None = None
        self._until = 0.0  # on the clock time.monotonic

    def show(self) -> None:
        """Draw the picture."""
        if self._made is None or time.monotonic() >= self._until:
            began = time.monotonic()
            self._made = self._make()
            ended = time.monotonic()
            rest = 0.0 if self._made.key == WAITING else _REST * (ended - began)
            self._until = ended + min(rest, _LONGEST)
        self._made.show()
