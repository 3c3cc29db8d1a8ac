"""Records laid on a path, and the path cut into groups.

- ``orders``: paths by a number for each record, from record to nearest record, and through the groups of a partition.
- ``split``: the optimal cut of a path, by dynamic programming.
"""
