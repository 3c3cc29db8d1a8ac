"""Tables that do not fit into memory, released in parts by the workers of Dask, from a laptop's cores to a cluster.

A table in Parquet files is read in parts; its records are divided into blocks by cuts learned on a sample
(:mod:`.block_cuts`); each block is partitioned by itself; and what replaces the records is written part by part.
What tasks hand on to each other are files in a working folder beside the output, so memory is bounded by the largest
part and the largest block, a worker that is killed costs its task only, and a job that was ended goes on. Parts, blocks
and seeds depend on the files and the choices only: the result is the same whatever the number of workers.
"""

from microagg.distributed.api import LargeRelease, release, replay
from microagg.distributed.parts import head_of
from microagg.distributed.summary import Count, columns_of_files, count_here

__all__ = ["Count", "LargeRelease", "columns_of_files", "count_here", "head_of", "release", "replay"]
