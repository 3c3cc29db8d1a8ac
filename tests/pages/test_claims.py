"""Figures that pages give of benchmarks are those stored, which are read from the files by none of the pages' code."""

import re

import pandas as pd
import pytest

from tests.claims import BEST, PRINTED, RESULTS, RUNS, TITLES, above, best, gap, quick, run, says
from tests.conftest import ROOT
from tests.pages.helpers import metrics, open_page, plain, traces

N = r"([\d,.]+)"
CLOSED = 1 + 1e-6  # to within rounding a floor is met


def text_of(app):
    """Return the words of a page, those above and in its figures too, without markup."""
    places = range(len(app.get("plotly_chart")))
    drawn = [str(trace.get("hovertext")) for place in places for trace in traces(app, place).values()]
    return re.sub(r"<[^>]+>", " ", " ".join([plain(app).replace("**", ""), *drawn]))


def assert_near(text, expected):
    """Assert that the percentages of a text are these, in this order, rounded up, down or to the next."""
    written = [number.replace(",", "") for number in re.findall(rf"{N} %", text)]
    assert len(written) == len(expected), f"{text}: {expected} is stored"
    for number, value in zip(written, expected, strict=True):
        unit = 10.0 ** -len(number.partition(".")[2])
        assert abs(float(number) - value) <= unit * CLOSED, f"{text}: {expected} is stored"


def figure(app, label):
    return metrics(app)[label].removesuffix(" %")


@pytest.mark.parametrize(("k", "title"), [(3, "MDAV*"), (5, "Best known")])
@pytest.mark.parametrize("data", ["census", "wine"])
def test_choose_k_knows_what_is_stored(data, k, title):
    query = {"method": "found"} if title == "Best known" else {}
    app = open_page("choose_k", data=data, ks="3-6", k=str(k), **query)
    text, known = text_of(app), best(data, k)
    lowest, floor, own = known["best"], known["floor"], run(data, title, k)["information_loss"]
    is_least, is_proven = own <= lowest * CLOSED, lowest <= floor * CLOSED
    # The gap of the chosen run, and of the best known partition if that is another one.
    [sentence] = re.findall(rf"{re.escape(title)} at k = {k}: (gap .*?|proven optimal .*?)\)", text)
    assert_near(sentence, [*([] if own <= floor * CLOSED else [100 * (own / floor - 1)]), own, floor])
    of_best = re.findall(r"Best known partition: (gap .*?|proven optimal .*?)\)", text)
    assert len(of_best) == (not is_least)
    if of_best:
        assert_near(of_best[0], [*([] if is_proven else [100 * (lowest / floor - 1)]), lowest, floor])
    # What the pointer shows, the title and the table.
    hover = re.sub(r"<[^>]+>", " ", traces(app)["k"]["hovertext"][k - 3])
    says(re.search(rf"■\s+{N} % +lower bound", hover)[1], floor)
    loss, share = re.search(rf"best known {N} %, (?:gap {N} %|proven optimal)", hover).groups()
    says(loss, lowest)
    if share:
        says(share, 100 * (lowest / floor - 1))
    else:
        assert is_proven
    rows = app.dataframe[0].value
    for row in rows.itertuples():
        assert row.gap == pytest.approx(100 * (row.information_loss / best(data, row.k)["floor"] - 1), abs=1e-6)
    losses = rows[rows["title"] != "Best known"].pivot_table(index="k", columns="title", values="information_loss")
    won = losses.le(losses.min(axis=1) * (1 + 1e-9), axis=0).sum()
    form = r"([\w*+-]+) has the lowest loss of \d+ methods at (\d+) of (\d+) values of k"
    winner, wins, ks = re.search(form, text).groups()
    assert (int(ks), int(wins)) == (len(losses), won.max()) == (4, won[winner])
    stored = RUNS[(RUNS["data"] == data) & (RUNS["method"] == TITLES[winner])].set_index("k")["information_loss"]
    assert losses[winner].tolist() == pytest.approx(stored.loc[list(losses.index)].tolist())


