"""The page Release: the checklist holds up what must not leave, the files are what was counted, records stay paired."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import shlex
from types import SimpleNamespace

import numpy as np
import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner

from microagg import DataError, Partition, metrics, replay
from microagg.cli import cli
from microagg.optimum import schedule
from microagg.optimum.formatting import share
from microagg.progress import Cancelled
from microagg.release import compare_with
from microagg.release import release as releases
from microagg.studies import landscape
from microagg.studies.experiment import Method, run_one
from microagg.tables import write_table
from pages.choose_k import search
from pages.release import before_after, making
from pages.shared import jobs, searched
from pages.shared.text import percent
from tests.conftest import load_benchmark
from tests.messy import messy_csv
from tests.pages.helpers import SURVEY, button, go_to, open_page, open_survey, plain, settle, upload

NUMBERS = ("age", "household_size", "rent")
FRAME = pd.read_csv(SURVEY)


def roles(frame=FRAME, quasi=NUMBERS, **others):
    """Return the address's words by which the numbers ``quasi`` are the quasi-identifiers, and the rest is left out."""
    return [
        f"quasi-identifier.number.drop.0:{name}" if name in quasi else f"{others.get(name, 'identifier')}..:{name}"
        for name in frame.columns
    ]


@pytest.fixture
def seen(monkeypatch):
    """Return what the page drew last: its release and the bytes of the protected file."""
    last = SimpleNamespace()
    draw = making.show

    def show(workspace, release, data, *, ready):
        last.workspace, last.release, last.data, last.ready = workspace, release, data, ready
        draw(workspace, release, data, ready=ready)

    monkeypatch.setattr(making, "show", show)
    return last


def downloads(app):
    """Return whether the protected file can be downloaded."""
    [protected] = [d.proto for d in app.get("download_button") if d.proto.label.startswith("Protected file")]
    return not protected.disabled


def lines(app, color):
    return [line.value.replace("\\", "") for line in app.markdown if line.value.startswith(f":{color}[")]


def press(app, label):
    button(app, label).click()
    return settle(app)


# --- the checklist ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_adult_has_no_red_line_until_columns_that_tell_who_is_who_are_forced_back_in(seen):
    app = open_page("release", data="adult", method="mondrian", k="100")
    assert not app.error
    assert lines(app, "red") == []
    assert downloads(app)
    back = ["other.number.drop.0:education-num", "other.number.drop.0:fnlwgt"]
    app = open_page("release", data="adult", method="mondrian", k="100", columns=back)
    assert "3 red lines below hold up the release" in plain(app)
    red = lines(app, "red")
    assert len(red) == 3
    assert "fnlwgt" in red[0]
    assert "'education-num' determines 'education' (one to one)" in red[1]
    assert "'education-num' from 'education'" in red[2]
    assert not downloads(app)
    press(app, "Leave education\\-num out")
    [red] = lines(app, "red")
    assert "fnlwgt" in red
    assert "education-num" not in seen.release.frame
    app.text_input[0].set_value("Contract forbids linking").run()
    press(app, "Override this line")
    assert downloads(app)
    assert not app.error
    said = seen.release.report.summary()
    assert "Released in spite of: " in said
    assert "The reason given: Contract forbids linking." in said
    assert "The reason given: Contract forbids linking." in plain(app)
    assert app.query_params["overridden"].endswith(":Contract forbids linking")
    press(app, "Take back")
    assert "overridden" not in app.query_params
    assert not downloads(app)


def test_guesses_hold_up_the_download_until_they_are_agreed_to():
    app = open_survey("release", k="5")
    [red] = lines(app, "red")
    assert "Nobody has decided yet what these columns are: 'person_id', 'region'" in red
    assert not downloads(app)
    press(app, "Agree to all guesses")
    assert lines(app, "red") == []
    assert downloads(app)
    assert (
        "300 records protected: each combination of quasi-identifiers occurs at least 5 times" in app.success[0].value
    )


