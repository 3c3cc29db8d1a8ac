"""The workers of Dask that run the tasks of a job."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import numpy as np

from microagg import __version__
from microagg.distributed.parts import load
from microagg.distributed.working_folder import SPILLED, Working, gigabytes
from microagg.errors import DataError, ParameterError
from microagg.progress import checkpoint
from microagg.validation import check_whole

#: Maximum time for an answer of a scheduler.
PATIENCE = "10s"

# The only address at which processes started here listen, and seconds between two checks whether a job was cancelled.
_HERE, _POLL = "127.0.0.1", 0.5


@contextmanager
def connected(
    working: Working, client: Any = None, *, workers: int | None = None, memory_limit: str | None = None
) -> Iterator[Any]:
    """Yield a client of Dask: ``client``, the default one of this process, or one for new workers.

    ``client`` may be the address of a scheduler, such as ``tcp://10.0.0.5:8786``. ``workers`` are started on this
    machine (by default one a core) with a ``memory_limit`` each, for example ``2GiB`` (by default an equal share).
    With one of these the default client is not used. Workers started here spill to the folder ``working``.
    """
    distributed = load("distributed")
    if workers is not None:
        check_whole("workers", workers, 1)
    if client is None and workers is None and memory_limit is None:
        with suppress(ValueError):  # no default client
            client = distributed.default_client()
    if client is not None and not isinstance(client, (str, distributed.Client)):
        raise ParameterError(f"client must be a client of Dask, such as distributed.Client(), not {client!r}.")
    with ExitStack() as resources:
        if client is None:
            cluster = resources.enter_context(_local_cluster(working, workers or os.cpu_count() or 1, memory_limit))
            client = resources.enter_context(distributed.Client(cluster, set_as_default=False))
        elif isinstance(client, str):
            try:
                distributed.comm.resolve_address(client)  # a client of an unknown host would end in a traceback later
                connection = distributed.Client(client, timeout=PATIENCE, set_as_default=False)
            except (OSError, ValueError):
                raise DataError(
                    f"no scheduler of Dask answers at {client!r}: check that it runs, and its address (such as "
                    "tcp://10.0.0.5:8786)."
                ) from None
            client = resources.enter_context(connection)
        yield client


def _local_cluster(working: Working, workers: int, memory_limit: str | None) -> Any:
    try:
        limit = "auto" if memory_limit is None else load("dask.utils").parse_bytes(memory_limit)
    except ValueError:
        raise ParameterError(f"memory_limit must be a size such as '2GiB', not {memory_limit!r}.") from None
    try:
        with _without_ctrl_c():
            return load("distributed").LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host=_HERE,
                dashboard_address=f"{_HERE}:0",
                memory_limit=limit,
                local_directory=str(working.path(SPILLED)),
                silence_logs=logging.CRITICAL,
            )
    except RuntimeError:
        raise DataError(
            "the workers could not be started: in a Python script, put the call under if __name__ == '__main__':, as "
            "each worker loads the script."
        ) from None


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Hide Ctrl-C from processes started in the block, and deliver it to this process afterwards."""
    if sys.platform == "win32":
        yield
        return
    # It would unblock signals if it started with the first process.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_workers(client: Any, working: Working) -> None:
    """Raise DataError unless there are workers, and all have the same microagg and see the folder."""
    try:
        answers = client.run(_versions_and_sight, working)
    except ImportError as error:
        raise DataError(f"a worker cannot load microagg ({error}): install it on all machines.") from None
    except OSError:
        raise DataError("a worker ended before its first task, probably for lack of memory: give it more.") from None
    if not answers:
        raise DataError("the scheduler has no workers: start some, and try again.")
    here, _ = _versions_and_sight(working)
    for worker, (versions, sees_folder) in answers.items():
        if versions != here:
            raise DataError(
                f"the worker {worker} has microagg {versions[0]} and numpy {versions[1]}, but here are {here[0]} and "
                f"{here[1]}: install the same versions on all machines."
            )
        if not sees_folder:
            raise DataError(
                f"the worker {worker} does not see the folder {str(working.place)!r}: choose an output in a folder "
                "that all machines have at the same path."
            )


def _versions_and_sight(working: Working) -> tuple[tuple[str, str], bool]:
    return (__version__, np.__version__), Path(working.folder).is_dir()


def check_memory(client: Any, needed: int) -> None:
    """Raise DataError if a worker has fewer than ``needed`` bytes for each task."""
    for worker, info in client.scheduler_info(n_workers=-1)["workers"].items():
        share = (info["memory_limit"] or 0) / max(info["nthreads"], 1)
        if 0 < share < needed:
            raise DataError(
                f"a task takes up to {gigabytes(needed)} of memory, and the worker {worker} has "
                f"{gigabytes(int(share))} for each: give workers more memory or fewer threads, write the file with "
                "smaller row groups (such as pyarrow.parquet.write_table(table, path, row_group_size=100_000)), or "
                "choose a smaller block_size."
            )


@dataclass
class Stages:
    """Runs the stages of a job and reports the share done."""

    client: Any  # of Dask
    working: Working
    seconds: dict[str, float] = field(default_factory=dict)  # of each stage

    def run(
        self, name: str, task: Callable[[Working, int], Any], n: int, message: str, shares: tuple[float, float]
    ) -> list[Any]:
        """Run a task for each number below ``n``, and return all results in order.

        A worker calls ``task`` with the working folder and a number. Dask repeats tasks of a worker that ended, which
        then write the same files again. ``message`` is the progress message, for example ``reading: part``; ``shares``
        of the job are done before and after.
        """
        distributed = load("distributed")
        results: list[Any] = []
        futures = [self.client.submit(task, self.working, number, pure=False) for number in range(n)]
        start_share, end_share = shares
        started = time.perf_counter()
        try:
            while True:
                done = len(results)
                checkpoint(f"{message} {done:,} of {n:,}", start_share + (end_share - start_share) * done / max(n, 1))
                if done == n:
                    self.seconds[name] = time.perf_counter() - started
                    return results
                try:
                    with self.client.as_current():
                        distributed.wait([futures[done]], timeout=_POLL)
                except distributed.TimeoutError:
                    continue
                results.append(futures[done].result())
        except distributed.CancelledError:
            raise DataError(
                f"the connection to Dask's scheduler was lost while {message} {len(results)}: start again once the "
                "scheduler answers."
            ) from None
        except distributed.KilledWorker:
            raise DataError(
                f"workers were killed repeatedly while {message} {len(results)}, probably for lack of memory: give "
                "them more memory, or choose a smaller block_size."
            ) from None
        finally:
            futures.clear()  # tasks without futures do not start
