"""Sentences that claim something of figures, and the stored figures that they are held against.

The figures are read from their files, by none of the code that writes the sentences.
"""

import re
from collections.abc import Callable, Iterable
from types import SimpleNamespace

import numpy as np
import pandas as pd

from microagg.studies import landscape, literature
from tests.conftest import ROOT

#: What makes a sentence claim something.
CLAIM = re.compile(
    r"(?<!at )\b(least|lowest|best (known|found)|proven|optimal|optim(um|a)|(un)?necessary|unavoidable|impossible|"
    r"(not|is) possible|cannot be less|lower bound for groups|"
    r"none in such groups|below every|standardized figure|worth trying|well above|"
    r"\d+ algorithms|(no|whatever the) (method|partition|release|algorithm))\b|"
    r"at most [\d.]+ (%|times).* (above|optimum)|^all \d+$|lower bound for groups",
    re.IGNORECASE,
)

RESULTS, _STORE = ROOT / "benchmarks" / "results", ROOT / "microagg" / "studies" / "landscape"
TITLES = {landscape.title(name): name for name in landscape.METHODS}
_SEARCHES = ("local-search", "iterated-local-search", "least-loss")


RUNS, BEST = pd.read_csv(_STORE / "runs.csv.gz"), pd.read_csv(_STORE / "best.csv")
RUNS["of"] = RUNS["seed"].where(RUNS["data"].isin(["simu", "simc"]), 0)  # the seed of the records
PRINTED = literature.lowest_printed()


def run(data: str, title: str, k: int) -> pd.Series:
    """Return the stored run of a method, by its title, or the best partition that is stored."""
    if title == "Best known":
        own = best(data, k)
        return pd.Series({"information_loss": own["best"]})
    method = TITLES[title]
    return RUNS[(RUNS["data"] == data) & (RUNS["method"] == method) & (RUNS["k"] == k)].iloc[0]


def best(data: str, k: int) -> pd.Series:
    """Return what is known of the best partition that is stored."""
    return BEST[(BEST["data"] == data) & (BEST["seed"] == 0) & (BEST["k"] == k)].iloc[0]


def above(name: str, data: str | None = None, k: int | None = None) -> pd.DataFrame:
    """Return by method how much more than ``name`` is lost, in percent, and the seconds: means over k, then data."""
    own = RUNS.merge(BEST.rename(columns={"seed": "of"}), on=["data", "of", "k"])
    own = own[own["data"].eq(data) if data else own["data"].notna()]
    own = own[own["k"].eq(k) if k else own["k"].notna()].assign(above=100 * (own["information_loss"] / own[name] - 1))
    cells = own.groupby(["method", "data", "k"], as_index=False)[["above", "seconds"]].mean()
    ks, sets = cells["k"].nunique(), cells["data"].nunique()
    whole = cells.groupby(["method", "data"]).filter(lambda part: len(part) == ks)
    means = whole.groupby(["method", "data"])[["above", "seconds"]].mean()
    means["seconds"] = np.log(means["seconds"])
    means = means.groupby("method").filter(lambda part: len(part) == sets).groupby("method").mean()
    return means.assign(seconds=np.exp(means["seconds"])).sort_values("above")


def quick(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of methods that improve no other one's partition."""
    return table[~table.index.isin(_SEARCHES)]


def says(text: str, value: float, digits: int | None = None) -> None:
    """Assert that a number is written as rounding does it, to as many decimals as it has, or to so many digits."""
    written = text.replace(",", "")
    unit = 10.0 ** -len(written.partition(".")[2])
    if digits and value:
        unit = max(unit, 10.0 ** (np.floor(np.log10(abs(value))) + 1 - digits))
    assert abs(float(written) - value) <= 0.5 * unit * (1 + 1e-6), f"{text} is said, {value} is stored"


def gap(text: str, loss: float, floor: float) -> None:
    """Assert that a gap is written as it is, with two digits or three."""
    says(text, 100 * (loss / floor - 1), digits=len(text.replace(".", "").lstrip("0")))


def sentences(text: str) -> Iterable[tuple[str, int | None]]:
    """Return the sentences of a text in Markdown or HTML, each with the last k that was named before."""
    plain = re.sub(r",(<br>|\n)", ", ", text)
    plain = re.sub(r"<[^>]+>", "\n", re.sub(r"</?(b|i|em|strong|code|abbr|a|span)\b[^>]*>", "", plain))
    plain = plain.replace("\\", "").replace("**", "").replace("\u00a0", " ")
    k = None
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z“\[(:*])|\n+", plain):
        if named := re.fullmatch(r"k = (\d+)", sentence.strip()):
            k = int(named[1])
        if sentence.strip():
            yield " ".join(sentence.split()), k


Rule = tuple[str, Callable[..., None]]


def hold(texts: Iterable[str], rules: Iterable[Rule], harmless: Iterable[str], **where: object) -> set[str]:
    """Assert that each claiming sentence follows a rule that finds it true, or claims nothing of figures.

    Rules are called with ``where``, to which the k named in the text is added, and with the groups of their pattern,
    which is that of the whole sentence. Returns the patterns of the rules that were followed.
    """
    followed, unknown = set(), []
    for sentence, k in (own for text in texts for own in sentences(text)):
        # The name of a file, a module or a method claims nothing.
        if not CLAIM.search(re.sub(r"\w+([/.]\w+)+|\b(Least loss|least-loss|Best known(?! at k))\b", "", sentence)):
            continue
        for pattern, check in rules:
            if found := re.fullmatch(pattern, sentence):
                check(SimpleNamespace(**where | ({} if k is None else {"k": k})), *found.groups())
                followed.add(pattern)
                break
        else:
            if not any(re.fullmatch(pattern, sentence) for pattern in harmless):
                unknown.append(sentence)
    assert not unknown, "claims that nothing holds against stored results: " + "\n".join(dict.fromkeys(unknown))
    return followed
