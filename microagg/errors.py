"""What microagg raises and warns with: one plain sentence each, the same in the package and on the page.

Every error is a :class:`ValueError`, so callers who know nothing of microagg can catch it as usual.
A message names the column, the record or the parameter, and says what to do.
"""


class MicroaggError(ValueError):
    """Base of every error that microagg raises on purpose."""


class DataError(MicroaggError):
    """The data cannot be used as they are: missing values, text, too few records, a broken file."""


class GuaranteeError(MicroaggError, RuntimeError):
    """What was made does not keep what it promises, so that it is withheld: a defect of microagg."""


class ParameterError(MicroaggError):
    """A parameter is unknown, of the wrong kind or out of its bounds."""


class DatasetUnavailableError(MicroaggError):
    """A benchmark file is neither on this machine nor could it be downloaded."""


class ConstantColumnWarning(UserWarning):
    """A column holds one value only, so it cannot be scaled and carries no information."""


class ConvertedColumnWarning(UserWarning):
    """A column of a table of polars or Arrow holds what pandas cannot: it is worked on as something else."""
