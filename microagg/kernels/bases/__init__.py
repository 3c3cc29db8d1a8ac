"""Whole algorithms that other algorithms start from or refine."""