def test_an_earlier_release_holds_up_the_next_one(seen):
    open_page("release", data="wine", k="5", method="mdav")
    earlier = seen.release
    app = open_page("release", data="wine", k="7", method="mdav")
    assert "k holds for each release alone" in plain(app)
    for name, content in (("earlier.json", json.dumps(earlier.recipe)), ("earlier.csv", earlier.frame.to_csv())):
        app.file_uploader(key="w_earlier").upload(name, content.encode())
        settle(app)
        assert not downloads(app)
    assert any("The earlier release cannot be compared" in line for line in lines(app, "red"))
    app.file_uploader(key="w_earlier").upload("earlier.csv", earlier.frame.to_csv(index=False).encode())
    settle(app)
    go_to(app, "clusters")
    settle(app)
    go_to(app, "release")
    settle(app)
    joint = compare_with(seen.release, earlier).report.joint
    [red] = [line for line in lines(app, "red") if "earlier release" in line]
    assert f"{joint.narrowed:,} of 178 records ({joint.alone:,} alone)" in red
    assert app.metric[0].value == share(1 / joint.smallest)
    app.text_input(key="reason_releases_").set_value("withdrawn").run()
    button(app, "Override this line").click()
    settle(app)
    assert "The reason given: withdrawn." in seen.release.report.summary()
    press(app, "Remove the earlier release")
    assert not [line for line in lines(app, "red") if "earlier release" in line]
    assert seen.release.report.joint is None


@pytest.mark.parametrize(("method", "word"), [("imhm", "IMHM"), ("rimhm", "RIMHM")])
def test_parameters_called_like_something_of_the_release_are_the_methods_own(method, word):
    app = open_page("release", data="wine", k="5", method=method)
    assert not app.error
    assert word in plain(app)
    assert len(app.metric) == 6


def test_weights_that_are_kept_are_a_red_line_with_a_remedy(seen):
    app = upload("messy.csv", messy_csv(), "release", weights="keep", k="5")
    press(app, "Agree to all guesses")
    assert any("'weight'" in line for line in lines(app, "red"))
    press(app, "mean weight")
    assert not any("'weight'" in line for line in lines(app, "red"))
    weights = seen.release.frame["weight"].groupby(seen.release.partition.labels)
    assert (weights.nunique() == 1).all()
    assert weights.sum().sum() == pytest.approx(messy()["weight"].sum() - lost_weight(seen))


def messy():
    return pd.read_csv(io.BytesIO(messy_csv()))


def lost_weight(seen):
    """Return the weights of the records that were left out, whose index labels the report has."""
    return messy().loc[list(seen.release.report.dropped), "weight"].sum()


def test_a_loss_above_the_limit_is_an_amber_line_and_what_would_help_is_tried():
    app = open_survey("release", columns=roles(), k="10", limit="1")
    [amber] = [line for line in lines(app, "orange") if "above the limit" in line]
    assert "IL is" in amber
    press(app, "What would help?")
    assert "Now: as it is " in plain(app)
    form = r"([\d.]+) % instead of ([\d.]+) % on the other quasi-identifiers; ([\d.]+)\s% in all$"
    said = [found for own in app.caption if (found := re.search(form, own.value.replace("\\", "")))]
    gains = [float(unchanged) - float(loss) for loss, unchanged, _ in (found.groups() for found in said)]
    assert gains == pytest.approx(sorted(gains, reverse=True), abs=0.2)
    assert min(gains) >= 0
    labels = [own.label.replace("\\", "") for own in app.button if (own.key or "").startswith("help_")]
    assert len(labels) == len(gains)
    assert all(label.startswith(("Without '", "With '")) for label in labels)
    # A click does it, and then the page says what was said before.
    next(own for own in app.button if (own.key or "").startswith("help_")).click()
    settle(app)
    [amber] = [line for line in lines(app, "orange") if "above the limit" in line]
    assert float(re.search(r"IL is ([\d.]+) %", amber)[1]) == pytest.approx(float(said[0][3]), rel=0.01)
    press(app, "What would help?")
    app.number_input(key="w_k_chosen").set_value(2)
    settle(app)
    assert "Now: " not in plain(app)
    within = open_survey("release", columns=roles(), k="10", limit="100")
    assert [line for line in lines(within, "green") if "within the limit of 100 %" in line]


