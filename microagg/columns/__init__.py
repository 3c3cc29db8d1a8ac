"""What the columns of a file are: a guess for each, with its reasons, for a person to confirm or to correct."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
