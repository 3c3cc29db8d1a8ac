"""Releases of a file: :func:`microaggregate` makes one, :func:`replay` makes it again from its recipe."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
