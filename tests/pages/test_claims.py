"""Each sentence of a page that claims something of figures is what is stored, or claims nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from tests import claims
from tests.claims import (
    BEST,
    LIMITS,
    QUALITY,
    RESULTS,
    RUNS,
    TITLES,
    above,
    best,
    bounds,
    gap,
    limit,
    quick,
    run,
    says,
    smallest,
)
from tests.conftest import ROOT
from tests.pages.helpers import open_page

N, METHOD = r"([\d,.]+)", r"(.+?)"
REAL = {"Census": "census", "Tarragona": "tarragona", "EIA": "eia"}


@pytest.fixture(scope="module", autouse=True)
def new_session():
    """Forget what the tests before have found: it would be known, but is not stored."""
    st.cache_resource.clear()


# --- what a page says -------------------------------------------------------------------------------------------------


def strings(value):
    """Return all texts of what is drawn, those of figures and tables too, but no code of components."""
    if isinstance(value, str):
        try:
            inside = json.loads(value) if value[:1] in "{[" else None
        except ValueError:
            inside = None
        yield from [value] if inside is None else strings(inside)
    elif hasattr(value, "ListFields"):
        for field, own in value.ListFields():
            if field.name not in ("js_content", "html_content", "css_content"):
                yield from strings(own)
    elif isinstance(value, Mapping):
        for own in value.values():
            yield from strings(own)
    elif not isinstance(value, bytes) and hasattr(value, "__iter__"):
        for own in value:
            yield from strings(own)


def texts(app):
    for node in app.main:
        yield from strings(getattr(node, "proto", ()))
    for metric in app.metric:
        yield f"{metric.label}: {metric.value}"


# --- Choose k and Clusters --------------------------------------------------------------------------------------------


def loses(at, title, own):
    says(own, run(at.data, title, int(at.k))["information_loss"])


def between(at, k, title, own, possible, impossible, share):
    loses(at, title, own)
    stored = limit(at.data, int(k))
    bounds(possible, impossible, stored)
    says(share, 100 * (1 - stored["best"] / run(at.data, title, int(k))["information_loss"]))


def least_known(at, k, title, own, impossible, share):
    stored = limit(at.data, int(k))
    assert run(at.data, title, int(k))["information_loss"] <= stored["best"] * (1 + 1e-6)
    bounds(own, impossible, stored)
    says(share, 100 * (1 - stored["floor"] / stored["best"]))


def least_possible(at, k, title, own, possible, share):
    loses(at, title, own)
    stored = limit(at.data, int(k))
    assert stored["best"] <= stored["floor"] * (1 + 1e-6)
    says(possible, stored["best"])
    says(share, 100 * (1 - stored["best"] / run(at.data, title, int(k))["information_loss"]))


def optimum(at, k, title, own):
    loses(at, title, own)
    optimal(at)


def riskier(at, ratio, higher, ks):
    table = at.app.dataframe[0].value.sort_values("information_loss")
    pairs = [(own.iloc[0], own.iloc[1:].mean()) for _, own in table.groupby("k")["record_linkage"]]
    assert (int(higher), int(ks)) == (sum(least > others for least, others in pairs), len(pairs))
    says(ratio, sum(least for least, _ in pairs) / sum(others for _, others in pairs))


def optimal(at):
    stored = limit(at.data, int(at.k))
    assert stored["best"] <= stored["floor"] * (1 + 1e-6)


def needless(at, title, more, k, share=None):
    here, floor = best(at.data, int(k))[["stored", "floor"]]
    gap(more, run(at.data, title, int(k))["information_loss"], here)
    if share is None:
        assert here <= floor * (1 + 1e-6)
    else:
        gap(share, here, floor)


def loss_alone(at, known, here, share):
    stored = best(at.data, int(at.k))
    assert stored["best"] < stored["stored"]
    says(known, stored["best"])
    says(here, stored["stored"])
    gap(share, stored["stored"], stored["floor"])


def of_methods(at, *share):
    """A caption of Clusters: of the chosen method, be it the best found, or of the other one."""
    losses = [run(at.data, name, int(at.k))["information_loss"] for name in ("MDAV*", "MDAV")]
    gaps = [
        100 * (loss / limit(at.data, int(at.k))["floor"] - 1) for loss in (*losses, best(at.data, int(at.k))["stored"])
    ]
    assert any(f"{own:.2g}" == share[0] for own in gaps), f"at most {share[0]} % is said, {gaps} is stored"


def of_all(at):
    """Return the stored runs of the methods that the page compares."""
    drawn = {
        trace.get("name")
        for chart in at.app.get("plotly_chart")
        for trace in json.loads(chart.proto.spec)["data"]
        if trace.get("name") in TITLES
    }
    own = RUNS[
        (RUNS["data"] == at.data) & RUNS["method"].isin([TITLES[name] for name in drawn]) & RUNS["k"].isin(at.ks)
    ]
    assert own.groupby("method").size().eq(len(at.ks)).all()
    return own


def most_wins(at, title, wins, ks):
    table = of_all(at).pivot_table(index="k", columns="method", values="information_loss")
    won = table.le(table.min(axis=1) * (1 + 1e-9), axis=0).sum()
    assert (len(table), won.max(), won[TITLES[title]]) == (int(ks), int(wins), int(wins))


def least_risk(at, limit_, risk, title, k):
    table = of_all(at)
    found = [
        {
            "method": "found",
            "k": k,
            "information_loss": best(at.data, k)["stored"],
            "smallest_group": smallest(at.data, k),
        }
        for k in at.ks
    ]
    table = pd.concat([table, pd.DataFrame(found)])
    assert (100 / table["smallest_group"]).min() > float(limit_)
    says(risk, (100 / table["smallest_group"]).min())
    own = table[table["smallest_group"] == table["smallest_group"].max()]
    assert own.loc[own["information_loss"].idxmin(), ["method", "k"]].tolist() == [TITLES.get(title, "found"), int(k)]


def no_method(at, risk, k, loss):
    assert int(k) == np.ceil(100 / float(risk))
    says(loss, limit(at.data, int(k))["floor"])


ABOVE = rf"[Aa]t most {N} % above the optimum"
CHOOSE_K = [
    (rf"At k = (\d+): {METHOD} loses {N} %; {N} % is possible and {N} % is not: {N} % of it is unnecessary\.", between),
    (
        rf"At k = (\d+): {METHOD} loses {N} %, the least that is known; less than {N} % is not possible, so at most "
        rf"{N} % of it is unnecessary\.",
        least_known,
    ),
    (
        rf"At k = (\d+): {METHOD} loses {N} %; {N} % is the least possible: {N} % of it is unnecessary\.",
        least_possible,
    ),
    (rf"At k = (\d+): {METHOD} loses {N} %, and no partition loses less\.", optimum),
    (rf"{METHOD} loses {N} % more than is needed at k = (\d+); the best found, at most {N} %\.", needless),
    (rf"{METHOD} loses {N} % more than is needed at k = (\d+); the best found is the optimum\.", needless),
    (
        rf"Of the best partition known only the loss is known, {N} %; the best one here loses {N} %, at most {N} % "
        r"above the optimum\.",
        loss_alone,
    ),
    (r"Proven optimal: found and floor meet, to within rounding\.", optimal),
    (rf"Best found at k = (\d+): {N} %", lambda at, k, best: says(best, limit(at.data, int(k))["best"])),
    (rf"Proven floor: {N} %", lambda at, floor: says(floor, limit(at.data, int(at.k))["floor"])),
    (
        rf"Above the optimum at most: {N} %",
        lambda at, share: says(
            share, 100 * (limit(at.data, int(at.k))["best"] / limit(at.data, int(at.k))["floor"] - 1)
        ),
    ),
    (rf"■ {N} %  ?no method can lose less", lambda at, floor: says(floor, limit(at.data, int(at.k))["floor"])),
    (
        rf"best known {N} %, {ABOVE}",
        lambda at, best, share: (
            says(best, limit(at.data, int(at.k))["best"]),
            gap(share, *limit(at.data, int(at.k))[["best", "floor"]]),
        ),
    ),
    (rf"best known {N} %, which is the optimum", lambda at, _: optimal(at)),
    (
        rf"The risk of the method that loses least is {N} times the others' mean, and above it at (\d+) of (\d+) "
        r"values of k\.",
        riskier,
    ),
    (rf"Of \d+ methods, {METHOD} loses least at (\d+) of (\d+) values of k", most_wins),
    (rf"No run has a risk of at most {N} % for every record: the least is {N} %, {METHOD} at k = (\d+)", least_risk),
    (
        rf"No method can: a risk of at most {N} % takes groups of (\d+) or more, and then at least {N} % is lost\.",
        no_method,
    ),
]
CLUSTERS = [
    (rf"{ABOVE}\.", of_methods),
    (r"Which is the optimum\.", optimal),
    (rf"Floor: {N} %", lambda at, floor: says(floor, limit(at.data, int(at.k))["floor"])),
]


# --- Landscape and Start ----------------------------------------------------------------------------------------------


def means(at, name, k, best, loss, passing, of_passing, far, of_all_, last, most):
    table = above(name, k=k and int(k))
    assert (TITLES[best], TITLES[passing], TITLES[last]) == (table.index[0], quick(table).index[0], table.index[-1])
    for said, value in ((loss, table["above"].iloc[0]), (of_passing, quick(table)["above"].iloc[0])):
        says(said, value, digits=2)
    says(most, table["above"].iloc[-1])
    assert (int(far), int(of_all_)) == ((table["above"] > 20).sum(), len(table))


def worth_trying(at, front, of_all_, k, rest):
    """Each method left out has one on the front that is as good in both, and none on the front has."""
    table = above("best", at.data, k and int(k))
    chosen = table.loc[[TITLES[title] for title in at.app.dataframe[0].value["title"]]]
    assert (int(front), int(of_all_), int(rest)) == (len(chosen), len(table), len(table) - len(chosen))
    for name, own in table.iterrows():
        better = (0.99 * (100 + chosen["above"]) <= 100 + own["above"]) & (0.8 * chosen["seconds"] <= own["seconds"])
        assert better.drop(name, errors="ignore").any() == (name not in chosen.index), name


_KS = r"(?:On average over k|At k = (\d+))"
_MEANS = (
    rf"{_KS}, {METHOD} loses {N} % more than {{}}, {METHOD}, the best without a search, {N} %; (\d+) of (\d+) methods "
    rf"lose over 20 % more, {METHOD} {N} %"
)
LANDSCAPE = [
    (_MEANS.format("the lowest loss known"), lambda at, *said: means(at, "best", *said)),
    (_MEANS.format("what is proven to be unavoidable"), lambda at, *said: means(at, "floor", *said)),
    (
        r"(\d+) of (\d+) methods are worth trying(?: at k = (\d+))?: for each of the other (\d+), one of them is as "
        "good in loss and time, to within 1 % and 20 %",
        worth_trying,
    ),
]


# --- Published results and Methods ------------------------------------------------------------------------------------


def beyond(at, below, cells, seconds, papers, low, high):
    saved = 100 * (1 - QUALITY["search"] / QUALITY["printed"])
    assert (int(below), int(cells), int(seconds)) == ((saved > 0).sum(), len(QUALITY), QUALITY["seconds"].max())
    says(low, saved.min())
    says(high, saved.max())
    printed = pd.read_csv(ROOT / "microagg" / "studies" / "published.csv")
    short = [key.split("-")[0] for key in printed["paper"].unique()]
    assert len(papers.split("; ")) == len(short)
    assert all(any(paper.lower().startswith(name) for paper in papers.split("; ")) for name in short)


def optima(at, listed):
    said = re.findall(r"(\w+) at k = (\d+)", listed)
    assert said == [(row.data.capitalize(), str(row.k)) for row in QUALITY[QUALITY["optimal"] == 1].itertuples()]
    for title, k in said:
        assert (RESULTS / "certificates" / f"{REAL[title]}-{k}.npz").is_file()
        optimal(type(at)(data=REAL[title], k=k))


def close(at, near, cells, most):
    gaps = 100 * (QUALITY["search"] / QUALITY["floor"] - 1)
    assert (int(near), int(cells)) == ((gaps <= float(most)).sum(), len(QUALITY))


def below_floor(at, ks):
    printed = pd.read_csv(ROOT / "microagg" / "studies" / "published.csv")
    at_ks = printed["k"].isin([int(k) for k in ks.split(", ")])
    own = printed[(printed["paper"] == "kabir-2010") & (printed["method"] == "P-S") & at_ks]
    own = own if at.data is None else own[own["dataset"].str.lower() == at.data]
    assert len(own)
    for row in own.itertuples():
        assert row.unit == "IL_percent"
        assert float(row.value) < limit(row.dataset.lower(), int(row.k))["floor"]


def below_floors(at, cells):
    named = re.findall(r"(\w+) \(k = ([\d, ]+)\)", cells)
    assert named
    for data, ks in named:
        below_floor(SimpleNamespace(data=data.lower()), ks)


def adult(at, floor):
    stored = pd.read_csv(RESULTS / "adult_floor.csv").set_index("k")["information_loss"]
    says(floor, stored[int(at.k)])


def registered(at, count):
    files = (ROOT / "microagg" / "algorithms" / "README.md").read_text(encoding="utf-8")
    assert int(count) == len(re.findall(r"^\| \[`", files, re.MULTILINE))


def library(at, cells, proven, near, within):
    gaps = 100 * (BEST["stored"] / BEST["floor"] - 1)
    assert (int(cells), int(near)) == (len(BEST), (gaps <= float(within)).sum())
    assert int(proven) == (gaps <= 2e-5).sum()


def widest(at, title, k, share):
    gaps = 100 * (BEST["stored"] / BEST["floor"] - 1)
    row = BEST.loc[gaps.idxmax()]
    assert (title.lower(), int(k), share) == (row["data"], row["k"], f"{gaps.max():.0f}")


def some_gap(at, share):
    gaps = (100 * (BEST["stored"] / BEST["floor"] - 1)).groupby([BEST["data"], BEST["k"]]).max()
    assert share in {f"{gap:.3g}" for gap in gaps}


PUBLISHED = [
    (rf"at most {N} % above the optimum", some_gap),
    (rf"Proven floor: {N} %", lambda at, floor: says(floor, best(at.data, int(at.k))["floor"], digits=6)),
    (
        rf"Above the optimum at most: {N} %",
        lambda at, share: gap(share, *best(at.data, int(at.k))[["stored", "floor"]]),
    ),
    (
        rf"Of (\d+) cells, data sets at a k, (\d+) are proven optimal, and (\d+) are at most {N} % above the optimum\.",
        library,
    ),
    (rf"Most is open on (.+) at k = (\d+): the best partition known is at most {N} % above the optimum", widest),
    (
        rf"In (\d+) of (\d+) cells a search of at most (\d+) seconds loses less than every standardized figure of the "
        rf"papers \((.+)\), by {N} to {N} %\.",
        beyond,
    ),
    (r"Proven optimal: (.+)\.", optima),
    (rf"In (\d+) of (\d+) cells the best found is proven to be at most {N} % above the optimum", close),
    (
        r"P-S on (.+): On raw, unscaled data; as a figure for scaled data it would lie under the proven floor\.",
        below_floors,
    ),
    (
        r"Read as scaled figures they would be impossible: they lie under the floor that no partition can get below\.",
        lambda at: below_floor(at, "3, 4, 5, 10"),
    ),
    (rf"■ {N} %  ?no method can lose less", adult),
]

#: What is said of no figure: names of lines, columns and fields, what a word means, and how something works.
HARMLESS = [
    r"l-diversity \(fewest values in a group\): How many different confidential values the least diverse group has\.",
    r"Paths and optimal splits|.*-w_family_Paths and optimal splits|lowest|lowest of the methods|[Pp]roven floor",
    r"[Bb]est found|Lowest printed|Best found at k = \d+|Above the optimum at most( \(%\))?",
    r"floor: no method can get below|no method gets here|lowest loss at each risk|worth trying|Worth trying",
    r"(impossible: below the proven floor|open: the optimum lies here|proven optimal|lowest printed figure)",
    r"(IL \(% of the lowest printed\)|[Ll]oss above the lowest known \(%\)|the lowest loss known|the proven floor)",
    r"How far from the optimum\?|all 1,080|all 178",
    r"Best known partitions|Loss of the best partition|best_known",
    r"Which partition of a benchmark loses least\?",
    r"For most cells nobody knows, but how far the best one known can be from it is proven\.",
    r"Percent above the proven floor; a star is a proven optimum\.",
    r"By how many percent the best partition known of each data set at each k is above the optimum at most\.",
    r"As the literature reports it: .*, a choice made with the result in view\.",
    # What every floor is, whatever its height.
    r"The gray floor is proven: whatever the method, less cannot be lost\.",
    r"Proven: whatever the method, less cannot be lost at this k\.",
    r"The floor is proven: no partition, by whatever method, loses less\.",
    r"No partition into groups of at least k, by whatever method, loses less\.",
    r"No method can do better (there|at this k)\.",
    r"The least possible loss lies in the band above it\.",
    r"The lowest loss of all runs and searches known that serve this k\.",
    r"By how much the best found exceeds the proven floor: the optimum lies between them\.",
    r"100 · \((Total-)?IL − floor\) / floor.*",
    r"Information loss IL = 100 · SSE / SST; the lowest loss known is the least of all methods and of a search\.",
    r"Each cell: by how many percent the method loses more than (the lowest loss known|the proven floor, .*), .*",
    r"Loss above the lowest known against seconds, a point per method; .*",
    r"For each data set and k: the lowest loss found and the proven floor, .*",
    # What a search does.
    r"The least loss that any partition can have lies between the best partition found and a proven floor\.",
    r"And it raises the floor by solving linear programs, .*",
    r"Where all groups that could be in a better one are few enough to be listed, .*",
    # Figures fill these in from the same table that is drawn.
    r".*%\{customdata.*",
    # How an algorithm decides.
    r"Weighs, record by record, whether .* the existing one it disturbs least\.",
    r".*\bwhose SSE grows least\b.*",
    r"([Tt]ies go )?to the lowest record( index or group number| index)?\.",
    r"Each gives every group at least k records; ties go to the lowest record\.",
]


def walk(rules, page, **query):
    app = open_page(page, **query)
    where = {"data": query.get("data") or query.get("on"), "k": query.get("k")}
    first, _, last = query.get("ks", "1").partition("-")
    ks = range(int(first), int(last or first) + 1)
    return app, claims.hold(texts(app), rules, HARMLESS, app=app, ks=ks, **where)


@pytest.mark.parametrize("query", [{}, {"method": "found"}])
@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("data", ["census", "wine"])
def test_choose_k_knows_what_is_stored(data, k, query):
    app, followed = walk(CHOOSE_K, "choose_k", data=data, ks="3-6", k=str(k), **query)
    assert {rule for rule, _ in CHOOSE_K[8:13]} <= followed
    assert followed & {rule for rule, _ in CHOOSE_K[4:6]}
    assert followed & {rule for rule, _ in CHOOSE_K[:4]}
    rows = app.dataframe[0].value
    for row in rows[["k", "information_loss", "gap"]].itertuples():
        assert row.gap == pytest.approx(100 * (row.information_loss / limit(data, row.k)["floor"] - 1), abs=1e-6)


@pytest.mark.parametrize("data", ["census", "wine"])
def test_the_map_of_risk_knows_what_is_stored(data):
    query = {"measure": "risk", "risk_limit": "10", "limit": "1", "methods": ["mdav", "mdav-star"]}
    _, followed = walk(CHOOSE_K, "choose_k", data=data, ks="3-6", k="5", **query)
    assert {rule for rule, _ in CHOOSE_K[-2:]} <= followed


@pytest.mark.parametrize("data", ["census", "wine"])
@pytest.mark.parametrize("method", ["mdav-star", "found"])
def test_clusters_knows_what_is_stored(data, method):
    _, followed = walk(CLUSTERS, "clusters", data=data, k="5", method=method, second="mdav")
    assert CLUSTERS[0][0] in followed


@pytest.mark.parametrize("at_k", ["0", "5"])
@pytest.mark.parametrize("name", ["best", "floor"])
def test_means_of_the_landscape_are_those_stored(name, at_k):
    _, followed = walk(LANDSCAPE, "landscape", view="matrix", above=name, at_k=at_k)
    assert followed


@pytest.mark.parametrize("on", ["census", "wine", ""])
def test_what_is_worth_trying_is_what_is_stored(on):
    _, followed = walk(LANDSCAPE, "landscape", view="time", on=on, at_k="5")
    assert followed


def test_published_results_claim_what_is_stored():
    _, followed = walk(PUBLISHED, "published", stored="best", best_of="census", best_k="10", data="census", k="10")
    assert {rule for rule, _ in PUBLISHED[:5]} <= followed
    _, followed = walk(PUBLISHED, "published", stored="beyond")
    assert {rule for rule, _ in PUBLISHED[5:8]} <= followed
    _, followed = walk(PUBLISHED, "published", stored="adult")
    assert followed == {PUBLISHED[-1][0]}


@pytest.mark.parametrize("paper", ["kabir-2010", "mortazavi-2013"])
def test_papers_are_said_to_be_impossible_only_where_they_are(paper):
    _, followed = walk(PUBLISHED, "published", paper=paper)
    assert bool(followed) == (paper == "kabir-2010")


@pytest.mark.parametrize(("page", "query"), [("methods", {}), ("methods", {"explained": "mdav"}), ("start", {})])
def test_what_stands_on_other_pages_is_stored_or_harmless(page, query):
    _, followed = walk([(r"All (\d+)", registered)], page, **query)
    assert bool(followed) == (page == "methods")


def test_a_claim_that_nothing_holds_is_found():
    for sentence in (
        "MDAV loses least of all.",
        "All 12 algorithms were run.",
        "At most 3 % above the optimum.",
        "All 12",
    ):
        with pytest.raises(AssertionError, match="claims that nothing holds"):
            claims.hold([sentence], [], HARMLESS)
    with pytest.raises(AssertionError, match=r"is stored"):
        claims.hold(["Best found at k = 5: 7.36 %"], CHOOSE_K, HARMLESS, data="census", k=5)
    assert len(LIMITS)
