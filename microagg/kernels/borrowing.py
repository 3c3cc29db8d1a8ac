"""How compiled functions are made that only borrow the arrays they are given, and make none.

At each call numba counts anew who holds the arrays of a named tuple, atomically: in local search, where small functions
pass the nineteen arrays of a state to each other, that took two thirds of the time. A function that makes no arrays,
and gets none from another function, need not count: whoever calls it holds what it is given. Numba refuses to compile
any other function in this way. It does not pay where functions are few and large: there it has been slower.
"""

from __future__ import annotations

from typing import Any

from numba import njit

# An option of numba since 2015 that its type hints do not list.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}

#: Decorates such a function, in place of ``njit(cache=True, nogil=True)``.
borrows = njit(cache=True, nogil=True, **_UNCOUNTED)
