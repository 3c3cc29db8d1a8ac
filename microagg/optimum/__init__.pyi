from . import bounds as bounds, mixed_bounds as mixed_bounds
from .bounds import gap as gap
from .search import Search as Search
