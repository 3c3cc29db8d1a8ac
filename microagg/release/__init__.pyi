from .measures import distribution as distribution
from .earlier import compare_with as compare_with, read_earlier as read_earlier
from .export_check import as_written as as_written, check_export as check_export
from .findings import Finding as Finding
from .recoding import (
    CATEGORIES as CATEGORIES,
    RELEASE_WEIGHTS as RELEASE_WEIGHTS,
    ROUNDINGS as ROUNDINGS,
    STATISTICS as STATISTICS,
)
from .plan import Plan as Plan
from .release import Release as Release
from .assessment import Assessment as Assessment, Figure as Figure
from .remedies import (
    Change as Change,
    Remedy as Remedy,
    try_remedies as try_remedies,
    without_outliers as without_outliers,
)
from .report.report import Report as Report
