from . import conclusions as conclusions
from .conclusions import (
    LESS_LOSS as LESS_LOSS,
    LESS_TIME as LESS_TIME,
    duel as duel,
    incomplete as incomplete,
    matrix as matrix,
    pareto as pareto,
    results as results,
)
from .store import (
    DATA as DATA,
    KS as KS,
    METHODS as METHODS,
    SEEDS as SEEDS,
    WITH_PARTITIONS as WITH_PARTITIONS,
    Best as Best,
    about as about,
    best as best,
    between as between,
    digest_records as digest_records,
    limits as limits,
    partition as partition,
    recognize as recognize,
    runs as runs,
    stored as stored,
    title as title,
)
