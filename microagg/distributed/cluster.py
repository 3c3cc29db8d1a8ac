"""Who does the work: a client of Dask that is there, or workers started on this machine for one job."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import numpy as np

from microagg import __version__
from microagg.distributed.checkpoint_dir import SPILLED, Working, gigabytes
from microagg.distributed.parts import load
from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.progress import checkpoint
from microagg.validation import check_whole

#: The only address at which anything listens that is started here.
HERE = "127.0.0.1"

#: How long a scheduler may take to answer.
PATIENCE = "10s"


@contextmanager
def connected(
    working: Working, client: Any = None, *, workers: int | None = None, memory_limit: str | None = None
) -> Iterator[Any]:
    """Yield a client of Dask: ``client``, or the default one of this process, or one of workers started for it.

    ``client`` may be the address of a scheduler, such as ``tcp://10.0.0.5:8786``. ``workers`` are started on this
    machine (by default one a core) with a ``memory_limit`` each, such as ``2GiB`` (by default an equal share); with one
    of these the default client is not used. Workers started here spill to the folder ``working``.

    Raises DataError if no scheduler answers, or workers cannot be started; ParameterError if the client, the number or
    the limit is not valid.
    """
    distributed = load("distributed")
    if workers is not None:
        check_whole("workers", workers, 1)
    if client is None and workers is None and memory_limit is None:
        with suppress(ValueError):  # there is none
            client = distributed.default_client()
    if isinstance(client, distributed.Client):
        yield client
    elif isinstance(client, str):
        with _connected_to(client) as connection:
            yield connection
    elif client is not None:
        raise ParameterError(f"client must be a client of Dask, such as distributed.Client(), not {client!r}.")
    else:
        with _local_cluster(working, workers or os.cpu_count() or 1, memory_limit) as connection:
            yield connection


def check_workers(client: Any, working: Working) -> None:
    """Raise :class:`DataError` unless there are workers, and all have the same microagg and see the folder."""
    try:
        answers = client.run(_greeting, working)
    except ImportError as error:
        raise DataError(f"a worker cannot load microagg ({error}): install it on all machines.") from None
    if not answers:
        raise DataError("the scheduler has no workers: start some, and begin again.")
    versions = (__version__, np.__version__)
    for worker, (its_versions, sees) in answers.items():
        if its_versions != versions:
            raise DataError(
                f"the worker {worker} has microagg {its_versions[0]} and numpy {its_versions[1]}, but here are "
                f"{versions[0]} and {versions[1]}: install the same versions on all machines."
            )
        if not sees:
            raise DataError(
                f"the worker {worker} does not see the folder {working.folder!r}: choose an output in a folder that "
                "all machines have at the same place."
            )


def check_memory(client: Any, needed: int) -> None:
    """Raise :class:`DataError` if a worker has fewer than ``needed`` bytes for each task."""
    for worker, about in client.scheduler_info(n_workers=-1)["workers"].items():
        share = (about["memory_limit"] or 0) / max(about["nthreads"], 1)
        if 0 < share < needed:
            raise DataError(
                f"a task takes up to {gigabytes(needed)} of memory, and the worker {worker} has "
                f"{gigabytes(int(share))} for each: give workers more memory or fewer threads, write the file with "
                "smaller row groups (such as "
                "pyarrow.parquet.write_table(table, path, row_group_size=100_000)), or choose a smaller block_size."
            )


def dashboard(client: Any) -> str:
    """Return the address of Dask's own dashboard; empty where there is none, for it needs bokeh."""
    link = getattr(client, "dashboard_link", None)
    return str(link) if link and importlib.util.find_spec("bokeh") is not None else ""


def _greeting(working: Working) -> tuple[tuple[str, str], bool]:
    return (__version__, np.__version__), Path(working.folder).is_dir()


@contextmanager
def _connected_to(address: str) -> Iterator[Any]:
    distributed = load("distributed")
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError):
        raise DataError(
            f"no scheduler of Dask answers at {address!r}: check the address (such as tcp://10.0.0.5:8786), and that "
            "it runs."
        ) from None
    with client:
        yield client


@contextmanager
def _local_cluster(working: Working, workers: int, memory_limit: str | None) -> Iterator[Any]:
    distributed = load("distributed")
    limit = "auto"
    if memory_limit is not None:
        try:
            limit = load("dask.utils").parse_bytes(memory_limit)
        except ValueError:
            raise ParameterError(f"memory_limit must be a size such as '2GiB', not {memory_limit!r}.") from None
    with ExitStack() as begun:
        try:
            with _without_ctrl_c():
                cluster = distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    host=HERE,
                    dashboard_address=f"{HERE}:0",
                    memory_limit=limit,
                    local_directory=str(working.path(SPILLED, "")),
                    silence_logs=logging.CRITICAL,
                )
                begun.enter_context(cluster)
        except RuntimeError:
            raise DataError(
                "the workers could not be started: in a program of one's own, the call must stand under "
                "if __name__ == '__main__':, for each worker loads that program."
            ) from None
        yield begun.enter_context(distributed.Client(cluster, set_as_default=False))


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Hide Ctrl-C from processes started in the block; this process receives it afterwards."""
    if sys.platform == "win32":
        yield
        return
    # Which lets signals through again when it is begun with the first process.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass
class Stages:
    """Runs the stages of a job and reports the share done."""

    client: Any  # of Dask
    working: Working
    needed: int  # bytes that the job needs on the disk

    def run(
        self,
        name: str,
        task: Callable[..., Any],
        numbers: range,
        values: Sequence[Any] | None = None,
        *,
        says: str,
        shares: tuple[float, float],
    ) -> list[Any]:
        """Run a task for each number that is not done yet, and return all results in order.

        A worker calls ``task`` with the working folder, a number and, if there are ``values`` (delayed ones of Dask),
        the value of the number. Results are stored under the ``name`` of the stage. ``says`` is the progress message,
        such as ``reading part``; ``shares`` of the job are done before and after. Raises the error of the first task
        that failed, or DataError if workers were killed again and again.
        """
        distributed = load("distributed")
        results = {number: self.working.kept(f"{name}-{number}.pickle") for number in numbers}
        todo = [number for number in numbers if results[number] is None]
        first, last = shares

        def tell() -> None:
            done = len(numbers) - len(todo)
            checkpoint(f"{says} {done:,} of {len(numbers):,}", first + (last - first) * done / max(len(numbers), 1))

        def submit(number: int) -> Any:
            if values is None:
                return self.client.submit(_task, task, self.working, name, number, self.needed, pure=False)
            delayed = load("dask").delayed(_task)
            return self.client.compute(delayed(task, self.working, name, number, self.needed, values[number]))

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
            raise _readable_error(failed[min(failed)], says, min(failed))
        return [results[number] for number in numbers]


def _task(task: Callable[..., Any], working: Working, name: str, number: int, needed: int, *values: Any) -> Any:
    result = task(working, number, *values)
    result = "done" if result is None else result  # of what is not done there is None
    working.keep(f"{name}-{number}.pickle", result, needed)
    return result


def _cancel(client: Any, futures: list[Any]) -> None:
    """Cancel pending futures; if the connection was lost there are none, and Dask cannot be called."""
    to_come = [future for future in futures if not future.done()]
    if to_come:
        client.cancel(to_come)


def _readable_error(error: BaseException, says: str, number: int) -> BaseException:
    """Return the error of a task as users see it."""
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
