"""Methods held against each other: over k, by risk and loss, on stored data sets, and with what papers print."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
