"""Forming and changing groups: members, sums, labels; loops around a moving or a fixed mean; second phases."""
