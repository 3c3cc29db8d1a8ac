"""Microaggregation: k-anonymous microdata at little information loss."""

__version__ = "0.1.0"