def test_confidential_numbers_that_identify_are_rounded_by_a_click(seen):
    app = open_survey("release", columns=roles(household_income="confidential"), k="5")
    [amber] = [line for line in lines(app, "orange") if "'household_income' has" in line]
    assert "otherwise round the values" in amber
    rounded, *_ = [own for own in app.button if "household_income by intervals of" in own.label.replace("\\", "")]
    width = int(re.search(r"intervals of (\d+)", rounded.label)[1])
    says = int(re.search(r"(\d+) values instead", rounded.label)[1])
    rounded.click()
    settle(app)
    released = pd.read_csv(io.BytesIO(seen.data))["household_income"]
    assert released.nunique() == says == (FRAME["household_income"].dropna() // width).nunique()
    assert not [line for line in lines(app, "orange") if "'household_income' has" in line]


def diverse(seen, name, quasi):
    """Return of each class of the file that was drawn last how many values of a column it has."""
    return pd.read_csv(io.BytesIO(seen.data), dtype=str).groupby(quasi)[name].nunique()


@pytest.mark.parametrize("how", ["numbers", "categories", "found"])
def test_one_confidential_value_in_a_class_has_a_remedy_with_its_price(monkeypatch, seen, how):
    given = {"columns": roles(satisfaction="confidential"), "k": "2"}
    quasi = list(NUMBERS)
    if how == "categories":
        given["columns"] = roles(satisfaction="confidential", quasi=("age", "rent"), region="quasi-identifier")
        given["columns"] = [entry.replace("..:region", ".category.category.0:region") for entry in given["columns"]]
        quasi = ["age", "rent", "region"]
    if how == "found":
        monkeypatch.setattr(searched, "newest", lambda workspace, k: run_one(workspace.problem, Method("mdav-plus"), k))
        given["method"] = "found"
    app = open_survey("release", **given)
    assert [line for line in lines(app, "orange") if "'satisfaction' is the same for everyone" in line]
    assert diverse(seen, "satisfaction", quasi).min() == 1
    before = seen.release.report.measured.information_loss
    remedy = button(app, "Have at least 2 values in each class: loses ")
    price, now = map(float, re.search(r"loses ([\d.]+) % instead of ([\d.]+) %$", remedy.label).groups())
    assert now == pytest.approx(before, rel=1e-3)
    remedy.click()
    settle(app)
    assert not app.error
    assert app.query_params["diversity"] == "satisfaction=2"
    assert diverse(seen, "satisfaction", quasi).min() == 2
    assert seen.release.report.measured.information_loss == pytest.approx(price, rel=1e-3)
    assert not [line for line in lines(app, "orange") if "'satisfaction' is the same" in line]
    assert [line for line in lines(app, "green") if "at least 2 distinct values of 'satisfaction'" in line]
    assert app.number_input(key="w_distinct").value == 2


def test_what_is_guaranteed_is_chosen_by_hand_and_refused_with_the_nearest(seen):
    app = open_page("release", data="wine", k="5")
    app.number_input(key="w_closeness").set_value(0.3)
    settle(app)
    app.number_input(key="w_entropy").set_value(1.5)
    settle(app)
    assert (app.query_params["diversity"], app.query_params["closeness"]) == ("target=entropy:1.5", "target=0.3")
    assert [(own.rule, own.asked) for own in seen.release.report.guaranteed] == [("entropy", 1.5), ("closeness", 0.3)]
    assert all(own.holds for own in seen.release.report.guaranteed)
    assert "Asked for: the diversity of 1.5 equally frequent values of 'target' in each class and values of" in plain(
        app
    )
    app.number_input(key="w_distinct").set_value(4)
    settle(app)
    assert "the file has 3 distinct values of it" in plain(app)
    assert "ask for 3 or less" in plain(app)
    app.number_input(key="w_distinct").set_value(None)
    settle(app)
    assert not app.error
    assert "diversity" not in app.query_params
    assert [own.rule for own in seen.release.report.guaranteed] == ["closeness"]


def test_a_remedy_that_cannot_be_had_says_why(seen):
    n = len(FRAME)
    frame = FRAME.assign(part=["N"] * 4 + ["S"] * (n - 4), secret=["x"] * 6 + list("xy") * ((n - 6) // 2))
    content = frame.to_csv(index=False).encode()
    given = roles(frame, part="stratum", secret="confidential")
    app = upload("parts.csv", content, "release", columns=given, k="2")
    assert "2 values in each class cannot be had. Diversity of 'secret' cannot be 2: stratum part='N' has 1" in plain(
        app
    )
    assert not [own for own in app.button if "Have at least" in own.label]


@pytest.mark.parametrize("how", [{"method": "mdav"}, {"method": "mdav", "statistic": "ancestor"}])
def test_outliers_are_left_out_at_a_price_said_before_and_come_back(seen, how):
    frame = FRAME[list(NUMBERS)].astype({"rent": float})
    frame.loc[[7, 200], "rent"] = [90_000.0, 95_000.5]
    frame.loc[11, "rent"] = np.nan
    content = frame.to_csv(index=False).encode()
    app = upload("rents.csv", content, "release", columns=roles(frame), k="4", **how)
    [line] = [line for line in lines(app, "orange") if "There are outliers" in line]
    assert "or leave these records out" in line
    before = seen.release
    assert len(before.frame) == len(frame) - 1
    [says] = [own.value.replace("\\", "") for own in app.caption if own.value.startswith("rent above")]
    price, now = map(float, re.search(r"is ([\d.]+) % instead of ([\d.]+) %", says).groups())
    assert f"{len(frame) - 3:,} records remain" in says
    assert now == pytest.approx(before.report.measured.information_loss, rel=1e-3)
    press(app, "Leave out these 2 records")
    assert not app.error
    after = seen.release
    assert set(after.report.dropped) == {7, 11, 200}
    assert after.report.measured.information_loss == pytest.approx(price, rel=1e-3)
    assert not [line for line in lines(app, "orange") if "There are outliers" in line]
    # It stands in the recipe, the program and, without the values, the report.
    [[name, changes]] = after.recipe["recode"]
    [limit] = changes
    assert (name, changes[limit]) == ("rent", None)
    assert replay(seen.workspace.table.original.frame, after.recipe).frame.equals(after.frame)
    assert limit in after.script(file="rents.csv")
    assert {"what": "Values made others beforehand", "how": "'rent' (1 change)."} in after.to_dict()["choices"]
    assert "Values of **rent**: " in plain(app)
    press(app, "Undo")
    assert set(seen.release.report.dropped) == {11}
    assert seen.release.frame.equals(before.frame)


def test_groups_stay_within_strata(seen):
    app = open_survey("release", columns=roles(region="stratum"), k="5")
    assert not app.error
    assert (seen.release.frame["region"].groupby(seen.release.partition.labels).nunique() == 1).all()
    assert [s.n_records for s in seen.release.report.risk.strata] == FRAME["region"].value_counts(sort=False).tolist()


# --- the values -------------------------------------------------------------------------------------------------------


def test_shuffled_records_stay_beside_their_own_release(seen, monkeypatch):
    app = open_survey("release", columns=roles(), k="5", exact="1")
    before = seen.release
    assert paired(app)
    press(app, "Shuffle the records")
    assert app.query_params["shuffle"] == "1"
    shuffled = seen.release.frame
    assert list(shuffled["age"]) != list(before.frame["age"])
    assert sorted(shuffled["age"]) == sorted(before.frame["age"])
    assert paired(app)
    assert not [line for line in lines(app, "orange") if "order" in line]
    assert "the same, in another order" in plain(app)
    press(app, "Keep the order of the file")
    assert list(seen.release.frame["age"]) == list(before.frame["age"])
    monkeypatch.setattr(jobs, "_MOST_OUTCOMES", 1)
    app.toggle(key="w_exact").set_value(False)
    settle(app)
    app.toggle(key="w_exact").set_value(True)
    settle(app)
    press(app, "Shuffle the records")
    assert seen.release.frame.equals(shuffled)  # made again, in the same order
    app.toggle(key="w_recorded").set_value(True)
    settle(app)
    assert app.query_params["shuffle"] == "recorded"
    assert str(seen.release.recipe["shuffle"]) in app.code[0].value
    pd.testing.assert_frame_equal(replay(FRAME, seen.release.recipe).frame, seen.release.frame)


def table_with(app, column):
    """Return the table of the page that has a column of this name."""
    [table] = [frame.value for frame in app.dataframe if column in frame.value]
    return table


def paired(app):
    """Return whether each group of the table side by side has the means of the values before."""
    table = table_with(app, "group")
    whole = table[table["group"] < table.iloc[-1]["group"]]
    assert len(whole) > 40
    for name in NUMBERS:
        means = pd.to_numeric(whole[f"{name} "]).groupby(whole["group"]).transform("mean")
        if not np.allclose(means, pd.to_numeric(whole[f"→ {name}"]), rtol=1e-5):
            return False
    return True


def test_integers_stay_whole_unless_all_digits_are_kept(seen):
    app = open_survey("release", columns=roles(), k="5")
    assert {str(dtype) for dtype in seen.release.frame[list(NUMBERS)].dtypes} == {"int64"}
    means = FRAME["age"].groupby(seen.release.partition.labels).transform("mean")
    assert (seen.release.frame["age"] == means.round()).all()
    app.toggle(key="w_exact").set_value(True)
    settle(app)
    assert seen.release.frame["age"].to_numpy() == pytest.approx(means.to_numpy(), rel=1e-12)
    assert "." in pd.read_csv(io.BytesIO(seen.data), dtype=str)["age"].str.cat()


def test_the_table_of_attributes_says_what_each_lost(seen):
    app = open_page("release", data="wine", k="4")
    table = table_with(app, "changed").set_index("attribute")
    frame = load_benchmark("wine").frame
    groups = seen.release.partition.labels
    for name in ("alcohol", "proline"):
        old, new = frame[name], seen.release.frame[name]
        assert table.loc[name, "lost"] == pytest.approx(
            100 * ((old - new) ** 2).sum() / ((old - old.mean()) ** 2).sum()
        )
        assert table.loc[name, "changed"] == pytest.approx(100 * (old != new).mean())
    assert table["lost"].is_monotonic_decreasing
    assert plain(app).count(f"{table.index[0]} loses most: ") == 1
    assert f"{groups.max() + 1} groups of " in plain(app)


def test_what_a_search_has_found_is_released_with_its_groups(monkeypatch, seen):
    none = open_page("release", data="wine", scale="none", k="3", method="found")
    assert "No search has been made at k = 3 in this session" in plain(none)
    assert not none.get("download_button")

    def found(workspace, k):
        result = run_one(workspace.problem, Method("mdav-plus"), k)
        return dataclasses.replace(result, method=Method("iterated-local-search"))

    monkeypatch.setattr(searched, "newest", found)
    app = open_page("release", data="wine", scale="none", k="3", method="found")
    assert not app.error
    expected = run_one(seen.workspace.problem, Method("mdav-plus"), 3).partition.labels
    assert list(seen.release.partition.labels) == list(expected)
    assert seen.release.report.given
    assert "replay(frame, recipe)" in app.code[0].value


def test_the_best_known_partition_of_a_benchmark_is_released_and_replays(seen):
    known = landscape.limits().query("data == 'census'").set_index("k")
    k = int(known.index[known["best"] < 0.999 * known["stored"]][0])
    app = open_page("release", data="census", k=str(k), method="found")
    best, release = landscape.best("census", k), seen.release
    assert release.partition.labels.tolist() == best.partition.labels.tolist()
    assert release.report.loss.information_loss == pytest.approx(best.information_loss, rel=0.01)  # means are rounded
    assert f"It loses {percent(best.information_loss, 4)}, at most " in plain(app)
    assert "It came with the package." in plain(app)
    assert f"Of a better one only the loss is known, {percent(known.loc[k, 'best'], 4)}." in plain(app)
    again = replay(seen.workspace.table.frame, release.recipe)
    assert again.export("protected.csv")[0] == seen.data
    # What is found here and better takes its place.
    assert "It came with the package." not in plain(open_page("release", data="census", k=str(k), method="mdav"))


@pytest.mark.usefixtures("searches")
def test_of_an_own_file_with_categories_the_best_found_is_released_and_replays(monkeypatch, seen):
    monkeypatch.setattr(search, "BUDGET", 3.0)
    monkeypatch.setattr(schedule, "_FIRST", 1.0)
    app = open_survey("choose_k", ks="5, 10", k="5")
    for _ in range(8):  # on a busy machine it may take a while until this k has its turn
        if "Chosen now: **Best found, k = 5**" in plain(app):
            break
        press(app, "Go on")
    assert re.search(r"loses (at least )?\S+ % more than is needed at k = 5", plain(app))
    settle(go_to(app, "release"))
    assert "by **Best found**" in plain(app)
    workspace, release = seen.workspace, seen.release
    loss = workspace.problem.row(release.partition, release.partition)["information_loss"]
    assert loss < run_one(workspace.problem, Method("k-member"), 5).information_loss
    assert f"It loses {percent(loss, 4)}, " in plain(app)
    again = replay(workspace.table.frame, release.recipe)
    assert again.export("protected.csv", like=workspace.table.read)[0] == seen.data
    settle(go_to(app, "clusters"))
    assert app.metric[0].value == percent(loss)


def test_of_an_own_file_the_best_found_is_chosen_and_stays_until_a_better_one_is_taken(monkeypatch, seen):
    monkeypatch.setattr(search, "BUDGET", 3.0)
    monkeypatch.setattr(search, "NEAR", 0.0)
    given = {"columns": roles(), "ks": "3-5", "k": "4"}
    app = upload("survey.csv", SURVEY.read_bytes(), "choose_k", **given)
    for _ in range(8):  # on a busy machine it may take a while until this k has its turn
        if "Chosen now: **Best found, k = 4**" in plain(app):
            break
        button(app, "Go on").click()
        settle(app)
    assert app.session_state["choices"].method == ""
    says = r"MDAV\S* loses (\S+) % more than is needed at k = 4; the best found"
    needed = re.search(says, plain(app))
    assert float(needed[1]) > 0
    settle(go_to(app, "release"))
    assert not app.error
    assert "by **Best found**" in plain(app)
    first = seen.release
    own = run_one(seen.workspace.problem, Method("mdav-star"), 4)
    loss = metrics.information_loss(seen.workspace.X, first.partition.labels)
    assert loss < own.information_loss
    assert f"It loses {percent(loss, 4)}, " in plain(app)
    again = replay(seen.workspace.table.frame, first.recipe)
    assert again.frame.equals(first.frame)
    # The search goes on, and what was found before stays on this page.
    better = run_one(seen.workspace.problem, Method("least-loss"), 4)
    labels = np.arange(len(own.partition.labels)) // 4
    worse = dataclasses.replace(own, partition=Partition(np.minimum(labels, labels.max() - 1), 4))
    app.session_state["searched_taken"] = {(seen.workspace.digest, 4): worse}
    monkeypatch.setattr(searched, "newest", lambda *_: better)
    settle(app)
    assert seen.release.partition.labels.tolist() == worse.partition.labels.tolist()
    assert f"{percent(better.information_loss, 4)} has been found since" in plain(app)
    press(app, "Take the better one")
    assert seen.release.partition.labels.tolist() == better.partition.labels.tolist()
    assert "has been found since" not in plain(app)
    # Clusters and the list of methods follow; another method that is chosen stays chosen.
    settle(go_to(app, "clusters"))
    assert "By Best found, " in plain(app)
    app.selectbox(key="w_method_chosen").set_value("mdav")
    settle(app)
    assert app.selectbox(key="w_method_chosen").value == "mdav"
    assert "Best found" in app.selectbox(key="w_method_chosen").options


# --- the files --------------------------------------------------------------------------------------------------------

# Names that Stata and SPSS do not take, with a category, numbers and whole numbers.
HOURS = pd.DataFrame(
    {"hours per week": [31, 33, 35, 60, 62, 64], "€": [1.5, 2.5, 3.5, 7.5, 8.5, 9.5], "town": list("aabbbb")}
)


def read_excel(data):
    header, *rows = openpyxl.load_workbook(io.BytesIO(data)).active.iter_rows(values_only=True)
    return pd.DataFrame(rows, columns=header)


def read_spss(data, path):
    pyreadstat = pytest.importorskip("pyreadstat")
    path.write_bytes(data)
    return pyreadstat.read_sav(path)[0]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx", ".dta", ".sav"])
def test_each_file_read_by_others_is_the_release(seen, tmp_path, ending):
    given = [
        "quasi-identifier.number.drop.0:hours per week",
        "quasi-identifier.number.drop.0:€",
        "confidential..:town",
    ]
    content = HOURS.to_csv(index=False).encode()
    app = upload("hours.csv", content, "release", columns=given, k="3", format=ending, method="mdav")
    assert not app.error
    readers = {
        ".csv": lambda: pd.read_csv(io.BytesIO(seen.data)),
        ".parquet": lambda: pd.read_parquet(io.BytesIO(seen.data)),
        ".xlsx": lambda: read_excel(seen.data),
        ".dta": lambda: pd.read_stata(io.BytesIO(seen.data)),
        ".sav": lambda: read_spss(seen.data, tmp_path / "hours.sav"),
    }
    read = readers[ending]()
    assert read.iloc[:, 0].tolist() == [33, 33, 33, 62, 62, 62]
    assert read.iloc[:, 1].tolist() == [2.5, 2.5, 2.5, 8.5, 8.5, 8.5]
    assert read.iloc[:, 2].astype(str).tolist() == list("aabbbb")
    renamed = ending in (".dta", ".sav")
    assert (list(read.columns) == list(HOURS.columns)) is not renamed
    assert ("'hours per week' is called 'hours_per_week'" in plain(app)) is renamed


def test_a_file_that_cannot_be_written_or_checked_is_held_up_in_one_line(monkeypatch):
    for failing in ("write_like", "check_export"):

        def fail(*args, failing=failing, **named):
            raise DataError(f"column '*b*' stops {failing}: leave it out.")

        with monkeypatch.context() as patched:
            patched.setattr(releases, failing, fail)
            # Another k each time, for what was written is kept.
            app = open_survey("release", columns=roles(), k=str(4 + len(failing)))
            assert f"Column '*b*' stops {failing}: leave it out." in " ".join(lines(app, "red"))
            assert not app.exception
            assert not app.success
            assert not downloads(app)


def test_an_uploaded_workbook_goes_out_as_one_with_ranges_in_two_columns(seen):
    content = write_table(pd.read_csv(SURVEY), "survey.xlsx")
    given = {"columns": roles(), "k": "5", "method": "mdav", "statistic": "set", "ranges": "columns"}
    app = upload("survey.xlsx", content, "release", **given)
    assert app.session_state["choices"].release.format == ".xlsx"
    written = pd.read_excel(io.BytesIO(seen.data))
    assert (written["rent_lower"] <= written["rent_upper"]).all()
    assert "original.frame" in app.code[0].value
    app.button_group(key="w_ranges").set_value("middle")
    settle(app)
    assert pd.api.types.is_integer_dtype(pd.read_excel(io.BytesIO(seen.data))["rent"])


def test_the_python_shown_writes_the_same_bytes(seen, tmp_path, monkeypatch):
    app = open_survey("release", k="7", shuffle="recorded", statistic="set")
    (tmp_path / "survey.csv").write_bytes(SURVEY.read_bytes())
    monkeypatch.chdir(tmp_path)
    exec(compile(app.code[0].value, "shown", "exec"), {"__name__": "__main__"})
    assert (tmp_path / "survey_protected.csv").read_bytes() == seen.data


def typed(app, folder, monkeypatch):
    """Type the command that the page shows, and return the protected file."""
    command = app.code[1].value.replace("\\\n", " ")
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli, shlex.split(command)[1:])
    assert done.exit_code == 0, done.output
    [protected] = folder.glob("*_protected.csv")
    return protected.read_bytes()


def test_the_command_shown_writes_the_same_bytes(seen, tmp_path, monkeypatch):
    app = open_survey("release", columns=roles(), k="7", shuffle="recorded", method="v-mdav", **{"v-mdav.gamma": "0.4"})
    (tmp_path / "survey.csv").write_bytes(SURVEY.read_bytes())
    assert app.code[1].value.startswith("microagg run survey.csv ")
    assert "--gamma 0.4" in app.code[1].value
    assert typed(app, tmp_path, monkeypatch) == seen.data


def test_the_command_shown_reads_the_recipe_where_a_choice_has_no_flag(seen, tmp_path, monkeypatch):
    app = open_survey("release", k="7", shuffle="recorded", statistic="set")
    (tmp_path / "survey.csv").write_bytes(SURVEY.read_bytes())
    (tmp_path / "survey_recipe.json").write_text(json.dumps(seen.release.recipe))
    assert app.code[1].value.startswith("microagg replay survey_recipe.json survey.csv ")
    assert "No flag says the taxonomies. So it reads the recipe" in plain(app)
    assert typed(app, tmp_path, monkeypatch) == seen.data


def test_nothing_is_written_or_compared_again_while_the_release_stays(seen, monkeypatch):
    calls = []

    def write(frame, name, *further):
        calls.append(name)
        return write_like(frame, name, *further)

    write_like = releases.write_like
    monkeypatch.setattr(releases, "write_like", write)
    app = open_survey("release", columns=roles(), k="5")
    app.selectbox(key="w_release_attribute").set_value("rent")
    settle(app)
    release = seen.release
    app.run()
    assert calls == ["protected.csv"]
    assert seen.release is release


# --- what cannot be released ------------------------------------------------------------------------------------------


def test_too_large_a_k_is_one_sentence():
    app = open_page("release", data="wine", k="179")
    [error] = app.error
    assert "fewer than k=179" in error.value.replace("\\", "")
    assert "\n" not in error.value


def test_a_cancelled_release_says_so(monkeypatch):
    def cancelled(*args, **kwargs):
        raise Cancelled

    monkeypatch.setattr(making, "microaggregate", cancelled)
    app = open_page("release", data="wine", k="6", scale="minmax")
    assert app.info[0].value == "Grouping all records: cancelled."
    assert not app.get("download_button")
    monkeypatch.undo()
    press(app, "Go on")
    assert downloads(app)


def test_numbers_and_what_groups_have_in_common_are_both_drawn():
    app = open_page("release", data="wine", k="5", statistic="ancestor")
    assert not app.error
    assert "a range spans" in plain(app)
    assert "Total-IL" in tiles(app)
    assert "Information loss IL" not in tiles(app)
    one = open_page("release", data="wine", k="5")
    assert "Information loss IL" in tiles(one)
    assert "The correlation that changes most: " in plain(one)


def test_two_columns_of_weights_that_are_kept_hold_up_the_download():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.integers(0, 90, 60), "w1": rng.gamma(9, 90, 60), "w2": rng.gamma(9, 90, 60)})
    given = {"columns": ["weight...0:w1", "weight...0:w2"], "weights": "keep", "agreed": "x"}
    app = upload("a.csv", table.to_csv(index=False).encode(), "release", k="5", **given)
    [line] = [m.value for m in app.markdown if ":red" in m.value and "w1" in m.value]
    assert "w2" in line
    labels = [b.label.replace("\\", "") for b in app.button]
    # The second one is no weight to the release, which would leave it as it is.
    assert labels.count("Release each group's mean weight") == 1
    assert {"Leave w1 out", "Leave w2 out"} <= set(labels)


