"""Disclosure risk of a release: who can be found in it, and what can be learned of whom."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
