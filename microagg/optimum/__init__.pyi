from . import bounds as bounds
from .bounds import gap as gap
from .search import Search as Search
