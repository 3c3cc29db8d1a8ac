"""Releases of tables that do not fit into memory, in parts, by workers of Dask on a laptop or a cluster.

A table in Parquet files is read in parts; its records are divided into blocks by cuts learned on a sample
(:mod:`.block_cuts`); each block is partitioned separately; and the released records are written part by part. Tasks
exchange files in a working folder next to the output. So the largest part and the largest block bound the memory, and a
killed worker costs only its tasks. Parts, blocks and seeds depend only on files and choices: the result is the same
with any number of workers.
"""

from microagg.distributed.api import LargeRelease, release, replay
from microagg.distributed.parts import Count, Table, count

__all__ = ["Count", "LargeRelease", "Table", "count", "release", "replay"]
