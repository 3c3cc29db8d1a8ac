"""Stored results, and the tables of benchmarks/README.md and of the top README that are written from them.

And the table of algorithms in microagg/algorithms/README.md, from what they declare, and the picture of the rooms in
CONTRIBUTING.md, from what they import.

    python benchmarks/tables.py

Each table stands between two marks, ``<!-- NAME -->`` and ``<!-- end of NAME -->``; the text around them is written by
hand. The scripts that measure call :func:`write` once they have stored their results; a test holds the tables to them.
"""

from __future__ import annotations

import ast
import csv
import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import microagg
from microagg import ALGORITHMS, datasets
from microagg.optimum.bounds import CLOSED, gap
from microagg.studies import landscape, literature

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"

Row = dict[str, str]


def stored(name: str) -> list[Row]:
    """Return the rows of a stored table; none if there is no such table."""
    path = RESULTS / name
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def store(name: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a table to a file in the folder of results, or to another path."""
    with (RESULTS / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def store_row(name: str, columns: Sequence[str], row: Mapping[str, Any], n_keys: int) -> None:
    """Store a row in place of that of the same key, which are its first columns. Rows are sorted by their keys."""

    def key(row: Mapping[str, Any]) -> list[tuple[int, str]]:
        values = [str(row[column]) for column in columns[:n_keys]]
        return [(int(value) if value.isdigit() else 0, value) for value in values]

    rows = [each for each in stored(name) if key(each) != key(row)]
    store(name, columns, sorted([*rows, row], key=key))


def replace(path: Path, content: bytes) -> None:
    """Write a file at once: whoever reads it meanwhile finds the old one or the new one, whole."""
    beside = path.with_name(f"{path.name}.new")
    beside.write_bytes(content)
    beside.replace(path)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write what is stored beside results."""
    replace(path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def environment() -> dict[str, Any]:
    """Return the machine and the versions on which seconds depend."""
    packages = {name: version(name) for name in ("numpy", "numba")}
    return {
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {"microagg": microagg.__version__, "python": platform.python_version(), **packages},
    }


# --- tables of the READMEs ------------------------------------------------------------------------------------------

PAGES = [
    ROOT / name for name in ("benchmarks/README.md", "README.md", "microagg/algorithms/README.md", "CONTRIBUTING.md")
]


def table(header: list[str], rows: list[list[str]], text_columns: int = 1) -> str:
    """Return a Markdown table, whose first columns hold text and the others numbers."""
    rule = ["---"] * text_columns + ["--:"] * (len(header) - text_columns)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [header, rule, *rows])


def _two_digits(value: str) -> str:
    number = float(value)
    return f"{number:.0f}" if number >= 10 else f"{number:#.2g}"


def losses_and_floors(ks: Sequence[int] = (), *, methods: bool = True) -> str:
    """Return losses and lower bounds, at ``ks`` only if there are any, with the ``methods`` of the printed figures."""
    limits = landscape.limits().query("seed == 0").set_index(["data", "k"])
    losses = landscape.runs().query("seed == 0").set_index(["data", "k", "method"])["information_loss"]
    order, rows = list(landscape.DATA), []
    table_of = literature.lowest_printed()
    for row in sorted(table_of.itertuples(), key=lambda row: (order.index(row.data), row.k)):
        if ks and row.k not in ks:
            continue
        best, floor = limits.loc[(row.data, row.k), ["best", "floor"]]
        numbers = (losses[row.data, row.k, "mdav"], row.printed, losses[row.data, row.k, "least-loss"], best, floor)
        cells = [f"{loss:#.4g}" for loss in numbers]
        cells[1] += f" ({row.printed_by})" * methods
        rows.append([datasets.describe(row.data).title, str(row.k), *cells, _gap(best, floor)])
    header = ["Data set", "k", "MDAV", "Lowest printed", "Least loss", "Best known", "Lower bound", "Gap"]
    return table(header, rows)


def _gap(best: float, floor: float) -> str:
    share = 100 * gap(best, floor)
    return "**proven optimal**" if share <= 100 * CLOSED else f"{share:.{2 if share >= 0.01 else 5}f} %"


def headline() -> str:
    """Return the same at k = 3, 5 and 10 only, and the other headline figures in a sentence each."""
    verdicts = list(_verdicts().values())
    exact = sum(verdict.exact for verdict in verdicts)
    met = f"{exact} of the {len(verdicts)} printed figures are reproduced exactly."
    seconds = {
        ALGORITHMS[row["method"]].info.title: _two_digits(row["seconds"])
        for row in stored("scaling.csv")
        if (row["data"], row["d"], row["k"], row["n"]) == ("mixture", "10", "5", "1000000")
    }
    times = ", ".join(f"{title} {time} s" for title, time in seconds.items())
    million = f"A million records of a mixture (10 attributes, k = 5) take on two cores: {times}."
    return f"{losses_and_floors((3, 5, 10), methods=False)}\n{met}\n{million}\n"


def adult() -> str:
    """Return Total-IL against k, and CM at one k, on all complete records of Adult; see adult.py."""
    rows = [row for row in stored("adult.csv") if row["experiment"] == "k"]
    ks = sorted({int(row["k"]) for row in rows})
    body = []
    for label in dict.fromkeys(row["label"] for row in rows):
        own = {int(row["k"]): row for row in rows if row["label"] == label}
        losses = [f"{float(own[k]['information_loss']):.2f}" for k in ks]
        body.append([label, *losses, f"{float(own[10]['classification']):.3f}", _two_digits(own[10]["seconds"])])
    least = {int(row["k"]): f"{float(row['information_loss']):.2f}" for row in stored("adult_floor.csv")}
    body.append(["Lower bound", *(least[k] for k in ks), "", ""])
    header = ["Method", *(f"k = {k}" for k in ks), "CM at k = 10", "Seconds at k = 10"]
    return table(header, body)


#: The ways to get t-closeness that are compared.
CLOSENESS = {
    "mdav": "MDAV, merged",
    "k-anonymity-first": "k-anonymity first",
    "t-closeness-first": "t-closeness first",
    "least-loss": "Least loss",
}


def way(row: Row) -> str:
    """Return which of :data:`CLOSENESS` a row of results is."""
    return row["method"] if row["method"] in CLOSENESS else "mdav"


def guarantees() -> str:
    """Return the loss of each way to get t-closeness, by file and k, against t; see guarantees.py."""
    cells: dict[tuple[str, ...], dict[str, list[str]]] = {}
    ts: dict[str, None] = {}
    for row in stored("guarantees.csv"):
        own = cells.setdefault((row["data"], row["confidential"], row["n"], row["k"]), {})
        own.setdefault(way(row), []).append(f"{float(row['loss']):.4g}")
        ts[row["t"]] = None
    body = []
    for (data, secret, n, k), own in cells.items():
        body += [[data, secret, f"{int(n):,}", k, CLOSENESS[method], *losses] for method, losses in own.items()]
    return table(["Data", "Confidential", "Records", "k", "Way", *(f"t = {t}" for t in ts)], body, 5)


def many_records() -> str:
    """Return the seconds against the number of records; see scaling.py."""
    cells: dict[tuple[str, str, str, str], dict[str, Row]] = {}
    for row in stored("scaling.csv"):
        if row["method"] in ALGORITHMS:
            cells.setdefault((row["data"], row["d"], row["k"], row["n"]), {})[row["method"]] = row
    methods = list(dict.fromkeys(method for own in cells.values() for method in own))
    body = []
    for (data, d, k, n), own in sorted(cells.items(), key=lambda item: [item[0][0], *map(int, item[0][1:])]):
        seconds = [_two_digits(own[method]["seconds"]) if method in own else "" for method in methods]
        peaks = [float(row["peak_over_input"]) for row in own.values() if row["peak_over_input"]]
        body.append([data, f"{int(n):,}", d, k, *seconds, f"{max(peaks):.1f}" if peaks else ""])
    titles = [ALGORITHMS[method].info.title for method in methods]
    return table(["Data", "Records", "Attributes", "k", *titles, "Peak memory, × data"], body)


def blocks() -> str:
    """Return by how much more is lost by blocks than without, against their number; see in_parts.py."""
    cells: dict[tuple[str, ...], dict[int, Row]] = {}
    for row in stored("blocks.csv"):
        cells.setdefault((row["data"], row["n"], row["d"], row["method"], row["k"]), {})[int(row["blocks"])] = row
    numbers = sorted({number for own in cells.values() for number in own} - {1})
    body = []
    for (data, n, d, method, k), own in cells.items():
        alone = float(own[1]["il"])
        shown = [_above(own[number]["il"], alone) if number in own else "" for number in numbers]
        body.append([data, f"{int(n):,}", d, ALGORITHMS[method].info.title, k, f"{alone:.4g}", *shown])
    header = ["Data", "Records", "Attributes", "Method", "k", "IL without blocks", *(f"{n} blocks" for n in numbers)]
    return table(header, body)


def _above(loss: str, without: float) -> str:
    return f"{100 * (float(loss) / without - 1):+.1f} %"


def in_parts() -> str:
    """Return how long releases in parts take, and their memory; see in_parts.py."""
    body = []
    for row in stored("in_parts.csv"):
        n, block = f"{int(row['records']):,}", f"{int(row['block_size']):,}"
        method, workers = ALGORITHMS[row["method"]].info.title, f"{row['workers']} × {row['memory']}"
        passes = [f"{float(row[name]):.0f}" for name in ("encode", "assign", "sort", "group", "write", "count")]
        whole = [f"{float(row['seconds']):.0f}", f"{int(row['records_a_second']):,}", *passes]
        held = [f"{int(row['peak_worker_mib']):,}", f"{int(row['working_folder_mib']):,}"]
        body.append([method, workers, n, row["attributes"], row["k"], block, *whole, *held])
    header = ["Method", "Workers", "Records", "Attributes", "k", "Block", "Seconds", "Records a second", "Read"]
    header += ["Assign", "Sort", "Group", "Write", "Count", "Peak, MiB", "Working folder, MiB"]
    return table(header, body, 2)


def published() -> str:
    """Return how many printed figures are met how closely, by paper; see published.py."""
    headings = ("to the last digit", "within 1 %", "beyond 1 %", "means over random data", "not comparable or not run")
    counts: dict[str, Counter[str]] = {name: Counter() for name in literature.PAPERS.values()}
    for figure, verdict in _verdicts().items():
        counts[literature.PAPERS[figure.paper]][_closeness(verdict)] += 1
    body = [[paper, *(str(own[heading]) for heading in headings)] for paper, own in counts.items()]
    return table(["Paper", *headings], body)


def _verdicts() -> dict[literature.Figure, literature.Verdict]:
    computed = literature.Stored.read(RESULTS).results
    return {figure: literature.verdict(figure, computed.get(figure.identity)) for figure in literature.figures()}


def _closeness(verdict: literature.Verdict) -> str:
    if verdict.exact:
        return "to the last digit"
    if verdict.standard_errors is not None:
        return "means over random data"
    if not verdict.name.startswith("within"):
        return "not comparable or not run"
    return "within 1 %" if abs(verdict.difference or 0.0) <= 1 else "beyond 1 %"


def algorithms() -> str:
    """Return every algorithm with what it declares, family by family."""
    header = ["Key", "Algorithm", "Family", "Parameters", "Group sizes", "Time", "Source"]
    body = []
    for key, cls in ALGORITHMS.items():
        info, params = cls.info, ", ".join(f"`{param.name}`" for param in cls.params)
        file = cls.__module__.rsplit(".", 1)[1]
        name = f"[`{key}`]({file}.py)"
        body.append([name, info.title, info.family, params, info.sizes, info.complexity, info.reference])
    return table(header, body, len(header))


# --- the picture of the rooms ---------------------------------------------------------------------------------------


def imports_of(path: Path) -> Iterator[tuple[str, str | None]]:
    """Yield (module, name or None) for each import of a file; imports by a name in a string are among them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in {"import_module", "__import__"}:
            yield from ((argument.value, None) for argument in node.args[:1] if isinstance(argument, ast.Constant))


def room_of(path: Path) -> str:
    """Return the room of a file: pages, or the first part of its path below the package."""
    first, second, *_ = path.relative_to(ROOT).parts
    return first if first == "pages" else second.removesuffix(".py")


def arrows() -> dict[str, set[str]]:
    """Return from which rooms each imports, without those of the face (``__init__``), which all may show."""
    files = [path for folder in ("microagg", "pages") for path in sorted(ROOT.joinpath(folder).rglob("*.py"))]
    names = {room_of(path) for path in files} - {"__init__", "__main__"}
    needs: dict[str, set[str]] = {room: set() for room in names}
    for path in files:
        if (room := room_of(path)) in names:
            for module, name in imports_of(path):
                top, *parts = [*module.split("."), *([name] if name else [])]
                if top == "microagg" and parts and parts[0] in names - {room}:
                    needs[room].add(parts[0])
    return needs


def floors(needs: dict[str, set[str]]) -> dict[str, int]:
    """Return the floor of each room, 1 for those that import from no other; raises RecursionError in a circle."""

    def floor(room: str) -> int:
        return 1 + max((floor(other) for other in needs[room]), default=0)

    return {room: floor(room) for room in needs}


def rooms() -> str:
    """Return the rooms as a diagram of Mermaid; of the arrows it has those that no longer way implies.

    A room is a folder of ``microagg/``, or a file directly in it. It stands one floor above the highest room from which
    it imports.
    """
    needs = arrows()
    ground = {room for room in needs if ROOT.joinpath("microagg", f"{room}.py").is_file()} - {"api"}
    needs = {room: others - ground for room, others in needs.items() if room not in ground}

    def reach(room: str) -> set[str]:
        return needs[room].union(*map(reach, needs[room]))

    lines = ["\n```mermaid", "flowchart TD"]
    for room in sorted(needs, key=lambda name: (-floors(needs)[name], name)):
        direct = needs[room] - set().union(*map(reach, needs[room]))
        lines += [f"  {room} --> {other}" for other in sorted(direct)] or [f"  {room}"]
    return "\n".join([*lines, "```\n\n"])


TABLES = {
    "algorithms": algorithms,
    "losses and floors": losses_and_floors,
    "headline": headline,
    "adult": adult,
    "guarantees": guarantees,
    "many records": many_records,
    "blocks": blocks,
    "in parts": in_parts,
    "published": published,
    "rooms": rooms,
}


def filled(text: str) -> str:
    """Return the text of a page with each of its tables as the stored results have it."""
    for name, make in TABLES.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        if begin in text:
            before, rest = text.split(begin)
            text = f"{before}{begin}{make()}{end}{rest.split(end)[1]}"
    return text


def write() -> None:
    """Write the tables of all pages."""
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
