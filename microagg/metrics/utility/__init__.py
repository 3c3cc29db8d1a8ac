"""What analysts still get right from what is released in place of the originals; :data:`MEASURES` describes each.

:func:`hellinger` compares distributions attribute by attribute, :func:`propensity` all attributes together.
"""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