def test_a_kind_of_file_that_cannot_hold_the_release_is_said_and_another_one_can_be_chosen(monkeypatch):
    def refuse(frame, name):
        raise DataError("writing a .sav file needs the package pyreadstat.")

    monkeypatch.setattr(releases, "write_table", refuse)
    app = open_page("release", data="wine", k="7", format=".sav")
    assert "Writing a .sav file needs the package pyreadstat" in plain(app)
    assert app.get("download_button")[0].proto.disabled
    monkeypatch.undo()
    app.button_group(key="w_format").set_value(".csv")
    settle(app)
    assert not app.get("download_button")[0].proto.disabled


def test_an_attribute_that_loses_too_little_for_the_table_can_still_be_looked_at(monkeypatch):
    monkeypatch.setattr(before_after, "_SHOWN_CHANGES", 2)
    app = open_page("release", data="wine", k="5")
    table = table_with(app, "changed")
    assert len(table) == 2
    assert "the most affected 2 of 13" in plain(app)
    other = next(
        name for name in app.selectbox(key="w_release_attribute").options if name not in set(table["attribute"])
    )
    app.selectbox(key="w_release_attribute").select(other)
    settle(app)
    assert not app.exception
    assert f"{other}: the spread shrinks by" in plain(app)


def tiles(app):
    """Return the figures that stand out, by their titles."""
    return {metric.label.replace("\\", ""): metric for metric in app.metric}