@pytest.mark.parametrize(("name", "k"), [("best", 0), ("floor", 5)])
def test_means_of_the_landscape_are_those_stored(name, k):
    text = text_of(open_page("evidence", view="matrix", above=name, at_k=str(k)))
    table = above(name, k=k or None)
    form = rf"k(?: = {k})?, (.+?) is {N} % above .*?; (.+?), the best without a search, {N} %"
    first, loss, passing, of_passing = re.search(form, text).groups()
    assert (TITLES[first], TITLES[passing]) == (table.index[0], quick(table).index[0])
    says(loss, table["above"].iloc[0], digits=2)
    says(of_passing, quick(table)["above"].iloc[0], digits=2)


@pytest.mark.parametrize("on", ["wine", ""])
def test_what_is_worth_trying_is_what_is_stored(on):
    """Each method left out has one on the front that is as good in both, and none on the front has."""
    app = open_page("evidence", view="time", on=on, at_k="5")
    table = above("best", on, 5)
    chosen = table.loc[[TITLES[title] for title in traces(app)["worth trying"]["text"]]]
    front, methods = re.search(r"(\d+) of (\d+) methods are worth trying at k = 5", text_of(app)).groups()
    assert (int(front), int(methods)) == (len(chosen), len(table))
    for name, own in table.iterrows():
        better = (0.99 * (100 + chosen["above"]) <= 100 + own["above"]) & (0.8 * chosen["seconds"] <= own["seconds"])
        assert better.drop(name, errors="ignore").any() == (name not in chosen.index), name


def test_gaps_of_best_known_partitions_are_those_stored():
    app = open_page("evidence", stored="best", best_of="census", best_k="10")
    own, gaps = best("census", 10), 100 * (BEST["best"] / BEST["floor"] - 1)
    says(figure(app, "Lower bound"), own["floor"], digits=6)
    gap(figure(app, "Gap"), own["best"], own["floor"])
    text = text_of(app)
    form = rf"Of (\d+) cells .*?, (\d+) are proven optimal, and (\d+) have a gap of at most {N} %"
    cells, proven, near, within = re.search(form, text).groups()
    assert (int(cells), int(proven), int(near)) == (len(BEST), (gaps <= 2e-5).sum(), (gaps <= float(within)).sum())
    share, title, k = re.search(rf"The widest gap is {N} %, on (.+?) at k = (\d+)", text).groups()
    widest = BEST.loc[gaps.idxmax()]
    assert (title.lower(), int(k), share) == (widest["data"], widest["k"], f"{gaps.max():.0f}")
    table = PRINTED.merge(BEST[BEST["seed"] == 0], on=["data", "k"])
    saved = 100 * (1 - table["best"] / table["printed"])
    form = rf"In (\d+) of (\d+) cells .*?every printed figure, by {N} to {N} %"
    below, cells, low, high = re.search(form, text).groups()
    assert (int(below), int(cells)) == ((saved > 0).sum(), len(PRINTED))
    says(low, saved.min(), digits=2)
    says(high, saved.max())
    floors = pd.read_csv(RESULTS / "adult_floor.csv")["information_loss"]
    hover = text_of(open_page("evidence", stored="printed", paper="byun-2007"))
    shown = re.findall(rf"■\s+{N} % +(?:lower bound|no method can lose less)", hover)
    assert {f"{float(number):.3g}" for number in shown} <= {f"{floor:.3g}" for floor in floors}
    assert shown


@pytest.mark.parametrize("paper", ["kabir-2010", "mortazavi-2013"])
def test_papers_are_said_to_be_impossible_only_where_they_are(paper):
    text = text_of(open_page("evidence", stored="printed", paper=paper))
    assert ("would be impossible" in text) == (paper == "kabir-2010")
    printed = pd.read_csv(ROOT / "microagg" / "studies" / "published.csv").query("paper == 'kabir-2010'")
    for row in printed[printed["method"] == "P-S"].itertuples():
        assert float(row.value) < best(row.dataset.lower(), int(row.k))["floor"]


def test_methods_are_counted_as_they_are_listed():
    listed = (ROOT / "microagg" / "algorithms" / "README.md").read_text(encoding="utf-8")
    counted = re.findall(r"All (\d+)", str([header.value for header in open_page("methods").header]))
    assert counted == [str(len(re.findall(r"^\| \[`", listed, re.MULTILINE)))]
