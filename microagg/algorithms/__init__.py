"""One file per algorithm, or close family; :mod:`microagg.registry` finds the classes in it."""