def test_risk_and_utility_stand_before_and_after_and_the_rest_in_tables(seen):
    app = open_page("release", data="wine", k="4")
    found, shown = seen.release.assess(), tiles(app)
    assert shown["Highest chance to be found"].value == "25.0 %"
    assert shown["Highest chance to be found"].delta == "before: 100 %"
    assert shown["Records linked by distance"].value == percent(100 * found.of("record_linkage")[0].after)
    assert shown["Information loss IL"].value == percent(found.of("information_loss")[0].after)
    # All that does not stand out stands in a table, with its sentence.
    tables = [frame.value for frame in app.dataframe if "sentence" in frame.value]
    assert sum(map(len, tables)) + len(shown) == len(found.figures)
    assert table_with(app, "hellinger")["attribute"].tolist() == found.attributes["attribute"].tolist()


def test_a_risk_above_what_is_acceptable_is_said_where_the_risk_stands():
    says = "The risk of the worst record is 25.0 %, above the 20 % that are acceptable: in groups of 5 records or more"
    app = open_page("release", data="wine", k="4", risk_limit="20")
    assert says in plain(app)
    assert len(app.warning) == 1
    app = open_page("release", data="wine", k="5", risk_limit="20")
    assert "that are acceptable" not in plain(app)


def test_of_several_confidential_columns_the_worst_stands_out(seen):
    two = {"sickness_days": "confidential", "satisfaction": "confidential"}
    app = open_survey("release", columns=roles(quasi=("age", "household_income"), **two), k="2")
    found = seen.release.assess()
    worst = max(found.of("homogeneous"), key=lambda figure: figure.after)
    [title] = [title for title in tiles(app) if title.startswith("Records in uniform groups")]
    assert title == f"Records in uniform groups: {worst.attribute}"


def test_what_users_predict_and_what_the_file_is_a_sample_of_add_figures_and_stand_in_the_address():
    app = open_page("release", data="wine", k="4", predicts="target", population="10")
    assert {"Prediction kept: target", "Unique in the population"} <= set(tiles(app))
    assert app.selectbox(key="w_predicts").value == "target"
    app.selectbox(key="w_predicts").select_index(0)
    settle(app)
    assert "Prediction kept: target" not in tiles(app)
    assert "predicts" not in app.query_params
