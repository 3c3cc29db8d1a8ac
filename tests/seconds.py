"""How long each test takes: the quick check leaves out what is slow, and the README's command what is long.

    python -m pytest --durations=0 -vv > report.txt && python -m tests.seconds report.txt

writes ``seconds.csv`` anew: the mean seconds of a run of each test function that is slow. Of a function with parameters
each is as slow as the mean. What is not listed, such as a new test, belongs to the quick check.
"""

import csv
import re
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

#: The quick check has no test of a mean of so many seconds or more, the README's command none of LONG or more.
SLOW, LONG = 0.15, 0.35

#: In a browser only what takes so many is long; all such tests are slow.
LONG_IN_BROWSER = 8.0

_FILE = Path(__file__).with_suffix(".csv")


@cache
def measured() -> dict[str, float]:
    """Return the mean seconds of each slow test function, by file and name."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        return {row["test"]: float(row["seconds"]) for row in csv.DictReader(file)}


def marks_of(nodeid: str) -> list[str]:
    """Return the marks of a test by what it takes: ``slow``, or ``slow`` and ``long``."""
    test = nodeid.split("[")[0]
    seconds = measured().get(test, 0.0)
    marks = ["slow"] if seconds >= SLOW else []
    return [*marks, "long"] if seconds >= (LONG_IN_BROWSER if test.startswith("tests/e2e/") else LONG) else marks


def main(report: str) -> None:
    """Write the file from what pytest printed."""
    total, runs = defaultdict[str, float](float), defaultdict[str, set[str]](set)
    for line in Path(report).read_text(encoding="utf-8", errors="replace").splitlines():
        if found := re.fullmatch(r"([\d.]+)s (?:call|setup|teardown) +(tests/.*)", line):
            test = found[2].split("[")[0]
            total[test] += float(found[1])
            runs[test].add(found[2])
    means = {test: seconds / len(runs[test]) for test, seconds in sorted(total.items())}
    with _FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["test", "seconds"])
        writer.writerows([test, f"{seconds:.2f}"] for test, seconds in means.items() if seconds >= SLOW)


if __name__ == "__main__":
    main(sys.argv[1])
