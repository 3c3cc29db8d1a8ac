"""Releases generated at random, written in five formats and read back by programs that are not ours."""

import csv
import io
from collections import Counter
from datetime import date, timedelta
from itertools import combinations
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pyreadstat

from microagg import microaggregate
from microagg.errors import MicroaggError

SIZES = ["S", "M", "L", "X, XL"]
REGIONS = {"north": {"a": None, "b": None}, "south": {"c": None, "d": None, "e": None}}
PARENTS = {"*": None, "north": "*", "south": "*", **dict.fromkeys("ab", "north"), **dict.fromkeys("cde", "south")}
COLORS = {"*": None, **dict.fromkeys(["red", "green", "blue"], "*")}

# Confidential columns; of those with an order where text has its place in it.
LEVELS = ["low", "mid", "high"]
SECRETS = {"secret": None, "level": LEVELS.index, "amount": float}

KINDS = {
    "whole": "number",
    "decimal": "number",
    "narrow": "float32",
    "day": "date",
    "year": "date",
    "size": SIZES,
    "region": PARENTS,
    "color": COLORS,
    "yes": {"*": None, "True": "*", "False": "*"},
}
OPTIONS = {
    "taxonomies": {"region": {"*": REGIONS}, "color": None, "yes": None},
    "ordinal": {"size": SIZES},
    "dates": {"day": "day", "year": "year"},
}


