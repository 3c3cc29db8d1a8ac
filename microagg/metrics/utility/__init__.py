"""What analysts still get right from what is released in place of the originals; :data:`MEASURES` describes each.

Of numbers :func:`il1s` and :func:`moments`, of categories, too, :func:`hellinger` and :func:`wasserstein` (attribute by
attribute), :func:`propensity` (all together) and :func:`prediction` (of a target).
"""

from microagg.errors import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
