"""Improving a partition: moves, their descent, regions of many records, ruin and recreate."""
