"""Improving a partition: the moves, their descent, regions of many records, ruin and recreate, and the search over all.

Each file builds on those before it: ``state`` (a partition under change), ``moves`` (the best move of a record),
``descent`` (moves until none is left), ``regions`` (descent of many records, part by part), ``ruin_recreate``
(iterations that change a few groups at random), ``iterated`` (the one search that everything else calls).
"""
