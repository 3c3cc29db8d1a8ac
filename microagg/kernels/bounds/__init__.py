"""Lower bounds on the SSE: the compiled parts of two linear programs, and the optimum of very few records.

Set partitioning has its columns from :mod:`.pricing` and :mod:`.candidates`; clique partitioning its columns and its
steps from :mod:`.primal_dual`; both have their cutting planes from :mod:`.separation`.
"""
