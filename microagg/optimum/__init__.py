"""How little can be lost, and the proof: the search for the least loss, floors of it, and certificates of optima."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
