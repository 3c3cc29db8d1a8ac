"""A job: what is to be done to every record, as tasks need it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from microagg.algorithms import registry
from microagg.algorithms.base import Microaggregator
from microagg.columns.records import Attribute
from microagg.columns.scaling import Scaling
from microagg.columns.schema import Schema
from microagg.distributed.block_cuts import Cuts
from microagg.distributed.checkpoint_dir import Working
from microagg.distributed.parts import Part
from microagg.validation import FloatArray, IntArray

#: Names under which what all tasks need is kept in the working folder.
JOB, PLAN = "job.pickle", "plan.pickle"


@dataclass(frozen=True, eq=False)
class Job:
    """What was chosen, and the parts of the table.

    Attributes
    ----------
    parts : tuple of Part
    schema : Schema
        With the categories of all records.
    types : pyarrow.Schema
        Of the columns of the file.
    k : int
    method : str
    params : dict
        The parameters of the method, without a seed.
    seed : int or None
        None for methods that draw nothing.
    scale, statistic, categories, rounding : str
    missing : str or dict
    polish : bool
    rate : float
        The share of the records from which cuts are learned.
    needed : int
        Bytes that the job needs on the disk.
    """

    parts: tuple[Part, ...]
    schema: Schema
    types: Any
    k: int
    method: str
    params: dict[str, Any]
    seed: int | None
    scale: str
    statistic: str
    categories: str
    rounding: str
    missing: Any
    polish: bool
    rate: float
    needed: int

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers."""
        return self.schema.attributes

    @property
    def numeric(self) -> list[int]:
        """The positions of the numeric quasi-identifiers, dates among them."""
        return [j for j, attribute in enumerate(self.attributes) if attribute.kind == "numeric"]

    def estimator(self) -> Microaggregator:
        """Return what partitions a block, but for its seed."""
        return registry.make(self.method, self.k, **self.params)


@dataclass(frozen=True, eq=False)
class Plan:
    """What the first pass has shown: the scale, the blocks, and who works on which of them.

    Attributes
    ----------
    scaling : Scaling or None
        That of the numeric quasi-identifiers; None without any.
    domains : array, shape (d,)
        Those of the whole file, see :attr:`microagg.columns.records.Records.domains`.
    strata : tuple of dict
        For each part, the number in the whole file of each stratum by its number in the part.
    cuts : tuple of Cuts
        For each stratum.
    decimals : tuple of int or None
        With how many decimals what replaces numbers is released, by attribute; None for all there are.
    originals : dict of int to pyarrow.Array
        For each attribute of categories, the value that is released for each rank or node.
    numbers : array of int, shape (cut blocks,)
        The final number of each block as the strata's cuts number them, one stratum after the other; None as long as
        nobody knows how many records these have.
    stratum_of : array of int, shape (blocks,)
    counts : array of int, shape (parts, blocks)
        How many records of each part are in each final block.
    batches : tuple of (int, int)
        The first and the last block but one of those that one task works on.
    whole : frozenset of int
        The attributes that are released as whole numbers of the file's type.
    """

    scaling: Scaling | None
    domains: FloatArray
    strata: tuple[IntArray, ...]
    cuts: tuple[Cuts, ...]
    decimals: tuple[int | None, ...]
    originals: dict[int, Any]
    numbers: IntArray | None = None
    stratum_of: IntArray | None = None
    counts: IntArray | None = None
    batches: tuple[tuple[int, int], ...] = ()
    whole: frozenset[int] = frozenset()

    def scaled(self, values: FloatArray, numeric: list[int]) -> FloatArray:
        """Return encoded records with their numbers on the scale."""
        found = values.copy()
        if self.scaling is not None:
            found[:, numeric] = self.scaling.transform(np.ascontiguousarray(values[:, numeric]))
        return found

    def span(self, part: int, batch: int) -> tuple[int, int]:
        """Return where the records of a batch begin and end among those of a part, sorted by blocks."""
        assert self.counts is not None
        first, stop = self.batches[batch]
        return int(self.counts[part, :first].sum()), int(self.counts[part, :stop].sum())


def job_of(working: Working) -> Job:
    """Return the job of a working folder."""
    found: Job = _loaded(working, JOB, working.path("results", JOB).stat().st_mtime_ns)
    return found


def plan_of(working: Working, name: str = PLAN) -> Plan:
    """Return what is planned."""
    found: Plan = _loaded(working, name, working.path("results", name).stat().st_mtime_ns)
    return found


@lru_cache(maxsize=4)
def _loaded(working: Working, name: str, written: int) -> Any:
    return working.kept(name)
