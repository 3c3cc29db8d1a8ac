"""Compiled building blocks that several algorithms share.

Everything here is a pure function of its arguments, compiled on first use and cached on disk, and releases the
interpreter lock, so that threads run kernels side by side and a page stays alive meanwhile.
"""
