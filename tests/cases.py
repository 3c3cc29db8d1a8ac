"""Many small cases as one test."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest


def for_each(
    names: str | tuple[str, ...], cases: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each case, as ``pytest.mark.parametrize`` does, but as one test; a failure says for which.

    To collect, start and report a test takes longer than most cases do. Fixtures are shared by all cases.
    """
    wanted = names.split(", ") if isinstance(names, str) else list(names)
    chosen = [dict(zip(wanted, case if len(wanted) > 1 else [case], strict=True)) for case in cases]
    assert chosen

    def decorated(test):
        @wraps(test)
        def all_cases(**fixtures):
            for case in chosen:
                try:
                    test(**case, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"for {case}")
                    raise

        own = inspect.signature(test)
        left = [parameter for name, parameter in own.parameters.items() if name not in wanted]
        all_cases.__signature__ = own.replace(parameters=left)
        return all_cases

    return decorated
