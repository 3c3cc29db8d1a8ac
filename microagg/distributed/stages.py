"""Tasks of a stage, handed to the workers of Dask; what was done before is not done again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from microagg.distributed.packages import load
from microagg.distributed.working import Working
from microagg.errors import DataError, MicroaggError
from microagg.progress import checkpoint


@dataclass
class Stages:
    """The stages of a job, one after the other, and the share of the whole that is done.

    Attributes
    ----------
    client : distributed.Client
    working : Working
    needed : int
        Bytes that the job needs on the disk.
    """

    client: Any
    working: Working
    needed: int

    def run(
        self,
        name: str,
        task: Callable[[Working, int], Any],
        numbers: range,
        *,
        says: str,
        shares: tuple[float, float],
    ) -> list[Any]:
        """Run a task for each number that was not done before, and return what they return, in order.

        Parameters
        ----------
        name : str
            Of the stage, under which results are kept.
        task : callable
            Called on a worker with the working folder and a number.
        numbers : range
        says : str
            What is said of it while it goes on, such as ``reading part``.
        shares : tuple of float
            The share of the job that is done at the beginning and at the end of the stage.

        Raises
        ------
        MicroaggError
            What the first of the tasks that failed raised, or if workers were killed again and again.
        """

        def submit(number: int) -> Any:
            return self.client.submit(_task, task, self.working, name, number, self.needed, pure=False)

        return self._run(name, submit, numbers, says, shares)

    def run_delayed(
        self,
        name: str,
        values: list[Any],
        task: Callable[[Working, int, Any], Any],
        *,
        says: str,
        shares: tuple[float, float],
    ) -> list[Any]:
        """Run a task for each of the delayed ``values`` of Dask, which it is called with; see :meth:`run`."""
        delayed = load("dask").delayed(_task_of)

        def submit(number: int) -> Any:
            return self.client.compute(delayed(task, self.working, name, number, values[number]))

        return self._run(name, submit, range(len(values)), says, shares)

    def _run(
        self, name: str, submit: Callable[[int], Any], numbers: range, says: str, shares: tuple[float, float]
    ) -> list[Any]:
        distributed = load("distributed")
        results = {number: self.working.kept(f"{name}-{number}.pickle") for number in numbers}
        todo = [number for number in numbers if results[number] is None]
        first, last = shares

        def tell() -> None:
            done = len(numbers) - len(todo)
            checkpoint(f"{says} {done:,} of {len(numbers):,}", first + (last - first) * done / max(len(numbers), 1))

        tell()
        futures = {submit(number): number for number in todo}
        failed: dict[int, BaseException] = {}
        try:
            for future in distributed.as_completed(list(futures), loop=self.client.loop):
                number = futures[future]
                if failed and number > min(failed):
                    continue
                # Not asked for its status: a result may be lost with its worker, and computed again, at any moment.
                try:
                    result = future.result()
                except Exception as error:
                    failed[number] = error
                    # Those before it may fail, too: the first is told, whoever is the fastest.
                    _cancel(self.client, [other for other, at in futures.items() if at > number])
                else:
                    results[number] = result
                    todo.remove(number)
                    tell()
        finally:
            _cancel(self.client, list(futures))
        if failed:
            raise _told(failed[min(failed)], says, min(failed))
        return [results[number] for number in numbers]


def _task(task: Callable[[Working, int], Any], working: Working, name: str, number: int, needed: int) -> Any:
    result = task(working, number)
    result = _DONE if result is None else result
    working.keep(f"{name}-{number}.pickle", result, needed)
    return result


def _task_of(task: Callable[[Working, int, Any], Any], working: Working, name: str, number: int, value: Any) -> Any:
    result = task(working, number, value)
    working.keep(f"{name}-{number}.pickle", result)
    return result


# What is kept of a task that returns nothing.
_DONE = "done"


def _cancel(client: Any, futures: list[Any]) -> None:
    """Cancel those that are still to come: if the connection was lost, none is, and nothing can be said to Dask."""
    to_come = [future for future in futures if not future.done()]
    if to_come:
        client.cancel(to_come)


def _told(error: BaseException, says: str, number: int) -> BaseException:
    """Return what is raised for the error of a task."""
    distributed = load("distributed")
    if isinstance(error, distributed.CancelledError):
        return DataError(
            f"the connection to Dask's scheduler was lost while {says} {number}: begin again where the scheduler "
            "answers, and what is done is not done again."
        )
    if isinstance(error, distributed.KilledWorker):
        return DataError(
            f"workers were ended again and again while {says} {number}, probably for want of memory: give workers more "
            "of it, or choose a smaller block_size."
        )
    if isinstance(error, MicroaggError):
        return type(error)(re.sub(r"\s+", " ", str(error)))
    return error
