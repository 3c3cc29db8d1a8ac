"""Compiled building blocks that several algorithms share.

Kernels are compiled on first use and cached on disk, and release the interpreter lock, so that threads run them side by
side and a page stays alive meanwhile: ``neighbors`` (which records are near, and which are far), ``mixed`` (the same of
records of mixed attributes), ``grouping`` (how groups are formed and changed), ``paths`` (records on a path that is cut
into groups), ``bases`` (whole algorithms that several others start from), ``local_search`` (partitions improved by
moving records), ``bounds`` (lower bounds of the SSE), ``compiled`` (the decorators), ``cache`` (the
folder of compiled code), ``running`` (threads and solver).

What keeps compiling short, as measured by ``benchmarks/first_use.py``: a kernel that makes no array is decorated with
:data:`~.compiled.borrows`; few kernels are called from Python, as each of these is compiled with all that it calls;
arrays are filled in loops, as assigning an array to a part of another one compiles the text of an error; sorting, and
what is done once a run, is left to numpy, outside of compiled functions.
"""

from microagg.kernels import cache  # noqa: F401  sets the folder of compiled code
