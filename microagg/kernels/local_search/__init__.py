"""Improving a partition: its ``state`` under change, ``descent`` until no move is left, and ``iterated`` search."""
