"""Releases of a file: a :class:`Plan` holds all choices and makes one, in the memory of this process."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