def table(rng, n):
    """Return records of all kinds, with many ties."""
    days = [date(1999, 11, 1) + timedelta(days=int(i)) for i in rng.integers(0, 900, n)]
    return pd.DataFrame(
        {
            "whole": rng.integers(0, 6, n),
            "decimal": rng.integers(0, 9, n) / 10,
            "narrow": (rng.integers(0, 9, n) / 10).astype(np.float32),
            "day": pd.to_datetime(days),
            "year": pd.to_datetime([date(2001, 6, 1) + 9 * (day - date(2001, 6, 1)) for day in days]),
            "size": rng.choice(SIZES, n),
            "region": rng.choice(list("abcde"), n),
            "color": rng.choice(["red", "green", "blue"], n),
            "yes": rng.choice([True, False], n),
            "stratum": np.arange(n) % 2,
            "secret": rng.choice(["x", "y", "z"], n, p=[0.7, 0.2, 0.1]),
            "level": pd.Categorical(rng.choice(LEVELS, n, p=[0.6, 0.3, 0.1]), LEVELS, ordered=True),
            "amount": rng.choice([0, 1, 5, 1000], n, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def values(frame, name):
    return [value.date() if isinstance(value, pd.Timestamp) else value for value in frame[name]]


def rows_of(frame, names):
    return list(zip(*(values(frame, name) for name in names), strict=True))


NUMBERS = ("whole", "decimal", "narrow", "day", "year")
BY_NUMBERS = ("mdav-star", "mdav", "v-mdav", "mdav-plus", "cbfs", "md", "p-s")
KEEPING = ("least-loss", "k-anonymity-first", "t-closeness-first")
BY_CATEGORIES = ("mdav-generic-mixed", "mondrian", "k-member")


def choices(rng):
    """Return a table, k, and arguments of a release of it, drawn at random."""
    n, k = int(rng.integers(16, 40)), int(rng.integers(2, 6))
    frame = table(rng, n)
    frame["name"] = [f"person {i}" for i in range(n)]
    frame["row"] = rng.permutation(n)
    frame["weight"] = rng.integers(2, 9, n) / 2
    numeric = rng.random() < 0.5
    known = NUMBERS if numeric else tuple(KINDS)
    names = rng.choice(known, int(rng.integers(1, min(len(known), 5) + 1)), replace=False).tolist()
    asked = {
        "method": str(rng.choice(BY_NUMBERS if set(names) <= set(NUMBERS) else BY_CATEGORIES)),
        "quasi_identifiers": names,
        "confidential": list(SECRETS),
        "identifiers": "name",
        "statistic": str(rng.choice(["mean", "median", "generalize"])),
        "categories": str(rng.choice(["ancestor", "set"])),
        "rounding": str(rng.choice(["none", "file"])),
        **{kind: {name: own[name] for name in names if name in own} for kind, own in OPTIONS.items()},
    }
    if rng.random() < 0.3:
        asked["by"] = "stratum"
    if rng.random() < 0.3:
        asked |= {"weights": "weight", "release_weights": str(rng.choice(["mean", "keep", "drop"]))}
    if rng.random() < 0.4:
        asked["shuffle"] = int(rng.integers(100))
    if rng.random() < 0.3 and asked["method"] in BY_NUMBERS:
        asked["polish"] = True
    if rng.random() < 0.2:
        asked["scale"] = str(rng.choice(["minmax", "none"]))
    if rng.random() < 0.3:
        asked["missing"] = str(rng.choice(["drop", "impute"]))
        gap = rng.random(n) < 0.1
        column = frame[names[0]].astype(object) if names[0] == "yes" else frame[names[0]]
        frame[names[0]] = column.where(~gap, None) if names[0] == "yes" else column.where(~gap)
    if rng.random() < 0.6:
        asked |= guarantees(rng)
        if rng.random() < 0.5:
            asked["method"] = str(rng.choice(KEEPING))
            asked |= {"effort": "quick"} if asked["method"] == "least-loss" else {}
    roles = {*names, *SECRETS, "name", asked.get("by"), asked.get("weights")}
    asked["others"] = [name for name in frame.columns if name not in roles]
    return frame, k, asked


def guarantees(rng):
    """Return what is asked for beyond k of the confidential columns, drawn at random."""
    limits = [2, 3, ("entropy", 1.3), ("entropy", 1.8)]
    return {
        "diversity": {name: limits[rng.integers(4)] for name in SECRETS if rng.random() < 0.4},
        "closeness": {name: float(rng.choice([0.05, 0.15, 0.3])) for name in SECRETS if rng.random() < 0.4},
    }


def files_below(release, k, asked):
    """Return what is wrong with the files of a release: a class below k or a guarantee, or a column too many."""
    known, wrong = known_of(asked), []
    for reader, rows in read_back(release, wrong):
        smallest = min(Counter(tuple(row[name] for name in known) for row in rows).values())
        if smallest < k or len(rows) != len(release.frame) or "name" in rows[0]:
            wrong.append(f"{reader}: {len(rows)} records, a class of {smallest}, k={k}, columns {list(rows[0])}")
        if reader == "csv by by_csv":
            text = pd.DataFrame(rows)
            wrong += [f"{limit} broken" for limit in broken(text, text.groupby(known).indices.values(), asked)]
    return wrong


def known_of(asked):
    return [*asked["quasi_identifiers"], *([asked["by"]] if "by" in asked else [])]


#: What is computed of which quasi-identifiers, and to what it is rounded; 0 if it is true to within 2 %.
FORMULAS = {
    "sum to 10": (["income", "spouse"], lambda x, y: x + y, 10),
    "sum to 1000": (["income", "spouse"], lambda x, y: x + y, 1000),
    "sum ± 2 %": (["income", "spouse"], lambda x, y: x + y, 0),
    "difference": (["income", "spouse"], lambda x, y: x - y, 100),
    "ratio": (["income", "spouse"], lambda x, y: x / y, 0.01),
    "BMI": (["height", "kilos"], lambda x, y: y / (x / 100) ** 2, 0.1),
    "product": (["hours", "wage"], lambda x, y: 52 * x * y, 10),
    "linear": (["income", "age"], lambda x, y: 0.3 * x - 50 * y + 2000, 100),
    "net": (["income"], lambda x: 0.68 * x, 10),
    "net ± 2 %": (["income"], lambda x: 0.68 * x, 0),
    "logarithm": (["income"], np.log, 0.01),
    "age group of 5": (["age"], lambda x: x // 5 * 5, 1),
    "age group of 10": (["age"], lambda x: x // 10 * 10, 1),
    "region": (["postcode"], lambda x: x // 1000, 1),
    "district": (["postcode"], lambda x: x // 100, 1),
}


def drawn(rng):
    return {"k": int(rng.integers(2, 11)), "method": str(rng.choice(BY_NUMBERS))}


def derived(rng, control=False):
    """Return a file with a column that follows from the quasi-identifiers, or does not (control), options, formula."""
    n = int(rng.integers(40, 250))
    frame = pd.DataFrame({
        "income": rng.lognormal(10, 0.6, n).round(-1),
        "spouse": rng.lognormal(9.5, 0.8, n).round(-1),
        "height": rng.normal(172, 9, n).round(),
        "kilos": rng.normal(75, 14, n).clip(40).round(),
        "age": rng.integers(18, 90, n),
        "postcode": rng.choice(rng.integers(10_000, 99_999, 60), n),
        "hours": rng.integers(5, 60, n),
        "wage": rng.lognormal(3, 0.4, n).round(2),
    })  # fmt: skip
    formula = str(rng.choice(list(FORMULAS)))
    inputs, function, step = FORMULAS[formula]
    exact = function(*(frame[name] for name in inputs))
    names = [*inputs, *rng.choice(frame.columns.difference(inputs), int(rng.integers(0, 3)), replace=False).tolist()]
    frame = frame[names].assign(illness=rng.choice(list("abcdef"), n))
    frame["derived"] = ((exact / step).round() * step).round(6) if step else exact * rng.uniform(0.98, 1.02, n)
    if control:
        frame["derived"] = rng.permutation(frame["derived"])
    options = {"quasi_identifiers": names, "confidential": ["illness"], **drawn(rng)}
    statistic = str(rng.choice(["mean", "median", "generalize"]))
    options |= {"statistic": statistic, "rounding": str(rng.choice(["none", "file"]))}
    role = rng.choice(["confidential", "others", "weights"])
    if role == "weights" and frame["derived"].min() > 0:
        options |= {"weights": "derived", "release_weights": "keep"}
    elif role == "others":
        options["others"] = ["derived"]
    else:
        options["confidential"] = ["illness", "derived"]
        if formula.startswith(("age", "region")):
            frame["derived"] = frame["derived"].map("{:g} or more".format)
    return frame, options, formula


def twice(rng):
    """Return a file, the options of two releases of it, with other groups and quasi-identifiers, and a formula."""
    frame, options, formula = derived(rng, control=True)
    frame["derived"] = rng.integers(1, rng.choice([20, 10**6]), len(frame))
    names = options["quasi_identifiers"]
    first = int(rng.integers(1, len(names) + 1))
    earlier = {"quasi_identifiers": names[:first], "identifiers": names[first:]}
    # Where nothing but the statistic differs, the classes do not.
    other = drawn(rng) if rng.random() < 0.7 else {"statistic": "median"}
    return frame, options, formula, options | other | earlier


def broken(text, classes, asked):
    """Return what is asked for beyond k that a class does not hold, the positions of whose records are in ``classes``.

    It is counted by pandas alone, in the text of a file.
    """
    found = []
    for name, place in SECRETS.items():
        limit, most = asked.get("diversity", {}).get(name), asked.get("closeness", {}).get(name)
        for shares, far in of_classes(text[name], classes, place):
            diverse = np.exp(-(shares * np.log(shares)).sum()) if isinstance(limit, tuple) else len(shares)
            if limit is not None and diverse < (limit[1] if isinstance(limit, tuple) else limit) - 1e-9:
                found.append(f"{limit} of {name}: {diverse}")
            if most is not None and far > most + 1e-9:
                found.append(f"{most} of {name}: {far}")
    return found


def of_classes(column, classes, place):
    """Yield the shares of each value in each class, and how far they are from those of all; ``place`` orders values."""
    values = column.astype(str).map(place or str)
    everybody = values.value_counts(normalize=True).sort_index()
    for rows in classes:
        shares = values.iloc[rows].value_counts(normalize=True)
        apart = shares.reindex(everybody.index, fill_value=0.0) - everybody
        far = apart.abs().sum() / 2 if place is None else apart.cumsum().abs().sum() / max(len(apart) - 1, 1)
        yield shares, far


def refusal(seed):
    """Return in words how a table of at most 8 records was released or refused, and what is wrong with that.

    It must be refused if and only if no partition of its strata into groups of k holds what is asked for.
    """
    rng = np.random.default_rng(seed)
    frame, k = table(rng, int(rng.integers(4, 9))), int(rng.integers(1, 4))
    names, by = ["whole", "decimal"], ["stratum"] if rng.random() < 0.5 else []
    asked = {**guarantees(rng), "quasi_identifiers": names, "by": by, "confidential": list(SECRETS), "method": "mdav"}
    strata = [frozenset(rows) for rows in (frame.groupby(by).indices.values() if by else [range(len(frame))])]
    if min(map(len, strata)) < k:
        return ["a stratum below k"], []
    try:
        microaggregate(frame, k=k, **asked)
        says = ""
    except MicroaggError as error:
        says = str(error)
    held = {}

    def can_be_held(rows):
        if rows not in held:
            first, *others = sorted(rows)
            groups = [{first, *more} for size in range(k - 1, len(rows)) for more in combinations(others, size)]
            held[rows] = any(
                (rows == group or (len(rows) >= len(group) + k and can_be_held(frozenset(rows - group))))
                and not broken(frame, [sorted(group)], asked)
                for group in groups
            )
        return held[rows]

    possible = all(map(can_be_held, strata))
    if possible == (says == ""):
        return ["small: refused" if says else "small: made"], []
    return [], [f"of {len(frame)} records, k={k}, {asked}: possible is {possible}, but {says or 'it was made'}"]


def read_back(release, wrong):
    """Yield the names of readers and the records that they read, as dicts, of files in five formats."""
    for ending, read in READERS.items():
        try:
            data, finding = release.export(f"release.{ending}")
        except MicroaggError as error:
            wrong.append(f"{ending}: {error}")
            continue
        if finding.level == "stop":
            wrong.append(f"{ending}: {finding.text}")
        yield f"{ending} by {read.__name__}", read(data)


def by_csv(data):
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


def by_openpyxl(data):
    header, *rows = openpyxl.load_workbook(io.BytesIO(data)).worksheets[0].iter_rows(values_only=True)
    return [dict(zip(header, row, strict=True)) for row in rows]


def by_pyreadstat_stata(data):
    return _by_pyreadstat(pyreadstat.read_dta, data)


def by_pyreadstat_spss(data):
    return _by_pyreadstat(pyreadstat.read_sav, data)


def _by_pyreadstat(read, data):
    with NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        return read(file.name)[0].astype(object).fillna("").to_dict("records")


def by_pyarrow(data):
    return pq.read_table(io.BytesIO(data)).to_pylist()


READERS = {
    "csv": by_csv,
    "xlsx": by_openpyxl,
    "dta": by_pyreadstat_stata,
    "sav": by_pyreadstat_spss,
    "parquet": by_pyarrow,
}
